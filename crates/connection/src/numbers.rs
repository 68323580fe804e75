//! The packets that did not pass, by the numbers that their sender gave to those that did. Linux counts the packets of each
//! IPv4 connection in the IP identification (`ip_select_ident_segs`), retransmissions included. So a gap in the numbers
//! also shows retransmissions that were lost before the capture. Other systems number otherwise, or not at all.

/// One number in so many may be missing without a loss: the retransmission of a tail was lost, or another connection has
/// the number.
const MIN_NUMBERS_PER_STRAY: u64 = 100;

/// If one gap in so many is filled by another connection, the counter is shared. Two counters are equal by chance once in
/// 65,536 gaps.
const MIN_GAPS_PER_SHARED: u64 = 256;

/// A packet that is overtaken by no more than so many others fills a gap that is known.
pub const MAX_OVERTAKING: u16 = 64;

/// Retransmissions of a tail that may be lost, too: a sender doubles its timeout with each (RFC 6298, section 5.5), and gives up
/// after these (Linux `tcp_retries2` allows 15, of which a minute has 8).
const MAX_LOST_TAIL: u64 = 8;

/// The kind of a gap in the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gap {
    /// Lost packets: data are missing.
    Loss,
    /// It may be a tail that was lost and is sent again.
    Tail,
    /// No data are missing.
    Stray,
}

/// The numbers of one side's packets.
#[derive(Debug, Clone, Copy, Default)]
pub struct Numbers {
    /// The number after the greatest one.
    next: Option<u16>,
    /// The number after the latest packet without data.
    after: Option<u16>,
    /// Captured segments, and the packets in them.
    segments: u64,
    packets: u64,
    /// Those whose number was the next. A late one and the gap that it fills count, too.
    in_order: u64,
    /// Numbers that were passed over, less those that came late.
    missing: i64,
    /// Numbers that were passed over while no data were missing.
    stray: u64,
    /// Gaps, and those that another connection's packets fill.
    gaps: u64,
    shared: u64,
    /// Numbers that were passed over at the end of data. They are those of a lost tail if its packets follow: up to this number
    /// of packets.
    tail: Option<(i64, u64)>,
}

impl Numbers {
    /// A segment of `packets` packets with the first one's number, and what a gap before it is.
    #[inline]
    pub fn on_segment(&mut self, number: u16, packets: u64, gap: Gap) {
        let step = self.step(number);
        if step < 0 {
            let is_late = step.unsigned_abs() <= MAX_OVERTAKING;
            self.in_order += 2 * u64::from(is_late && self.missing > 0);
            self.missing -= i64::try_from(packets).unwrap_or(0);
        }
        self.pass(number, packets, gap);
    }

    /// A packet without data. One that is late is taken for a copy: nothing tells the two apart. One that is far ahead may
    /// come from anybody, unless it follows another one without data.
    #[inline]
    pub fn on_no_data(&mut self, number: u16, gap: Gap) {
        let follows = self.after.replace(number.wrapping_add(1)) == Some(number);
        let step = self.step(number);
        if follows || step < 0 || step.unsigned_abs() <= MAX_OVERTAKING {
            self.pass(number, 1, gap);
        }
    }

    /// True if the number is one of the next that its sender gives.
    pub fn continue_with(&self, number: u16) -> bool {
        self.next.is_some() && (0..=MAX_OVERTAKING.cast_signed()).contains(&self.step(number))
    }

    /// The number directly follows that of a packet of another connection, between the same hosts. If there is a gap before
    /// it, the sender has one counter for all of them, as Windows has.
    #[cold]
    pub fn on_other(&mut self, number: u16) {
        self.shared += u64::from(self.step(number) != 0);
    }

    /// Nothing is known of the numbers before the next one.
    pub fn skip(&mut self) {
        self.next = None;
    }

    /// How far the number is beyond the next one.
    fn step(&self, number: u16) -> i16 {
        let next = self.next.unwrap_or(number);
        number.wrapping_sub(next).cast_signed()
    }

    fn pass(&mut self, number: u16, packets: u64, gap: Gap) {
        self.segments += 1;
        self.packets += packets;
        if let Some((missing, _)) = self.tail.filter(|(_, due)| *due <= self.packets) {
            self.missing += missing;
            self.tail = None;
        }
        let step = self.step(number);
        self.gaps += u64::from(step > 0);
        match step {
            ..0 => return,
            0 => self.in_order += 1,
            step => {
                let numbers = u64::from(step.unsigned_abs());
                match gap {
                    Gap::Tail if numbers > MAX_LOST_TAIL => {
                        self.tail = Some((step.into(), self.packets + numbers - MAX_LOST_TAIL));
                    }
                    Gap::Tail | Gap::Loss => self.missing += i64::from(step),
                    Gap::Stray => self.stray += numbers,
                }
            }
        }
        #[expect(clippy::cast_possible_truncation, reason = "the numbers wrap")]
        let packets = packets as u16;
        self.next = Some(number.wrapping_add(packets));
    }

