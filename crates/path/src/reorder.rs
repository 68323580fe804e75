//! Reordering: some packets are delayed while others pass them.

use serde::{Deserialize, Serialize};
use units::{ConfigError, Duration, Ratio};

use crate::bounds::share;
use crate::random::{Stream, Streams};

/// Delays a share of the packets by a fixed time in addition to all other delays. Packets that left the bottleneck
/// later may overtake them.
///
/// A delayed packet is overtaken by those that follow it within [`by`](Self::by). In `tc netem`, the selected packets
/// skip the delay instead, and overtake the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { share = \"1%\", by = \"10ms\" }"
)]
pub struct Reorder {
    /// The share of delayed packets, selected independently of each other.
    pub share: Ratio,
    /// The additional delay. Zero delays nothing.
    pub by: Duration,
}

impl Reorder {
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        share("reorder.share", self.share)
    }
}

/// Selects the packets to delay.
#[derive(Debug, Clone)]
pub(crate) struct ReorderProcess {
    model: Option<Reorder>,
    stream: Stream,
}

impl ReorderProcess {
    pub(crate) fn new(model: Option<Reorder>, streams: &mut Streams) -> ReorderProcess {
        ReorderProcess {
            model,
            stream: streams.deal(),
        }
    }

    /// Returns the next packet's additional delay, if it has one.
    #[inline]
    pub(crate) fn draw(&mut self) -> Option<Duration> {
        let reorder = self.model?;
        self.stream.happens(reorder.share).then_some(reorder.by)
    }
}
