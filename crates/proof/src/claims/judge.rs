//! Judges measured values against expectations.

use std::collections::HashSet;

use serde::Serialize;

use super::differs::Differs;
use super::expectation::Expectation;
use super::measurable;
use super::spec::Claim;
use crate::study::Length;
use studies::runs::{Finding, Findings};
use tables::statistics::{Spread, median};

/// The judgement of an expectation on an engine.
#[derive(Debug, Clone)]
pub struct Judgement<'c> {
    /// The claim.
    pub claim: &'c Claim,
    /// The expectation.
    pub expectation: &'c Expectation,
    /// The engine of the runs.
    pub engine: lab::EngineKind,
    /// The value at each of the points.
    pub values: Vec<Value>,
    /// The fields whose values name the points.
    pub fields: Vec<String>,
    /// The seeds of the runs.
    pub seeds: Vec<u64>,
    /// The verdict: the gravest of those on the points.
    pub verdict: Verdict,
}

/// The value at a point.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Value {
    /// The point: the values of the varying fields, or of those in [`Expectation::by`].
    pub point: Vec<String>,
    /// The median over the runs of the point. Nothing if a run failed or has no value.
    pub value: Option<f64>,
    /// The verdict on this point.
    pub verdict: Verdict,
}

/// The verdict on a point, or on an expectation at all its points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The value lies within the published band.
    Holds,
    /// It lies outside, at a point that is [known to differ](Differs), and where it is known to lie.
    Differs,
    /// Neither. In full runs of the simulator, also a value within the band at a point that is known to differ.
    Fails,
    /// All failed runs were too late in real time. They say nothing about the claim.
    Untrusted,
}

/// The number of judgements by verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Judgements that hold.
    pub holds: usize,
    /// Judgements that differ for a known reason, or knowingly without one.
    pub differs: usize,
    /// Of those, the ones with a point without an established cause.
    pub unexplained: usize,
    /// Judgements that fail.
    pub fails: usize,
    /// Judgements whose runs cannot be trusted.
    pub untrusted: usize,
}

impl<'c> Judgement<'c> {
    /// Judges the findings of a study for all its claims. A first impression judges only quick expectations.
    pub fn all(
        claims: &[&'c Claim],
        study: &str,
        findings: &Findings,
        length: Length,
    ) -> Vec<Judgement<'c>> {
        let is_quick = length == Length::Quick;
        let of_study = claims.iter().filter(|claim| claim.study == study);
        let expectations = of_study.flat_map(|claim| {
            let shown = claim
                .expectations
                .iter()
                .filter(|of| claim.shows(of, findings.engine) && (of.is_quick || !is_quick));
            shown.map(|expectation| Judgement::of(claim, expectation, findings, length))
        });
        // An engine other than the simulator may leave parts of a study out. That is no failure.
        let is_all = findings.engine == lab::EngineKind::Sim;
        expectations
            .filter(|one| is_all || !one.values.is_empty() || !findings.failed.is_empty())
            .collect()
    }

