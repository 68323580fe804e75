//! How much a sender reduces its data in flight after a loss: the sign that identifies loss-based controllers.

use congestion::Bytes;

use crate::memory::reserve;

/// The most recoveries that are remembered.
const MAX_CUTS: usize = 128;

/// The data in flight before and after a recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// At the first retransmission: the full window.
    pub before: Bytes,
    /// At the first new data after the recovery.
    pub after: Bytes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Phase {
    #[default]
    Open,
    /// Until everything before `point` is acknowledged.
    Recovery {
        point: u64,
        before: Bytes,
        is_timeout: bool,
    },
    /// The same after an ECN mark instead of a loss.
    Reduction { point: u64, before: Bytes },
    /// Everything is acknowledged. The next departure shows the window.
    Ending { before: Bytes, is_timeout: bool },
}

/// The recoveries of a flow.
#[derive(Debug, Clone, Default)]
pub struct Recoveries {
    phase: Phase,
    cuts: Vec<Cut>,
    /// The number of recoveries.
    pub count: u64,
    /// The number of recoveries that began with a timeout.
    pub timeouts: u64,
    /// The number of times that the sender reduced its window because of ECN marks.
    pub reductions: u64,
}

impl Recoveries {
    /// A retransmission. `point` is the end of the sent data, and `before` is what was in flight before it.
    pub fn on_repeat(&mut self, point: u64, before: Bytes, is_timeout: bool) {
        match &mut self.phase {
            Phase::Recovery {
                is_timeout: was, ..
            } => {
                self.timeouts += u64::from(is_timeout && !*was);
                *was |= is_timeout;
            }
            Phase::Open | Phase::Reduction { .. } | Phase::Ending { .. } => {
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

    /// New data have CWR: the sender has reduced its window. `point` is the end of the data sent before. A sender also sets
    /// CWR when it has reduced its window because of a loss (RFC 3168, section 6.1.2), so a recovery explains it.
    pub fn on_reduction(&mut self, point: u64, before: Bytes) {
        match self.phase {
            Phase::Open => {
                self.reductions += 1;
                self.phase = Phase::Reduction { point, before };
            }
            Phase::Reduction { .. } => self.reductions += 1,
            Phase::Recovery { .. } | Phase::Ending { .. } => {}
        }
    }

    /// Everything before `una` is acknowledged.
    #[inline]
    pub fn on_ack(&mut self, una: u64) {
        let (point, before, is_timeout) = match self.phase {
            Phase::Recovery {
                point,
                before,
                is_timeout,
            } => (point, before, is_timeout),
            Phase::Reduction { point, before } => (point, before, false),
            Phase::Open | Phase::Ending { .. } => return,
        };
        if una >= point {
            self.phase = Phase::Ending { before, is_timeout };
        }
    }

    /// New data are sent, and `flight` includes them.
    #[inline]
    pub fn on_new_data(&mut self, inflight: Bytes) {
        if let Phase::Ending { before, is_timeout } = self.phase {
            self.phase = Phase::Open;
            if !is_timeout && self.cuts.len() < MAX_CUTS {
                reserve(&mut self.cuts);
                self.cuts.push(Cut {
                    before,
                    after: inflight,
                });
            }
        }
    }

    /// True if a recovery is in progress.
    pub fn is_going_on(&self) -> bool {
        matches!(self.phase, Phase::Recovery { .. })
    }

    /// The number of bytes that they hold.
    #[inline]
    pub fn held(&self) -> usize {
        self.cuts.capacity() * size_of::<Cut>()
    }

    /// The recoveries without a timeout.
    pub fn cuts(&self) -> &[Cut] {
        &self.cuts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reduction_after_a_loss_is_no_answer_to_a_mark() {
        let [full, half] = [100_000, 50_000].map(Bytes::new);
        let mut recoveries = Recoveries::default();
        recoveries.on_repeat(10, full, false);
        recoveries.on_reduction(11, half);
        recoveries.on_ack(10);
        recoveries.on_reduction(12, half);
        recoveries.on_new_data(half);
        let cut = Cut {
            before: full,
            after: half,
        };
        assert_eq!((recoveries.count, recoveries.reductions), (1, 0));
        assert_eq!(recoveries.cuts(), [cut]);
        recoveries.on_reduction(20, full);
        recoveries.on_ack(20);
        recoveries.on_new_data(half);
        assert_eq!((recoveries.count, recoveries.reductions), (1, 1));
        assert_eq!(recoveries.cuts(), [cut, cut]);
    }
}
