//! The time at which a connection's next packets may leave.

use std::time::{Duration, Instant};

/// The maximum lateness that a thread makes up for: so much of a connection's rate leaves at once after a late wake-up,
/// or half a burst if that is more (Linux, `tcp_update_skb_after_send`). Without it, each late wake-up would reduce the
/// rate by its lateness. With 1 ms, BBR lost a third of its goodput on a machine whose threads waited for the
/// scheduler's time slices of about 3 ms. A burst that leaves at once becomes a queue at the bottleneck. With 10 ms,
/// BBR's RTTs on that machine were half as long again as RTprop.
const MAX_CATCH_UP: Duration = Duration::from_millis(3);

/// A packet is late if it leaves this much after its time, as in the emulated path.
const LATE_AFTER: Duration = Duration::from_millis(1);

/// The lateness of datagrams, relative to the time at which pacing and window allowed them and there was something to
/// send. The bytes that a thread does not make up for count as late, too. The following datagrams count in their place,
/// as many as would have left meanwhile, unless the flow waits for something else first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lateness {
    /// Datagrams sent.
    pub datagrams: u64,
    /// Datagrams that left more than a millisecond late.
    pub late: u64,
    /// The sum of their lateness.
    pub total: Duration,
    /// The largest lateness.
    pub most: Duration,
}

impl Lateness {
    fn count(&mut self, datagrams: u64, late: Duration) {
        self.datagrams += datagrams;
        if late > LATE_AFTER {
            self.late += datagrams;
        }
        let times = u32::try_from(datagrams).unwrap_or(u32::MAX);
        self.total = self.total.saturating_add(late.saturating_mul(times));
        self.most = self.most.max(late);
    }

    /// Adds lateness to datagrams that were already this late.
    fn delay(&mut self, Leaving { datagrams, late }: Leaving, by: Duration) {
        let later = late.saturating_add(by);
        if late <= LATE_AFTER && later > LATE_AFTER {
            self.late += datagrams;
        }
        let times = u32::try_from(datagrams).unwrap_or(u32::MAX);
        self.total = self.total.saturating_add(by.saturating_mul(times));
        self.most = self.most.max(later);
    }
}

/// Datagrams that are being given to the kernel, and their lateness.
#[derive(Debug, Clone, Copy, Default)]
struct Leaving {
    datagrams: u64,
    late: Duration,
}

/// The earliest departure time of a connection: at the pacing rate, each burst ends before the next one begins.
#[derive(Debug)]
pub(super) struct Pace {
    /// The time at which the last burst began, for its rate.
    began: Instant,
    /// The size of the last burst, in bytes.
    burst: u64,
    /// The rate of the last burst.
    rate: Option<u64>,
    /// Bytes that left outside the bursts. The next burst pays for them.
    owed: u64,
    missed: Missed,
    leaving: Leaving,
    pub(super) lateness: Lateness,
}

/// The bytes that a late thread did not make up for.
#[derive(Debug, Default)]
struct Missed {
    /// The bytes that would have left meanwhile.
    bytes: u64,
    /// Their average lateness; zero if there are none.
    late: Duration,
}

impl Missed {
    /// Records that these bytes have left.
    fn make_up(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_sub(bytes);
        if self.bytes == 0 {
            self.late = Duration::ZERO;
        }
    }

    /// Records that a burst was late. The thread makes up for `made_up`, the last part of that time, and not for the
    /// rest.
    fn forget(&mut self, late: Duration, made_up: Duration, rate: u64) {
        if let Some(forgotten) = late.checked_sub(made_up) {
            self.bytes = self.bytes.saturating_add(carried(forgotten, rate));
            self.late = self.late.max((late + made_up) / 2);
        }
    }
}

impl Pace {
    /// For a connection that has not sent anything.
    pub(super) fn new(now: Instant) -> Pace {
        Pace {
            began: now,
            burst: 0,
            rate: None,
            owed: 0,
            missed: Missed::default(),
            leaving: Leaving::default(),
            lateness: Lateness::default(),
        }
    }

