//! The records as a page.

use super::describe::describe_hops;
use super::lanes::lanes;
use super::page::{Origin, Page, escape, fill};
use super::plot::Plots;
use super::table::{Words, completions, flows, notes};
use record::Record;

const BODY: &str = include_str!("../assets/report.html");
const SCRIPT: &str = include_str!("../assets/report.js");

/// The records as one self-contained page: the table, and plots of every flow over time on common axes.
pub fn html(records: &[Record], origin: &Origin) -> String {
    let lanes = lanes(records);
    let first = records.first().map(|record| &record.scenario);
    let name = first.map_or("nothing", |scenario| scenario.name.as_str());
    let is_partial = records.iter().any(|record| record.summary.is_partial);
    let notes: String = notes(records, &lanes)
        .iter()
        .map(|note| hint(note))
        .collect();
    let plots = Plots::new(records, &lanes);
    let how = match records.iter().any(|record| record.flows.len() > 1) {
        true => ", on one bottleneck",
        false => "",
    };
    let scenarios: Vec<String> = records
        .iter()
        .map(|record| record.scenario.to_string())
        .collect();
    let body = fill(BODY, &|placeholder| match placeholder {
        "partial" if is_partial => {
            "<p class=\"partial\">Ended before its time: this is what happened until then.</p>"
                .into()
        }
        "flows" => flows(&lanes).html(),
        "completions" => completions(records)
            .as_ref()
            .map(Words::html)
            .unwrap_or_default(),
        "drawn" => plots
            .omission()
            .map(|omission| hint(&omission))
            .unwrap_or_default(),
        "notes" => notes.clone(),
        _ => String::new(),
    });
    let about = first.map(|scenario| describe_hops(scenario) + how);
    let facts = records.first().map(|record| {
        let engine = &record.summary.engine;
        [
            format!("engine {engine}"),
            format!("seed {}", record.scenario.seed),
        ]
    });
    let page = Page {
        title: name,
        about: &about.unwrap_or_default(),
        body,
        facts: facts.as_ref().map_or(&[], |facts| facts),
        source: Some(("Scenario", &scenarios.join("\n"))),
        style: "",
        script: SCRIPT,
        data: &plots,
    };
    page.html(origin)
}

/// A line of advice, as HTML.
pub fn hint(text: &str) -> String {
    format!("<p class=\"hint\">{}</p>", escape(text))
}
