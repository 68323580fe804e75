//! The time at which an ACK is due: at once, with the next segment, or after a delay.

use units::{Duration, Time};

use super::Config;

/// The minimum of Linux's delayed ACK timer (`TCP_ATO_MIN`, `TCP_DELACK_MIN`).
const ATO_MIN: Duration = Duration::from_millis(40);

/// The most segments that are acknowledged at once when a sender starts or restarts (`TCP_MAX_QUICKACKS`).
const MAX_QUICK_ACKS: u32 = 16;

/// The assumed retransmission timeout of the sender before there is an RTT (RFC 6298).
const UNKNOWN_RTO: Duration = Duration::from_secs(1);

/// The minimum by which a retransmission timeout exceeds the RTT (`TCP_RTO_MIN`).
const RTO_MARGIN: Duration = Duration::from_millis(200);

/// The delayed ACK (RFC 1122, 4.2.3.2; RFC 5681, "Generating Acknowledgments"), with Linux's timeout that adapts to
/// the arrivals and Linux's quick ACKs. Without quick ACKs, each of the first rounds of slow start would take a delay
/// longer.
#[derive(Debug, Clone)]
pub(super) struct DelayedAck {
    /// The delay that the arrivals suggest (`icsk_ack.ato`); `None` before the first.
    ato: Option<Duration>,
    last_arrival: Time,
    /// The number of further segments to acknowledge at once (`icsk_ack.quick`).
    quick: u32,
    /// The time at which the pending ACK is due.
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

    /// Notes the arrival of a segment with payload (`tcp_event_data_recv`); `rtt` is the receiver's estimate. Returns
    /// whether the sender starts, or restarts after a pause; then call [`DelayedAck::quicken`].
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

    /// Acknowledges the next segments at once (`tcp_incr_quickack`): the sender may be in slow start or have a window
    /// of a single segment. `window` is the offered window in full segments.
    pub(super) fn quicken(&mut self, window: u64) {
        let half = u32::try_from(window / 2).unwrap_or(MAX_QUICK_ACKS);
        self.quick = self.quick.max(half.clamp(2, MAX_QUICK_ACKS));
    }

    /// Acknowledges at least the next `segments` at once.
    pub(super) fn quicken_by(&mut self, segments: u32) {
        self.quick = self.quick.max(segments);
    }

    /// Acknowledges the next segment at once, so that the sender learns of the larger window (`tcp_grow_window`).
    /// While the window opens, every segment is acknowledged.
    pub(super) fn quicken_for_window(&mut self) {
        self.quick |= 1;
    }

    /// Whether the segment that has arrived is to be acknowledged at once.
    pub(super) const fn is_quick(&self) -> bool {
        self.quick > 0
    }

    /// Schedules an ACK (`tcp_send_delayed_ack`). If `is_aggregating`, several full segments wait to be acknowledged
    /// together, no longer than the aggregation delay. A delay that the sender has `requested` replaces all of these.
    pub(super) fn owe(
        &mut self,
        now: Time,
        config: &Config,
        is_aggregating: bool,
        requested: Option<Duration>,
    ) {
        let delay = if is_aggregating {
            config.aggregation_delay
        } else {
            self.ato.unwrap_or(ATO_MIN)
        };
        let due = now + requested.unwrap_or(delay.min(config.max_ack_delay));
        self.due = Some(self.due.map_or(due, |owed| owed.min(due)));
    }

    /// The time at which the pending ACK is due.
    pub(super) const fn due(&self) -> Option<Time> {
        self.due
    }

    /// Handles the timer: no second segment came in time, so the next delay is longer (`tcp_delack_timer_handler`).
    pub(super) fn on_missed(&mut self, rtt: Option<Duration>) {
        self.ato = self.ato.map(|ato| (ato * 2).min(rto(rtt)));
    }

    /// Notes that an ACK is sent.
    pub(super) fn on_ack(&mut self) {
        self.quick = self.quick.saturating_sub(1);
        self.due = None;
    }
}

/// The receiver's estimate of the sender's retransmission timeout.
fn rto(rtt: Option<Duration>) -> Duration {
    rtt.map_or(UNKNOWN_RTO, |rtt| rtt + RTO_MARGIN)
}
