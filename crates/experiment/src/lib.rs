//! Randomised experiments on live connections: assigns a controller to each connection, and evaluates the results.
//!
//! A [`Plan`] says which connections take part, which arms there are, and what is randomised. A [`Key`] draws a number
//! for each [`Unit`], and the [`Shares`] turn the number into an arm. [`Gathered`] collects connections. Its
//! [`Findings`] have intervals that respect the unit of randomisation, and a verdict in words. [`proof`] measures the
//! coverage of these intervals on simulated studies whose truth is known.
//!
//! Nothing here reads a clock, a file or a socket.
//!
//! ```
//! use experiment::{Gathered, Measure};
//! use experiment::simulated::{Model, Units};
//!
//! // A study of 400 client networks in which the second arm is 8 % faster.
//! let model = Model::new(Units::Prefixes(400), 0.08);
//! let mut gathered = Gathered::new(&["cubic", "bbr"], &[0.5, 0.5]);
//! for connection in model.study(1) {
//!     gathered.add(&connection);
//! }
//! let effect = gathered.effect(1, Measure::Throughput).expect("enough of both arms");
//! assert!(effect.once.has(0.08));
//! println!("{}", gathered.findings().verdict);
//! ```

pub mod assignment;
pub mod balance;
pub mod carryover;
pub mod comparison;
pub mod effect;
pub mod findings;
pub mod force;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
pub mod group;
pub mod guard;
mod harm;
pub mod heat;
mod histogram;
pub mod learn;
mod mean;
pub mod measure;
mod members;
mod networks;
mod observation;
mod percentile;
pub mod plan;
pub mod policy;
pub mod proof;
pub mod simulated;
pub mod stale;
mod strata;
mod tally;
pub mod timeline;
pub mod verdict;

pub use assignment::{Key, Shares, Unit};
pub use balance::Balance;
pub use carryover::Carryover;
pub use effect::{Effect, Interval};
pub use findings::{Findings, Gathered, Measured};
pub use force::InForce;
pub use group::{Group, RttClass};
pub use measure::Measure;
pub use members::Members;
pub use networks::MAX_NETWORKS;
pub use observation::{Observation, Scope};
pub use percentile::percentile;
pub use plan::Plan;
pub use tally::{Level, Tally};
pub use timeline::Timeline;
pub use verdict::Decision;
