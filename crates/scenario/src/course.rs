//! A link's rate and a path's RTprop over time. Each is put in order once, and then looked up in logarithmic time, so
//! that a scenario may have as many changes as flows.

use units::{Bytes, Duration, Rate};

use super::link_spec::LinkSpec;
use super::path_spec::PathSpec;

/// A value that changes at given times.
#[derive(Debug, Clone)]
pub struct Course<T> {
    first: T,
    /// The values with their start times, in the order of time.
    steps: Vec<(Duration, T)>,
}

impl<T: Copy> Course<T> {
    fn new(first: T, changes: impl Iterator<Item = (Duration, T)>) -> Course<T> {
        let mut steps: Vec<_> = changes.collect();
        steps.sort_by_key(|(at, _)| *at);
        Course { first, steps }
    }

    /// Returns the value at a time: that of the latest change until then.
    pub fn at(&self, at: Duration) -> T {
        let made = self.steps.partition_point(|(since, _)| *since <= at);
        let latest = made
            .checked_sub(1)
            .and_then(|latest| self.steps.get(latest));
        latest.map_or(self.first, |(_, value)| *value)
    }
}

impl PathSpec {
    /// The RTprop over time.
    pub fn rtts(&self) -> Course<Duration> {
        let changes = self.data.changes.iter();
        Course::new(
            self.rtt,
            changes.filter_map(|change| Some((change.at, change.rtt?))),
        )
    }
}

impl LinkSpec {
    /// The rate over time, if the link has one.
    pub fn rates(&self) -> Course<Option<Rate>> {
        let changes = self.changes.iter();
        let changes = changes.filter(|change| change.rate.is_some());
        Course::new(self.rate, changes.map(|change| (change.at, change.rate)))
    }

    /// The capacity of the link over time, if it has a rate.
    pub(crate) fn transmitted(&self) -> Option<Transmitted> {
        Transmitted::of(self)
    }
}

/// The capacity of a link between two times. Bytes are counted from change to change, each time whole ones.
#[derive(Debug, Clone)]
pub(crate) struct Transmitted {
    /// The rate until the first change.
    first: Rate,
    changes: Vec<Changed>,
}

#[derive(Debug, Clone, Copy)]
struct Changed {
    at: Duration,
    /// The rate from then on.
    rate: Rate,
    /// The capacity from the first change until then, in bytes.
    before: u128,
}

impl Transmitted {
    fn of(link: &LinkSpec) -> Option<Transmitted> {
        let first = link.rate?;
        let mut ordered: Vec<_> = link.changes.iter().collect();
        ordered.sort_by_key(|change| change.at);
        let mut changes: Vec<Changed> = Vec::with_capacity(ordered.len());
        for change in ordered {
            let (rate, before) = changes.last().map_or((first, 0), |last| {
                let span = change.at.saturating_sub(last.at);
                let bytes = last.rate.bytes_in(span).get();
                (last.rate, last.before + u128::from(bytes))
            });
            changes.push(Changed {
                at: change.at,
                rate: change.rate.unwrap_or(rate),
                before,
            });
        }
        Some(Transmitted { first, changes })
    }

    /// The capacity between two times.
    pub(crate) fn between(&self, from: Duration, to: Duration) -> Bytes {
        let made = self.changes.partition_point(|change| change.at <= from);
        let before = made.checked_sub(1).and_then(|last| self.changes.get(last));
        let rate = before.map_or(self.first, |change| change.rate);
        let until = self.changes.partition_point(|change| change.at < to);
        let (Some(next), Some(last)) = (
            self.changes.get(made..until).and_then(<[_]>::first),
            self.changes.get(made..until).and_then(<[_]>::last),
        ) else {
            return rate.bytes_in(to.saturating_sub(from));
        };
        let between = u64::try_from(last.before - next.before).unwrap_or(u64::MAX);
        rate.bytes_in(next.at.saturating_sub(from))
            + Bytes::new(between)
            + last.rate.bytes_in(to.saturating_sub(last.at))
    }
}
