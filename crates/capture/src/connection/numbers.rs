//! The packets that did not pass, by the numbers that their sender gave to those that did. Linux counts the packets of each
//! IPv4 connection in the IP identification (`ip_select_ident_segs`), retransmissions included. So a gap in the numbers
//! also shows retransmissions that were lost before the capture. Other systems number otherwise, or not at all.

/// One number in so many may be missing without a loss: the retransmission of a tail was lost, or another connection has
/// the number.
const STRAYS: u64 = 100;

/// A packet that is overtaken by no more than so many others fills a gap that is known.
const LATE: i16 = 64;

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
}

impl Numbers {
    /// A segment of `packets` packets with the first one's number. Data are missing before it, or were when it was sent,
    /// if it `follows_loss`.
    #[inline]
    pub fn on_segment(&mut self, number: u16, packets: u64, follows_loss: bool) {
        let step = self.step(number);
        if step < 0 {
            self.in_order += 2 * u64::from(step >= -LATE && self.missing > 0);
            self.missing -= i64::try_from(packets).unwrap_or(0);
        }
        self.pass(number, packets, follows_loss);
    }

    /// A packet without data. One that is late is taken for a copy: nothing tells the two apart. One that is far ahead may
    /// come from anybody, unless it follows another one without data.
    #[inline]
    pub fn on_no_data(&mut self, number: u16, follows_loss: bool) {
        let follows = self.after.replace(number.wrapping_add(1)) == Some(number);
        if follows || self.step(number) <= LATE {
            self.pass(number, 1, follows_loss);
        }
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

    fn pass(&mut self, number: u16, packets: u64, follows_loss: bool) {
        self.segments += 1;
        self.packets += packets;
        match self.step(number) {
            ..0 => return,
            0 => self.in_order += 1,
            step if follows_loss => self.missing += i64::from(step),
            step => self.stray += u64::from(step.unsigned_abs()),
        }
        #[expect(clippy::cast_possible_truncation, reason = "the numbers wrap")]
        let packets = packets as u16;
        self.next = Some(number.wrapping_add(packets));
    }

    /// The number of packets that did not pass. `None` if the numbers do not count packets.
    pub fn missing(&self) -> Option<u64> {
        let missing = u64::try_from(self.missing).unwrap_or(0);
        let are_in_order = self.in_order * 4 >= self.segments * 3;
        let are_alone = self.stray * STRAYS <= self.segments;
        (are_in_order && are_alone && missing <= self.packets).then_some(missing)
    }
}

#[cfg(test)]
mod tests {
    use super::Numbers;

    fn of(packets: impl IntoIterator<Item = (u16, u64, bool)>) -> Option<u64> {
        let mut numbers = Numbers::default();
        for (number, packets, follows_loss) in packets {
            numbers.on_segment(number, packets, follows_loss);
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
            numbers.on_segment(number, 1, true);
        }
        for _ in 0..20 {
            numbers.on_no_data(150, false);
        }
        assert_eq!(numbers.missing(), Some(20));
    }

    #[test]
    fn a_packet_without_data_is_not_far_ahead() {
        let mut numbers = Numbers::default();
        for number in (0..1_000).filter(|at| at % 10 != 3) {
            numbers.on_segment(number, 1, true);
            if number % 100 == 50 {
                numbers.on_no_data(number + 5_000, true);
            }
        }
        assert_eq!(numbers.missing(), Some(100));
        for number in 1_100..1_200 {
            numbers.on_no_data(number, true);
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
}
