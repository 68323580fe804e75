//! RACK: a packet is lost when one that was sent sufficiently later has arrived (RFC 8985, "RACK Algorithm Details").

use congestion::{Duration, Time};

use super::reordering::Reordering;
use super::rtt::Rtt;
use super::scoreboard::{Number, Packet, Scoreboard};

/// The number of selectively acknowledged packets from which on loss is assumed without waiting, while the path has
/// not been seen to reorder (RFC 8985, `DupThresh` in step 4).
const DUP_THRESHOLD: u64 = 3;

#[derive(Debug, Clone)]
pub struct Rack {
    /// The delivered packet that was sent last.
    newest: Option<Newest>,
    /// The wait for overtaken packets.
    pub reordering: Reordering,
    deadline: Option<Time>,
}

/// The delivered packet that was sent last.
#[derive(Debug, Clone, Copy)]
pub struct Newest {
    /// Its index in the order of transmissions. It replaces the times and sequence numbers in RFC 8985's
    /// `RACK_sent_after`.
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

    /// The delivered packet that was sent last.
    pub fn newest(&self) -> Option<Newest> {
        self.newest
    }

    /// Notes that `packet` has arrived (step 2, "Update the state for the most recently sent segment that has been
    /// delivered"). It may have been overtaken by `newest`, which an earlier ACK delivered; the order of packets
    /// delivered by one ACK is unknown.
    ///
    /// If it was retransmitted, its first transmission may be the one that arrived. `echo`, the echoed timestamp if
    /// it is this packet's, shows which; and no transmission takes less than the minimum round-trip time.
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
        if packet.is_retransmitted && is_earlier_copy {
            return;
        }
        let sequence = packet.state.sequence;
        if !packet.is_retransmitted && newest.is_some_and(|newest| newest.sequence > sequence) {
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

    /// The time after which an overtaken packet is lost: the round-trip time and the reordering window
    /// (`RACK_update_reo_wnd`). It is as in RFC 8985 unless packets have been reordered.
    fn loss_timeout(&self, is_recovering: bool, scoreboard: &Scoreboard, rtt: &Rtt) -> Duration {
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

    /// The next packet that is overdue (step 5, "Detect losses"). Call it until there is none; then the timer is set
    /// for the next packet that may become overdue.
    ///
    /// RFC 8985 sets its timer for the last of those packets, so that it fires once. Here it is the first: each loss
    /// is found as soon as possible, and only lost packets are ever visited.
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
        let deadline = packet.state.sent_time + self.loss_timeout(is_recovering, scoreboard, rtt);
        if deadline <= now {
            return Some(number);
        }
        self.deadline = Some(deadline);
        None
    }

    /// Whether `packet` was sent so long ago that it should have been acknowledged (RFC 8985,
    /// `RACK_mark_losses_on_RTO`). The reordering window counts as zero, as in Linux (`tcp_timeout_mark_lost`).
    pub fn is_overdue(&self, now: Time, packet: &Packet) -> bool {
        let rtt = self.newest.map_or(Duration::ZERO, |newest| newest.rtt);
        packet.state.sent_time + rtt <= now
    }

    /// The time of the next check without an ACK.
    #[inline]
    pub fn deadline(&self) -> Option<Time> {
        self.deadline
    }
}