    /// The number of packets that did not pass. `None` if the numbers do not count packets.
    pub fn missing(&self) -> Option<u64> {
        let missing = u64::try_from(self.missing).unwrap_or(0);
        let are_in_order = self.in_order * 4 >= self.segments * 3;
        let is_shared = self.shared > 0 && self.shared * MIN_GAPS_PER_SHARED >= self.gaps;
        let are_alone = self.stray * MIN_NUMBERS_PER_STRAY <= self.segments && !is_shared;
        (are_in_order && are_alone && missing <= self.packets).then_some(missing)
    }
}

#[cfg(test)]
mod tests {
    use super::{Gap, Numbers};

    fn gap(follows_loss: bool) -> Gap {
        if follows_loss { Gap::Loss } else { Gap::Stray }
    }

    fn of(packets: impl IntoIterator<Item = (u16, u64, bool)>) -> Option<u64> {
        let mut numbers = Numbers::default();
        for (number, packets, follows_loss) in packets {
            numbers.on_segment(number, packets, gap(follows_loss));
        }
        numbers.missing()
    }

    #[test]
    fn a_gap_is_a_loss_and_a_late_packet_is_none() {
        let plain = (65_000..=u16::MAX).chain(0..1_000);
        assert_eq!(of(plain.clone().map(|at| (at, 1, false))), Some(0));
        let lossy = plain.filter(|at| at % 10 != 3).map(|at| (at, 1, true));
        assert_eq!(of(lossy), Some(154));
        let swapped = [1, 2, 3, 5, 4, 6, 7, 8, 9, 10, 11, 12, 13];
        assert_eq!(of(swapped.map(|at| (at, 1, true))), Some(0));
        let all_swapped = (0..400)
            .map(|at| if at < 2 { at } else { at ^ 1 })
            .filter(|at| at % 50 != 7);
        assert_eq!(of(all_swapped.map(|at| (at, 1, true))), Some(8));
        assert_eq!(of((0..400).map(|at| (at * 10, 10, false))), Some(0));
    }

    #[test]
    fn a_copy_without_data_is_no_late_packet() {
        let mut numbers = Numbers::default();
        for number in (0..200).filter(|at| at % 10 != 3) {
            numbers.on_segment(number, 1, Gap::Loss);
        }
        for _ in 0..20 {
            numbers.on_no_data(150, Gap::Stray);
        }
        assert_eq!(numbers.missing(), Some(20));
    }

    #[test]
    fn a_packet_without_data_is_not_far_ahead() {
        let mut numbers = Numbers::default();
        for number in (0..1_000).filter(|at| at % 10 != 3) {
            numbers.on_segment(number, 1, Gap::Loss);
            if number % 100 == 50 {
                numbers.on_no_data(number + 5_000, Gap::Loss);
            }
        }
        assert_eq!(numbers.missing(), Some(100));
        for number in 1_100..1_200 {
            numbers.on_no_data(number, Gap::Loss);
        }
        assert_eq!(numbers.missing(), Some(201));
    }

    #[test]
    fn numbers_that_count_something_else_tell_nothing() {
        assert_eq!(of((0..1_000).map(|_| (0, 1, false))), None);
        let mixed = (0..1_000_u16).map(|at| (at.wrapping_mul(40_503), 1, true));
        assert_eq!(of(mixed), None);
        // Another connection takes one number in fifty.
        let shared = (0..1_000).filter(|at| at % 50 != 0);
        assert_eq!(of(shared.map(|at| (at, 1, false))), None);
    }

    #[test]
    fn a_tail_is_lost_if_it_follows() {
        for follow in [1, 20, 40, 100] {
            let mut numbers = Numbers::default();
            (0..100).for_each(|number| numbers.on_segment(number, 1, Gap::Stray));
            numbers.on_segment(140, 1, Gap::Tail);
            (141..140 + follow).for_each(|number| numbers.on_segment(number, 1, Gap::Stray));
            let missing = if follow >= 40 { 40 } else { 0 };
            assert_eq!(numbers.missing(), Some(missing), "{follow}");
        }
    }

    #[test]
    fn a_counter_of_several_connections_tells_nothing() {
        let mut numbers = Numbers::default();
        (0..100).for_each(|number| numbers.on_segment(number, 1, Gap::Stray));
        numbers.on_other(140);
        numbers.on_segment(140, 1, Gap::Loss);
        assert_eq!(numbers.missing(), None);
        // By chance, one of many gaps ends at the number of another connection.
        let mut numbers = Numbers::default();
        for number in (0..60_000).filter(|number| number % 50 != 7) {
            if number == 8 {
                numbers.on_other(number);
            }
            numbers.on_segment(number, 1, Gap::Loss);
        }
        assert_eq!(numbers.missing(), Some(1_200));
    }
}
