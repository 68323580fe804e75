//! Measures of the window when packets are lost.

use super::rounds::rounds;
use super::{Measure, Subject};
use crate::FlowSample;
use crate::dimension::Dimension;
use tables::statistics::median;
use transport::segment::MSS;

pub(super) const MEASURES: &[Measure] = &[
    Measure {
        name: "recovery_first",
        unit: Dimension::Plain,
        is_windowed: true,
        about: "bytes sent in the round after a loss, as a multiple of bytes delivered in it: the median over losses that follow ten rounds without loss",
        of: |subject| {
            let rounds = after_losses(subject)?;
            median(rounds.iter().map(|(first, _)| *first))
        },
    },
    Measure {
        name: "recovery_later",
        unit: Dimension::Plain,
        is_windowed: true,
        about: "bytes sent in the round after that, as a multiple of bytes delivered in it: the median",
        of: |subject| {
            let rounds = after_losses(subject)?;
            median(rounds.iter().map(|(_, later)| *later))
        },
    },
    Measure {
        name: "timeout_cwnd",
        unit: Dimension::Plain,
        is_windowed: true,
        about: "smallest window, in full packets, which is the one right after a timeout if there is one",
        of: |subject| {
            let samples = subject.flows().flat_map(|flow| subject.samples(flow));
            let least = samples.map(|sample| sample.cwnd).min()?;
            Some(least.get() as f64 / MSS.get() as f64)
        },
    },
    Measure {
        name: "cwnd_overshoot",
        unit: Dimension::Plain,
        is_windowed: true,
        about: "largest window after the first loss, as a multiple of the largest window in the ten rounds before it",
        of: |subject| {
            let flow = subject.flows().next()?;
            let samples = subject.samples(flow);
            let lost = samples.first()?.lost;
            let at = samples.iter().position(|sample| sample.lost > lost)?;
            let (before, after) = samples.split_at_checked(at)?;
            let largest = |samples: &[FlowSample]| samples.iter().map(|sample| sample.cwnd).max();
            Some(largest(after)?.get() as f64 / largest(before)?.get() as f64)
        },
    },
];

/// The rounds without a loss that separate one loss from another.
const QUIET_ROUNDS: usize = 10;

/// For each loss after [`QUIET_ROUNDS`] rounds without one: the bytes sent in the round that follows, and in the
/// next, as a multiple of the bytes delivered.
fn after_losses(subject: &Subject<'_>) -> Option<Vec<(f64, f64)>> {
    let samples = subject.samples(subject.flows().next()?);
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = next_loss(samples, from) {
        let quiet = samples.get(from..at)?;
        let after = rounds(samples.get(at..)?);
        if rounds(quiet).len() >= QUIET_ROUNDS
            && let [[first, ..], [second, ..], [third, ..], ..] = after[..]
        {
            found.push((sent_share(first, second), sent_share(second, third)));
        }
        from = at + 1;
    }
    Some(found)
}

/// The index of the next sample with more bytes lost than the one before.
fn next_loss(samples: &[FlowSample], from: usize) -> Option<usize> {
    let later = samples.get(from..)?;
    let pairs = later.iter().zip(later.iter().skip(1));
    let place = pairs
        .into_iter()
        .position(|(before, after)| after.lost > before.lost)?;
    Some(from + place + 1)
}

/// The bytes sent between two samples, as a multiple of the bytes delivered. Sent bytes are delivered, lost, or in
/// flight.
fn sent_share(from: &FlowSample, to: &FlowSample) -> f64 {
    let settled = |sample: &FlowSample| {
        (sample.delivered.get() + sample.lost.get() + sample.inflight.get()) as f64
    };
    let delivered = (to.delivered - from.delivered).get() as f64;
    (settled(to) - settled(from)) / delivered
}

#[cfg(test)]
mod tests {
    use super::super::rounds::tests::sample;
    use super::*;

    #[test]
    fn what_is_sent_is_delivered_lost_or_in_flight() {
        // 30 delivered, 5 lost, and 10 fewer in flight: 25 were sent.
        let (from, mut to) = (sample(0, 100, 50), sample(50, 130, 40));
        to.lost = units::Bytes::new(5);
        assert!((sent_share(&from, &to) - 25.0 / 30.0).abs() < 1e-9);
        assert_eq!(next_loss(&[from, from, to, to], 0), Some(2));
        assert_eq!(next_loss(&[from, from, to, to], 2), None);
    }
}