    /// The time at which the next burst may leave, at this rate in bytes per second; at once if there is no rate. The
    /// last burst ends at the rate at which it left, as in Linux, or at the present rate if that is higher. So a later,
    /// lower rate does not make a large burst longer.
    pub(super) fn due(&self, rate: Option<u64>) -> Instant {
        let (Some(rate), Some(then)) = (rate, self.rate) else {
            return self.began;
        };
        let at = self.began.checked_add(time(self.burst, rate.max(then)));
        // This is beyond the clock's range. The rate will have changed by then.
        at.unwrap_or(self.began + Duration::from_secs(3600))
    }

    /// A burst of this many bytes and datagrams leaves now. `due` was the time at which it could leave: when pacing
    /// allowed it, or later if there was nothing to send, or no room in the window. The thread makes up for such a
    /// wait, up to half of the burst's time, as in Linux (`tcp_update_skb_after_send`). Otherwise a flow that pacing
    /// and window hold back in turn would get less than either allows.
    pub(super) fn depart(
        &mut self,
        rate: Option<u64>,
        due: Instant,
        now: Instant,
        bytes: u64,
        datagrams: u64,
    ) {
        let bytes = bytes.saturating_add(std::mem::take(&mut self.owed));
        let waited = due.saturating_duration_since(self.due(rate));
        if !waited.is_zero() {
            // Something else held the burst back, so the missed bytes do not reduce the rate.
            self.missed = Missed::default();
        }
        let late = now.saturating_duration_since(due);
        self.count(datagrams, late.max(self.missed.late));
        self.missed.make_up(bytes);
        let half = rate.map_or(Duration::ZERO, |rate| time(bytes, rate) / 2);
        let made_up = MAX_CATCH_UP.max(half);
        if let Some(rate) = rate {
            self.missed.forget(late, made_up, rate);
        }
        let began = due.checked_sub(waited.min(half)).unwrap_or(due);
        self.began = began.max(now.checked_sub(made_up).unwrap_or(now));
        (self.burst, self.rate) = (bytes, rate);
    }

    /// This many bytes and datagrams leave now outside the bursts. `due` was the time at which they could leave.
    pub(super) fn slip_in(&mut self, due: Instant, now: Instant, bytes: u64, datagrams: u64) {
        self.count(datagrams, now.saturating_duration_since(due));
        self.owed = self.owed.saturating_add(bytes);
    }

    fn count(&mut self, datagrams: u64, late: Duration) {
        self.lateness.count(datagrams, late);
        self.leaving = Leaving { datagrams, late };
    }

    /// The kernel has taken the last datagrams, for which it had no room for `waited`.
    pub(super) fn left(&mut self, waited: Duration) {
        let leaving = std::mem::take(&mut self.leaving);
        self.lateness.delay(leaving, waited);
    }
}

