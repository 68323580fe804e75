//! SACK compression: behind a hole every segment would make an ACK of its own, which costs both hosts and the way back
//! more than it tells. After the first few they are held back for a moment and sent as one (Linux `__tcp_ack_snd_check`,
//! since 4.18).

use units::{Duration, Time};

use super::Config;

/// How many ACKs about a hole are not held back: they start the sender's recovery (`TCP_FASTRETRANS_THRESH`).
const DUP_THRESHOLD: u32 = 3;

/// The longest that they are held back (`tcp_comp_sack_delay_ns`).
const MAX_DELAY: Duration = Duration::from_millis(1);

/// And the part of the RTT, if that is shorter: 5 %.
const RTT_PARTS: u64 = 20;

/// The most ranges that may change while ACKs are held back: a SACK option has hardly room for more, and each is to be
/// told more than once, as ACKs are lost (`TCP_SACK_BLOCKS_EXPECTED`).
const MAX_RANGES: usize = 2;

#[derive(Debug, Clone, Default)]
pub(super) struct Compression {
    /// Where the first hole begins (`compressed_ack_rcv_nxt`).
    hole: u64,
    /// ACKs about it that were not held back (`dup_ack_counter`).
    told: u32,
    /// ACKs held back since the last one (`compressed_ack`).
    held: u32,
    due: Option<Time>,
}

impl Compression {
    /// A segment has arrived beyond the hole at `hole`, in the range that was the `rank`-th of those that changed last:
    /// whether its ACK is held back. `rtt` is the receiver's estimate.
    pub(super) fn hold(
        &mut self,
        now: Time,
        hole: u64,
        rank: usize,
        rtt: Option<Duration>,
        config: &Config,
    ) -> bool {
        let Some(rtt) = rtt else {
            return false;
        };
        if self.held >= config.max_compressed_acks || config.max_sack_blocks == 0 {
            return false;
        }
        if self.hole != hole {
            (self.hole, self.told) = (hole, 0);
        }
        if self.told < DUP_THRESHOLD {
            self.told += 1;
            return false;
        }
        if self.held > 0 && rank >= MAX_RANGES.min(config.max_sack_blocks) {
            return false;
        }
        self.held += 1;
        let delay = MAX_DELAY.min(rtt / RTT_PARTS).min(config.max_ack_delay);
        self.due.get_or_insert(now + delay);
        true
    }

    /// When what is held back has to go.
    pub(super) const fn due(&self) -> Option<Time> {
        self.due
    }

    /// An ACK goes out, which tells all that was held back; gives how many segments' ACKs were.
    pub(super) fn on_ack(&mut self) -> u32 {
        self.due = None;
        core::mem::take(&mut self.held)
    }
}
