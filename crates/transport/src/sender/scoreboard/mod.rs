//! The scoreboard: the status of each sent packet (RFC 6675, "Keeping Track of SACK Information").
//!
//! ```text
//!             sack                     acknowledge
//!  Flight ───────────► Sacked ──────────────────────► (gone)
//!   │  ▲                  ▲                              ▲
//!   │  │ retransmit       │                              │
//!   ▼  │                  │                              │
//!   Lost ─────────────────┴──────────────────────────────┘
//! ```
//!
//! Packets are stored in a ring in the order of the stream. Those in flight are also linked in the order of
//! transmission (Linux `tsorted_sent_queue`), so that time-based loss detection visits only the oldest. Lost ones are
//! linked in the order of their retransmission. The link of a selectively acknowledged packet skips over its run of
//! such packets, and each use lengthens it: a SACK block over a hundred thousand packets costs only its new ones. The
//! bytes in flight (RFC 6675, *pipe*) are updated with each change of status.

mod list;
mod packet;

use core::cmp::Reverse;

use congestion::{Bytes, PacketState};

use list::List;
use packet::Ring;
pub use packet::{Number, Packet, Status};

#[derive(Debug, Clone, Default)]
pub struct Scoreboard {
    ring: Ring,
    flight: List,
    lost: List,
    inflight_bytes: Bytes,
    lost_bytes: Bytes,
    sacked_packets: u32,
    /// Packets in flight that were sent more than once.
    retransmitted_in_flight: u32,
    /// Packets declared lost, retransmitted or not, that are not known to have arrived since (Linux `lost_out`).
    lost_packets: u32,
    /// The end of the highest packet known to have arrived (RFC 8985, `RACK.fack`).
    highest_delivered: u64,
    reordered: u64,
}

impl Scoreboard {
    /// Bytes in flight: sent, and neither arrived nor lost.
    pub fn inflight(&self) -> Bytes {
        self.inflight_bytes
    }

    /// Lost bytes that wait for their retransmission.
    pub fn lost(&self) -> Bytes {
        self.lost_bytes
    }

    /// Packets declared lost that are not known to have arrived since, retransmitted or not (Linux `lost_out`).
    pub fn lost_packets(&self) -> u64 {
        u64::from(self.lost_packets)
    }

    /// Packets acknowledged only selectively.
    pub fn sacked_packets(&self) -> u64 {
        u64::from(self.sacked_packets)
    }

    /// Whether a packet that was sent more than once is in flight (Linux `retrans_out`).
    pub fn has_retransmitted_in_flight(&self) -> bool {
        self.retransmitted_in_flight > 0
    }

    /// Packets that arrived after a packet behind them (RFC 8985, `RACK_detect_reordering`).
    pub fn reordered(&self) -> u64 {
        self.reordered
    }

    /// Counts a packet that was declared lost but was only late (Linux `tcp_try_undo_partial`).
    pub fn note_reordering(&mut self) {
        self.reordered += 1;
    }

    /// Whether all sent data are acknowledged cumulatively.
    pub fn is_empty(&self) -> bool {
        self.ring.len() == 0
    }

    /// The numbers of all packets.
    pub fn numbers(&self) -> core::ops::Range<Number> {
        self.ring.first()..self.ring.end()
    }

    #[inline]
    pub fn get(&self, number: Number) -> Option<&Packet> {
        self.ring.get(number)
    }

    /// The first packet of the stream that is not acknowledged cumulatively.
    pub fn front(&self) -> Option<&Packet> {
        self.ring.front()
    }

    /// The packet in flight that was sent first.
    pub fn oldest(&self) -> Option<(Number, &Packet)> {
        let number = self.flight.front()?;
        Some((number, self.ring.get(number)?))
    }

    /// The packet to be retransmitted next.
    #[inline]
    pub fn next_lost(&self) -> Option<(Number, &Packet)> {
        let number = self.lost.front()?;
        Some((number, self.ring.get(number)?))
    }

    /// The number of packets from `first` on that are consecutive both in the stream and among the lost ones, have
    /// `mss` bytes except for the last, and fit into `bytes`.
    pub fn lost_run(&self, first: Number, mut bytes: Bytes, mss: Bytes) -> u64 {
        let mut number = first;
        while let Some(packet) = self.ring.get(number).filter(|p| p.state.bytes <= bytes) {
            bytes -= packet.state.bytes;
            number += 1;
            if packet.state.bytes != mss || self.ring.next(number - 1) != Some(number) {
                break;
            }
        }
        number - first
    }

