//! The progress of a run, as its engine reports it.

use congestion::State;
use scenario::Controller;
use units::{Bytes, Duration, Rate};

/// The progress of one flow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// The index of the flow among the scenario's flows.
    pub flow: usize,
    /// Its controller.
    pub controller: Controller,
    /// The time since the start of the run.
    pub at: Duration,
    /// The delivered payload, as far as the sender knows; exact at the end.
    pub delivered: Bytes,
    /// The payload to deliver; `None` if the flow sends until the end of the run.
    pub total: Option<Bytes>,
    /// The recent goodput; at the end, the goodput over the flow's whole life.
    pub rate: Rate,
    /// The last measured round-trip time.
    pub rtt: Option<Duration>,
    /// The controller's state; `None` before the first ACK.
    pub state: Option<State>,
    /// Whether the flow has ended.
    pub is_done: bool,
}