    /// Judges the findings of the claim's study for one expectation.
    pub fn of(
        claim: &'c Claim,
        expectation: &'c Expectation,
        findings: &Findings,
        length: Length,
    ) -> Judgement<'c> {
        let evaluation = Evaluation {
            expectation,
            findings,
        };
        let values = evaluation.values(length);
        let mut failed = findings.failed.iter();
        let is_untrusted = !findings.failed.is_empty() && failed.all(|(_, why)| why.is_untrusted());
        let verdict = match values.iter().map(|value| value.verdict).max() {
            _ if is_untrusted => Verdict::Untrusted,
            Some(gravest) if findings.failed.is_empty() => gravest,
            _ => Verdict::Fails,
        };
        let mut seeds: Vec<u64> = evaluation
            .chosen()
            .map(|run| run.record.summary.seed)
            .collect();
        seeds.sort_unstable();
        Judgement {
            claim,
            expectation,
            engine: findings.engine,
            values,
            fields: evaluation.fields(),
            seeds,
            verdict,
        }
    }

    /// The range of the values. Nothing if one is missing.
    pub fn range(&self) -> Option<Spread> {
        let values = self.values.iter().map(|value| value.value);
        Spread::of(values.collect::<Option<Vec<f64>>>()?)
    }

    /// What is known of the point, if it is known to differ.
    pub fn known(&self, value: &Value) -> Option<&'c Differs> {
        known(self.expectation, self.engine, &self.fields, &value.point)
    }

    /// The known differences that the values show, in the order of the table.
    pub fn differs(&self) -> impl Iterator<Item = &'c Differs> {
        let of_engine = self.expectation.differs_on(self.engine);
        of_engine.filter(|known| self.values_of(known).next().is_some())
    }

    /// The values that differ as this says.
    pub fn values_of(&self, known: &Differs) -> impl Iterator<Item = &Value> {
        let differing = self
            .values
            .iter()
            .filter(|value| value.verdict == Verdict::Differs);
        differing.filter(move |value| self.known(value).is_some_and(|of| std::ptr::eq(of, known)))
    }

    /// True if a value differs without an established cause.
    pub fn is_unexplained(&self) -> bool {
        self.verdict == Verdict::Differs && self.differs().any(|known| known.is_unexplained)
    }

    /// True if all values lie within the published band, whatever is known of their points.
    pub fn keeps_band(&self) -> bool {
        let is_within = |value: &Value| {
            value
                .value
                .is_some_and(|of| self.expectation.band.holds(of))
        };
        !self.values.is_empty() && self.values.iter().all(is_within)
    }
}

impl Tally {
    /// Counts the verdicts.
    pub fn of(judgements: &[Judgement<'_>]) -> Tally {
        let count = |verdict| {
            let is_so = |one: &&Judgement<'_>| one.verdict == verdict;
            judgements.iter().filter(is_so).count()
        };
        Tally {
            holds: count(Verdict::Holds),
            differs: count(Verdict::Differs),
            unexplained: judgements.iter().filter(|one| one.is_unexplained()).count(),
            fails: count(Verdict::Fails),
            untrusted: count(Verdict::Untrusted),
        }
    }
}

/// What is known of the point with these values of these fields, if it is known to differ on this engine.
fn known<'e>(
    expectation: &'e Expectation,
    engine: lab::EngineKind,
    fields: &[String],
    point: &[String],
) -> Option<&'e Differs> {
    let mut known = expectation.differs_on(engine);
    known.find(|known| known.names(fields, point))
}

/// An expectation with the findings of its study.
struct Evaluation<'f> {
    expectation: &'f Expectation,
    findings: &'f Findings,
}

