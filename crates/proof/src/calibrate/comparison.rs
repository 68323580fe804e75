//! The comparison of a case on two engines.

use std::borrow::Borrow;

use serde::Serialize;

use super::observation::Observation;
use super::plan::Case;
use super::quantity::{Quantity, Scale};
use tables::statistics::Spread;

/// A case on two engines.
#[derive(Debug, Clone)]
pub struct Comparison<'c> {
    /// The case.
    pub case: &'c Case,
    /// The number of runs on each engine.
    pub runs: [usize; 2],
    /// The quantities that at least one engine reports, in the order of [`Quantity::ALL`].
    pub differences: Vec<Difference<'c>>,
}

/// A quantity on two engines.
#[derive(Debug, Clone)]
pub struct Difference<'c> {
    /// The quantity.
    pub quantity: Quantity,
    /// The values over the repeats, on each engine. Nothing where no run has the quantity.
    pub sides: [Option<Spread>; 2],
    /// The excess of the second engine, in terms of the quantity's [`Scale`].
    pub difference: Option<f64>,
    /// The tolerance, if the quantity is judged.
    pub tolerance: Option<f64>,
    /// The known reason of the difference.
    pub explanation: Option<&'c str>,
}

/// The verdict of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Everything is within its tolerance.
    Agrees,
    /// Some quantities are not, and each has an explanation.
    Explained,
    /// An engine has no runs of the case.
    Missing,
    /// Some quantity is not, and has no explanation.
    Differs,
}

/// The number of cases by verdict.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tally {
    /// The counts for each judged quantity.
    pub within: Vec<Within>,
    /// Cases with differences that are all explained.
    pub explained: usize,
    /// Cases with an unexplained difference.
    pub differs: usize,
    /// Cases without runs on one of the engines.
    pub missing: usize,
}

/// The number of cases in which a quantity is within its tolerance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Within {
    /// The quantity.
    pub quantity: Quantity,
    /// The largest allowed difference of the medians.
    pub tolerance: f64,
    /// The number of cases within the tolerance.
    pub within: usize,
    /// The number of cases compared.
    pub cases: usize,
}

/// Compares the runs of the case on the two engines.
pub fn compare<'c, O: Borrow<Observation>>(case: &'c Case, runs: [&[O]; 2]) -> Comparison<'c> {
    let rtprop_ms = case.scenario.path.rtt.as_millis_f64();
    let of_quantity = |quantity: Quantity| {
        let sides = runs.map(|runs| {
            let values = runs.iter().filter_map(|run| quantity.of(run.borrow()));
            Spread::of(values)
        });
        let difference = match sides {
            [Some(first), Some(second)] => {
                Some(difference(quantity, first.median, second.median, rtprop_ms))
            }
            _ => None,
        };
        let is_told = sides.iter().any(Option::is_some);
        is_told.then(|| Difference {
            quantity,
            sides,
            difference,
            tolerance: case.tolerance.of(quantity),
            explanation: case.explanation(quantity),
        })
    };
    Comparison {
        case,
        runs: runs.map(<[O]>::len),
        differences: Quantity::ALL.into_iter().filter_map(of_quantity).collect(),
    }
}

fn difference(quantity: Quantity, first: f64, second: f64, rtprop_ms: f64) -> f64 {
    let more = second - first;
    let whole = match quantity.scale {
        Scale::Rate | Scale::Time => first,
        Scale::Delay => rtprop_ms,
        Scale::Share | Scale::Count => 1.0,
    };
    if more == 0.0 { 0.0 } else { more / whole }
}

impl Difference<'_> {
    /// True if the difference exceeds its tolerance, or only one engine has a judged quantity.
    pub fn is_outlier(&self) -> bool {
        self.excess().is_some_and(|excess| excess > 1.0)
    }

    /// True if the ranges of the two engines' values overlap, so that chance alone may explain the difference.
    pub fn overlaps(&self) -> bool {
        match self.sides {
            [Some(first), Some(second)] => first.min <= second.max && second.min <= first.max,
            _ => false,
        }
    }

    /// The difference as a share of its tolerance.
    fn excess(&self) -> Option<f64> {
        let tolerance = self.tolerance?;
        Some(
            self.difference
                .map_or(f64::INFINITY, |difference| difference.abs() / tolerance),
        )
    }
}

