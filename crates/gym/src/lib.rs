//! Environments for those who train controllers: an agent is the congestion controller of one flow of a scenario.
//!
//! A simulator calls its controllers, and whoever trains one wants to call the simulator. So an [`Episode`] stops the run after the
//! event at which a decision is due. The agent gets an observation, and its decision holds from the next ACK or timeout on. A
//! controller with the same [`View`] of its connection decides at the same ACKs, so that its run is the episode's. Only if several
//! ACKs arrive at one instant does an episode stop behind all of them, and a controller at the first.
//!
//! ```
//! use gym::{Episode, OBSERVATION, TRUTH};
//! use units::Duration;
//!
//! let scenario: scenario::Scenario =
//!     "name='x'\nduration='10s'\npath={rate='10mbit',rtt='40ms',buffer='1bdp'}\nflow=[{controller='rust:Agent'}]".parse()?;
//! let mut episode = Episode::new(scenario, 0, Duration::ZERO)?;
//! let mut decisions = 0;
//! while !episode.is_over() {
//!     // The first step only goes to the first decision. As much again, twice; then nothing changes.
//!     let growth = if decisions < 3 { 1.0 } else { 0.0 };
//!     let row = episode.step([growth, growth], &mut || true)?.expect("nothing ends it before");
//!     let [_time_ms, delivered_bps, ..] = row.seen;
//!     decisions += 1;
//!     assert!(delivered_bps <= 10e6);
//! }
//! assert!(episode.record().summary.flows[0].goodput_bps > 9_000_000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod agent;
mod episode;
mod truth;
mod view;

pub use episode::{Episode, Row};
pub use truth::TRUTH;
pub use view::{OBSERVATION, Observation, Seen, View};
