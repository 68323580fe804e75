//! Remembers which problems were reported, so that each is reported once.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// A problem that has not occurred for this long is reported again if it occurs again.
const REPORT_INTERVAL: Duration = Duration::from_secs(60);

/// The maximum number of remembered problems, and of reports within that time. A control group may come and go often.
const MAX_PROBLEMS: usize = 64;

/// The problems that were reported.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    /// The problems, and when each occurred last.
    known: Vec<(String, Instant)>,
    /// The times of the reports.
    times: VecDeque<Instant>,
}

impl Problems {
    /// The problems that have to be reported.
    pub fn news(&mut self, troubles: Vec<String>, now: Instant) -> Vec<String> {
        let is_forgotten = |last: &Instant| now.saturating_duration_since(*last) >= REPORT_INTERVAL;
        self.known.retain(|(_, last)| !is_forgotten(last));
        while self.times.pop_front_if(|time| is_forgotten(time)).is_some() {}
        let mut news = Vec::new();
        for text in troubles {
            let has_room = self.known.len().max(self.times.len()) < MAX_PROBLEMS;
            match self.known.iter_mut().find(|(known, _)| *known == text) {
                Some((_, last)) => *last = now,
                None if has_room => {
                    self.known.push((text.clone(), now));
                    self.times.push_back(now);
                    news.push(text);
                }
                None => {}
            }
        }
        news
    }

    /// Everything is well again. A problem that occurs again is reported again.
    pub fn over(&mut self) {
        self.known.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_again_and_again_is_told_once() {
        let mut told = Problems::default();
        let begin = Instant::now();
        let mut news = |seconds: u64| {
            let now = begin + Duration::from_secs(seconds);
            told.news(vec!["full".to_owned()], now).len()
        };
        let all: Vec<usize> = [0, 5, 50, 100, 159, 220].map(&mut news).into();
        assert_eq!(all, [1, 0, 0, 0, 0, 1]);
    }

    #[test]
    fn what_was_over_is_told_again_but_not_without_end() {
        let mut told = Problems::default();
        let begin = Instant::now();
        // Each second, the group goes and comes back.
        let mut count = |second: u64| {
            let now = begin + Duration::from_secs(second);
            let gone = told.news(vec!["waited for".to_owned()], now).len();
            told.over();
            let back = told.news(vec!["there again".to_owned()], now).len();
            told.over();
            gone + back
        };
        assert_eq!([count(0), count(1)], [2, 2]);
        let all: usize = (2..60).map(&mut count).sum();
        assert_eq!(all, MAX_PROBLEMS - 4);
        assert_eq!(count(60), 2);
    }
}
