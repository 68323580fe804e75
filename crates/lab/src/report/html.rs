//! A page that holds everything it needs: it can be mailed, archived and opened without a network.

use std::time::SystemTime;

use super::lanes::{describe, lanes};
use super::plot::Plots;
use super::table::{HEADINGS, notes, row};
use crate::record::Record;

const PAGE: &str = include_str!("../../assets/report.html");
const STYLE: &str = include_str!("../../assets/report.css");
const SCRIPT: &str = include_str!("../../assets/report.js");
const UPLOT_STYLE: &str = include_str!("../../assets/uplot/uPlot.min.css");
const UPLOT_SCRIPT: &str = include_str!("../../assets/uplot/uPlot.iife.min.js");

/// Where a report comes from.
#[derive(Debug, Clone)]
pub struct Origin {
    /// The command that makes it again.
    pub command: String,
    /// When it was made.
    pub generated: SystemTime,
}

/// The records as one self-contained page: the table, and plots of every flow over time on common axes.
pub fn html(records: &[Record], origin: &Origin) -> String {
    let lanes = lanes(records);
    let first = records.first().map(|record| &record.scenario);
    let name = first.map_or("nothing", |scenario| scenario.name.as_str());
    let is_partial = records.iter().any(|record| record.is_partial);
    let rows = lanes
        .iter()
        .map(|lane| cells("td", &row(lane)))
        .collect::<String>();
    let notes: String = notes(records)
        .iter()
        .map(|note| format!("<p class=\"hint\">{}</p>", escape(note)))
        .collect();
    let how = match records.iter().any(|record| record.flows.len() > 1) {
        true => ", on one bottleneck",
        false => "",
    };
    let scenarios: Vec<String> = records
        .iter()
        .map(|record| record.scenario.to_string())
        .collect();
    let seeds = first.map(|scenario| scenario.seed.to_string());
    let generated = humantime::format_rfc3339_seconds(origin.generated).to_string();
    let data = serde_json::to_string(&Plots::new(records, &lanes)).expect("plots are plain data");
    fill(PAGE, &|placeholder| match placeholder {
        "name" => escape(name),
        "path" => first
            .map(|scenario| escape(&describe(&scenario.path)) + how)
            .unwrap_or_default(),
        "partial" if is_partial => {
            "<p class=\"partial\">Ended before its time: this is what happened until then.</p>"
                .into()
        }
        "command" => escape(&origin.command),
        "version" => env!("CARGO_PKG_VERSION").into(),
        "engine" => records
            .first()
            .map(|record| escape(&record.summary.engine))
            .unwrap_or_default(),
        "seed" => seeds.clone().unwrap_or_default(),
        "generated" => generated.clone(),
        "headings" => cells("th", &HEADINGS),
        "rows" => rows.clone(),
        "notes" => notes.clone(),
        "scenarios" => escape(&scenarios.join("\n")),
        "style" => format!("{UPLOT_STYLE}\n{STYLE}"),
        "uplot" => UPLOT_SCRIPT.into(),
        "script" => SCRIPT.into(),
        "data" => escape_json(&data),
        _ => String::new(),
    })
}

/// Replaces each `{{placeholder}}` of the page; what is put in is not looked at again.
fn fill(page: &str, value: &dyn Fn(&str) -> String) -> String {
    let mut parts = page.split("{{");
    let mut filled = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let (placeholder, rest) = part.split_once("}}").unwrap_or((part, ""));
        filled.push_str(&value(placeholder));
        filled.push_str(rest);
    }
    filled
}

fn cells(tag: &str, texts: &[impl AsRef<str>]) -> String {
    let cell = |text| format!("<{tag}>{}</{tag}>", escape(text));
    let cells: String = texts.iter().map(|text| cell(text.as_ref())).collect();
    format!("<tr>{cells}</tr>")
}

/// Text that HTML shows as it is, in elements and in quoted attributes.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// JSON that means the same and can stand in a script element: nothing in it ends the element, opens a comment or, in
/// older engines, a line.
fn escape_json(json: &str) -> String {
    json.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}