    /// The bytes of packet `number`, if it is in flight.
    pub fn inflight_of(&self, number: Number) -> Bytes {
        match self.ring.get(number) {
            Some(packet) if packet.status.is_in_flight() => packet.state.bytes,
            _ => Bytes::ZERO,
        }
    }

    /// The last packet of the stream that is in flight.
    pub fn last_in_flight(&self) -> Option<Number> {
        let is_in_flight = |number: &Number| !self.inflight_of(*number).is_zero();
        self.numbers().rev().find(is_in_flight)
    }

    /// Adds a packet that begins at `start`, behind all others, and is sent for the first time.
    #[inline]
    pub fn push(&mut self, start: u64, state: PacketState) {
        let number = self.ring.push(start, state);
        self.flight.push_back(&mut self.ring, number);
        self.inflight_bytes += state.bytes;
        self.audit();
    }

    /// Notes that packet `number` is retransmitted.
    pub fn retransmit(&mut self, number: Number, state: PacketState) {
        self.leave(number);
        if let Some(packet) = self.ring.get_mut(number) {
            debug_assert_eq!(packet.state.bytes, state.bytes);
            packet.state = state;
            packet.status = Status::Flight;
            packet.is_retransmitted = true;
            self.retransmitted_in_flight += 1;
            self.lost_packets += u32::from(packet.is_lost);
            self.flight.push_back(&mut self.ring, number);
            self.inflight_bytes += state.bytes;
        }
        self.audit();
    }

    /// Notes that everything before `position` has arrived. `on_delivered` is called for each packet that was not
    /// known to have arrived; a packet of which only a part has arrived stays.
    #[inline]
    pub fn acknowledge(&mut self, position: u64, mut on_delivered: impl FnMut(&Packet)) {
        while let Some(packet) = self.ring.front().filter(|packet| packet.end() <= position) {
            let was_known = packet.status == Status::Sacked;
            let (end, is_retransmitted) = (packet.end(), packet.is_retransmitted);
            self.leave(self.ring.first());
            if !was_known {
                self.note_order(end, is_retransmitted);
                self.ring.front().into_iter().for_each(&mut on_delivered);
            }
            self.ring.pop();
        }
        self.audit();
    }

    /// Notes that the packets that begin at `start` or later and end at `end` or before have arrived. `on_delivered`
    /// is called, with its number, for each packet that was not known to have arrived. Nearly all packets have `mss`
    /// bytes.
    #[inline]
    pub fn sack(
        &mut self,
        start: u64,
        end: u64,
        mss: Bytes,
        mut on_delivered: impl FnMut(Number, &Packet),
    ) {
        let mut number = self.ring.at_or_after(start, mss.get());
        loop {
            number = self.first_not_sacked(number);
            let Some(packet) = self.ring.get(number).filter(|packet| packet.end() <= end) else {
                break;
            };
            let packet = *packet;
            self.leave(number);
            if let Some(packet) = self.ring.get_mut(number) {
                packet.status = Status::Sacked;
                packet.is_lost = false;
                self.ring.set_next(number, Some(number + 1));
                self.sacked_packets += 1;
            }
            self.note_order(packet.end(), packet.is_retransmitted);
            on_delivered(number, &packet);
        }
        self.audit();
    }

    /// Declares packet `number`, in flight, lost; returns its transmission. Lost retransmissions go first, because
    /// they block progress the most; the others go in the order of their loss.
    pub fn mark_lost(&mut self, number: Number) -> Option<PacketState> {
        let packet = self.ring.get(number)?;
        if !packet.status.is_in_flight() {
            return None;
        }
        let (state, is_retransmitted) = (packet.state, packet.is_retransmitted);
        self.leave(number);
        if let Some(packet) = self.ring.get_mut(number) {
            packet.status = Status::Lost;
            packet.is_lost = true;
        }
        self.lost_packets += 1;
        self.lost_bytes += state.bytes;
        if is_retransmitted {
            self.lost.push_front(&mut self.ring, number);
        } else {
            self.lost.push_back(&mut self.ring, number);
        }
        self.audit();
        Some(state)
    }

