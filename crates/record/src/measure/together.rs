//! Measures of flows that share a bottleneck.

use units::{Bytes, Duration};

use super::{Measure, Subject, cycle};
use crate::FlowSample;
use crate::dimension::Dimension;

pub(super) const MEASURES: &[Measure] = &[
    Measure {
        name: "overflow_together",
        unit: Dimension::Share,
        is_windowed: true,
        about: "share of the flows that lose packets in the same overflow, the mean of the overflows; losses no further apart than the longest round-trip time belong to one",
        of: overflow_together,
    },
    Measure {
        name: "overflows",
        unit: Dimension::Plain,
        is_windowed: true,
        about: "number of such overflows",
        of: |subject| Some(overflows(subject).len() as f64),
    },
    Measure {
        name: "larger_yields",
        unit: Dimension::Share,
        is_windowed: true,
        about: "share of its gain cycles after which the flow with most has a smaller part than before, of those in which it has a quarter more than its fair part",
        of: larger_yields,
    },
];

/// The time of each loss and the flow that found it, in the order of time.
fn losses(subject: &Subject<'_>) -> Vec<(Duration, usize)> {
    let mut losses = Vec::new();
    for (place, flow) in subject.flows().enumerate() {
        let samples = subject.samples(flow);
        let pairs = samples.iter().zip(samples.iter().skip(1));
        let found = pairs.filter(|(one, next)| next.lost > one.lost);
        losses.extend(found.map(|(_, next)| (next.at, place)));
    }
    losses.sort_unstable();
    losses
}

/// The flows that lost packets in each overflow, each flow once.
fn overflows(subject: &Subject<'_>) -> Vec<Vec<usize>> {
    let samples = subject.flows().flat_map(|flow| subject.samples(flow));
    let Some(gap) = samples.filter_map(|sample| sample.rtt).max() else {
        return Vec::new();
    };
    grouped(&losses(subject), gap)
}

/// Groups losses, which are in the order of time, with at most `gap` from one to the next; returns the flows of each
/// group.
fn grouped(losses: &[(Duration, usize)], gap: Duration) -> Vec<Vec<usize>> {
    let mut overflows: Vec<Vec<usize>> = Vec::new();
    let mut latest = None;
    for &(at, place) in losses {
        let is_same = latest.is_some_and(|latest| at.saturating_sub(latest) <= gap);
        latest = Some(at);
        match overflows.last_mut() {
            Some(flows) if is_same && flows.contains(&place) => {}
            Some(flows) if is_same => flows.push(place),
            _ => overflows.push(vec![place]),
        }
    }
    overflows
}

fn overflow_together(subject: &Subject<'_>) -> Option<f64> {
    let overflows = overflows(subject);
    let losing: usize = overflows.iter().map(Vec::len).sum();
    share(losing, subject.flows().count() * overflows.len())
}

fn larger_yields(subject: &Subject<'_>) -> Option<f64> {
    let flows: Vec<&[FlowSample]> = subject.flows().map(|flow| subject.samples(flow)).collect();
    let all = |samples: &&&[FlowSample]| delivered(samples, subject.from, subject.to);
    let larger = flows.iter().max_by_key(all)?;
    let part = |from: Duration, to: Duration| {
        let each = flows.iter().map(|samples| delivered(samples, from, to));
        delivered(larger, from, to) as f64 / each.sum::<u64>() as f64
    };
    let starts = cycle::starts(larger);
    let cycles = starts.iter().zip(starts.iter().skip(1));
    let parts: Vec<f64> = cycles.map(|(one, next)| part(*one, *next)).collect();
    let unequal = 1.25 / flows.len() as f64;
    let steps = parts.iter().zip(parts.iter().skip(1));
    let steps = steps.filter(|(before, _)| **before >= unequal);
    let (count, yielded) = steps.fold((0, 0), |(count, yielded), (before, after)| {
        (count + 1, yielded + usize::from(after < before))
    });
    share(yielded, count)
}

/// `part` of `whole`; `None` if `whole` is zero.
fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The bytes delivered between two times.
fn delivered(samples: &[FlowSample], from: Duration, to: Duration) -> u64 {
    (delivered_by(samples, to) - delivered_by(samples, from)).get()
}

/// The bytes delivered until a time.
fn delivered_by(samples: &[FlowSample], at: Duration) -> Bytes {
    let before = samples.partition_point(|sample| sample.at <= at);
    let last = before.checked_sub(1).and_then(|last| samples.get(last));
    last.or(samples.first())
        .map_or(Bytes::ZERO, |sample| sample.delivered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_less_than_a_round_trip_apart_are_one_overflow() {
        let ms = Duration::from_millis;
        let losses = [
            (10, 0),
            (30, 1),
            (35, 0),
            (80, 1),
            (120, 2),
            (160, 0),
            (201, 1),
        ];
        let losses = losses.map(|(at, flow)| (ms(at), flow));
        let expected = [vec![0, 1], vec![1, 2, 0], vec![1]];
        assert_eq!(grouped(&losses, ms(40)), expected);
        assert!(grouped(&[], ms(40)).is_empty());
    }
}
