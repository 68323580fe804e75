//! Earliest departure times of one connection.
//!
//! ```text
//! departure = max(now, next)
//! next      = departure + bytes / rate − min(lateness, half of bytes / rate)
//! ```
//!
//! where lateness is the time since the connection could have sent. The delay of a busy host or a late ACK is made up
//! for over the following bursts, not at once (Linux `tcp_update_skb_after_send`).

use congestion::{Bytes, Rate, Time};

/// The packets at the start of a connection that are not paced: the initial window leaves as one burst (Linux:
/// "Original sch_fq does not pace first 10 MSS").
const UNPACED_PACKETS: u32 = 10;

/// The departure time of a connection's next burst: Linux's `tcp_wstamp_ns`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pacer {
    next: Time,
    packets: u32,
}

impl Pacer {
    /// The departure of a burst that is made now.
    #[inline]
    pub fn departure(&self, now: Time) -> Time {
        self.next.max(now)
    }

    /// Accounts for a burst made now, of `bytes` of payload in `packets` packets, at the pacing rate `rate`; zero and
    /// [`Rate::MAX`] do not pace. Returns the burst's departure.
    #[inline]
    pub fn on_burst(&mut self, now: Time, bytes: Bytes, packets: u32, rate: Rate) -> Time {
        let departure = self.departure(now);
        let lateness = departure.since(self.next);
        self.packets = self.packets.saturating_add(packets);
        self.next = departure;
        if self.packets >= UNPACED_PACKETS && !rate.is_zero() && rate != Rate::MAX {
            let span = rate.time_for(bytes);
            self.next += span.saturating_sub(lateness.min(span / 2));
        }
        debug_assert!(self.next >= departure && departure >= now);
        departure
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use congestion::Duration;

    const RATE: Rate = Rate::from_bytes_per_sec(1_000_000);
    const BURST: Bytes = Bytes::new(10_000);
    const SPAN: Duration = Duration::from_millis(10);

    /// A pacer whose next departure is at `next`.
    fn paced(next: Time) -> Pacer {
        Pacer {
            next,
            packets: UNPACED_PACKETS,
        }
    }

    #[test]
    fn bursts_are_a_burst_time_apart() {
        let start = Time::from_nanos(5);
        let mut pacer = paced(start);
        for burst in 0..100 {
            assert_eq!(
                pacer.on_burst(start, BURST, 7, RATE),
                start + SPAN * burst,
                "burst {burst}"
            );
        }
    }

    #[test]
    fn the_initial_window_leaves_at_once() {
        let mut pacer = Pacer::default();
        for _ in 0..5 {
            assert_eq!(pacer.on_burst(Time::ZERO, BURST, 2, RATE), Time::ZERO);
        }
        assert_eq!(pacer.departure(Time::ZERO), Time::ZERO + SPAN);
    }

    #[test]
    fn lateness_is_made_up_for_by_half_a_burst_at_most() {
        let start = Time::from_nanos(1_000_000_000);
        for (late, credit) in [(0, 0), (2, 2), (5, 5), (6, 5), (900, 5)] {
            let mut pacer = paced(start);
            let now = start + Duration::from_millis(late);
            assert_eq!(pacer.on_burst(now, BURST, 7, RATE), now);
            let credit = Duration::from_millis(credit);
            assert_eq!(pacer.departure(now), now + SPAN - credit);
        }
    }

    #[test]
    fn a_host_that_is_a_little_late_every_time_still_sends_at_the_rate() {
        let start = Time::from_nanos(1_000_000_000);
        let mut pacer = paced(start);
        let mut now = start;
        for burst in 0..1_000u64 {
            let late = Duration::from_micros(burst * 7_919 % 5_000);
            now = pacer.departure(now) + late;
            pacer.on_burst(now, BURST, 7, RATE);
        }
        // The schedule is exact: each departure was late, and the next one earlier by as much.
        assert_eq!(pacer.departure(Time::ZERO), start + SPAN * 1_000);
    }

    #[test]
    fn nothing_is_paced_without_a_rate() {
        for rate in [Rate::ZERO, Rate::MAX] {
            let mut pacer = paced(Time::ZERO);
            pacer.on_burst(Time::ZERO, BURST, 7, rate);
            assert_eq!(pacer.departure(Time::ZERO), Time::ZERO);
        }
    }
}
