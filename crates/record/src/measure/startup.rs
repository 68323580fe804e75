//! Measures of a flow's start: the first search for the bandwidth, and the queue that it leaves.

use congestion::Phase;

use super::rounds::rounds;
use super::{Measure, Subject};
use crate::FlowSample;
use crate::dimension::Dimension;
use tables::statistics::median;

pub(super) const MEASURES: &[Measure] = &[
    Measure {
        name: "startup_growth",
        unit: Dimension::Plain,
        is_windowed: false,
        about: "median factor by which inflight grows in a round of Startup or slow start, until it reaches a BDP",
        of: growth,
    },
    Measure {
        name: "startup_rounds",
        unit: Dimension::Plain,
        is_windowed: false,
        about: "rounds until BtlBw is within 5 % of what the path allows, beyond log2 of a BDP in first windows",
        of: rounds_beyond_log2,
    },
    Measure {
        name: "startup_plateau",
        unit: Dimension::Plain,
        is_windowed: false,
        about: "rounds from the last one in which BtlBw grew by a quarter to the end of Startup",
        of: plateau,
    },
    Measure {
        name: "startup_exit",
        unit: Dimension::Rate,
        is_windowed: false,
        about: "the bandwidth that the first flow had found when its Startup or slow start first ended",
        of: |subject| Some(subject.summaries().next()?.startup_exit_bps? as f64),
    },
    Measure {
        name: "startup_queue",
        unit: Dimension::Plain,
        is_windowed: false,
        about: "longest queue before the end of Startup and Drain, in BDPs",
        of: queue,
    },
    Measure {
        name: "drained",
        unit: Dimension::Plain,
        is_windowed: false,
        about: "inflight when Drain ends, in BDPs",
        of: |subject| {
            let samples = &subject.flows().next()?.samples;
            let drain = samples
                .iter()
                .position(|sample| sample.phase() == Some(Phase::Drain))?;
            let after = samples
                .get(drain..)?
                .iter()
                .find(|sample| sample.phase() == Some(Phase::ProbeBw))?;
            Some(after.inflight.get() as f64 / subject.bdp_bytes()?)
        },
    },
];

/// The samples until the first search ends.
fn search<'s>(subject: &Subject<'s>) -> Option<&'s [FlowSample]> {
    let samples = &subject.flows().next()?.samples;
    let end = samples.iter().position(|sample| !sample.is_searching());
    samples.get(..end.unwrap_or(samples.len()))
}

fn growth(subject: &Subject<'_>) -> Option<f64> {
    let bdp = subject.bdp_bytes()?;
    let rounds = rounds(search(subject)?);
    let firsts = rounds.iter().filter_map(|round| round.first());
    let inflights: Vec<f64> = firsts.map(|sample| sample.inflight.get() as f64).collect();
    let pairs = inflights.iter().zip(inflights.iter().skip(1));
    let growths = pairs.filter(|(before, _)| (1.0..bdp).contains(*before));
    median(growths.map(|(before, after)| after / before))
}

fn rounds_beyond_log2(subject: &Subject<'_>) -> Option<f64> {
    let samples = &subject.flows().next()?.samples;
    let limit = subject.path()?.limit_bps? as f64;
    let has_found = |sample: &FlowSample| {
        let bw = sample.btl_bw.map(|bw| bw.bits_per_sec() as f64);
        bw.is_some_and(|bw| bw >= limit * 0.95)
    };
    let found = samples.iter().position(has_found)?;
    let first = samples.first()?.cwnd.get() as f64;
    let doublings = (subject.bdp_bytes()? / first).log2().max(0.0);
    Some(rounds(samples.get(..found)?).len() as f64 - doublings)
}

fn plateau(subject: &Subject<'_>) -> Option<f64> {
    let samples = &subject.flows().next()?.samples;
    let end = search(subject)?.len();
    // The sample that ends the search opens the last round.
    let samples = samples.get(..=end)?;
    // The last growth by a quarter began from four fifths of the final BtlBw.
    let last = samples.last()?.btl_bw?.bits_per_sec() as f64 / 1.25;
    let has_grown = |sample: &FlowSample| {
        sample
            .btl_bw
            .is_some_and(|bw| bw.bits_per_sec() as f64 > last)
    };
    // It grew between that sample and the previous one.
    let grown = samples.iter().position(has_grown)?;
    Some(rounds(samples.get(grown.saturating_sub(1)..)?).len() as f64 - 1.0)
}

fn queue(subject: &Subject<'_>) -> Option<f64> {
    let flow = subject.flows().next()?;
    let steady = flow
        .samples
        .iter()
        .find(|sample| sample.phase() == Some(Phase::ProbeBw))?
        .at;
    let rtprop_ms = subject.path()?.rtprop_ms;
    let samples = subject.record()?.paths.first()?.samples.iter();
    let delays = samples
        .take_while(|sample| sample.at <= steady)
        .map(|sample| sample.delay.as_millis_f64());
    Some(delays.reduce(f64::max)? / rtprop_ms)
}
