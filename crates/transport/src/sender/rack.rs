//! RACK: a packet is lost when one that was sent sufficiently later has arrived (RFC 8985, "RACK Algorithm Details").

use congestion::{Duration, Time};

use super::rtt::Rtt;
use super::scoreboard::{Number, Packet, Scoreboard};

/// Selectively acknowledged packets from which on loss is assumed without waiting, as long as the path has not been seen
/// to reorder (RFC 8985, `DupThresh` in step 4).
const DUP_THRESHOLD: u64 = 3;

/// Recoveries for which a widened reordering window stays without another D-SACK (RFC 8985, `RACK.reo_wnd_persist`).
const PERSISTENCE: u8 = 16;

/// The greatest multiple of a quarter of the least round-trip time (Linux `tcp_rack_update_reo_wnd`).
const MAX_STEPS: u64 = 255;

#[derive(Debug, Clone)]
pub struct Rack {
    /// Of the packets that have arrived, the one sent last.
    newest: Option<Newest>,
    /// The reordering window in quarters of the least round-trip time (`RACK.reo_wnd_mult`).
    steps: u64,
    persistence: u8,
    /// What had been sent at the latest D-SACK that widened the window (`RACK.dsack_round`).
    widened_at: Option<u64>,
    deadline: Option<Time>,
}

#[derive(Debug, Clone, Copy)]
struct Newest {
    /// Its place in the order of transmissions. Tells apart what RFC 8985's `RACK_sent_after` needs times and sequence
    /// numbers for.
    sequence: u64,
    /// Its round-trip time (`RACK.rtt`).
    rtt: Duration,
}

impl Rack {
    pub fn new() -> Rack {
        Rack {
            newest: None,
            steps: 1,
            persistence: 0,
            widened_at: None,
            deadline: None,
        }
    }

    /// `packet` has arrived (step 2, "Update the state for the most recently sent segment that has been delivered").
    ///
    /// If it was repeated, its first transmission may be the one that arrived: `echo` is the timestamp that came back, if
    /// it is this packet's, and shows which; and no transmission takes less than the least round-trip time.
    pub fn on_delivered(&mut self, now: Time, packet: &Packet, echo: Option<Time>, rtt: &Rtt) {
        let sent = packet.state.sent_time;
        let sample = now.since(sent);
        let is_earlier_copy = echo.is_some_and(|echo| echo < sent) || sample < rtt.min();
        if packet.is_repeated && is_earlier_copy {
            return;
        }
        let sequence = packet.state.sequence;
        if self.newest.is_none_or(|newest| sequence > newest.sequence) {
            self.newest = Some(Newest {
                sequence,
                rtt: sample,
            });
        }
    }

    /// A D-SACK tells that a packet was repeated in vain: more patience is needed, by one step a round trip (step 4,
    /// "Update RACK reordering window"). `una` and `next` are what is acknowledged and sent.
    pub fn on_duplicate(&mut self, una: u64, next: u64) {
        if self.widened_at.is_some_and(|sent| una < sent) {
            return;
        }
        self.widened_at = Some(next);
        self.steps = (self.steps + 1).min(MAX_STEPS);
        self.persistence = PERSISTENCE;
    }

    /// A recovery has ended.
    pub fn on_recovery_end(&mut self) {
        self.persistence = self.persistence.saturating_sub(1);
        if self.persistence == 0 {
            self.steps = 1;
        }
    }

    /// How much later a packet may arrive than one sent after it (`RACK_update_reo_wnd`).
    pub fn reordering_window(
        &self,
        is_recovering: bool,
        scoreboard: &Scoreboard,
        rtt: &Rtt,
    ) -> Duration {
        let is_in_order = scoreboard.reordered() == 0;
        if is_in_order && (is_recovering || scoreboard.sacked_packets() >= DUP_THRESHOLD) {
            return Duration::ZERO;
        }
        (rtt.min() / 4 * self.steps).min(rtt.smoothed().unwrap_or_default())
    }

    /// A packet that is overdue (step 5, "Detect losses"). To be asked until there is none; then the timer is set for the
    /// next that may become overdue.
    ///
    /// RFC 8985 sets its timer for the last of those packets, to have it fire once. Here it is the first: each loss is
    /// found as soon as it can be, and only the packets that are lost are ever looked at.
    pub fn next_overdue(
        &mut self,
        now: Time,
        window: Duration,
        scoreboard: &Scoreboard,
    ) -> Option<Number> {
        self.deadline = None;
        let newest = self.newest?;
        let (number, packet) = scoreboard.oldest()?;
        if packet.state.sequence > newest.sequence {
            return None;
        }
        let deadline = packet.state.sent_time + newest.rtt + window;
        if deadline <= now {
            return Some(number);
        }
        self.deadline = Some(deadline);
        None
    }

    /// Whether `packet` was sent so long ago that it should have been acknowledged (RFC 8985,
    /// `RACK_mark_losses_on_RTO`; the reordering window counts as none, as in Linux `tcp_timeout_mark_lost`).
    pub fn is_overdue(&self, now: Time, packet: &Packet) -> bool {
        let rtt = self.newest.map_or(Duration::ZERO, |newest| newest.rtt);
        packet.state.sent_time + rtt <= now
    }

    /// When to look again without an ACK.
    pub fn deadline(&self) -> Option<Time> {
        self.deadline
    }
}
