//! The share of time in which the processors were busy, in each second.

use linux::machine::Processors;
use units::Duration;

use crate::machine::FULL_SHARE;

/// Inspects the processors each second.
#[derive(Debug)]
pub(super) struct Busy {
    begin: Option<Processors>,
    last: Option<Processors>,
    looked: Duration,
    seconds: u32,
    full: u32,
}

impl Busy {
    /// Begins now.
    pub fn new() -> Busy {
        let begin = Processors::now();
        Busy {
            begin,
            last: begin,
            looked: Duration::ZERO,
            seconds: 0,
            full: 0,
        }
    }

    /// Inspects the processors if a second has passed. `at` is the time since the beginning.
    pub fn look(&mut self, at: Duration) {
        if at.saturating_sub(self.looked) < Duration::from_secs(1) {
            return;
        }
        let now = Processors::now();
        if let Some(share) = busy(now, self.last) {
            self.seconds += 1;
            self.full += u32::from(share > FULL_SHARE);
        }
        (self.last, self.looked) = (now, at);
    }

    /// The share of the time in which the processors were busy. `None` if the system does not report it.
    pub fn share(&self) -> Option<f64> {
        busy(self.last, self.begin)
    }

    /// The share of the seconds in which the processors were busy nearly all the time ([`FULL_SHARE`]).
    pub fn full_share(&self) -> Option<f64> {
        (self.seconds > 0).then(|| f64::from(self.full) / f64::from(self.seconds))
    }
}

fn busy(now: Option<Processors>, then: Option<Processors>) -> Option<f64> {
    now?.busy_since(then?)
}
