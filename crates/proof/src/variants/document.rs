//! Comparisons as text: for terminals, and as a section of a document.

use super::difference::Comparison;
use crate::claims::{Judgement, words};
use report::{Marks, Table, markdown};
use tables::statistics::Spread;

/// The marks that enclose the section.
pub const MARKS: Marks = Marks("variants");

/// The headings of expectations that change, and of studies.
const CHANGED: [&str; 5] = [
    "claim",
    "what",
    "published",
    "the current BBR",
    "Linux 4.19",
];
const STUDIES: [&str; 6] = [
    "study",
    "points",
    "expectations that change",
    "goodput",
    "median RTT",
    "by more than a tenth",
];

fn changed(comparisons: &[Comparison<'_>]) -> Vec<Vec<String>> {
    let changed = comparisons.iter().flat_map(|of| &of.changed);
    let rows = changed.map(|(today, then)| {
        let told = |one: &Judgement<'_>| {
            let verdict = if one.keeps_band() { "holds" } else { "differs" };
            format!("{verdict}: {}", words::measured(one))
        };
        vec![
            today.claim.id.clone(),
            today.expectation.what.clone(),
            words::band(today.expectation),
            told(today),
            told(then),
        ]
    });
    rows.collect()
}

/// A row for each study of claims, or of figures.
fn studies(comparisons: &[Comparison<'_>], is_figure: bool) -> Vec<Vec<String>> {
    let of_kind = comparisons.iter().filter(|of| of.is_figure == is_figure);
    let rows = of_kind.map(|of| {
        let spread = |spread: Option<Spread>| {
            spread.map_or_else(
                || "–".to_owned(),
                |Spread { min, median, max }| format!("{min:.2}, {median:.2}, {max:.2}"),
            )
        };
        let judged = match of.judged {
            0 => "–".to_owned(),
            judged => format!("{} of {judged}", of.changed.len()),
        };
        vec![
            of.study.clone(),
            of.difference.points.to_string(),
            judged,
            spread(of.difference.goodput),
            spread(of.difference.rtt),
            if of.difference.is_large() {
                "yes"
            } else {
                "no"
            }
            .to_owned(),
        ]
    });
    rows.collect()
}

/// The section in Markdown: the origin, the expectations that change, and all studies.
pub fn section(comparisons: &[Comparison<'_>], origin: &str) -> String {
    let markdown = |headings: &[&str], rows: Vec<Vec<String>>| {
        let rule = vec!["---"; headings.len()];
        let rows = rows.iter().map(markdown::row).collect::<String>();
        format!("{}{}{rows}", markdown::row(headings), markdown::row(rule))
    };
    let expectations = match changed(comparisons) {
        none if none.is_empty() => "None.\n".to_owned(),
        rows => markdown(&CHANGED, rows),
    };
    format!(
        "{origin}\n\n### Expectations of claims that change\n\n{expectations}\n### Studies of claims\n\n{}\n\
         ### Studies of figures\n\n{}",
        markdown(&STUDIES, studies(comparisons, false)),
        markdown(&STUDIES, studies(comparisons, true)),
    )
}

/// The same for a terminal.
pub fn table(comparisons: &[Comparison<'_>], width: Option<usize>) -> String {
    let table = |headings: &[&str], rows: Vec<Vec<String>>, text: Vec<usize>| {
        Table {
            text,
            ..Table::new(headings.iter().copied(), rows)
        }
        .lines(width)
    };
    let all = [false, true].map(|is_figure| studies(comparisons, is_figure));
    format!(
        "{}\n{}",
        table(&CHANGED, changed(comparisons), vec![0, 1, 3, 4]),
        table(&STUDIES, all.concat(), vec![0, 5]),
    )
}
