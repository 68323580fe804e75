//! RACK: a packet is lost when one that was sent sufficiently later has arrived (RFC 8985, "RACK Algorithm Details").

use congestion::{Duration, Time};

use super::reordering::Reordering;
use super::rtt::Rtt;
use super::scoreboard::{Number, Packet, Scoreboard};

/// Selectively acknowledged packets from which on loss is assumed without waiting, as long as the path has not been seen
/// to reorder (RFC 8985, `DupThresh` in step 4).
const DUP_THRESHOLD: u64 = 3;

#[derive(Debug, Clone)]
pub struct Rack {
    /// Of the packets that have arrived, the one sent last.
    newest: Option<Newest>,
    /// How long to wait for what was overtaken.
    pub reordering: Reordering,
    deadline: Option<Time>,
}

/// Of packets that have arrived, the one sent last.
#[derive(Debug, Clone, Copy)]
pub struct Newest {
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
            reordering: Reordering::new(),
            deadline: None,
        }
    }

    /// Of the packets that have arrived, the one sent last.
    pub fn newest(&self) -> Option<Newest> {
        self.newest
    }

    /// `packet` has arrived (step 2, "Update the state for the most recently sent segment that has been delivered"), maybe
    /// overtaken by `newest`, which an earlier ACK told of: of what one ACK tells together the order is unknown.
    ///
    /// If it was repeated, its first transmission may be the one that arrived: `echo` is the timestamp that came back, if
    /// it is this packet's, and shows which; and no transmission takes less than the least round-trip time.
    pub fn on_delivered(
        &mut self,
        now: Time,
        packet: &Packet,
        echo: Option<Time>,
        newest: Option<Newest>,
        rtt: &Rtt,
    ) {
        let sent = packet.state.sent_time;
        let sample = now.since(sent);
        let is_earlier_copy = echo.is_some_and(|echo| echo < sent) || sample < rtt.min();
        if packet.is_repeated && is_earlier_copy {
            return;
        }
        let sequence = packet.state.sequence;
        if !packet.is_repeated && newest.is_some_and(|newest| newest.sequence > sequence) {
            self.reordering
                .on_late(sample, self.reordering.longest_rtt(), rtt);
        }
        if self.newest.is_none_or(|newest| sequence > newest.sequence) {
            self.reordering.on_in_order(now, sample, rtt);
            self.newest = Some(Newest {
                sequence,
                rtt: sample,
            });
        }
    }

    /// How long after it was sent a packet is overdue, if it was overtaken: the round-trip time and the reordering window
    /// (`RACK_update_reo_wnd`). Where packets have kept their order so far, this is as in RFC 8985.
    fn patience(&self, is_recovering: bool, scoreboard: &Scoreboard, rtt: &Rtt) -> Duration {
        let newest = self.newest.map_or(Duration::ZERO, |newest| newest.rtt);
        let window = self.reordering.window(rtt);
        if scoreboard.reordered() > 0 {
            return self.reordering.longest_rtt() + window;
        }
        if is_recovering || scoreboard.sacked_packets() >= DUP_THRESHOLD {
            return newest;
        }
        newest + window
    }

    /// A packet that is overdue (step 5, "Detect losses"). To be asked until there is none; then the timer is set for the
    /// next that may become overdue.
    ///
    /// RFC 8985 sets its timer for the last of those packets, to have it fire once. Here it is the first: each loss is
    /// found as soon as it can be, and only the packets that are lost are ever looked at.
    #[inline]
    pub fn next_overdue(
        &mut self,
        now: Time,
        is_recovering: bool,
        scoreboard: &Scoreboard,
        rtt: &Rtt,
    ) -> Option<Number> {
        self.deadline = None;
        let newest = self.newest?;
        let (number, packet) = scoreboard.oldest()?;
        if packet.state.sequence > newest.sequence {
            return None;
        }
        let deadline = packet.state.sent_time + self.patience(is_recovering, scoreboard, rtt);
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
    #[inline]
    pub fn deadline(&self) -> Option<Time> {
        self.deadline
    }
}
