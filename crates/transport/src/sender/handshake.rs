//! The opening of a connection: a SYN, retransmitted until it is answered or given up.

use congestion::{Duration, Time};

use super::syn_timer::SynTimer;

/// The state of the handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handshake {
    /// Not begun.
    Closed,
    /// A SYN waits to be sent.
    Opening { since: Time, sent: u8 },
    /// A SYN was sent.
    SynSent {
        since: Time,
        deadline: Time,
        sent: u8,
    },
    /// Answered.
    Established { took: Duration },
    /// Never answered.
    Failed,
}

impl Handshake {
    /// Starts at `now`, if the handshake has not started.
    pub fn open(&mut self, now: Time) {
        if *self == Handshake::Closed {
            *self = Handshake::Opening {
                since: now,
                sent: 0,
            };
        }
    }

    /// Whether a SYN is to leave at `departure`; if so, it counts as sent then. Its timeout is at most `max_timeout`.
    pub fn send(&mut self, departure: Time, timer: SynTimer, max_timeout: Duration) -> bool {
        let Handshake::Opening { since, sent } = *self else {
            return false;
        };
        let sent = sent.saturating_add(1);
        let timeout = timer.timeout(sent).min(max_timeout);
        *self = Handshake::SynSent {
            since,
            deadline: (departure + timeout).min(since + timer.patience()),
            sent,
        };
        true
    }

    /// The time at which the SYN is retransmitted or given up.
    #[inline]
    pub fn deadline(&self) -> Option<Time> {
        match self {
            Handshake::SynSent { deadline, .. } => Some(*deadline),
            _ => None,
        }
    }

    /// Handles an overdue answer: the SYN is retransmitted, or given up if it was sent often enough.
    pub fn on_timer(&mut self, now: Time, timer: SynTimer) {
        if let Handshake::SynSent {
            since,
            deadline,
            sent,
        } = *self
            && deadline <= now
        {
            let is_patient = now.since(since) < timer.patience();
            *self = if sent < timer.max_syns() && is_patient {
                Handshake::Opening { since, sent }
            } else {
                Handshake::Failed
            };
        }
    }

    /// Handles an answer at `now`; returns whether it is the first to a SYN that was sent.
    pub fn on_syn_ack(&mut self, now: Time) -> bool {
        let since = match *self {
            Handshake::SynSent { since, .. } => since,
            // The answer to an earlier SYN may arrive when the next is about to leave.
            Handshake::Opening { since, sent } if sent > 0 => since,
            _ => return false,
        };
        *self = Handshake::Established {
            took: now.since(since),
        };
        true
    }

    /// Ends the handshake without a connection, in any state.
    pub fn fail(&mut self) {
        *self = Handshake::Failed;
    }

    /// Opens without a handshake in this direction, because the other end has opened the connection. Returns whether
    /// this was the first attempt.
    pub fn accept(&mut self) -> bool {
        let is_first = *self == Handshake::Closed;
        if is_first {
            *self = Handshake::Established {
                took: Duration::ZERO,
            };
        }
        is_first
    }

    #[inline]
    pub fn is_established(&self) -> bool {
        matches!(self, Handshake::Established { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX_TIMEOUT: Duration = Duration::from_secs(120);

    /// A handshake whose SYNs are not answered, and the times at which they left.
    fn unanswered(timer: SynTimer, max_timeout: Duration) -> (Handshake, Vec<u64>) {
        let (mut handshake, mut now, mut sent) = (Handshake::Closed, Time::ZERO, Vec::new());
        handshake.open(now);
        while handshake.send(now, timer, max_timeout) {
            sent.push(now.since(Time::ZERO).as_secs_f64() as u64);
            now = handshake.deadline().expect("was just sent");
            handshake.on_timer(now, timer);
        }
        sent.push(now.since(Time::ZERO).as_secs_f64() as u64);
        (handshake, sent)
    }

    #[test]
    fn a_syn_is_repeated_like_linuxs() {
        let (mut handshake, sent) = unanswered(SynTimer::Linux, MAX_TIMEOUT);
        assert_eq!(sent, [0, 1, 2, 3, 4, 5, 7, 11, 19, 35, 67, 131]);
        assert_eq!(handshake, Handshake::Failed);
        assert!(!handshake.on_syn_ack(Time::MAX), "too late");
        let (_, sent) = unanswered(SynTimer::Linux, Duration::from_secs(3));
        assert_eq!(sent, [0, 1, 2, 3, 4, 5, 7, 10, 13, 16, 19, 22]);
    }

    #[test]
    fn other_systems_have_other_patience() {
        for (timer, expected) in [
            (SynTimer::Linux419, vec![0, 1, 3, 7, 15, 31, 63, 127]),
            (SynTimer::Windows, vec![0, 3, 9, 21]),
            (SynTimer::Bsd, vec![0, 1, 2, 3, 4, 5, 7, 11, 19, 35, 67, 75]),
        ] {
            let (handshake, sent) = unanswered(timer, MAX_TIMEOUT);
            assert_eq!(sent, expected, "{timer:?}");
            assert_eq!(handshake, Handshake::Failed);
        }
    }

    #[test]
    fn the_first_answer_counts() {
        let at = |seconds| Time::ZERO + Duration::from_secs(seconds);
        let mut handshake = Handshake::Closed;
        assert!(!handshake.on_syn_ack(at(0)));
        handshake.open(at(1));
        assert!(!handshake.on_syn_ack(at(1)), "nothing was sent yet");
        assert!(handshake.send(at(1), SynTimer::Linux, MAX_TIMEOUT));
        assert!(!handshake.send(at(1), SynTimer::Linux, MAX_TIMEOUT));
        handshake.on_timer(at(2), SynTimer::Linux);
        assert!(handshake.on_syn_ack(at(2)), "late, but an answer");
        assert!(!handshake.on_syn_ack(at(3)));
        let took = Duration::from_secs(1);
        assert_eq!(handshake, Handshake::Established { took });
    }
}