    /// Makes the first packet of the stream the first to be retransmitted, if it is lost.
    pub fn retransmit_front_first(&mut self) {
        let first = self.ring.first();
        if self
            .front()
            .is_some_and(|front| front.status == Status::Lost)
        {
            self.lost.remove(&mut self.ring, first);
            self.lost.push_front(&mut self.ring, first);
        }
    }

    /// Withdraws the loss of all packets that wait for their retransmission.
    pub fn acquit_lost(&mut self) {
        while let Some(number) = self.lost.front() {
            self.acquit(number);
        }
        self.audit();
    }

    /// Withdraws the losses declared by a timeout. A timeout judges by silence and not by arrivals, so loss detection
    /// by time may find these packets lost again, as long as all packets in flight were sent later.
    pub fn acquit_timed_out(&mut self) {
        let mut acquitted = Vec::new();
        while let Some(number) = self.lost.front() {
            self.acquit(number);
            acquitted.push(number);
        }
        let sequence = |ring: &Ring, number| ring.get(number).map(|packet| packet.state.sequence);
        acquitted.sort_unstable_by_key(|number| Reverse(sequence(&self.ring, *number)));
        for number in acquitted {
            let oldest = self.flight.front();
            let is_older = oldest
                .is_none_or(|oldest| sequence(&self.ring, number) < sequence(&self.ring, oldest));
            if is_older && let Some(packet) = self.ring.get_mut(number) {
                packet.status = Status::Flight;
                self.flight.push_front(&mut self.ring, number);
            }
        }
        self.audit();
    }

    fn acquit(&mut self, number: Number) {
        self.leave(number);
        if let Some(packet) = self.ring.get_mut(number) {
            packet.status = Status::Acquitted;
            packet.is_lost = false;
            self.retransmitted_in_flight += u32::from(packet.is_retransmitted);
            self.inflight_bytes += packet.state.bytes;
        }
    }

    /// Forgets all selective acknowledgements, because the receiver has dropped data (RFC 2018, section 8). Those
    /// packets are in flight again until they are declared lost. Returns their bytes.
    pub fn forget_sacks(&mut self) -> Bytes {
        let before = self.inflight_bytes;
        for number in self.numbers() {
            if let Some(packet) = self.ring.get_mut(number)
                && packet.status == Status::Sacked
            {
                packet.status = Status::Acquitted;
                self.retransmitted_in_flight += u32::from(packet.is_retransmitted);
                self.inflight_bytes += packet.state.bytes;
                self.sacked_packets -= 1;
            }
        }
        self.audit();
        self.inflight_bytes - before
    }

    /// Removes packet `number` from its list and the counts of its status.
    fn leave(&mut self, number: Number) {
        let Some(packet) = self.ring.get(number) else {
            return;
        };
        let bytes = packet.state.bytes;
        if packet.status.is_in_flight() {
            self.inflight_bytes -= bytes;
            self.retransmitted_in_flight -= u32::from(packet.is_retransmitted);
        }
        self.lost_packets -= u32::from(packet.is_lost);
        match packet.status {
            Status::Flight => self.flight.remove(&mut self.ring, number),
            Status::Acquitted => {}
            Status::Lost => {
                self.lost.remove(&mut self.ring, number);
                self.lost_bytes -= bytes;
            }
            Status::Sacked => self.sacked_packets -= 1,
        }
    }

    /// The first packet from `number` on that is not selectively acknowledged, or the end.
    ///
    /// Shortens the path for later calls ("path halving": Tarjan and van Leeuwen, "Worst-case Analysis of Set Union
    /// Algorithms", 1984).
    fn first_not_sacked(&mut self, mut number: Number) -> Number {
        let is_sacked = |ring: &Ring, number| {
            let packet: Option<&Packet> = ring.get(number);
            packet.is_some_and(|packet| packet.status == Status::Sacked)
        };
        while is_sacked(&self.ring, number) {
            let mut next = self.ring.next(number).unwrap_or(number + 1);
            if is_sacked(&self.ring, next) {
                next = self.ring.next(next).unwrap_or(next + 1);
                self.ring.set_next(number, Some(next));
            }
            number = next;
        }
        number
    }

    /// Notes that a packet that ends at `end` is newly known to have arrived.
    fn note_order(&mut self, end: u64, is_retransmitted: bool) {
        if end >= self.highest_delivered {
            self.highest_delivered = end;
        } else if !is_retransmitted {
            self.reordered += 1;
        }
    }