impl<'c> Comparison<'c> {
    /// A quantity, if at least one engine reports it.
    pub fn get(&self, quantity: Quantity) -> Option<&Difference<'c>> {
        self.differences.iter().find(|one| one.quantity == quantity)
    }

    /// The verdict.
    pub fn verdict(&self) -> Verdict {
        let mut outliers = self.outliers().peekable();
        if self.runs.contains(&0) {
            return Verdict::Missing;
        }
        if outliers.peek().is_none() {
            return Verdict::Agrees;
        }
        if outliers.all(|one| one.explanation.is_some()) {
            Verdict::Explained
        } else {
            Verdict::Differs
        }
    }

    /// The quantities beyond their tolerance.
    pub fn outliers(&self) -> impl Iterator<Item = &Difference<'c>> {
        self.differences.iter().filter(|one| one.is_outlier())
    }

    /// The largest difference as a share of its tolerance.
    pub fn excess(&self) -> f64 {
        let excesses = self.differences.iter().filter_map(Difference::excess);
        excesses.fold(0.0, f64::max)
    }

    /// The verdict in words: `ok`, or the quantities beyond their tolerance with explanations.
    pub fn remark(&self) -> String {
        match self.verdict() {
            Verdict::Missing => return "no runs".to_string(),
            Verdict::Agrees => return "ok".to_string(),
            Verdict::Explained | Verdict::Differs => {}
        }
        let mut remarks: Vec<String> = Vec::new();
        for one in self.outliers() {
            let title = one.quantity.title;
            let chance = if one.overlaps() {
                " (ranges overlap)"
            } else {
                ""
            };
            let why = one.explanation.unwrap_or("not explained");
            remarks.push(format!("{title}{chance}: {why}"));
        }
        remarks.join("; ")
    }
}

/// Counts the verdicts of the comparisons.
pub fn tally(comparisons: &[Comparison<'_>]) -> Tally {
    let complete = || comparisons.iter().filter(|one| !one.runs.contains(&0));
    let of_quantity = |quantity: Quantity| {
        let judged: Vec<_> = complete().filter_map(|one| one.get(quantity)).collect();
        // All cases have the same tolerance. A case with one group of flows has no first group.
        Some(Within {
            quantity,
            tolerance: judged.first()?.tolerance?,
            within: judged.iter().filter(|one| !one.is_outlier()).count(),
            cases: judged.len(),
        })
    };
    let count = |verdict: Verdict| {
        comparisons
            .iter()
            .filter(|one| one.verdict() == verdict)
            .count()
    };
    Tally {
        within: (Quantity::JUDGED.into_iter())
            .filter_map(of_quantity)
            .collect(),
        explained: count(Verdict::Explained),
        differs: count(Verdict::Differs),
        missing: count(Verdict::Missing),
    }
}

impl Tally {
    /// One line: `goodput within 5 %: 60 of 67; RTT p50 within 10 % of RTprop: 61 of 67; 8 explained, 0 not`.
    pub fn text(&self) -> String {
        let within = self.within.iter().map(|one| {
            let of = match one.quantity.scale {
                Scale::Delay => " of RTprop",
                _ => "",
            };
            let (title, percent) = (one.quantity.title, one.tolerance * 100.0);
            let (within, all) = (one.within, one.cases);
            format!("{title} within {percent:.0} %{of}: {within} of {all} cases")
        });
        let mut parts: Vec<String> = within.collect();
        let outliers = format!(
            "outliers: {} explained, {} not",
            self.explained, self.differs
        );
        parts.push(outliers);
        if self.missing > 0 {
            parts.push(format!("{} without runs", self.missing));
        }
        parts.join("; ")
    }
}
