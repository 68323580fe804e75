//! The opening of a connection: a SYN, repeated until it is answered.

use congestion::{Duration, Time};

/// The first wait for an answer (RFC 6298, section 2.1), doubled each time.
const FIRST_WAIT: Duration = Duration::from_secs(1);

/// Where the handshake stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handshake {
    /// Not begun.
    Closed,
    /// A SYN waits to be sent.
    Opening { wait: Duration },
    /// A SYN was sent.
    SynSent { deadline: Time, wait: Duration },
    /// Answered.
    Established,
}

impl Handshake {
    /// Begins, if that has not happened.
    pub fn open(&mut self) {
        if *self == Handshake::Closed {
            *self = Handshake::Opening { wait: FIRST_WAIT };
        }
    }

    /// Whether a SYN is to leave at `departure`, which counts as sent then.
    pub fn send(&mut self, departure: Time) -> bool {
        let Handshake::Opening { wait } = *self else {
            return false;
        };
        *self = Handshake::SynSent {
            deadline: departure + wait,
            wait,
        };
        true
    }

    /// When the SYN is to be repeated.
    #[inline]
    pub fn deadline(&self) -> Option<Time> {
        match self {
            Handshake::SynSent { deadline, .. } => Some(*deadline),
            _ => None,
        }
    }

    /// Lets the SYN be repeated if its answer is overdue.
    pub fn on_timer(&mut self, now: Time, longest: Duration) {
        if let Handshake::SynSent { deadline, wait } = *self
            && deadline <= now
        {
            *self = Handshake::Opening {
                wait: (wait * 2).min(longest),
            };
        }
    }

    /// The answer: whether it is the first to a SYN that was sent.
    pub fn on_syn_ack(&mut self) -> bool {
        let is_first = match *self {
            Handshake::SynSent { .. } => true,
            // The answer to an earlier SYN comes when the next is about to leave.
            Handshake::Opening { wait } => wait > FIRST_WAIT,
            Handshake::Closed | Handshake::Established => false,
        };
        if is_first {
            *self = Handshake::Established;
        }
        is_first
    }

    #[inline]
    pub fn is_established(&self) -> bool {
        *self == Handshake::Established
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_syn_is_repeated_with_backoff() {
        let mut handshake = Handshake::Closed;
        assert!(!handshake.on_syn_ack());
        handshake.open();
        assert!(!handshake.on_syn_ack(), "nothing was sent yet");
        let mut now = Time::ZERO;
        for seconds in [1, 2, 4, 5, 5] {
            assert!(handshake.send(now));
            assert!(!handshake.send(now));
            now += Duration::from_secs(seconds);
            assert_eq!(handshake.deadline(), Some(now));
            handshake.on_timer(now, Duration::from_secs(5));
        }
        assert!(handshake.on_syn_ack(), "late, but an answer");
        assert!(!handshake.on_syn_ack());
    }
}
