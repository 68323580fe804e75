//! The results of a study for people: tables, charts, and a page with both.

mod charts;
pub mod tables;

use ::report::page::{Origin, Page};
use ::report::{Table, count};
use askama::Template;
use experiment::Findings;
use experiment::findings::Comparison;

use super::data::Read;

/// The page between header and footer.
#[derive(Template)]
#[template(path = "study.html")]
struct Body {
    verdict: String,
    arms: Table,
    parts: Vec<Part>,
    notes: Vec<String>,
}

/// The comparison of an arm with the first one.
struct Part {
    pictures: Vec<String>,
    effects: Table,
    heat: Table,
    groups: Vec<Table>,
}

impl Part {
    fn of(comparison: &Comparison, is_over: bool) -> Part {
        let pictures = [
            charts::effects(comparison),
            charts::heat(comparison),
            charts::groups(comparison),
        ];
        Part {
            pictures: pictures.iter().flatten().map(draw::Picture::svg).collect(),
            effects: tables::effects(comparison),
            heat: tables::heat(comparison),
            groups: tables::of_groups(comparison, is_over),
        }
    }
}

/// The page. It does not show the plan, which may have the seed.
pub fn html(read: &Read, findings: &Findings, origin: &Origin) -> String {
    let connections: u64 = findings.arms.iter().map(|arm| arm.connections).sum();
    let page = Page {
        title: &read.place.plan.name,
        about: &tables::about(read),
        body: Body {
            verdict: findings.verdict.clone(),
            arms: tables::arms(findings),
            parts: findings
                .comparisons
                .iter()
                .map(|comparison| Part::of(comparison, findings.is_over))
                .collect(),
            notes: tables::notes(read, findings),
        },
        facts: &[count(connections, "connection")],
        source: None,
        style: "#verdict { max-width: 60rem; font-size: 1.1rem }",
        script: "",
        data: &(),
        origin,
    };
    page.html()
}

#[cfg(test)]
mod tests;
