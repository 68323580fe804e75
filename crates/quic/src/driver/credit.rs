//! A connection's share of a thread's time.

/// The bytes that a connection may send in its turn.
const QUANTUM_BYTES: i64 = 16 << 10;

/// A connection's account in a deficit round robin, as in Linux's fq (`fq_dequeue`). Connections that are behind their
/// time get equal bytes, not equal numbers of bursts. A burst may exceed the account, and the connection then waits for
/// some rounds.
#[derive(Debug)]
pub(super) struct Credit(i64);

impl Credit {
    pub(super) fn new() -> Credit {
        Credit(QUANTUM_BYTES)
    }

    /// True if the connection has its turn. If not, it is the turn of the others that are due, if there are any.
    pub(super) fn begin(&mut self, is_other_due: bool) -> bool {
        if self.0 > 0 {
            return true;
        }
        self.0 += QUANTUM_BYTES;
        if !is_other_due {
            self.0 = self.0.max(1);
        }
        !is_other_due
    }

    /// Records that the connection has sent this much.
    pub(super) fn spend(&mut self, bytes: usize) {
        self.0 -= i64::try_from(bytes).unwrap_or(i64::MAX);
    }

    /// True if the connection, which has more to send, keeps its turn. If not, it is the turn of the others.
    pub(super) fn goes_on(&mut self) -> bool {
        let is_left = self.0 > 0;
        if !is_left {
            self.0 += QUANTUM_BYTES;
        }
        is_left
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::driver::agenda::Agenda;

    /// Both are always behind.
    #[test]
    fn large_bursts_get_no_more_than_small_ones() {
        let bursts = [2_400, 64_000];
        let mut credits = [Credit::new(), Credit::new()];
        let mut sent = [0; 2];
        let mut now = Instant::now();
        let mut agenda = Agenda::new();
        agenda.set(0, Some(now));
        agenda.set(1, Some(now));
        while sent.iter().sum::<usize>() < 10_000_000 {
            let (place, key) = agenda.pop(now).unwrap();
            if !credits[key].begin(agenda.is_late(Duration::ZERO, now)) {
                agenda.queue(key, Some(now), now);
                continue;
            }
            sent[key] += bursts[key];
            credits[key].spend(bursts[key]);
            now += Duration::from_nanos(bursts[key] as u64);
            if credits[key].goes_on() {
                agenda.set(key, Some(place));
            } else {
                agenda.queue(key, Some(now), now);
            }
        }
        let share = sent[0] as f64 / 10_000_000.0;
        assert!((0.48..0.52).contains(&share), "{share}");
    }

    #[test]
    fn whoever_is_alone_does_not_wait() {
        let mut credit = Credit::new();
        for _ in 0..10 {
            assert!(credit.begin(false));
            credit.spend(64_000);
        }
        // It is behind by no more than its last burst.
        let rounds = (0..).take_while(|_| !credit.begin(true)).count();
        assert_eq!(rounds, 4);
    }
}
