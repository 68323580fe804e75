//! SACK compression. Beyond a hole every segment would cause an ACK, which costs both hosts and the return path more
//! than it is worth. So the ACKs after the first few are delayed for a moment and sent as one (Linux
//! `__tcp_ack_snd_check`, since 4.18).

use units::{Duration, Time};

use super::Config;

/// The number of ACKs about a hole that are sent at once: they start the sender's recovery (`TCP_FASTRETRANS_THRESH`).
const DUP_THRESHOLD: u32 = 3;

/// The longest delay (`tcp_comp_sack_delay_ns`).
const MAX_DELAY: Duration = Duration::from_millis(1);

/// The longest delay is also one part in this many of the RTT: 5 %.
const RTT_DIVISOR: u64 = 20;

/// The most ranges that may change while ACKs are delayed. A SACK option has hardly room for more, and ACKs are lost,
/// so each range is to be reported more than once (`TCP_SACK_BLOCKS_EXPECTED`).
const MAX_RANGES: usize = 2;

#[derive(Debug, Clone, Default)]
pub(super) struct Compression {
    /// The start of the first hole (`compressed_ack_rcv_nxt`).
    hole: u64,
    /// ACKs about it that were sent at once (`dup_ack_counter`).
    sent_at_once: u32,
    /// Delayed ACKs since the last ACK (`compressed_ack`).
    delayed: u32,
    due: Option<Time>,
}

impl Compression {
    /// Handles a segment beyond the hole at `hole`. `rank` counts the other ranges that have changed since the
    /// segment's own last did; `rtt` is the receiver's estimate. Returns whether its ACK is delayed.
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
        if self.delayed >= config.max_compressed_acks || config.max_sack_blocks == 0 {
            return false;
        }
        if self.hole != hole {
            (self.hole, self.sent_at_once) = (hole, 0);
        }
        if self.sent_at_once < DUP_THRESHOLD {
            self.sent_at_once += 1;
            return false;
        }
        if self.delayed > 0 && rank >= MAX_RANGES.min(config.max_sack_blocks) {
            return false;
        }
        self.delayed += 1;
        let delay = MAX_DELAY.min(rtt / RTT_DIVISOR).min(config.max_ack_delay);
        self.due.get_or_insert(now + delay);
        true
    }

    /// The time at which the delayed ACK is due.
    pub(super) const fn due(&self) -> Option<Time> {
        self.due
    }

    /// Notes that an ACK is sent, which includes all delayed ones; returns their number.
    pub(super) fn on_ack(&mut self) -> u32 {
        self.due = None;
        core::mem::take(&mut self.delayed)
    }
}
