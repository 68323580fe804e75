//! Corruption: packets that arrive with changed bits.

use units::Ratio;

use crate::random::{Stream, Streams};

/// Decides which packets are damaged.
#[derive(Debug, Clone)]
pub(crate) struct CorruptionProcess {
    share: Ratio,
    stream: Stream,
}

impl CorruptionProcess {
    pub(crate) fn new(share: Ratio, streams: &mut Streams) -> CorruptionProcess {
        CorruptionProcess {
            share,
            stream: streams.deal(),
        }
    }

    /// True if the next packet is damaged.
    #[inline]
    pub(crate) fn strikes(&mut self) -> bool {
        self.share.numerator() > 0 && self.stream.happens(self.share)
    }
}
