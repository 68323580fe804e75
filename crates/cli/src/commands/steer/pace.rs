//! Limits how often the policy is read again. Reading a large policy takes seconds, and a script may send signals in a
//! loop.

use std::time::{Duration, Instant};

/// The shortest time between two reads.
const MIN_INTERVAL: Duration = Duration::from_secs(5);

/// A request that may come repeatedly, and is served at limited intervals.
#[derive(Debug, Default)]
pub struct Pace {
    is_asked: bool,
    last: Option<Instant>,
}

impl Pace {
    /// Notes whether there is a request, and returns whether to serve it now. The first request is served at once.
    /// Requests during the interval are served once, after it.
    pub fn is_due(&mut self, is_asked: bool, now: Instant) -> bool {
        self.is_asked |= is_asked;
        let has_waited = |last: Instant| now.saturating_duration_since(last) >= MIN_INTERVAL;
        let is_due = self.is_asked && self.last.is_none_or(has_waited);
        if is_due {
            self.is_asked = false;
            self.last = Some(now);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_answered_now_and_then_and_the_last_of_it_is_answered() {
        let mut pace = Pace::default();
        let begin = Instant::now();
        let mut due = |asked: std::ops::Range<u64>| {
            let steps = (0..100).map(|step| (step, begin + Duration::from_millis(200 * step)));
            let due = steps.filter(|(step, now)| pace.is_due(asked.contains(step), *now));
            due.map(|(step, _)| step).collect::<Vec<_>>()
        };
        assert_eq!(due(0..60), [0, 25, 50, 75]);
    }
}
