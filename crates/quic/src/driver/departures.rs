//! When a flow's next burst may leave.

use std::time::{Duration, Instant};

/// How much time a flow may make up that went by while its burst was due and could not leave. More would be a burst of its
/// own.
const CATCH_UP: Duration = Duration::from_millis(1);

/// A flow's earliest departure time (Linux `net/ipv4/tcp_output.c`, `tcp_update_skb_after_send`).
#[derive(Debug)]
pub(super) struct Departures {
    next: Instant,
    /// Data has waited for `next`.
    is_awaited: bool,
}

impl Departures {
    /// The first burst may leave at once.
    pub(super) fn new(now: Instant) -> Departures {
        Departures {
            next: now,
            is_awaited: false,
        }
    }

    pub(super) fn is_due(&self, now: Instant) -> bool {
        now >= self.next
    }

    /// Data waits for the departure, which is the result.
    pub(super) fn wait(&mut self) -> Instant {
        self.is_awaited = true;
        self.next
    }

    /// Nothing waits any more, or something else is in its way: time that goes by now is not to be made up.
    pub(super) fn idle(&mut self) {
        self.is_awaited = false;
    }

    /// So many bytes leave now; the next may when these have, at this rate.
    pub(super) fn leave(&mut self, now: Instant, bytes: u64, bytes_per_sec: u64) {
        let nanos = u128::from(bytes) * 1_000_000_000 / u128::from(bytes_per_sec.max(1));
        let takes = Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
        let earliest = if self.is_awaited {
            // A flow whose bursts are far apart may make up more: it does not make a burst of that (Linux `fq_dequeue`
            // forgives half a packet's time).
            let most = CATCH_UP.max(takes / 2);
            now.checked_sub(most).unwrap_or(now)
        } else {
            now
        };
        // As good as never, and then for ever late: a rate of a few bytes a second.
        let far = now + Duration::from_secs(3600);
        let next = self.next.max(earliest).checked_add(takes);
        self.next = next.unwrap_or(far).min(far);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: u64 = 1_000_000;

    fn micros(micros: u64) -> Duration {
        Duration::from_micros(micros)
    }

    #[test]
    fn lateness_does_not_add_up() {
        let start = Instant::now();
        let mut departures = Departures::new(start);
        for burst in 0..1000 {
            let due = start + micros(1500) * burst;
            assert!(!departures.is_due(due - micros(1)) || burst == 0);
            // Up to 900 µs late.
            let now = due + micros(u64::from(burst) * 137 % 900);
            assert!(departures.is_due(now));
            departures.leave(now, 1500, RATE);
            assert_eq!(departures.wait(), due + micros(1500));
        }
    }

    #[test]
    fn what_a_stall_costs_is_made_up_within_bounds() {
        let start = Instant::now();
        let mut departures = Departures::new(start);
        departures.leave(start, 1500, RATE);
        departures.wait();
        let late = start + micros(50_000);
        let mut bytes = 0;
        while departures.is_due(late) {
            departures.leave(late, 100, RATE);
            bytes += 100;
        }
        assert_eq!(bytes, 1100);
    }

    #[test]
    fn a_pause_is_not_made_up() {
        let start = Instant::now();
        let mut departures = Departures::new(start);
        departures.leave(start, 1500, RATE);
        departures.idle();
        let later = start + micros(50_000);
        departures.leave(later, 1500, RATE);
        assert!(!departures.is_due(later + micros(1499)));
        assert!(departures.is_due(later + micros(1500)));
    }

    #[test]
    fn a_rate_of_nothing_is_not_an_error() {
        let start = Instant::now();
        let mut departures = Departures::new(start);
        departures.leave(start, u64::MAX, 0);
        assert!(!departures.is_due(start + Duration::from_secs(3599)));
    }
}
