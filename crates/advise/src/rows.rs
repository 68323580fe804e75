//! Advice as tables of text.

use serde::Serialize;
use tables::numbers::{bits_per_sec, known, percent, span};

use super::advice::{Advice, Choice, Rival};
use super::outcome::Outcome;

/// A table of text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rows {
    /// The columns' headings.
    pub headings: Vec<String>,
    /// The cells, row by row.
    pub rows: Vec<Vec<String>>,
}

/// A table of the choice against each rival, if there are any.
pub fn rivals(choice: &Choice) -> Option<Rows> {
    let headings = [
        format!("{} over", choice.choice),
        format!("times the {}", choice.goal.measured()),
        "95 % interval".into(),
        "paths better".into(),
        "paths worse".into(),
        "verdict".into(),
    ];
    let row = |rival: &Rival| {
        let gain = &rival.gain;
        let verdict = match (gain.is_clear, gain.mean > 1.0) {
            _ if gain.low.is_none() => "one path alone",
            (true, true) => "clearly better",
            (true, false) => "clearly worse",
            (false, _) => "no clear difference",
        };
        let interval = gain.low.zip(gain.high);
        let unmet = if rival.is_met {
            ""
        } else {
            ", but does not meet the requirement"
        };
        vec![
            rival.controller.to_owned(),
            format!("{:.2}", gain.mean),
            known(interval, |(low, high)| format!("{low:.2} to {high:.2}")),
            format!("{} of {}", gain.better, gain.paths),
            gain.worse.to_string(),
            format!("{verdict}{unmet}"),
        ]
    };
    (!choice.rivals.is_empty()).then(|| Rows {
        headings: headings.to_vec(),
        rows: choice.rivals.iter().map(row).collect(),
    })
}

/// A table of the candidates: medians over the paths.
pub fn candidates(advice: &Advice<'_>) -> Rows {
    let headings = [
        "controller",
        "goodput alone",
        "of limit",
        "RTT p95",
        "resent",
        "beside CUBIC",
        "CUBIC keeps",
        "CUBIC's RTT",
        "Jain",
        "requests p95",
    ];
    let names = advice.outcomes.controllers().iter();
    let row = |(place, name): (usize, &congestion::ControllerKind)| {
        let median = |of: &dyn Fn(&Outcome) -> Option<f64>| {
            let spread = advice.spread(place, of)?;
            // An infinite time means that nothing arrived.
            spread.median.is_finite().then_some(spread.median)
        };
        let ratio = |value: f64| format!("{value:.2}");
        vec![
            name.to_string(),
            known(median(&|of| Some(of.alone.goodput_bps)), bits_per_sec),
            known(median(&|of| of.alone.limit_share), percent),
            known(median(&|of| Some(of.alone.rtt_p95_ms)), span),
            known(median(&|of| Some(of.alone.resent_share)), percent),
            known(median(&|of| of.beside_cubic.fair_share), ratio),
            known(median(&|of| of.beside_cubic.neighbour_goodput), ratio),
            known(median(&|of| of.beside_cubic.neighbour_rtt_p95), ratio),
            known(median(&|of| Some(of.beside_itself.jain)), ratio),
            known(median(&|of| Some(of.beside_itself.request_p95_ms)), span),
        ]
    };
    Rows {
        headings: headings.map(str::to_owned).to_vec(),
        rows: names.enumerate().map(row).collect(),
    }
}
