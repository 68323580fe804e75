//! `fullpipe study report DIR`.

use std::path::PathBuf;

use clap::Args;
use experiment::Findings;
use experiment::findings::{Comparison, GroupRow, Row};
use experiment::verdict::{change, probability, range};
use fleet::study::{DataError, Place, read};
use report::{Table, below, bits_per_sec, known};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::terminal::output;

/// So many groups are shown; JSON has all.
const GROUPS: usize = 20;

/// Show what a study has found: effects with their intervals, and a verdict in words
#[derive(Debug, Args)]
pub struct Options {
    /// The study's directory; of a study on several machines, the directory of each
    #[arg(value_name = "DIR", required = true)]
    directories: Vec<PathBuf>,
    /// Print everything as JSON
    #[arg(long)]
    json: bool,
}

/// Shows it.
pub fn run(options: &Options) -> Result<(), Failure> {
    let (place, gathered) = read(&options.directories).map_err(|error| match error {
        DataError::File { .. } => Failure::failed(error),
        error => Failure::usage(error),
    })?;
    let findings = gathered.findings();
    output::show(
        options.json,
        || json_of(&place, &findings),
        |width| text(&place, &findings, width),
    )
}

fn json_of(place: &Place, findings: &Findings) -> Value {
    json!({
        "study": place.plan.name,
        "unit": place.plan.unit.to_string(),
        "began_unix_s": place.about.began_unix_s,
        "ran_s": place.about.ran_s,
        "ended": place.about.ended,
        "findings": findings,
    })
}

fn text(place: &Place, findings: &Findings, width: Option<usize>) -> String {
    let about = &place.about;
    let state = match &about.ended {
        Some(why) => format!("over: {why}"),
        None => "not over yet: of the intervals, believe those at any time".to_owned(),
    };
    let mut parts = vec![
        format!(
            "{}: by {}, {:.0} s so far; {state}\n",
            place.plan.name, place.plan.unit, about.ran_s
        ),
        format!("{}\n", findings.verdict),
        arms(findings).lines(width),
    ];
    for comparison in &findings.comparisons {
        parts.push(effects(comparison).lines(width));
        if !comparison.groups.is_empty() {
            parts.push(groups(comparison).lines(width));
        }
    }
    let notes = vec![
        "Intervals are of 95 % and take each unit for one observation. Corrected: Holm's, over the rows of the table.".to_owned(),
    ];
    below(&parts, notes)
}

fn arms(findings: &Findings) -> Table {
    let row = |arm: &experiment::findings::ArmLevels| {
        let classes: Vec<String> = arm
            .resent_classes
            .iter()
            .map(|share| format!("{:.0}", share * 100.0))
            .collect();
        vec![
            arm.controller.clone(),
            arm.units.to_string(),
            arm.connections.to_string(),
            known(arm.throughput_bps, bits_per_sec),
            known(arm.throughput_p5_bps, bits_per_sec),
            known(arm.resent, |share| format!("{:.2} %", share * 100.0)),
            classes.join("/"),
        ]
    };
    Table::new(
        [
            "arm",
            "units",
            "connections",
            "over 3 MB",
            "5th percentile",
            "resent",
            "of 0/≤1/≤5/>5 %, in %",
        ],
        findings.arms.iter().map(row),
    )
}

fn effects(comparison: &Comparison) -> Table {
    let none = || vec!["–".to_owned(); 5];
    let row = |row: &Row| {
        let mut cells = vec![row.measure.title().to_owned()];
        cells.extend(match &row.effect {
            Some(effect) => vec![
                change(effect.change),
                range(effect.once),
                range(effect.always),
                row.p_corrected.map_or_else(String::new, probability),
                effect.connections.iter().sum::<u64>().to_string(),
            ],
            None => none(),
        });
        cells
    };
    let mut rows: Vec<Vec<String>> = comparison.measures.iter().map(row).collect();
    if let Some(slow) = comparison.throughput_p5 {
        let title = "5th percentile of it".to_owned();
        let mut cells = vec![title, change(slow.change), range(slow.once)];
        cells.resize(6, "–".to_owned());
        rows.insert(1, cells);
    }
    let mut table = Table::new(
        [
            format!("{} against {}", comparison.controller, comparison.over),
            "change".to_owned(),
            "interval".to_owned(),
            "at any time".to_owned(),
            "p corrected".to_owned(),
            "connections".to_owned(),
        ],
        rows,
    );
    table.spare = vec![5, 4];
    table
}

fn groups(comparison: &Comparison) -> Table {
    let row = |row: &GroupRow| {
        vec![
            row.group.clone(),
            change(row.effect.change),
            range(row.effect.once),
            probability(row.p_corrected),
            row.effect.connections.iter().sum::<u64>().to_string(),
        ]
    };
    Table::new(
        [
            "throughput over 3 MB in",
            "change",
            "interval",
            "p corrected",
            "connections",
        ],
        comparison.groups.iter().take(GROUPS).map(row),
    )
}
