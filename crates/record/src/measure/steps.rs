//! Measures of flows after a change of the bottleneck's rate.

use units::Duration;

use super::{Measure, Subject, cycle};
use crate::FlowSample;
use crate::dimension::Dimension;
use tables::statistics::median;

pub(super) const MEASURES: &[Measure] = &[
    Measure {
        name: "follow",
        unit: Dimension::Time,
        is_windowed: true,
        about: "time from the change of the rate until BtlBw is within 5 % of the new rate",
        of: |subject| {
            let step = Step::of(subject)?;
            let found = step.after.iter().find(|sample| step.has_found(sample))?;
            Some(found.at.saturating_sub(step.at).as_millis_f64())
        },
    },
    Measure {
        name: "cycle_growth",
        unit: Dimension::Plain,
        is_windowed: true,
        about: "median factor by which BtlBw grows in a gain cycle, until it is within 5 % of the new rate",
        of: |subject| {
            let step = Step::of(subject)?;
            let end = step
                .after
                .iter()
                .position(|sample| step.has_found(sample))?;
            // The last growth is cut short when it reaches the new rate, so it is not by a full quarter.
            let climb = step.after.get(..end)?;
            let bws: Vec<f64> = cycle::starts(climb)
                .iter()
                .filter_map(|start| {
                    let sample = climb.iter().find(|sample| sample.at >= *start)?;
                    Some(sample.btl_bw?.bits_per_sec() as f64)
                })
                .collect();
            let pairs = bws.iter().zip(bws.iter().skip(1));
            median(pairs.map(|(one, next)| next / one))
        },
    },
    Measure {
        name: "drain",
        unit: Dimension::Time,
        is_windowed: true,
        about: "time from the change of the rate until the round-trip time is at most 1.5 RTprops and stays there",
        of: |subject| {
            let step = Step::of(subject)?;
            let limit = subject.path()?.rtprop_ms * 1.5;
            let is_long =
                |sample: &&FlowSample| sample.rtt.is_some_and(|rtt| rtt.as_millis_f64() > limit);
            let last = step.after.iter().rev().find(is_long);
            Some(last.map_or(0.0, |last| last.at.saturating_sub(step.at).as_millis_f64()))
        },
    },
    Measure {
        name: "since_step",
        unit: Dimension::Time,
        is_windowed: true,
        about: "time from the change of the rate to the next one, or to the end",
        of: |subject| {
            let step = Step::of(subject)?;
            Some(step.end.saturating_sub(step.at).as_millis_f64())
        },
    },
    Measure {
        name: "inflight_peak",
        unit: Dimension::Plain,
        is_windowed: true,
        about: "most bytes in flight after the change of the rate, in BDPs of the model before it",
        of: |subject| {
            let step = Step::of(subject)?;
            let before = step.before?;
            let bdp = before.btl_bw?.bits_per_sec() as f64 / 8.0 * before.rtprop?.as_secs_f64();
            let most = step.after.iter().map(|sample| sample.inflight).max()?;
            Some(most.get() as f64 / bdp)
        },
    },
    Measure {
        name: "step_rtt_peak",
        unit: Dimension::Plain,
        is_windowed: true,
        about: "longest round-trip time after the change of the rate, in RTprops",
        of: |subject| {
            let step = Step::of(subject)?;
            let most = step.after.iter().filter_map(|sample| sample.rtt).max()?;
            Some(most.as_millis_f64() / subject.path()?.rtprop_ms)
        },
    },
];

/// The first change of the bottleneck's rate in the window, and the first flow's samples around it.
struct Step<'s> {
    at: Duration,
    /// The next change, or the end of the window.
    end: Duration,
    /// The payload rate of the new rate, in bits per second.
    payload_bps: f64,
    before: Option<&'s FlowSample>,
    /// The samples until `end`.
    after: &'s [FlowSample],
}

impl<'s> Step<'s> {
    fn of(subject: &Subject<'s>) -> Option<Step<'s>> {
        let changes = &subject.scenario()?.path.data.changes;
        let in_window = |at: Duration| subject.from <= at && at <= subject.to;
        let mut changes = changes.iter().filter(|change| in_window(change.at));
        let change = changes.next()?;
        let rate = change.rate?.bits_per_sec() as f64;
        let limit = subject.path()?.limit_bps? as f64;
        let mean = mean_rate(subject)?;
        let end = changes.next().map_or(subject.to, |next| next.at);
        let samples = subject.samples(subject.flows().next()?);
        let from = samples.partition_point(|sample| sample.at < change.at);
        let to = samples.partition_point(|sample| sample.at < end);
        Some(Step {
            at: change.at,
            end,
            payload_bps: rate * (limit / mean),
            before: samples.get(..from)?.last(),
            after: samples.get(from..to.max(from))?,
        })
    }

    fn has_found(&self, sample: &FlowSample) -> bool {
        let bw = sample.btl_bw.map(|bw| bw.bits_per_sec() as f64);
        bw.is_some_and(|bw| (bw / self.payload_bps - 1.0).abs() <= 0.05)
    }
}

/// The bottleneck's mean rate in bits per second, over the time of the summary.
fn mean_rate(subject: &Subject<'_>) -> Option<f64> {
    let warmup = subject.scenario()?.warmup;
    let end = subject.summary.end();
    let admitted = subject.scenario()?.path.data.capacity(warmup, end)?;
    Some(admitted.get() as f64 * 8.0 / end.saturating_sub(warmup).as_secs_f64())
}