    /// Checks that lists, counts and packets agree, if there are few packets.
    fn audit(&self) {
        debug_assert!(self.ring.len() > 32 || self.is_consistent());
    }

    /// Whether lists, counts and packets agree.
    pub fn is_consistent(&self) -> bool {
        let listed = |list: &List, status: Status| {
            let mut count = 0;
            let mut next = list.front();
            while let Some(number) = next {
                if self.ring.get(number).is_none_or(|p| p.status != status) {
                    return None;
                }
                count += 1;
                next = self.ring.next(number);
            }
            Some(count)
        };
        let [mut in_flight, mut lost] = [0; 2];
        let [mut retransmitted, mut declared_lost, mut sacked] = [0; 3];
        let [mut inflight_bytes, mut lost_bytes] = [Bytes::ZERO; 2];
        for packet in self.numbers().filter_map(|number| self.ring.get(number)) {
            if packet.status.is_in_flight() {
                inflight_bytes += packet.state.bytes;
                retransmitted += u32::from(packet.is_retransmitted);
            }
            declared_lost += u32::from(packet.is_lost);
            match packet.status {
                Status::Flight => in_flight += 1,
                Status::Acquitted => {}
                Status::Lost => {
                    lost += 1;
                    lost_bytes += packet.state.bytes;
                }
                Status::Sacked => sacked += 1,
            }
        }
        listed(&self.flight, Status::Flight) == Some(in_flight)
            && listed(&self.lost, Status::Lost) == Some(lost)
            && self.inflight_bytes == inflight_bytes
            && self.retransmitted_in_flight == retransmitted
            && self.lost_packets == declared_lost
            && self.lost_bytes == lost_bytes
            && self.sacked_packets == sacked
    }
}

#[cfg(test)]
mod tests {
    use congestion::Time;
    use congestion::sampling::Outstanding;
    use congestion::sampling::Sampler;

    use super::*;

    const MSS: Bytes = Bytes::new(100);

    /// A scoreboard with this number of packets in flight, and the sampler.
    fn sent(packets: u64) -> (Scoreboard, Sampler) {
        let mut sampler = Sampler::new(Time::ZERO);
        let mut scoreboard = Scoreboard::default();
        for number in 0..packets {
            let state = sampler.on_packet_sent(
                Time::ZERO,
                MSS,
                Outstanding::Inflight(scoreboard.inflight()),
            );
            scoreboard.push(number * 100, state);
        }
        (scoreboard, sampler)
    }

    #[inline]
    fn sack(scoreboard: &mut Scoreboard, start: u64, end: u64) -> Vec<Number> {
        let mut news = Vec::new();
        scoreboard.sack(start, end, MSS, |number, _| news.push(number));
        news
    }

    #[test]
    fn a_packet_takes_96_bytes() {
        assert_eq!(size_of::<Packet>(), 96);
    }

    #[test]
    fn a_block_gives_what_is_new_in_it() {
        let (mut scoreboard, _) = sent(20);
        assert_eq!(sack(&mut scoreboard, 500, 700), [5, 6]);
        assert_eq!(sack(&mut scoreboard, 300, 1_000), [3, 4, 7, 8, 9]);
        assert_eq!(sack(&mut scoreboard, 300, 1_000), []);
        assert_eq!(sack(&mut scoreboard, 600, 1_100), [10]);
        assert_eq!(
            sack(&mut scoreboard, 1_250, 1_450),
            [13],
            "whole packets only"
        );
        assert_eq!(scoreboard.sacked_packets(), 9);
        assert_eq!(scoreboard.inflight(), MSS * 11);
        assert_eq!(
            scoreboard.reordered(),
            2,
            "3 and 4 came behind 5 and 6, 7 did not"
        );
    }

    #[test]
    fn a_long_run_is_passed_in_few_steps() {
        let (mut scoreboard, _) = sent(10_000);
        for number in 1..10_000 {
            assert_eq!(sack(&mut scoreboard, 100, (number + 1) * 100), [number]);
            let mut steps = 0;
            let mut next = 1;
            while scoreboard
                .get(next)
                .is_some_and(|p| p.status == Status::Sacked)
            {
                next = scoreboard.ring.next(next).unwrap();
                steps += 1;
            }
            assert!(steps <= 2, "{steps} at {number}");
        }
        assert!(scoreboard.is_consistent());
    }

