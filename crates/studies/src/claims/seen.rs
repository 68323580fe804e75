//! Whether a run can tell what an expectation asks of it.

use record::measure::{Measure, Subject};
use record::{FlowSample, FlowSummary};
use units::Duration;

use super::expectation::Expectation;
use crate::runs::Finding;

/// Counts attempts to open a connection: each may fail without a byte.
const FAILED_OPENS: &str = "failed_opens";
/// What is measured of flows that become even, and then stay so.
const OF_EVENNESS: [&str; 3] = ["convergence", "even", "jain_converged"];
/// What is measured of a change of the bottleneck's rate.
const OF_STEP: [&str; 2] = ["cycle_growth", "follow"];
/// The time until the round-trip time is the least that the flows' windows allow.
const OF_LEAST: &str = "four_packets_reached";
/// The time that a change of the rate has; nothing if the rate does not change.
const SINCE_STEP: &str = "since_step";
/// What is looked at for growth needs two gain cycles of eight phases, each about an RTprop long.
const TWO_CYCLES: f64 = 16.0;
/// So long flows must be even.
const EVEN: Duration = Duration::from_secs(10);
/// So long round-trip times must be short.
const SHORT: Duration = Duration::from_secs(60);

/// Whether it is of an event that may never happen, so that a run which had time for it tells something by having no value.
pub(super) fn is_of_event(measure: &Measure) -> bool {
    OF_EVENNESS.contains(&measure.name)
        || OF_STEP.contains(&measure.name)
        || measure.name == OF_LEAST
}

/// Whether it is of all the flows of a run, and not of some.
pub(super) fn is_of_all_flows(measure: &Measure) -> bool {
    OF_EVENNESS.contains(&measure.name)
}

/// What is looked at, if each flow that had started delivered something: where one did not, nothing is measured of them, even if
/// a count is zero.
pub(super) fn subject<'r>(expectation: &Expectation, run: &'r Finding) -> Option<Subject<'r>> {
    let subject = Subject::new(&run.record, &expectation.select);
    let ended = subject.summary.duration_s;
    let started: Vec<_> = subject
        .summaries()
        .filter(|flow| flow.start_s < ended)
        .collect();
    let has_come = |flow: &&FlowSummary| {
        let has_failed = flow.failed_opens.is_some_and(|failed| failed > 0);
        flow.delivered_bytes > 0 || (has_failed && expectation.measure.name == FAILED_OPENS)
    };
    let of_run = !started.is_empty() && started.iter().all(has_come);
    let grows = |samples: &[FlowSample]| {
        let ends = samples.first().zip(samples.last());
        ends.is_some_and(|(first, last)| last.delivered > first.delivered)
    };
    let in_window = !subject.is_window || {
        let mut flows = subject.flows();
        flows.any(|flow| grows(subject.samples(flow)))
    };
    (of_run && in_window).then_some(subject)
}

/// Whether what never happened in the run could have: all of it was run, its flows delivered, and it had the time that was
/// published.
pub(super) fn could_happen(expectation: &Expectation, run: &Finding) -> bool {
    let Some(subject) = subject(expectation, run) else {
        return false;
    };
    let summary = subject.summary;
    if summary.is_partial {
        return false;
    }
    let published_ms = match expectation.unit() {
        record::Dimension::Time => expectation.band.at_most.unwrap_or_default(),
        _ => 0.0,
    };
    if OF_STEP.contains(&expectation.measure.name) {
        let since_step = Measure::named(SINCE_STEP).ok();
        let left_ms = since_step.and_then(|since| since.of(&subject));
        let wanted_ms = published_ms.max(TWO_CYCLES * summary.path.rtprop_ms);
        return left_ms.is_some_and(|left_ms| left_ms >= wanted_ms);
    }
    let starts = summary.flows.iter().map(|flow| flow.start_s);
    let left = summary.duration_s - starts.fold(0.0, f64::max);
    let (lasts, least_flows) = match expectation.measure.name {
        OF_LEAST => (SHORT, 1),
        _ => (EVEN, 2),
    };
    let wanted = lasts.as_secs_f64().max(published_ms / 1e3);
    is_of_event(expectation.measure) && summary.flows.len() >= least_flows && left >= wanted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_measures_are_there() {
        let names = OF_EVENNESS.iter().chain(&OF_STEP);
        for name in names.chain([&FAILED_OPENS, &SINCE_STEP, &OF_LEAST]) {
            Measure::named(name).expect("a measure");
        }
    }
}
