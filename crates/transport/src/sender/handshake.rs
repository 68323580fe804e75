//! The opening of a connection: a SYN, repeated until it is answered or patience ends.

use congestion::{Duration, Time};

/// The first wait for an answer (RFC 6298, section 2.1).
const FIRST_WAIT: Duration = Duration::from_secs(1);

/// SYNs, after the first, that are as patient as the first; from then on the wait doubles (Linux 6.5
/// `tcp_syn_linear_timeouts`).
const LINEAR: u8 = 4;

/// SYNs in all: the first, the linear ones, and as many more as Linux's `tcp_syn_retries` says, which is 6. The last one
/// leaves 67 s after the first and is waited for until 131 s.
const MOST: u8 = 1 + LINEAR + 6;

/// Where the handshake stands.
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
    /// Begins at `now`, if that has not happened.
    pub fn open(&mut self, now: Time) {
        if *self == Handshake::Closed {
            *self = Handshake::Opening {
                since: now,
                sent: 0,
            };
        }
    }

    /// Whether a SYN is to leave at `departure`, which counts as sent then. It waits no longer than `longest`.
    pub fn send(&mut self, departure: Time, longest: Duration) -> bool {
        let Handshake::Opening { since, sent } = *self else {
            return false;
        };
        let sent = sent.saturating_add(1);
        let doublings = u32::from(sent.saturating_sub(1 + LINEAR));
        *self = Handshake::SynSent {
            since,
            deadline: departure + (FIRST_WAIT * (1 << doublings)).min(longest),
            sent,
        };
        true
    }

    /// When the SYN is to be repeated, or to be given up.
    #[inline]
    pub fn deadline(&self) -> Option<Time> {
        match self {
            Handshake::SynSent { deadline, .. } => Some(*deadline),
            _ => None,
        }
    }

    /// Lets the SYN be repeated if its answer is overdue, unless it was repeated often enough.
    pub fn on_timer(&mut self, now: Time) {
        if let Handshake::SynSent {
            since,
            deadline,
            sent,
        } = *self
            && deadline <= now
        {
            *self = if sent < MOST {
                Handshake::Opening { since, sent }
            } else {
                Handshake::Failed
            };
        }
    }

    /// The answer, at `now`: whether it is the first to a SYN that was sent.
    pub fn on_syn_ack(&mut self, now: Time) -> bool {
        let since = match *self {
            Handshake::SynSent { since, .. } => since,
            // The answer to an earlier SYN comes when the next is about to leave.
            Handshake::Opening { since, sent } if sent > 0 => since,
            _ => return false,
        };
        *self = Handshake::Established {
            took: now.since(since),
        };
        true
    }

    /// Whatever it has come to, it is over without a connection.
    pub fn fail(&mut self) {
        *self = Handshake::Failed;
    }

    /// The other end has opened the connection, and it is not waited for: there was no handshake in this direction. Gives
    /// whether there had been none before.
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

    const LONGEST: Duration = Duration::from_secs(120);

    /// A handshake whose SYNs are not answered, and when each left.
    fn unanswered(longest: Duration) -> (Handshake, Vec<u64>) {
        let (mut handshake, mut now, mut sent) = (Handshake::Closed, Time::ZERO, Vec::new());
        handshake.open(now);
        while handshake.send(now, longest) {
            sent.push(now.since(Time::ZERO).as_secs_f64() as u64);
            now = handshake.deadline().expect("was just sent");
            handshake.on_timer(now);
        }
        sent.push(now.since(Time::ZERO).as_secs_f64() as u64);
        (handshake, sent)
    }

    #[test]
    fn a_syn_is_repeated_like_linuxs() {
        let (mut handshake, sent) = unanswered(LONGEST);
        assert_eq!(sent, [0, 1, 2, 3, 4, 5, 7, 11, 19, 35, 67, 131]);
        assert_eq!(handshake, Handshake::Failed);
        assert!(!handshake.on_syn_ack(Time::MAX), "too late");
        let (_, sent) = unanswered(Duration::from_secs(3));
        assert_eq!(sent, [0, 1, 2, 3, 4, 5, 7, 10, 13, 16, 19, 22]);
    }

    #[test]
    fn the_first_answer_counts() {
        let at = |seconds| Time::ZERO + Duration::from_secs(seconds);
        let mut handshake = Handshake::Closed;
        assert!(!handshake.on_syn_ack(at(0)));
        handshake.open(at(1));
        assert!(!handshake.on_syn_ack(at(1)), "nothing was sent yet");
        assert!(handshake.send(at(1), LONGEST));
        assert!(!handshake.send(at(1), LONGEST));
        handshake.on_timer(at(2));
        assert!(handshake.on_syn_ack(at(2)), "late, but an answer");
        assert!(!handshake.on_syn_ack(at(3)));
        let took = Duration::from_secs(1);
        assert_eq!(handshake, Handshake::Established { took });
    }
}
