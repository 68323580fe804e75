//! The differences between two findings of a study.

use crate::claims::{Claim, Judgement};
use crate::study::Length;
use record::FlowSummary;
use studies::runs::{Finding, Findings};
use tables::statistics::{Spread, median};

/// The findings of a study with each BBR, compared.
#[derive(Debug)]
pub struct Comparison<'c> {
    /// The name of the study, or of the figure.
    pub study: String,
    /// True if it is the study of a figure.
    pub is_figure: bool,
    /// The judgements that hold with one BBR alone: with the current one, and with that of Linux 4.19.
    pub changed: Vec<(Judgement<'c>, Judgement<'c>)>,
    /// The number of expectations that were judged.
    pub judged: usize,
    /// BBR's flows with Linux 4.19, over those of the current BBR.
    pub difference: Difference,
}

/// Ratios of BBR's flows between two findings: the least, the median and the greatest of a study's points. A point's
/// ratio is the median of its runs.
#[derive(Debug, Clone, Copy, Default)]
pub struct Difference {
    /// The number of points with flows of BBR.
    pub points: usize,
    /// Goodput.
    pub goodput: Option<Spread>,
    /// The median of the flows' median round-trip times.
    pub rtt: Option<Spread>,
}

/// How far a ratio may be from one in a study that does not change.
const TOLERANCE: f64 = 0.1;

impl Difference {
    fn between(today: &Findings, then: &Findings) -> Difference {
        let goodput = ratios(today, then, |flows| {
            Some(flows.iter().map(|flow| flow.goodput_bps as f64).sum())
        });
        let rtt = ratios(today, then, |flows| {
            median(flows.iter().filter_map(|flow| flow.rtt_ms.p50))
        });
        Difference {
            points: goodput.len(),
            goodput: Spread::of(goodput),
            rtt: Spread::of(rtt),
        }
    }

    /// True if goodput or round-trip time differs by more than a tenth at a point.
    pub fn is_large(&self) -> bool {
        let is_far =
            |spread: Spread| spread.min < 1.0 - TOLERANCE || spread.max > 1.0 / (1.0 - TOLERANCE);
        [self.goodput, self.rtt].into_iter().flatten().any(is_far)
    }
}

/// The ratio at each point at which both have a value.
fn ratios(
    today: &Findings,
    then: &Findings,
    measure: impl Fn(&[&FlowSummary]) -> Option<f64>,
) -> Vec<f64> {
    let of_bbr = |run: &Finding| {
        let flows = run.record.summary.flows.iter();
        let flows: Vec<&FlowSummary> = flows.filter(|flow| flow.controller == "bbr1").collect();
        if flows.is_empty() {
            None
        } else {
            measure(&flows)
        }
    };
    let ratio = |run: &Finding| {
        let is_same = |other: &&Finding| (&other.values, other.repeat) == (&run.values, run.repeat);
        let (one, other) = (of_bbr(run)?, of_bbr(then.runs.iter().find(is_same)?)?);
        (one > 0.0).then(|| (run.values.clone(), other / one))
    };
    // Runs of a point are neighbours.
    let ratios: Vec<_> = today.runs.iter().filter_map(ratio).collect();
    let of_point = ratios.chunk_by(|(one, _), (other, _)| one == other);
    of_point
        .filter_map(|runs| median(runs.iter().map(|(_, ratio)| *ratio)))
        .collect()
}

impl<'c> Comparison<'c> {
    /// Compares the findings of a figure's study, or those of the claims' study with this name.
    pub fn of(
        study: &str,
        claims: Option<&[&'c Claim]>,
        (today, then): (&Findings, &Findings),
        length: Length,
    ) -> Comparison<'c> {
        let judged = |findings| {
            claims.map_or_else(Vec::new, |claims| {
                Judgement::all(claims, study, findings, length)
            })
        };
        let pairs: Vec<_> = judged(today).into_iter().zip(judged(then)).collect();
        Comparison {
            study: study.to_owned(),
            is_figure: claims.is_none(),
            judged: pairs.len(),
            changed: pairs
                .into_iter()
                .filter(|(one, other)| one.keeps_band() != other.keeps_band())
                .collect(),
            difference: Difference::between(today, then),
        }
    }
}