/// The bytes that a rate in bytes per second carries in a time.
pub(super) fn carried(span: Duration, rate: u64) -> u64 {
    let bytes = span.as_nanos().saturating_mul(u128::from(rate)) / 1_000_000_000;
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// The time that bytes take at a rate in bytes per second.
fn time(bytes: u64, rate: u64) -> Duration {
    let nanos = u128::from(bytes) * 1_000_000_000 / u128::from(rate.max(1));
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::agenda::Agenda;

    const RATE: Option<u64> = Some(1_000_000);

    fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    #[test]
    fn bursts_are_as_far_apart_as_the_rate_says() {
        let start = Instant::now();
        let mut pace = Pace::new(start);
        assert_eq!(pace.due(RATE), start);
        pace.depart(RATE, start, start, 2_000, 2);
        assert_eq!(pace.due(RATE), start + ms(2));
        assert_eq!(pace.due(None), start);
        // The burst is a little late, but the next one is not.
        pace.depart(RATE, start + ms(2), start + ms(2) + ms(1) / 2, 2_000, 2);
        assert_eq!(pace.due(RATE), start + ms(4));
    }

    #[test]
    fn a_burst_ends_at_the_rate_at_which_it_left_or_sooner() {
        let start = Instant::now();
        let mut pace = Pace::new(start);
        pace.depart(Some(125_000_000), start, start, 62_500, 50);
        // At a ten-thousandth of the rate, the burst would take five seconds.
        assert_eq!(pace.due(Some(12_500)), start + ms(1) / 2);
        assert_eq!(pace.due(Some(250_000_000)), start + ms(1) / 4);
        // The next burst, of two milliseconds, makes up for the half millisecond for which the window held it back.
        let opened = start + ms(1);
        pace.depart(RATE, opened, opened, 2_000, 2);
        assert_eq!(pace.due(RATE), opened + ms(2) - ms(1) / 2);
    }

    /// A thread that stops for a part of every two seconds loses that part of the rate, and counts it as late.
    #[test]
    fn what_is_not_made_up_for_is_late() {
        for (stall, share) in [(0, 0.0), (50, 0.0235), (100, 0.0485)] {
            let start = Instant::now();
            let mut pace = Pace::new(start);
            let (mut now, mut sent) = (start, 0);
            while now < start + ms(20_000) {
                let into = (now - start).as_millis() as u64 % 2_000;
                if into < stall {
                    now += ms(stall - into);
                    continue;
                }
                let due = pace.due(RATE);
                if due > now {
                    now += ms(1) / 10;
                    continue;
                }
                pace.depart(RATE, due, now, 1_000, 1);
                sent += 1_000;
            }
            let seen = pace.lateness;
            let late = seen.late as f64 / seen.datagrams as f64;
            let lost = 1.0 - f64::from(sent) / 20_000_000.0;
            assert!((lost - share).abs() < 0.002, "{stall} ms: {lost} lost");
            // The rest is the two milliseconds that are made up for and still count as late.
            assert!(
                late >= lost - 0.002 && late < lost + 0.005,
                "{stall} ms: {late} late"
            );
            let mean = seen.total.as_secs_f64() / seen.datagrams as f64;
            let expected = share * stall as f64 / 2e3;
            assert!(
                mean >= 0.9 * expected && mean < 1.5 * expected + 1e-4,
                "{stall} ms: {mean} instead of {expected}"
            );
        }
    }

    #[test]
    fn a_long_stall_does_not_make_a_short_one_longer() {
        let start = Instant::now();
        let mut pace = Pace::new(start);
        // 98 ms are forgotten, and 98,000 bytes leave afterwards.
        pace.depart(RATE, start, start + ms(101), 1_000, 1);
        let due = pace.due(RATE);
        pace.depart(RATE, due, due, 98_000, 1);
        let seen = pace.lateness;
        assert_eq!((seen.late, seen.total), (2, ms(101 + 52)));
        // Of five milliseconds, two are forgotten.
        let due = pace.due(RATE);
        pace.depart(RATE, due, due + ms(5), 1_000, 1);
        let due = pace.due(RATE);
        pace.depart(RATE, due, due, 2_000, 1);
        let due = pace.due(RATE);
        pace.depart(RATE, due, due, 1_000, 1);
        let seen = pace.lateness;
        assert_eq!((seen.late, seen.total), (4, ms(101 + 52 + 5 + 4)));
    }

    #[test]
    fn a_flow_that_the_window_holds_back_has_not_missed_anything() {
        let start = Instant::now();
        let mut pace = Pace::new(start);
        pace.depart(RATE, start, start + ms(100), 1_000, 1);
        let opened = start + ms(150);
        pace.depart(RATE, opened, opened, 1_000, 1);
        assert_eq!((pace.lateness.datagrams, pace.lateness.late), (2, 1));
    }

    #[test]
    fn half_of_a_burst_makes_up_for_what_the_window_held_back() {
        let start = Instant::now();
        // The window opens a millisecond after pacing allows the burst. Half of the burst's 4 ms covers this.
        let mut pace = Pace::new(start);
        pace.depart(RATE, start, start, 4_000, 4);
        let opened = start + ms(5);
        pace.depart(RATE, opened, opened, 4_000, 4);
        assert_eq!(pace.due(RATE), start + ms(8));
        // A long silence is made up for by no more than that half.
        let later = start + ms(1_000);
        pace.depart(RATE, later, later, 4_000, 4);
        assert_eq!(pace.due(RATE), later + ms(2));
        // Waiting does not count as lateness.
        assert_eq!(pace.lateness.late, 0);
    }

    #[test]
    fn a_late_thread_makes_up_for_three_milliseconds_and_no_more() {
        let start = Instant::now();
        let mut pace = Pace::new(start);
        pace.depart(RATE, start, start + ms(100), 2_000, 2);
        assert_eq!(pace.due(RATE), start + ms(99));
        let seen = pace.lateness;
        assert_eq!((seen.datagrams, seen.late), (2, 2));
        assert_eq!((seen.total, seen.most), (ms(200), ms(100)));
        pace.depart(RATE, start + ms(102), start + ms(102), 1_000, 1);
        assert_eq!((pace.lateness.datagrams, pace.lateness.late), (3, 2));
    }

    /// A burst of two packets takes 20 ms. The thread is 8 ms late for each.
    #[test]
    fn a_slow_flow_that_is_often_late_keeps_its_rate() {
        let start = Instant::now();
        let mut pace = Pace::new(start);
        for _ in 0..100 {
            let due = pace.due(Some(120_000));
            pace.depart(Some(120_000), due, due + ms(8), 2_400, 2);
        }
        assert_eq!(pace.due(Some(120_000)), start + ms(2_000));
        // Each of them was late.
        assert_eq!((pace.lateness.late, pace.lateness.total), (200, ms(1_600)));
        // No more than half a burst is made up for.
        let due = pace.due(Some(120_000));
        pace.depart(Some(120_000), due, due + ms(50), 2_400, 2);
        assert_eq!(pace.due(Some(120_000)), due + ms(60));
    }

    /// As many connections as one thread has to serve. The thread wakes up every half millisecond.
    #[test]
    fn a_thousand_connections_keep_their_rates_in_turn() {
        let start = Instant::now();
        let mut agenda = Agenda::new();
        let mut paces: Vec<Pace> = (0..1_000).map(|_| Pace::new(start)).collect();
        (0..paces.len()).for_each(|key| agenda.set(key, Some(start)));
        let mut sent = vec![0; paces.len()];
        let mut now = start;
        while now < start + ms(10_000) {
            let (least, most) = (sent.iter().min(), sent.iter().max());
            assert!(most.unwrap() - least.unwrap() <= 1_200);
            while let Some((_, key)) = agenda.pop(now) {
                let due = paces[key].due(Some(125_000));
                paces[key].depart(Some(125_000), due, now, 1_200, 1);
                sent[key] += 1_200;
                agenda.queue(key, Some(paces[key].due(Some(125_000))), now);
            }
            now += ms(1) / 2;
        }
        for (pace, sent) in paces.iter().zip(sent) {
            assert!((1_225_000..=1_275_000).contains(&sent), "{sent}");
            assert_eq!(pace.lateness.late, 0);
        }
    }

    #[test]
    fn waiting_for_the_kernel_counts_as_lateness() {
        let start = Instant::now();
        let mut pace = Pace::new(start);
        pace.depart(RATE, start, start + ms(1), 2_000, 2);
        pace.left(ms(4));
        let seen = pace.lateness;
        assert_eq!((seen.datagrams, seen.late), (2, 2));
        assert_eq!((seen.total, seen.most), (ms(10), ms(5)));
        // ACKs have no lateness.
        pace.left(ms(4));
        assert_eq!(pace.lateness, seen);
    }

    #[test]
    fn what_leaves_beside_the_bursts_is_paid_for_with_the_next_one() {
        let start = Instant::now();
        let mut pace = Pace::new(start);
        pace.slip_in(start, start, 1_500, 1);
        assert_eq!(pace.due(RATE), start);
        pace.depart(RATE, start, start, 1_500, 1);
        assert_eq!(pace.due(RATE), start + ms(3));
        assert_eq!(pace.lateness.datagrams, 2);
    }

    #[test]
    fn the_slowest_rate_does_not_overflow() {
        let start = Instant::now();
        let mut pace = Pace::new(start);
        pace.depart(Some(0), start, start, u64::MAX, 1);
        assert!(pace.due(Some(1)) > start + ms(1_000));
        assert!(pace.due(Some(0)) > start + ms(1_000));
        let late = start + ms(1_000_000);
        pace.depart(Some(u64::MAX), start, late, u64::MAX, 1);
    }
}
