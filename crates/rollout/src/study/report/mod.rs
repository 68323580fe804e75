//! The results of a study for people: tables, charts, and a page with both.

mod charts;
pub mod course;
mod course_charts;
mod share;
pub mod tables;

use ::report::Table;
use ::report::page::{Origin, PLAIN, Page};
use ::tables::numbers::count;
use askama::Template;
use experiment::comparison::Comparison;
use experiment::{Findings, timeline};

use super::data::Read;

/// The page between header and footer.
#[derive(Template)]
#[template(path = "study.html")]
struct Body {
    verdict: String,
    arms: Table,
    classes: Table,
    parts: Vec<Part>,
    course: Vec<String>,
    over_time: Vec<Table>,
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
            pictures: pictures.iter().flatten().map(draw::Picture::html).collect(),
            effects: tables::effects(comparison),
            heat: tables::heat(comparison),
            groups: tables::of_groups(comparison, is_over),
        }
    }
}

/// The charts over time.
fn course(read: &Read, findings: &Findings) -> Vec<String> {
    let bins = read.timeline.bins(timeline::MAX_BINS);
    let since = course::since(read, findings);
    let pictures = [
        course_charts::timeline(&bins, &read.place.plan.names()),
        since.and_then(|since| course_charts::since_switch(&since, findings.is_over)),
    ];
    pictures.iter().flatten().map(draw::Picture::html).collect()
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
            classes: tables::classes(findings),
            parts: findings
                .comparisons
                .iter()
                .map(|comparison| Part::of(comparison, findings.is_over))
                .collect(),
            course: course(read, findings),
            over_time: course::tables(read, findings),
            notes: tables::notes(read, findings),
        },
        facts: &[count(connections, "connection")],
        source: None,
        style: "#verdict { max-width: 60rem; font-size: 1.1rem }",
        script: PLAIN,
        data: &(),
        origin,
    };
    page.html()
}

#[cfg(test)]
mod tests;
