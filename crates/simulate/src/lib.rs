//! Runs of scenarios in virtual time, and the observations that they share with runs in real time.
//!
//! A [`Run`] is a simulation of a scenario. It goes on in steps, so whoever runs it may look at it in between, show how far it
//! is, or drop it. It reads no clock and needs no system: it runs in a browser, too, and gives the same record there.
//!
//! ```
//! use std::time::Duration;
//!
//! use simulate::{Bounds, Flows, Hops, NOTHING_SENT, Room, Run, ours};
//!
//! let scenario: scenario::Scenario =
//!     "name='x'\nduration='1s'\npath={rate='10mbit',rtt='40ms'}\nflow=[{controller='bbr1'}]".parse()?;
//! let network = scenario.network();
//! let (hops, flows) = (Hops::of(&network), Flows::new(&scenario, NOTHING_SENT));
//! let room = Room::new(Bounds { packets: 1_000_000, transmissions: 100_000_000 });
//! let mut run = Run::new(&network, &|group| ours(&scenario, group), hops, flows, (), room)?;
//! while run.step()? {}
//! let (outcome, ()) = run.finish(&network, Duration::ZERO);
//! assert!(outcome.record(&|_| ()).summary.flows[0].goodput_bps > 5_000_000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
pub mod flow;
mod flows;
mod hops;
mod network;
mod outcome;
mod progress;
mod run;
mod watch;
pub mod ways;

pub use ::sim::{Bounds, Excess, MakeController, Room};
pub use error::RunError;
pub use flow::Flow;
pub use flows::{FlowId, Flows};
pub use hops::Hops;
pub use network::{MakeControllers, check, link_of, ours};
pub use outcome::Outcome;
pub use progress::Progress;
pub use run::Run;
pub use watch::{NOTHING_SENT, Tap, segment_sizes};

/// The name of this engine.
pub const ENGINE: &str = "sim";
