//! Checks whether a run can meet or fail an expectation.

use record::measure::{Measure, Subject};
use record::{FlowSample, FlowSummary};
use units::Duration;

use super::expectation::Expectation;
use super::kinds::{LEAST_RTT_MEASURE, STEP_MEASURES, is_of_event};
use studies::runs::Finding;

/// The measure of failed attempts to open a connection. Each may fail without a byte.
const FAILED_OPENS_MEASURE: &str = "failed_opens";
/// The measure of the time after a change of the rate. It has no value if the rate does not change.
const SINCE_STEP_MEASURE: &str = "since_step";
/// The gain cycles' phases that the measure of growth needs: two cycles of eight, each about an RTprop long.
const TWO_CYCLE_PHASES: f64 = 16.0;
/// The time for which flows must be even.
const EVEN_TIME: Duration = Duration::from_secs(10);
/// The time for which round-trip times must be short.
const SHORT_RTT_TIME: Duration = Duration::from_secs(60);

/// The subject of the measurement, if each started flow delivered something. Otherwise nothing was measured, even if a
/// count is zero.
pub(super) fn subject<'r>(expectation: &Expectation, run: &'r Finding) -> Option<Subject<'r>> {
    let subject = Subject::new(&run.record, &expectation.select);
    let ended = subject.summary.duration_s;
    let started: Vec<_> = subject
        .summaries()
        .filter(|flow| flow.start_s < ended)
        .collect();
    let has_come = |flow: &&FlowSummary| {
        let has_failed = flow.failed_opens.is_some_and(|failed| failed > 0);
        flow.delivered_bytes > 0 || (has_failed && expectation.measure.name == FAILED_OPENS_MEASURE)
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

/// True if an event that did not happen in the run could have happened: the run is complete, its flows delivered, and
/// it lasted at least the published time.
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
    if STEP_MEASURES.contains(&expectation.measure.name) {
        let since_step = Measure::named(SINCE_STEP_MEASURE).ok();
        let left_ms = since_step.and_then(|since| since.of(&subject));
        let wanted_ms = published_ms.max(TWO_CYCLE_PHASES * summary.path.rtprop_ms);
        return left_ms.is_some_and(|left_ms| left_ms >= wanted_ms);
    }
    let starts = summary.flows.iter().map(|flow| flow.start_s);
    let left = summary.duration_s - starts.fold(0.0, f64::max);
    let (lasts, least_flows) = match expectation.measure.name {
        // What flows reach is the time of the path's bottleneck.
        LEAST_RTT_MEASURE if subject.path().is_none() => return false,
        LEAST_RTT_MEASURE => (SHORT_RTT_TIME, 1),
        _ => (EVEN_TIME, 2),
    };
    let wanted = lasts.as_secs_f64().max(published_ms / 1e3);
    is_of_event(expectation.measure) && summary.flows.len() >= least_flows && left >= wanted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::kinds::EVENNESS_MEASURES;

    #[test]
    fn the_measures_are_there() {
        let names = EVENNESS_MEASURES.iter().chain(&STEP_MEASURES);
        for name in names.chain([
            &FAILED_OPENS_MEASURE,
            &SINCE_STEP_MEASURE,
            &LEAST_RTT_MEASURE,
        ]) {
            Measure::named(name).expect("a measure");
        }
    }
}
