//! Serialization at a rate.

use units::{Bytes, Duration, Rate, Time};

const NANOS_PER_SEC: u64 = 1_000_000_000;

/// Serialization at a rate, exactly: a packet of n bytes takes n × 10⁹ / rate nanoseconds. The fraction is kept and not
/// rounded, so consecutive packets never drift.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    /// The rate in bytes per second. Zero in an outage: the carried packets are through only after a later change of
    /// the rate.
    rate: u64,
    /// In an outage, the rest to carry: bytes × 10⁻⁹.
    left: u128,
    /// The last nonzero rate.
    before: u64,
    /// The time at which the packets carried so far are through: whole nanoseconds, and `rest` / `rate` of one (`rest`
    /// < `rate`).
    through: Time,
    rest: u64,
    /// The last size, and the time that it took in the same form: most packets have the size of the one before, and a
    /// division is the most expensive operation of a link.
    last_size: u64,
    last_took: (u64, u64),
}

impl Line {
    pub(crate) fn new(rate: Rate, now: Time) -> Line {
        let rate = rate.bytes_per_sec();
        Line {
            rate,
            left: 0,
            before: rate.max(1),
            through: if rate == 0 { Time::MAX } else { now },
            rest: 0,
            last_size: 0,
            last_took: (0, 0),
        }
    }

    #[inline]
    pub(crate) fn wake(&mut self, now: Time) {
        self.left = 0;
        if !self.is_stalled() {
            self.through = now;
            self.rest = 0;
        }
    }

    /// True if nothing moves until the rate changes.
    #[inline]
    pub(crate) fn is_stalled(&self) -> bool {
        self.rate == 0
    }

    /// Returns the line with this rate from `at` on.
    pub(crate) fn changed(&self, at: Time, rate: Rate) -> Line {
        let mut line = self.clone();
        line.change_rate(at, rate);
        line
    }

    /// Returns the line as if it had its last rate again from `at` on.
    pub(crate) fn resumed(&self, at: Time) -> Line {
        self.changed(at, Rate::from_bytes_per_sec(self.before))
    }

    /// The first whole nanosecond at which everything carried so far is through.
    #[inline]
    pub(crate) fn finish(&self) -> Time {
        self.through + Duration::from_nanos((self.rest > 0) as u64)
    }

    #[inline]
    pub(crate) fn carry(&mut self, size: Bytes) -> Time {
        if self.is_stalled() {
            let more = u128::from(size.get()) * u128::from(NANOS_PER_SEC);
            self.left = self.left.saturating_add(more);
            return Time::MAX;
        }
        if size.get() != self.last_size {
            self.last_size = size.get();
            self.last_took = divide(size.get() as u128 * NANOS_PER_SEC as u128, self.rate);
        }
        let (mut nanos, rest) = self.last_took;
        // This is rest + self.rest ≥ rate without the overflow.
        if rest >= self.rate - self.rest {
            nanos = nanos.saturating_add(1);
            self.rest = rest - (self.rate - self.rest);
        } else {
            self.rest += rest;
        }
        debug_assert!(self.rest < self.rate, "a whole nanosecond is left over");
        self.through += Duration::from_nanos(nanos);
        self.finish()
    }

    pub(crate) fn change_rate(&mut self, at: Time, rate: Rate) {
        // The rest, in bytes × 10⁻⁹, at the old rate, and then the time that it takes at the new one.
        let (left, idle) = if self.is_stalled() {
            (self.left, at)
        } else if self.finish() > at {
            let nanos = self.through.since(at).as_nanos();
            let left = u128::from(nanos) * u128::from(self.rate) + u128::from(self.rest);
            (left, at)
        } else {
            (0, self.through)
        };
        let mut line = Line::new(rate, idle);
        if line.is_stalled() {
            line.left = left;
            line.before = self.before;
        } else if left > 0 {
            let (nanos, rest) = divide(left, line.rate);
            line.through = at + Duration::from_nanos(nanos);
            line.rest = rest;
        }
        *self = line;
    }
}

