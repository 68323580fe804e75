//! What somebody has been told of, and need not be told again.

use std::time::{Duration, Instant};

/// A trouble that has not shown for so long is news again.
const FORGOTTEN: Duration = Duration::from_secs(60);

/// So many are remembered.
const MOST: usize = 64;

/// Troubles, and when each has last shown.
#[derive(Debug, Default)]
pub(crate) struct Told(Vec<(String, Instant)>);

impl Told {
    /// Those of these that are news.
    pub fn news(&mut self, troubles: Vec<String>, now: Instant) -> Vec<String> {
        self.0
            .retain(|(_, last)| now.saturating_duration_since(*last) < FORGOTTEN);
        let mut news = Vec::new();
        for text in troubles {
            let has_room = self.0.len() < MOST;
            match self.0.iter_mut().find(|(known, _)| *known == text) {
                Some((_, last)) => *last = now,
                None if has_room => {
                    self.0.push((text.clone(), now));
                    news.push(text);
                }
                None => {}
            }
        }
        news
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_again_and_again_is_told_once() {
        let mut told = Told::default();
        let begin = Instant::now();
        let mut news = |seconds: u64| {
            let now = begin + Duration::from_secs(seconds);
            told.news(vec!["full".to_owned()], now).len()
        };
        let all: Vec<usize> = [0, 5, 50, 100, 159, 220].map(&mut news).into();
        assert_eq!(all, [1, 0, 0, 0, 0, 1]);
    }
}
