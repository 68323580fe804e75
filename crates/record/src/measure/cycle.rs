//! BBR's gain cycle in its steady state.

use congestion::Phase;
use units::Duration;

use super::{Measure, Subject};
use crate::FlowSample;
use crate::dimension::Dimension;
use tables::statistics::{Sorted, median};

pub(super) const MEASURES: &[Measure] = &[
    Measure {
        name: "cycle_peak",
        unit: Dimension::Plain,
        is_windowed: true,
        about: "longest round-trip time within two RTprops of the phase with gain 5/4, in shortest round-trip times, of the median cycle",
        of: |subject| {
            of_cycles(subject, |rtts, start, rtprop| {
                let after = rtts.iter().filter(|(at, _)| *at < start + 2.5 * rtprop);
                after.map(|(_, rtt)| *rtt).reduce(f64::max)
            })
        },
    },
    Measure {
        name: "cycle_after",
        unit: Dimension::Plain,
        is_windowed: true,
        about: "median round-trip time in the second half of the cycle, in shortest round-trip times, of the median cycle",
        of: |subject| {
            of_cycles(subject, |rtts, start, rtprop| {
                let late = rtts
                    .iter()
                    .filter(|(at, _)| (start + 4.0 * rtprop..start + 7.0 * rtprop).contains(at));
                median(late.map(|(_, rtt)| *rtt))
            })
        },
    },
    Measure {
        name: "cycle_length",
        unit: Dimension::Plain,
        is_windowed: true,
        about: "median time from one phase with gain 5/4 to the next, in shortest round-trip times",
        of: |subject| {
            let flow = subject.flows().next()?;
            let samples = subject.samples(flow);
            let starts = starts(samples);
            let pairs = starts.iter().zip(starts.iter().skip(1));
            let lengths = pairs.map(|(one, next)| next.saturating_sub(*one).as_millis_f64());
            Some(median(lengths)? / shortest(samples)?)
        },
    },
    Measure {
        name: "probe_bw_share",
        unit: Dimension::Share,
        is_windowed: true,
        about: "time in ProbeBW, as a share of the time, of the first flow",
        of: |subject| {
            let samples = subject.samples(subject.flows().next()?);
            let (first, last) = (samples.first()?, samples.last()?);
            let inside = samples.windows(2).filter_map(|pair| {
                let is_inside = pair[0].phase() == Some(Phase::ProbeBw);
                is_inside.then(|| pair[1].at.saturating_sub(pair[0].at).as_millis_f64())
            });
            let whole = last.at.saturating_sub(first.at).as_millis_f64();
            // The sum of no floats is −0.
            Some(inside.fold(0.0, |sum, part| sum + part) / whole)
        },
    },
    Measure {
        name: "btl_bw_spread",
        unit: Dimension::Share,
        is_windowed: true,
        about: "difference between the highest and the lowest BtlBw, as a share of the median",
        of: |subject| {
            let flow = subject.flows().next()?;
            let samples = subject.samples(flow).iter();
            let bws: Sorted = samples
                .filter_map(|sample| Some(sample.btl_bw?.bits_per_sec() as f64))
                .collect();
            Some((bws.max()? - bws.min()?) / bws.median()?)
        },
    },
];

/// The minimum ratio of pacing rate to bandwidth in the phase with gain 5/4: 1 plus half of the excess gain.
const MIN_PROBE_UP_RATIO: f64 = 1.125;

/// The start of each phase with gain 5/4.
pub(super) fn starts(samples: &[FlowSample]) -> Vec<Duration> {
    let is_up = |sample: &FlowSample| {
        let gain = sample
            .btl_bw
            .map(|bw| sample.pacing_rate.bits_per_sec() as f64 / bw.bits_per_sec() as f64);
        sample.phase() == Some(Phase::ProbeBw) && gain.is_some_and(|gain| gain > MIN_PROBE_UP_RATIO)
    };
    let pairs = samples.iter().zip(samples.iter().skip(1));
    pairs
        .filter(|(before, after)| !is_up(before) && is_up(after))
        .map(|(_, after)| after.at)
        .collect()
}

/// The shortest round-trip time of the samples in milliseconds.
fn shortest(samples: &[FlowSample]) -> Option<f64> {
    let rtts = samples.iter().filter_map(|sample| sample.rtt);
    Some(rtts.min()?.as_millis_f64())
}

/// A number of a cycle. Its arguments are the cycle's round-trip times, each with its time, from the start of the
/// phase with gain 5/4 on; that start; and the shortest round-trip time. All are in milliseconds.
type OfCycle = fn(&[(f64, f64)], f64, f64) -> Option<f64>;

/// The median of such a number over the cycles, in shortest round-trip times.
fn of_cycles(subject: &Subject<'_>, of: OfCycle) -> Option<f64> {
    let samples = subject.samples(subject.flows().next()?);
    let rtprop = shortest(samples)?;
    let rtts: Vec<(f64, f64)> = samples
        .iter()
        .filter_map(|sample| Some((sample.at.as_millis_f64(), sample.rtt?.as_millis_f64())))
        .collect();
    let starts = starts(samples);
    // A cycle that the window cuts off does not count.
    let whole = starts.iter().zip(starts.iter().skip(1));
    let cycles = whole.filter_map(|(start, next)| {
        let (start, next) = (start.as_millis_f64(), next.as_millis_f64());
        let from = rtts.partition_point(|(at, _)| *at < start);
        let to = rtts.partition_point(|(at, _)| *at < next);
        of(rtts.get(from..to)?, start, rtprop)
    });
    Some(median(cycles)? / rtprop)
}