/// Returns the quotient (saturating) and the remainder. It uses 64 bits if they suffice, which is several times
/// cheaper.
fn divide(dividend: u128, divisor: u64) -> (u64, u64) {
    match u64::try_from(dividend) {
        Ok(dividend) => (dividend / divisor, dividend % divisor),
        Err(_) => {
            let quotient = dividend / divisor as u128;
            let rest = dividend % divisor as u128;
            (u64::try_from(quotient).unwrap_or(u64::MAX), rest as u64)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(bytes_per_sec: u64) -> Line {
        Line::new(Rate::from_bytes_per_sec(bytes_per_sec), Time::ZERO)
    }

    #[test]
    fn thirds_of_a_nanosecond_do_not_drift() {
        let mut line = line(3);
        let finishes: Vec<u64> = (0..4)
            .map(|_| line.carry(Bytes::new(1)).as_nanos())
            .collect();
        assert_eq!(
            finishes,
            [333_333_334, 666_666_667, 1_000_000_000, 1_333_333_334]
        );
    }

    #[test]
    fn an_idle_line_starts_anew() {
        let mut line = line(3);
        line.carry(Bytes::new(1));
        line.wake(Time::from_nanos(333_333_334));
        assert_eq!(line.carry(Bytes::new(3)).as_nanos(), 1_333_333_334);
    }

    #[test]
    fn the_rest_of_a_packet_goes_at_the_new_rate() {
        let mut line = line(1_000);
        assert_eq!(line.carry(Bytes::new(1_000)).as_nanos(), 1_000_000_000);
        // 250 bytes are through. The other 750 take 0.25 s at 3000 bytes per second, and then 1500 at 1000.
        line.change_rate(
            Time::from_nanos(250_000_000),
            Rate::from_bytes_per_sec(3_000),
        );
        assert_eq!(line.finish().as_nanos(), 500_000_000);
        line.change_rate(
            Time::from_nanos(500_000_000),
            Rate::from_bytes_per_sec(1_000),
        );
        assert_eq!(line.carry(Bytes::new(1_500)).as_nanos(), 2_000_000_000);
    }

    #[test]
    fn a_change_keeps_the_fraction() {
        let mut line = line(3);
        line.carry(Bytes::new(1));
        line.change_rate(Time::ZERO, Rate::from_bytes_per_sec(3));
        assert_eq!(line.finish().as_nanos(), 333_333_334);
        assert_eq!(line.carry(Bytes::new(2)).as_nanos(), 1_000_000_000);
    }

    #[test]
    fn an_outage_keeps_what_is_under_way() {
        let second = |at| Time::ZERO + Duration::from_secs(at);
        let mut line = line(1_000);
        line.carry(Bytes::new(2_000));
        line.change_rate(second(1), Rate::ZERO);
        assert!(line.is_stalled());
        assert_eq!(line.finish(), Time::MAX);
        assert_eq!(line.carry(Bytes::new(500)), Time::MAX);
        line.change_rate(second(3), Rate::ZERO);
        assert_eq!(
            line.resumed(second(4)).finish(),
            second(4) + Duration::from_millis(1_500)
        );
        line.change_rate(second(5), Rate::from_bytes_per_sec(500));
        assert_eq!(line.finish(), second(8));
        // A line that carries nothing is free at once.
        line.change_rate(second(9), Rate::ZERO);
        line.wake(second(10));
        line.change_rate(second(11), Rate::from_bytes_per_sec(1_000));
        assert_eq!(line.finish(), second(11));
        assert_eq!(line.carry(Bytes::new(1_000)), second(12));
    }

    #[test]
    fn extremes_saturate() {
        let mut slow = line(1);
        assert_eq!(slow.carry(Bytes::MAX), Time::MAX);
        assert_eq!(slow.carry(Bytes::new(1)), Time::MAX);
        slow.change_rate(Time::ZERO, Rate::MAX);
        let mut fast = line(u64::MAX);
        fast.wake(Time::MAX);
        assert_eq!(fast.carry(Bytes::MAX), Time::MAX);
        let mut fast = line(u64::MAX);
        assert_eq!(fast.carry(Bytes::new(1)).as_nanos(), 1);
        assert_eq!(fast.carry(Bytes::MAX).as_nanos(), 1_000_000_001);
        fast.change_rate(Time::ZERO, Rate::ZERO);
        assert_eq!(fast.finish(), Time::MAX);
    }
}
