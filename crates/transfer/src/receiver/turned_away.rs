//! Reports of rejected connections, few enough for a log.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use crate::error::Error;

/// The first report is immediate, the second at least this much later. The pause then doubles, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const MAX_PAUSE: Duration = Duration::from_secs(600);

/// The rejected connections since the last report.
pub struct TurnedAway {
    count: u64,
    latest: Option<(SocketAddr, Error)>,
    pause: Duration,
    next: Option<Instant>,
}

impl TurnedAway {
    pub fn new() -> TurnedAway {
        TurnedAway {
            count: 0,
            latest: None,
            pause: FIRST_PAUSE,
            next: None,
        }
    }

    pub fn add(&mut self, peer: SocketAddr, error: Error) {
        self.count = self.count.saturating_add(1);
        self.latest = Some((peer, error));
    }

    /// The time of the next report, if there is something to report.
    pub fn due(&self, now: Instant) -> Option<Instant> {
        self.latest.as_ref()?;
        Some(self.next.unwrap_or(now))
    }

    /// The report: the latest connection, and the number of others since the last report.
    pub fn take(&mut self, now: Instant) -> Option<(SocketAddr, Error, u64)> {
        let (peer, error) = self.latest.take()?;
        let others = std::mem::take(&mut self.count) - 1;
        self.next = Some(now + self.pause);
        self.pause = (self.pause * 2).min(MAX_PAUSE);
        Some((peer, error, others))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_a_day_makes_few_reports() {
        let (mut away, start) = (TurnedAway::new(), Instant::now());
        let (mut reports, mut told) = (0, 0);
        for second in 0..86_400 {
            let now = start + Duration::from_secs(second);
            away.add(([10, 0, 0, 1], 1).into(), Error::WrongSecret);
            if away.due(now).is_some_and(|due| due <= now) {
                let (.., others) = away.take(now).unwrap();
                told += 1 + others;
                reports += 1;
                assert_eq!(away.due(now), None);
            }
        }
        assert!((100..200).contains(&reports), "{reports} reports");
        let (.., others) = away.take(start).unwrap();
        assert_eq!(told + 1 + others, 86_400);
    }
}
