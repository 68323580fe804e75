//! Detection of loops of relays, by new clients that all begin alike.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::mem;
use std::net::SocketAddr;

use places::Host;
use units::{Duration, Time};

/// The maximum number of clients of one host that begin with the same datagram, byte for byte, and get no answer. Two
/// relays that forward to each other are clients of each other: at each turn, a datagram comes back from a new socket
/// of the other relay, and is never answered. The first datagrams of real clients are mostly random, or answered. The
/// maximum is IP's default time to live, which ends loops of routers: 64 (RFC 1700).
pub(crate) const MAX_ALIKE: u32 = 64;

/// The maximum number of beginnings that are remembered of one period. One host can get places for fewer in that time,
/// as each of 512 places is its own for a second at least. Both periods take a few megabytes.
const MAX_BEGINNINGS: usize = 1 << 16;

/// A hash of a client's host and of its first datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Beginning(u64);

/// Counts how many clients have begun alike and got no answer, even if they have lost their places. A count is
/// forgotten when nobody has begun so for one to two periods.
pub(crate) struct Alike {
    /// A hash with a random key, so that nobody can construct datagrams with equal hashes.
    hashes: RandomState,
    /// The length of a period.
    period: Duration,
    /// The beginning of the present period.
    since: Time,
    recent: Period,
    /// The period before, without entries of the present one.
    former: Period,
}

#[derive(Default)]
struct Period {
    counts: HashMap<Beginning, u32>,
    /// Refused clients, and their beginnings. Their next datagrams are in the same loop. They differ from the first
    /// one, but would only lengthen the loop.
    refused: HashMap<SocketAddr, Beginning>,
}

impl Alike {
    /// Returns an empty count.
    pub(crate) fn new(period: Duration) -> Alike {
        Alike {
            hashes: RandomState::new(),
            period,
            since: Time::ZERO,
            recent: Period::default(),
            former: Period::default(),
        }
    }

    /// Returns the beginning of the new client at `address` with its first datagram `payload`, or `None` if too many
    /// have begun so.
    pub(crate) fn admit(
        &mut self,
        address: SocketAddr,
        payload: &[u8],
        now: Time,
    ) -> Option<Beginning> {
        self.forget(now);
        let periods = [&mut self.recent, &mut self.former];
        let refused = periods.map(|period| period.refused.remove(&address));
        let beginning = refused.into_iter().flatten().next().unwrap_or_else(|| {
            let host = Host::of(address.ip());
            Beginning(self.hashes.hash_one((host, payload)))
        });
        let counts = [&self.recent, &self.former].map(|period| period.counts.get(&beginning));
        if counts.into_iter().flatten().all(|count| *count < MAX_ALIKE) {
            return Some(beginning);
        }
        if self.recent.refused.len() < MAX_BEGINNINGS {
            self.recent.refused.insert(address, beginning);
        }
        None
    }

    /// Counts one more client with this beginning.
    pub(crate) fn count(&mut self, beginning: Beginning) {
        let former = self.former.counts.remove(&beginning).unwrap_or_default();
        *self.recent.counts.entry(beginning).or_insert(former) += 1;
    }

    /// Records that a client with this beginning has an answer.
    pub(crate) fn discount(&mut self, beginning: Beginning) {
        for period in [&mut self.recent, &mut self.former] {
            if let Some(count) = period.counts.get_mut(&beginning) {
                *count = count.saturating_sub(1);
            }
        }
    }

    /// Begins a new period if the present one is over or full.
    fn forget(&mut self, now: Time) {
        let age = now.since(self.since);
        if age <= self.period && self.recent.counts.len() < MAX_BEGINNINGS {
            return;
        }
        self.former = mem::take(&mut self.recent);
        if age > self.period * 2 {
            self.former = Period::default();
        }
        self.since = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clients::IDLE_TIMEOUT;

    fn at(secs: u64) -> Time {
        Time::ZERO + Duration::from_secs(secs)
    }

    fn address(port: u16) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], port))
    }

    /// True if one more client may begin with this.
    fn says(alike: &mut Alike, port: u16, payload: &[u8], now: Time) -> bool {
        let beginning = alike.admit(address(port), payload, now);
        beginning.map(|beginning| alike.count(beginning)).is_some()
    }

    fn full(now: Time) -> Alike {
        let mut alike = Alike::new(IDLE_TIMEOUT);
        for _ in 0..MAX_ALIKE {
            assert!(says(&mut alike, 1, b"round", now));
        }
        assert!(!says(&mut alike, 2, b"round", now));
        alike
    }

    #[test]
    fn a_count_outlives_a_period_but_not_two() {
        let mut alike = full(at(100));
        for secs in [121, 240] {
            assert!(!says(&mut alike, 3, b"round", at(secs)));
        }
        assert!(says(&mut alike, 3, b"round", at(242)));
        // Nothing was counted meanwhile.
        assert!(says(&mut full(at(100)), 3, b"round", at(400)));
    }

    /// Each turn of a slow loop keeps the count.
    #[test]
    fn a_slow_loop_ends() {
        let mut alike = Alike::new(IDLE_TIMEOUT);
        let turns = (0..).take_while(|turn| says(&mut alike, 1, b"round", at(turn * 119)));
        assert_eq!(turns.take(1_000).count(), MAX_ALIKE as usize);
    }

    /// The following datagrams do not move the end of a loop.
    #[test]
    fn who_is_refused_stays_so_until_one_has_an_answer() {
        let mut alike = full(at(100));
        for secs in [100, 121, 200] {
            assert!(!says(&mut alike, 2, b"and round", at(secs)));
        }
        assert!(says(&mut alike, 3, b"and round", at(200)));
        let round = alike.recent.refused[&address(2)];
        alike.discount(round);
        assert!(says(&mut alike, 2, b"and round", at(200)));
        assert!(!says(&mut alike, 4, b"round", at(200)));
    }

    #[test]
    fn memory_has_a_bound() {
        let mut alike = Alike::new(IDLE_TIMEOUT);
        for number in 0..3 * MAX_BEGINNINGS {
            assert!(says(&mut alike, 1, &number.to_be_bytes(), at(1)));
        }
        let beginnings = alike.recent.counts.len() + alike.former.counts.len();
        assert!(beginnings <= 2 * MAX_BEGINNINGS);
    }
}
