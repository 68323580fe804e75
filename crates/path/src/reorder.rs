//! Reordering: some packets are held back while others pass them.

use serde::{Deserialize, Serialize};
use units::{ConfigError, Duration, Ratio};

use crate::bounds::share;
use crate::random::{Stream, Streams};

/// A share of the packets takes a detour: each is delayed by a fixed span on top of everything else, and those that
/// left the bottleneck after it may overtake it.
///
/// A held packet is overtaken by what follows it within [`by`](Self::by). `tc netem` turns the picture round: there the
/// chosen packets skip the delay and overtake the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { share = \"1%\", by = \"10ms\" }"
)]
pub struct Reorder {
    /// The share of packets held back, independently of each other.
    pub share: Ratio,
    /// How long they are held back. Zero holds nothing back.
    pub by: Duration,
}

impl Reorder {
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        share("reorder.share", self.share)
    }
}

/// Chooses the packets to hold back.
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

    /// How long the next packet is held back, if it is.
    #[inline]
    pub(crate) fn draw(&mut self) -> Option<Duration> {
        let reorder = self.model?;
        self.stream.happens(reorder.share).then_some(reorder.by)
    }
}
