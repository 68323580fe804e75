//! A page that holds everything it needs: it can be mailed, archived and opened without a network.

use std::time::SystemTime;

use super::lanes::{describe, lanes};
use super::page::{STYLE, UPLOT_SCRIPT, UPLOT_STYLE, cells, escape, escape_json, fill};
use super::plot::Plots;
use super::table::{Words, completions, flows, notes};
use crate::record::Record;

const PAGE: &str = include_str!("../../assets/report.html");
const SCRIPT: &str = include_str!("../../assets/report.js");

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
    let seeds = first.map(|scenario| scenario.seed.to_string());
    let generated = humantime::format_rfc3339_seconds(origin.generated).to_string();
    let data = serde_json::to_string(&plots).expect("plots are plain data");
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
        "flows" => table(&flows(&lanes)),
        "completions" => completions(records).as_ref().map(table).unwrap_or_default(),
        "drawn" => plots
            .omission()
            .map(|omission| hint(&omission))
            .unwrap_or_default(),
        "notes" => notes.clone(),
        "scenarios" => escape(&scenarios.join("\n")),
        "style" => format!("{UPLOT_STYLE}\n{STYLE}"),
        "uplot" => UPLOT_SCRIPT.into(),
        "script" => SCRIPT.into(),
        "data" => escape_json(&data),
        _ => String::new(),
    })
}

fn table(words: &Words) -> String {
    let rows: String = words.rows.iter().map(|row| cells("td", row)).collect();
    format!(
        "<table><thead>{}</thead><tbody>{rows}</tbody></table>",
        cells("th", &words.headings)
    )
}

fn hint(text: &str) -> String {
    format!("<p class=\"hint\">{}</p>", escape(text))
}
