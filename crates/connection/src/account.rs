//! How long each limit held.
//!
//! A bottleneck that was busy while data departed shows only when the data are acknowledged. The time that goes to the
//! path is therefore kept by the round of its departures, until that round is decided.

use congestion::Duration;

use crate::limit::Limit;

/// How long each limit held.
#[derive(Debug, Clone, Copy, Default)]
pub struct Shares {
    spans: [Duration; Limit::ALL.len()],
}

impl Shares {
    /// The time of this limit.
    pub fn of(&self, limit: Limit) -> Duration {
        self.spans[limit as usize]
    }

    /// The sum of all limits.
    pub fn total(&self) -> Duration {
        let spans = self.spans.iter();
        spans.fold(Duration::ZERO, |sum, span| sum + *span)
    }

    fn add(&mut self, limit: Limit, span: Duration) {
        let place = &mut self.spans[limit as usize];
        *place = *place + span;
    }
}

/// The time in one round that counts for the bottleneck or its buffer if the bottleneck was busy.
#[derive(Debug, Clone, Copy, Default)]
struct Round {
    bottleneck: Duration,
    buffer: Duration,
}

/// The time by its limits, with the last rounds apart.
#[derive(Debug, Clone, Copy, Default)]
pub struct Account {
    decided: Shares,
    ended: Round,
    present: Round,
}

impl Account {
    /// This limit held for `span`, if the bottleneck was busy.
    pub fn add(&mut self, by: Limit, span: Duration) {
        let place = match by {
            Limit::Bottleneck => &mut self.present.bottleneck,
            Limit::Buffer => &mut self.present.buffer,
            _ => return self.decided.add(by, span),
        };
        *place = *place + span;
    }

    /// The present round ends. The one before is decided.
    pub fn end_round(&mut self) {
        self.ended = std::mem::take(&mut self.present);
    }

    /// Decides the round that has ended.
    pub fn decide(&mut self, is_busy: bool) {
        let ended = std::mem::take(&mut self.ended);
        for (by, span) in [
            (Limit::Bottleneck, ended.bottleneck),
            (Limit::Buffer, ended.buffer),
        ] {
            self.decided.add(by.if_busy(is_busy), span);
        }
    }

    /// All shares. `is_busy` decides the rounds that are still open.
    pub fn shares(mut self, is_busy: bool) -> Shares {
        self.decide(is_busy);
        self.end_round();
        self.decide(is_busy);
        self.decided
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rounds_time_is_the_windows_unless_the_bottleneck_was_busy() {
        let millis = Duration::from_millis;
        let mut account = Account::default();
        for is_busy in [true, false] {
            account.add(Limit::Application, millis(1));
            account.add(Limit::Bottleneck, millis(20));
            account.add(Limit::Buffer, millis(5));
            account.end_round();
            account.decide(is_busy);
        }
        // The last round is not decided.
        account.add(Limit::Bottleneck, millis(3));
        let of = |is_busy| {
            let shares = account.shares(is_busy);
            [
                Limit::Application,
                Limit::Window,
                Limit::Bottleneck,
                Limit::Buffer,
            ]
            .map(|limit| shares.of(limit).as_nanos() / 1_000_000)
        };
        assert_eq!(of(true), [2, 25, 23, 5]);
        assert_eq!(of(false), [2, 28, 20, 5]);
    }
}