    #[test]
    fn what_was_lost_before_goes_first() {
        let (mut scoreboard, mut sampler) = sent(6);
        for number in [1, 2, 4] {
            assert!(scoreboard.mark_lost(number).is_some());
            assert!(scoreboard.mark_lost(number).is_none());
        }
        assert_eq!(scoreboard.lost_run(1, MSS * 9, MSS), 2);
        assert_eq!(scoreboard.lost_run(1, MSS, MSS), 1);
        assert_eq!(
            (scoreboard.lost(), scoreboard.inflight()),
            (MSS * 3, MSS * 3)
        );
        let state = sampler.on_packet_sent(Time::ZERO, MSS, Outstanding::Inflight(MSS * 3));
        scoreboard.retransmit(1, state);
        assert!(scoreboard.has_retransmitted_in_flight());
        assert_eq!(scoreboard.next_lost().map(|(number, _)| number), Some(2));
        scoreboard.mark_lost(1);
        assert_eq!(scoreboard.next_lost().map(|(number, _)| number), Some(1));
        assert!(!scoreboard.has_retransmitted_in_flight());
    }

    #[test]
    fn what_was_lost_is_a_loss_until_it_has_arrived() {
        let (mut scoreboard, mut sampler) = sent(3);
        let again = sampler.on_packet_sent(Time::ZERO, MSS, Outstanding::Inflight(MSS * 2));
        scoreboard.retransmit(2, again);
        assert!(
            scoreboard.lost_packets() == 0,
            "a probe repeats what may not be lost"
        );
        scoreboard.mark_lost(1);
        let again = sampler.on_packet_sent(Time::ZERO, MSS, Outstanding::Inflight(MSS * 2));
        scoreboard.retransmit(1, again);
        assert_eq!(
            (scoreboard.lost_packets(), scoreboard.lost()),
            (1, Bytes::ZERO)
        );
        sack(&mut scoreboard, 100, 200);
        assert_eq!(scoreboard.lost_packets(), 0);
        scoreboard.mark_lost(0);
        scoreboard.acquit_lost();
        assert_eq!(scoreboard.lost_packets(), 0);
    }

    #[test]
    fn what_is_acquitted_is_in_flight_and_no_longer_judged_by_time() {
        let (mut scoreboard, _) = sent(3);
        scoreboard.mark_lost(0);
        scoreboard.acquit_lost();
        assert_eq!(scoreboard.inflight(), MSS * 3);
        assert_eq!(scoreboard.oldest().map(|(number, _)| number), Some(1));
        let mut count = 0;
        scoreboard.acknowledge(300, |_| count += 1);
        assert_eq!((count, scoreboard.inflight()), (3, Bytes::ZERO));
        assert!(scoreboard.is_empty() && scoreboard.is_consistent());
    }

    #[test]
    fn what_a_timeout_lost_in_vain_is_judged_by_time_again() {
        let (mut scoreboard, mut sampler) = sent(5);
        (0..4).for_each(|number| _ = scoreboard.mark_lost(number));
        let again = sampler.on_packet_sent(Time::ZERO, MSS, Outstanding::Inflight(MSS));
        scoreboard.retransmit(0, again);
        scoreboard.acquit_timed_out();
        assert_eq!(scoreboard.inflight(), MSS * 5);
        for expected in [1, 2, 3, 4, 0] {
            let oldest = scoreboard.oldest().map(|(number, _)| number);
            assert_eq!(oldest, Some(expected), "in the order of transmission");
            scoreboard.mark_lost(expected);
        }
        assert!(scoreboard.is_consistent());
    }

    #[test]
    fn packets_of_other_sizes_are_found_too() {
        let mut sampler = Sampler::new(Time::ZERO);
        let mut scoreboard = Scoreboard::default();
        let mut start = 0;
        for bytes in [100, 7, 100, 50, 100, 100] {
            let state = sampler.on_packet_sent(Time::ZERO, Bytes::new(bytes), Outstanding::Nothing);
            scoreboard.push(start, state);
            start += bytes;
        }
        assert_eq!(sack(&mut scoreboard, 207, 357), [3, 4]);
        let mut count = 0;
        scoreboard.acknowledge(120, |_| count += 1);
        assert_eq!(count, 2, "the third is not whole");
        assert_eq!(sack(&mut scoreboard, 107, 207), [2]);
    }
}