impl Evaluation<'_> {
    /// The runs at the expectation's points. With `over`, without the runs that would be compared with themselves.
    fn chosen(&self) -> impl Iterator<Item = &Finding> {
        let meets = |run: &Finding| {
            let mut conditions = self.expectation.at.iter();
            conditions.all(|(field, values)| {
                let value = self.value(run, field);
                values.iter().any(|of| value == Some(of))
            })
        };
        let is_base = |run: &Finding| {
            let over = &self.expectation.over;
            let mut fields = over.iter();
            !over.is_empty()
                && fields.all(|(field, value)| self.value(run, field) == Some(value.as_str()))
        };
        let runs = self.findings.runs.iter();
        runs.filter(move |run| meets(run) && !is_base(run))
    }

    fn value<'r>(&self, run: &'r Finding, field: &str) -> Option<&'r str> {
        let place = self.findings.fields.iter().position(|of| of == field)?;
        run.values.get(place).map(String::as_str)
    }

    /// The point of the run: its values, or those of the fields in `by`.
    fn point(&self, run: &Finding) -> Vec<String> {
        let Some(by) = &self.expectation.by else {
            return run.values.clone();
        };
        let values = by.iter().filter_map(|field| self.value(run, field));
        values.map(str::to_owned).collect()
    }

    /// The fields whose values name the points, in that order.
    fn fields(&self) -> Vec<String> {
        let all = &self.findings.fields;
        match &self.expectation.by {
            Some(by) => by.iter().filter(|of| all.contains(of)).cloned().collect(),
            None => all.clone(),
        }
    }

    /// The value at each point, in the order of the points.
    fn values(&self, length: Length) -> Vec<Value> {
        let mut points: Vec<(Vec<String>, Vec<&Finding>)> = Vec::new();
        for run in self.chosen() {
            let point = self.point(run);
            match points.iter_mut().find(|(of, _)| *of == point) {
                Some((_, runs)) => runs.push(run),
                None => points.push((point, vec![run])),
            }
        }
        let fields = self.fields();
        let value = |(point, runs): (Vec<String>, Vec<&Finding>)| {
            let value = match self.expectation.by {
                Some(_) => self.ratio_of_medians(&runs),
                None => all_median(runs.iter().map(|run| self.value_of(run))),
            };
            let known = known(self.expectation, self.findings.engine, &fields, &point);
            Value {
                point,
                value,
                verdict: self.verdict(value, known, &runs, length),
            }
        };
        points.into_iter().map(value).collect()
    }

    /// The verdict on a value of these runs. A range is that of full runs in the simulator, whose numbers are the same
    /// everywhere.
    fn verdict(
        &self,
        value: Option<f64>,
        known: Option<&Differs>,
        runs: &[&Finding],
        length: Length,
    ) -> Verdict {
        let is_exact = self.findings.engine == lab::EngineKind::Sim && length == Length::Whole;
        let is_within = value.is_some_and(|value| self.expectation.band.holds(value));
        let is_known = known.is_some_and(|known| match value {
            Some(value) => !is_exact || (known.has_range() && known.range.holds(value)),
            None => {
                let could_happen = |run: &&Finding| measurable::could_happen(self.expectation, run);
                known.never && runs.iter().all(could_happen)
            }
        });
        match (is_within, is_known) {
            (true, _) if known.is_none() || !is_exact => Verdict::Holds,
            (false, true) => Verdict::Differs,
            _ => Verdict::Fails,
        }
    }

    /// The median over the runs, or its ratio to the median over the base runs.
    fn ratio_of_medians(&self, runs: &[&Finding]) -> Option<f64> {
        let over = |runs: &mut dyn Iterator<Item = &Finding>| {
            all_median(runs.map(|run| self.measured(run)))
        };
        let value = over(&mut runs.iter().copied())?;
        if self.expectation.over.is_empty() {
            return Some(value);
        }
        // Many runs may share a base, if they differ only in the fields of `over`. It counts once.
        let wanted: HashSet<(u64, Vec<&str>)> = runs
            .iter()
            .map(|run| (run.repeat, self.base_values(run)))
            .collect();
        let is_base = |run: &&Finding| {
            let values = run.values.iter().map(String::as_str).collect();
            wanted.contains(&(run.repeat, values))
        };
        let bases: Vec<&Finding> = self.findings.runs.iter().filter(is_base).collect();
        if bases.len() < wanted.len() {
            return None;
        }
        let base = over(&mut bases.into_iter())?;
        (base != 0.0).then_some(value / base)
    }

    /// The value of a run, or its ratio to the value of its base run.
    fn value_of(&self, run: &Finding) -> Option<f64> {
        if self.expectation.over.is_empty() {
            return self.measured(run);
        }
        let wanted = self.base_values(run);
        let mut runs = self.findings.runs.iter();
        let base = runs.find(|other| other.repeat == run.repeat && other.values == wanted)?;
        let base = self.measured(base)?;
        Some(self.measured(run)? / base).filter(|_| base != 0.0)
    }

    /// The values of the run's base.
    fn base_values<'r>(&'r self, run: &'r Finding) -> Vec<&'r str> {
        let fields = self.findings.fields.iter().zip(&run.values);
        let replaced = fields.map(|(field, value)| {
            let mut over = self.expectation.over.iter();
            let replaced = over.find(|(of, _)| of == field);
            replaced.map_or(value.as_str(), |(_, value)| value.as_str())
        });
        replaced.collect()
    }

    fn measured(&self, run: &Finding) -> Option<f64> {
        let subject = measurable::subject(self.expectation, run)?;
        self.expectation.measure.of(&subject)
    }
}

/// The median. Nothing if one of the values is missing.
fn all_median(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let values: Option<Vec<f64>> = values.collect();
    values.and_then(median)
}
