//! The findings of a study, in the form that figures need.

use std::collections::HashMap;

use record::{FlowSummary, PathSummary, Record};
use studies::runs::{Amount, Finding, Findings, distinct};
use tables::statistics;

/// The field by whose values most figures have their curves.
pub const CONTROLLER: &str = "flow.controller";

/// A run, with the values of the varying fields.
#[derive(Debug, Clone, Copy)]
pub struct StudyRun<'f> {
    pub engine: lab::EngineKind,
    fields: &'f [String],
    run: &'f Finding,
}

/// All runs, engine by engine.
pub fn all(findings: &[Findings]) -> impl Iterator<Item = StudyRun<'_>> {
    findings.iter().flat_map(|of| {
        of.runs.iter().map(|run| StudyRun {
            engine: of.engine,
            fields: &of.fields,
            run,
        })
    })
}

impl<'f> StudyRun<'f> {
    /// The value of a varying field, as written in the scenario.
    pub fn value(&self, field: &str) -> &'f str {
        let mut pairs = self.fields.iter().zip(&self.run.values);
        pairs
            .find(|(name, _)| *name == field)
            .map_or("", |(_, value)| value)
    }

    /// The value of a varying field, as a number in the unit that sweeps use: bits per second, milliseconds, bytes,
    /// fractions of one.
    pub fn number(&self, field: &str) -> f64 {
        Amount::parse(self.value(field)).map_or(f64::NAN, |amount| amount.value())
    }

    /// The identity of the run except for the value of one field: engine, other values, and repeat.
    fn elsewhere(&self, field: &str) -> (lab::EngineKind, Vec<&'f str>, u64) {
        let pairs = self.fields.iter().zip(&self.run.values);
        let others = pairs.filter(|(name, _)| *name != field);
        (
            self.engine,
            others.map(|(_, value)| value.as_str()).collect(),
            self.run.repeat,
        )
    }

    pub fn record(&self) -> &'f Record {
        &self.run.record
    }

    pub fn flows(&self) -> &'f [FlowSummary] {
        &self.run.record.summary.flows
    }

    pub fn path(&self) -> &'f PathSummary {
        &self.run.record.summary.path
    }

    /// The bottleneck's rate at the start, in bits per second.
    pub fn rate(&self) -> f64 {
        self.path().rate_bps.unwrap_or_default() as f64
    }

    /// The goodput of all flows of one controller, in bits per second.
    pub fn goodput_of(&self, controller: &str) -> f64 {
        let flows = self.flows().iter();
        let of_it = flows.filter(|flow| flow.controller == controller);
        of_it.map(|flow| flow.goodput_bps as f64).sum()
    }

    /// The goodput of all flows, in bits per second.
    pub fn goodput(&self) -> f64 {
        self.flows()
            .iter()
            .map(|flow| flow.goodput_bps as f64)
            .sum()
    }

    /// Retransmitted bytes as a share of sent bytes.
    pub fn resent(&self) -> f64 {
        let sum = |count: fn(&FlowSummary) -> Option<u64>| {
            self.flows().iter().filter_map(count).sum::<u64>() as f64
        };
        sum(|flow| flow.retransmitted_bytes) / sum(|flow| flow.sent_bytes)
    }

    /// The median of the flows' median round-trip times, in milliseconds.
    pub fn rtt_p50(&self) -> f64 {
        median(self.flows().iter().filter_map(|flow| flow.rtt_ms.p50))
    }
}

/// The distinct values of a field, in the order of the study.
pub fn values<'f>(findings: &'f [Findings], field: &str) -> Vec<&'f str> {
    distinct(all(findings).map(|seen| seen.value(field)))
}

/// The runs with this value of a field.
pub fn with<'f>(
    findings: &'f [Findings],
    field: &'f str,
    value: &'f str,
) -> impl Iterator<Item = StudyRun<'f>> {
    all(findings).filter(move |seen| seen.value(field) == value)
}

/// The median y for each x, in the order of x.
pub fn medians(points: impl IntoIterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let is_number = |(x, y): &(f64, f64)| x.is_finite() && y.is_finite();
    let mut points: Vec<(f64, f64)> = points.into_iter().filter(is_number).collect();
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    let of_x = points.chunk_by(|one, other| one.0 == other.0);
    let median = |points: &[(f64, f64)]| {
        let x = points.first()?.0;
        Some((x, statistics::median(points.iter().map(|(_, y)| *y))?))
    };
    of_x.filter_map(median).collect()
}

/// The median of these values.
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let finite = values.into_iter().filter(|value| value.is_finite());
    statistics::median(finite).unwrap_or(f64::NAN)
}

/// The ratio of y for each x that both curves have.
pub fn ratios(one: &[(f64, f64)], other: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let ratio = |(x, y): &(f64, f64)| {
        let (_, of) = other.iter().find(|(at, _)| at == x)?;
        (*of != 0.0).then_some((*x, y / of))
    };
    one.iter().filter_map(ratio).collect()
}

/// The ratio of a measure between two values of a field, for each pair of runs that differ only in it.
pub fn pairs(
    findings: &[Findings],
    field: &str,
    one: &str,
    other: &str,
    measure: impl Fn(&StudyRun<'_>) -> f64,
) -> Vec<f64> {
    let mut counterparts = HashMap::new();
    for seen in all(findings).filter(|seen| seen.value(field) == other) {
        counterparts.insert(seen.elsewhere(field), measure(&seen));
    }
    let ratio =
        |seen: StudyRun<'_>| Some(measure(&seen) / counterparts.get(&seen.elsewhere(field))?);
    let ones = all(findings).filter(|seen| seen.value(field) == one);
    ones.filter_map(ratio)
        .filter(|ratio| ratio.is_finite())
        .collect()
}

/// The name of the engine, if there are several.
pub fn engine(findings: &[Findings], of: &[Findings]) -> &'static str {
    match (findings.len(), of.first()) {
        (2.., Some(of)) => of.engine.name(),
        _ => "",
    }
}

/// The findings of the first engine.
pub fn of_first(findings: &[Findings]) -> &[Findings] {
    findings.get(..1).unwrap_or_default()
}

/// The title of a chart: `bbr1`; with several engines `bbr1, sim`.
pub fn titled(findings: &[Findings], of: &[Findings], name: &str) -> String {
    match engine(findings, of) {
        "" => name.to_string(),
        engine => format!("{name}, {engine}"),
    }
}

/// Converts bits to megabits.
pub fn mega(bits: f64) -> f64 {
    bits / 1e6
}

#[cfg(test)]
mod tests {
    use super::medians;

    #[test]
    fn a_median_for_each_x() {
        let points = [
            (2.0, 5.0),
            (1.0, 3.0),
            (1.0, 1.0),
            (1.0, 9.0),
            (3.0, f64::NAN),
        ];
        assert_eq!(medians(points), [(1.0, 3.0), (2.0, 5.0)]);
    }
}
