//! Records as a page.

use askama::Template;

use super::describe::describe_hops;
use super::lanes::lanes;
use super::links::links;
use super::overview::{completions, flows, notes, warnings};
use super::page::{Origin, Page};
use super::plot::Plots;
use super::table::Table;
use record::Record;

/// The page's contents between header and footer.
#[derive(Template)]
#[template(path = "report.html")]
struct Body {
    is_partial: bool,
    warnings: Vec<String>,
    flows: Table,
    completions: Option<Table>,
    links: Option<Table>,
    notes: Vec<String>,
    omission: Option<String>,
}

/// Returns the records as one self-contained page: the table, and plots of every flow over time on common axes.
pub fn html(records: &[Record], origin: &Origin) -> String {
    let lanes = lanes(records);
    let plots = Plots::new(records, &lanes);
    let first = records.first().map(|record| &record.scenario);
    let shares = records.iter().any(|record| record.flows.len() > 1);
    let is_network = first.is_some_and(|scenario| !scenario.links.is_empty());
    let how = if shares && !is_network {
        ", on one bottleneck"
    } else {
        ""
    };
    let scenarios = records.iter().map(|record| record.scenario.to_string());
    let scenarios: Vec<String> = scenarios.collect();
    let facts = records.first().map(|record| {
        let (engine, seed) = (&record.summary.engine, record.scenario.seed);
        [format!("engine {engine}"), format!("seed {seed}")]
    });
    let page = Page {
        title: first.map_or("nothing", |scenario| scenario.name.as_str()),
        about: &first.map_or(String::new(), |scenario| describe_hops(scenario) + how),
        body: Body {
            is_partial: records.iter().any(|record| record.summary.is_partial),
            warnings: warnings(records, &lanes),
            flows: flows(&lanes).coloured(plots.rows.clone()),
            completions: completions(records),
            links: links(records),
            notes: notes(records, &lanes),
            omission: plots.omission(),
        },
        facts: facts.as_ref().map_or(&[], |facts| facts),
        source: Some(("Scenario", &scenarios.join("\n"))),
        style: "",
        script: include_str!("../assets/report.js"),
        data: &plots,
        origin,
    };
    page.html()
}
