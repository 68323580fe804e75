//! The times at which noq is asked for a probe of the path MTU.

use std::time::{Duration, Instant};

/// The time from a probe to the next query. If the probe is still in flight, the query is repeated, each time after
/// twice as long.
const MIN_INTERVAL: Duration = Duration::from_millis(1);

/// The maximum time between two queries, and the time before the first one. The window of a new connection holds it
/// back, and then noq sends probes unasked.
const MAX_INTERVAL: Duration = Duration::from_secs(1);

/// The search for the path MTU of a connection that always has more to send than pacing allows. noq sends a probe only
/// if it can send nothing else, and does not report that it wants to. So it is queried from time to time.
#[derive(Debug)]
pub(super) struct Search {
    next: Instant,
    pause: Duration,
}

impl Search {
    pub(super) fn new(now: Instant) -> Search {
        Search {
            next: now + MAX_INTERVAL,
            pause: MAX_INTERVAL,
        }
    }

    /// True if it is time for a query.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        now >= self.next
    }

    /// Records whether there was a probe.
    pub(super) fn answer(&mut self, is_probe: bool, now: Instant) {
        self.pause = if is_probe {
            MIN_INTERVAL
        } else {
            (self.pause * 2).min(MAX_INTERVAL)
        };
        self.next = now + self.pause;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_become_rare_until_there_is_a_probe() {
        let start = Instant::now();
        let mut search = Search::new(start);
        let mut asked = Vec::new();
        for ms in 0..5_000 {
            let now = start + Duration::from_millis(ms);
            if search.is_due(now) {
                asked.push(ms);
                search.answer(asked.len() == 2, now);
            }
        }
        assert_eq!(asked[..6], [1_000, 2_000, 2_001, 2_003, 2_007, 2_015]);
        let last = asked.len() - 1;
        assert_eq!((asked.len(), asked[last] - asked[last - 1]), (13, 1_000));
    }
}
