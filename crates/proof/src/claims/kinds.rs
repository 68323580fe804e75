//! Kinds of measures: of events, and of all flows.

use record::measure::Measure;

/// The measures of flows that become even and stay so.
pub(super) const EVENNESS_MEASURES: [&str; 3] = ["convergence", "even", "jain_converged"];
/// The measures of a change of the bottleneck's rate.
pub(super) const STEP_MEASURES: [&str; 2] = ["cycle_growth", "follow"];
/// The measure of the time until the round-trip time is the least that the flows' windows allow.
pub(super) const LEAST_RTT_MEASURE: &str = "four_packets_reached";

/// True if the measure is of an event that may never happen. In a run that lasts long enough, a missing value then
/// means that it did not.
pub(super) fn is_of_event(measure: &Measure) -> bool {
    EVENNESS_MEASURES.contains(&measure.name)
        || STEP_MEASURES.contains(&measure.name)
        || measure.name == LEAST_RTT_MEASURE
}

/// True if the measure covers all flows of a run.
pub(super) fn is_of_all_flows(measure: &Measure) -> bool {
    EVENNESS_MEASURES.contains(&measure.name)
}
