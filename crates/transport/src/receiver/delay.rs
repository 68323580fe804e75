//! When an ACK is due: at once, with the next segment, or after a while.

use units::{Duration, Time};

use super::Config;

/// The shortest that Linux's delayed ACK timer waits (`TCP_ATO_MIN`, `TCP_DELACK_MIN`).
const ATO_MIN: Duration = Duration::from_millis(40);

/// How many segments at most are acknowledged at once when a connection begins or a sender seems to start anew
/// (`TCP_MAX_QUICKACKS`).
const MAX_QUICK_ACKS: u32 = 16;

/// What the sender's retransmission timeout is taken for before there is an RTT (RFC 6298).
const UNKNOWN_RTO: Duration = Duration::from_secs(1);

/// The least part of a retransmission timeout beside the RTT (`TCP_RTO_MIN`).
const RTO_MARGIN: Duration = Duration::from_millis(200);

/// The delayed ACK (RFC 1122, 4.2.3.2; RFC 5681, "Generating Acknowledgments"), with Linux's timeout that follows the
/// arrivals and Linux's quick ACKs, without which slow start would lose a delay in each of its first rounds.
#[derive(Debug, Clone)]
pub(super) struct DelayedAck {
    /// The delay as the arrivals suggest it (`icsk_ack.ato`); `None` before the first.
    ato: Option<Duration>,
    last_arrival: Time,
    /// How many more segments are acknowledged at once (`icsk_ack.quick`).
    quick: u32,
    /// When the ACK that is owed has to go.
    due: Option<Time>,
}

impl DelayedAck {
    pub(super) const fn new() -> DelayedAck {
        DelayedAck {
            ato: None,
            last_arrival: Time::ZERO,
            quick: 0,
            due: None,
        }
    }

    /// A segment with payload arrives (`tcp_event_data_recv`); `rtt` is the receiver's estimate. Returns whether the
    /// sender begins, or begins anew after a pause: to be followed by [`DelayedAck::quicken`].
    pub(super) fn on_data(&mut self, now: Time, rtt: Option<Duration>) -> bool {
        let gap = now.since(self.last_arrival);
        self.last_arrival = now;
        let Some(ato) = self.ato else {
            self.ato = Some(ATO_MIN);
            return true;
        };
        if gap <= ATO_MIN / 2 {
            self.ato = Some(ato / 2 + ATO_MIN / 2);
        } else if gap < ato {
            self.ato = Some((ato / 2 + gap).min(rto(rtt)));
        } else {
            return gap > rto(rtt);
        }
        false
    }

    /// The sender may be in slow start or have a window of a single segment: its next segments are acknowledged at once
    /// (`tcp_incr_quickack`). `window` is what is offered, in full segments.
    pub(super) fn quicken(&mut self, window: u64) {
        let half = u32::try_from(window / 2).unwrap_or(MAX_QUICK_ACKS);
        self.quick = self.quick.max(half.clamp(2, MAX_QUICK_ACKS));
    }

    /// At most `segments` more are acknowledged at once.
    pub(super) fn quicken_by(&mut self, segments: u32) {
        self.quick = self.quick.max(segments);
    }

    /// The window has opened, and the sender is to know at once (`tcp_grow_window`): while it does, every segment is
    /// acknowledged.
    pub(super) fn quicken_for_window(&mut self) {
        self.quick |= 1;
    }

    /// Whether the segment that has come is to be acknowledged at once.
    pub(super) const fn is_quick(&self) -> bool {
        self.quick > 0
    }

    /// An ACK is owed (`tcp_send_delayed_ack`). Several full segments that wait to be acknowledged together wait no
    /// longer than what merges them holds them.
    pub(super) fn owe(&mut self, now: Time, config: &Config, is_aggregating: bool) {
        let delay = if is_aggregating {
            config.aggregation_delay
        } else {
            self.ato.unwrap_or(ATO_MIN)
        };
        let due = now + delay.min(config.max_ack_delay);
        self.due = Some(self.due.map_or(due, |owed| owed.min(due)));
    }

    /// When an owed ACK has to go.
    pub(super) const fn due(&self) -> Option<Time> {
        self.due
    }

    /// The timer has run out: no second segment came in time, so the next wait is longer (`tcp_delack_timer_handler`).
    pub(super) fn on_missed(&mut self, rtt: Option<Duration>) {
        self.ato = self.ato.map(|ato| (ato * 2).min(rto(rtt)));
    }

    /// An ACK goes out.
    pub(super) fn on_ack(&mut self) {
        self.quick = self.quick.saturating_sub(1);
        self.due = None;
    }
}

/// The sender's retransmission timeout, as far as the receiver can tell.
fn rto(rtt: Option<Duration>) -> Duration {
    rtt.map_or(UNKNOWN_RTO, |rtt| rtt + RTO_MARGIN)
}
