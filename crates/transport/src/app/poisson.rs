//! Arrivals at random times.

use units::{Bytes, Time};

use super::config;
use super::random::Random;

/// An object that needs a connection of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// Its number within its application, from 0.
    pub id: u64,
    /// Its size.
    pub size: Bytes,
    /// The time of its arrival.
    pub start: Time,
}

/// A Poisson process of objects.
#[derive(Debug, Clone)]
pub(super) struct Arrivals {
    config: config::Poisson,
    next: Option<Time>,
    arrived: u64,
    sizes: Random,
    gaps: Random,
}

impl Arrivals {
    pub(super) fn new(config: &config::Poisson, seed: u64, start: Time) -> Arrivals {
        let (sizes, gaps) = Random::pair(seed);
        let mut arrivals = Arrivals {
            config: config.clone(),
            next: None,
            arrived: 0,
            sizes,
            gaps,
        };
        arrivals.plan(start);
        arrivals
    }

    fn plan(&mut self, after: Time) {
        let next = after + self.gaps.exponential(self.config.interval);
        let is_last = self.config.count.is_some_and(|count| self.arrived >= count);
        self.next = (!is_last && next < Time::MAX).then_some(next);
    }

    /// The time of the next arrival.
    pub(super) const fn next(&self) -> Option<Time> {
        self.next
    }

    /// The next object that has arrived by now.
    pub(super) fn take(&mut self, now: Time) -> Option<Arrival> {
        let start = self.next.filter(|at| *at <= now)?;
        let arrival = Arrival {
            id: self.arrived,
            size: self.config.sizes.draw(&mut self.sizes),
            start,
        };
        self.arrived += 1;
        self.plan(start);
        Some(arrival)
    }

    pub(super) const fn arrived(&self) -> u64 {
        self.arrived
    }
}
