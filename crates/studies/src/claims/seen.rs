//! Whether a run can tell what an expectation asks of it.

use record::FlowSample;
use record::measure::{Measure, Subject};
use units::Duration;

use super::expectation::Expectation;
use crate::runs::Finding;

/// What is measured of opening a connection: it may fail without a byte.
const OF_OPENING: [&str; 2] = ["connect", "failed_opens"];
/// What is measured of flows that become even, and then stay so.
const OF_EVENNESS: [&str; 3] = ["convergence", "even", "jain_converged"];
/// What is measured of a change of the bottleneck's rate.
const OF_STEP: [&str; 2] = ["cycle_growth", "follow"];
/// Has a value whenever the rate changes.
const AT_EACH_STEP: &str = "drain";
/// So long flows must be even.
const EVEN: Duration = Duration::from_secs(10);

/// Whether it is of an event that may never happen, so that a run which had time for it tells something by having no value.
pub(super) fn is_of_event(measure: &Measure) -> bool {
    OF_EVENNESS.contains(&measure.name) || OF_STEP.contains(&measure.name)
}

/// What is looked at, if anything was delivered there: where nothing was, nothing is measured, even if a count is zero.
pub(super) fn subject<'r>(expectation: &Expectation, run: &'r Finding) -> Option<Subject<'r>> {
    let subject = Subject::new(&run.record, &expectation.select);
    if OF_OPENING.contains(&expectation.measure.name) {
        let has_flows = subject.summaries().next().is_some();
        return has_flows.then_some(subject);
    }
    let of_run = subject.summaries().any(|flow| flow.delivered_bytes > 0);
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
    if OF_STEP.contains(&expectation.measure.name) {
        let change = Measure::named(AT_EACH_STEP);
        return change.is_ok_and(|change| change.of(&subject).is_some());
    }
    let starts = summary.flows.iter().map(|flow| flow.start_s);
    let left = summary.duration_s - starts.fold(0.0, f64::max);
    let published_ms = match expectation.unit() {
        record::Dimension::Time => expectation.band.at_most.unwrap_or_default(),
        _ => 0.0,
    };
    let wanted = EVEN.as_secs_f64().max(published_ms / 1e3);
    is_of_event(expectation.measure) && summary.flows.len() > 1 && left >= wanted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_measures_are_there() {
        let names = OF_OPENING.iter().chain(&OF_EVENNESS).chain(&OF_STEP);
        for name in names.chain([&AT_EACH_STEP]) {
            Measure::named(name).expect("a measure");
        }
    }
}
