//! How much a sender reduces what it has in flight after a loss: the sign by which loss-based controllers are told.

use crate::memory::reserve;
use congestion::Bytes;

/// No more recoveries are remembered.
const MOST: usize = 128;

/// What was in flight before and after a recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// When the first packet was sent again: the window, which was full.
    pub before: Bytes,
    /// When new data was first sent after the last of it had arrived.
    pub after: Bytes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Phase {
    #[default]
    Open,
    /// Until everything up to `point` is acknowledged.
    Recovery {
        point: u64,
        before: Bytes,
        is_timeout: bool,
    },
    /// Everything is; the next departure shows the window.
    Ending { before: Bytes, is_timeout: bool },
}

/// The recoveries of a flow.
#[derive(Debug, Clone, Default)]
pub struct Recoveries {
    phase: Phase,
    cuts: Vec<Cut>,
    /// How many there were.
    pub count: u64,
    /// How many of them a timeout began.
    pub timeouts: u64,
}

impl Recoveries {
    /// A packet is sent again, with `point` the end of what was sent, and so much in flight before.
    pub fn on_repeat(&mut self, point: u64, before: Bytes, is_timeout: bool) {
        match &mut self.phase {
            Phase::Recovery {
                is_timeout: was, ..
            } => {
                self.timeouts += u64::from(is_timeout && !*was);
                *was |= is_timeout;
            }
            Phase::Open | Phase::Ending { .. } => {
                self.phase = Phase::Recovery {
                    point,
                    before,
                    is_timeout,
                };
                self.count += 1;
                self.timeouts += u64::from(is_timeout);
            }
        }
    }

    /// Everything before `una` is acknowledged.
    #[inline]
    pub fn on_ack(&mut self, una: u64) {
        if let Phase::Recovery {
            point,
            before,
            is_timeout,
        } = self.phase
            && una >= point
        {
            self.phase = Phase::Ending { before, is_timeout };
        }
    }

    /// New data is sent; with it, so much is in flight.
    #[inline]
    pub fn on_new_data(&mut self, inflight: Bytes) {
        if let Phase::Ending { before, is_timeout } = self.phase {
            self.phase = Phase::Open;
            if !is_timeout && self.cuts.len() < MOST {
                reserve(&mut self.cuts);
                self.cuts.push(Cut {
                    before,
                    after: inflight,
                });
            }
        }
    }

    /// Whether one is going on.
    pub fn is_going_on(&self) -> bool {
        matches!(self.phase, Phase::Recovery { .. })
    }

    /// How many bytes they take.
    #[inline]
    pub fn held(&self) -> usize {
        self.cuts.capacity() * size_of::<Cut>()
    }

    /// Those without timeout.
    pub fn cuts(&self) -> &[Cut] {
        &self.cuts
    }
}
