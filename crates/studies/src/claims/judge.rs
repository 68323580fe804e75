//! What was found, beside what should be.

use std::collections::HashSet;

use serde::Serialize;

use super::expectation::Expectation;
use super::seen;
use super::spec::Claim;
use crate::runs::{Finding, Findings};
use crate::study::Length;
use record::statistics::{Spread, median};

/// An expectation on an engine.
#[derive(Debug, Clone)]
pub struct Judgement<'c> {
    /// The claim.
    pub claim: &'c Claim,
    /// What should be seen.
    pub expectation: &'c Expectation,
    /// Where it was looked for.
    pub engine: lab::EngineKind,
    /// What was seen, at each of the points.
    pub values: Vec<Value>,
    /// The fields that the points are values of.
    pub fields: Vec<String>,
    /// The seeds of the runs that it was seen in.
    pub seeds: Vec<u64>,
    /// What it comes to.
    pub verdict: Verdict,
}

/// What was seen at a point.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Value {
    /// The point: the values of the fields that vary, or of those by which runs are taken together.
    pub point: Vec<String>,
    /// The median over its repeats, or over the runs that are [taken together](Expectation::by); nothing if a run did not tell, or failed.
    pub value: Option<f64>,
}

/// What a judgement comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// At all points, what was published is seen.
    Holds,
    /// It is not, and that is known: with its cause, or as one of which [none is established](Expectation::is_unexplained).
    Differs,
    /// It is not.
    Fails,
    /// Whenever a part of it was run, the machine was too late: that says nothing of the claim.
    Untrusted,
}

/// How many judgements come to what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Those that hold.
    pub holds: usize,
    /// Those that differ, as is known.
    pub differs: usize,
    /// Those of them of which no cause is established.
    pub unexplained: usize,
    /// Those that do not hold.
    pub fails: usize,
    /// Those of which too little is to be trusted.
    pub untrusted: usize,
}

impl<'c> Judgement<'c> {
    /// Judges what was found in a study, for the claims that are about it. A first impression has no more than is quick.
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
            shown.map(|expectation| Judgement::of(claim, expectation, findings))
        });
        // What another engine leaves out of the study is no failure. What a first impression leaves out says so itself.
        let is_all = findings.engine == lab::EngineKind::Sim;
        expectations
            .filter(|one| is_all || !one.values.is_empty() || !findings.failed.is_empty())
            .collect()
    }

    /// Judges what was found in the study of the claim.
    pub fn of(
        claim: &'c Claim,
        expectation: &'c Expectation,
        findings: &Findings,
    ) -> Judgement<'c> {
        let of_expectation = Of {
            expectation,
            findings,
        };
        let values = of_expectation.values();
        let holds = |value: &Value| {
            value
                .value
                .is_some_and(|value| expectation.band.holds(value))
        };
        let is_excused = expectation.never
            && of_expectation
                .chosen()
                .all(|run| seen::could_happen(expectation, run));
        let is_told = |value: &Value| value.value.is_some() || is_excused;
        // A known cause explains what was measured, and not that nothing was.
        let is_measured =
            findings.failed.is_empty() && !values.is_empty() && values.iter().all(is_told);
        let mut failed = findings.failed.iter();
        let is_untrusted = !findings.failed.is_empty() && failed.all(|(_, why)| why.is_untrusted());
        let verdict = match expectation.why_differs(findings.engine) {
            _ if is_untrusted => Verdict::Untrusted,
            _ if is_measured && values.iter().all(holds) => Verdict::Holds,
            Some(_) if is_measured => Verdict::Differs,
            _ => Verdict::Fails,
        };
        let mut seeds: Vec<u64> = of_expectation
            .chosen()
            .map(|run| run.record.summary.seed)
            .collect();
        seeds.sort_unstable();
        Judgement {
            claim,
            expectation,
            engine: findings.engine,
            values,
            fields: of_expectation.fields(),
            seeds,
            verdict,
        }
    }

    /// The values from the smallest to the largest; nothing if one is missing.
    pub fn range(&self) -> Option<Spread> {
        let values = self.values.iter().map(|value| value.value);
        Spread::of(values.collect::<Option<Vec<f64>>>()?)
    }

    /// Whether it differs, and no cause of that is established.
    pub fn is_unexplained(&self) -> bool {
        self.verdict == Verdict::Differs && self.expectation.is_unexplained
    }

    /// Why it differs, if it does and that is known.
    pub fn why(&self) -> Option<&'c str> {
        let why = self.expectation.why_differs(self.engine);
        why.filter(|_| self.verdict == Verdict::Differs)
    }
}

impl Tally {
    /// Counts what the judgements come to.
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

/// An expectation in what was found.
struct Of<'f> {
    expectation: &'f Expectation,
    findings: &'f Findings,
}

impl Of<'_> {
    /// The runs at the points that it is about. With `over`, those that would be compared with themselves are none.
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

    /// What the run is a part of: its point, or what it is taken together with others by.
    fn point(&self, run: &Finding) -> Vec<String> {
        let Some(by) = &self.expectation.by else {
            return run.values.clone();
        };
        let values = by.iter().filter_map(|field| self.value(run, field));
        values.map(str::to_owned).collect()
    }

    /// The fields that points are values of, in that order.
    fn fields(&self) -> Vec<String> {
        let all = &self.findings.fields;
        match &self.expectation.by {
            Some(by) => by.iter().filter(|of| all.contains(of)).cloned().collect(),
            None => all.clone(),
        }
    }

    /// What was seen at each point, in the order of the points.
    fn values(&self) -> Vec<Value> {
        let mut points: Vec<(Vec<String>, Vec<&Finding>)> = Vec::new();
        for run in self.chosen() {
            let point = self.point(run);
            match points.iter_mut().find(|(of, _)| *of == point) {
                Some((_, runs)) => runs.push(run),
                None => points.push((point, vec![run])),
            }
        }
        let value = |(point, runs): (Vec<String>, Vec<&Finding>)| Value {
            value: match self.expectation.by {
                Some(_) => self.ratio_of_medians(&runs),
                None => all_median(runs.iter().map(|run| self.value_of(run))),
            },
            point,
        };
        points.into_iter().map(value).collect()
    }

    /// The median over the runs, or its ratio to the median over those to compare them with.
    fn ratio_of_medians(&self, runs: &[&Finding]) -> Option<f64> {
        let over = |runs: &mut dyn Iterator<Item = &Finding>| {
            all_median(runs.map(|run| self.measured(run)))
        };
        let value = over(&mut runs.iter().copied())?;
        if self.expectation.over.is_empty() {
            return Some(value);
        }
        // A base is that of many runs, where only the fields of `over` differ: it counts once.
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

    /// What was seen in a run, or its ratio to what was seen in the one to compare it with.
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

    /// The values of the run to compare this one with.
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
        let subject = seen::subject(self.expectation, run)?;
        self.expectation.measure.of(&subject)
    }
}

/// The median; nothing if one of the values is missing.
fn all_median(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let values: Option<Vec<f64>> = values.collect();
    values.and_then(median)
}
