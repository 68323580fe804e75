//! `fullpipe study simulate`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use experiment::proof::{Count, Coverage, Peeking, coverage, peeking};
use experiment::simulated::{Model, Units};
use lab::EngineKind;
use report::{Marks, Table, below};
use serde_json::json;

use crate::failure::Failure;
use crate::files::document::Document;
use crate::files::machine;
use crate::options::{command_line, usage};
use crate::terminal::output;

/// So often who looks often looks.
const LOOKS: usize = 50;

/// The effect of the studies that have one, and how much it differs from unit to unit.
const EFFECT: f64 = 0.08;
const SPREAD: f64 = 0.1;

/// What is randomised, with the number of it in a study.
const ALL: [(&str, Units); 3] = [
    ("connections", Units::Connections(3000)),
    ("client prefixes", Units::Prefixes(500)),
    ("slots", Units::Slots(250)),
];

/// Count in simulated studies, of which the truth is known, how often intervals are right
#[derive(Debug, Args)]
pub struct Options {
    /// So many studies of each kind
    #[arg(long, value_name = "N", default_value = "200", value_parser = usage::at_least_one)]
    studies: NonZeroUsize,
    /// The first study's seed
    #[arg(long, value_name = "N", default_value = "0", value_parser = usage::whole)]
    seed: u64,
    /// Replace the counts in this document, between `<!-- coverage: begin -->` and `<!-- coverage: end -->`
    #[arg(long, value_name = "FILE")]
    document: Option<PathBuf>,
    /// Print the counts as JSON
    #[arg(long)]
    json: bool,
}

struct Kind {
    name: &'static str,
    without: Coverage,
    with: Coverage,
    looks: Peeking,
}

/// Counts.
pub fn run(options: &Options) -> Result<(), Failure> {
    let document = Document::asked(options.document.as_deref(), Marks("coverage"))?;
    let seeds = || (options.seed..=u64::MAX).take(options.studies.get());
    let kind = |(name, units): (&'static str, Units)| {
        let model = |effect, spread| Model {
            units,
            effect,
            spread,
        };
        Kind {
            name,
            without: coverage(&model(0.0, 0.0), seeds()),
            with: coverage(&model(EFFECT, SPREAD), seeds()),
            looks: peeking(&model(0.0, 0.0), LOOKS, seeds()),
        }
    };
    let kinds: Vec<Kind> = ALL.into_iter().map(kind).collect();
    if let Some(document) = document {
        let origin = format!(
            "Made with `{}`; {}.",
            command_line::again(),
            machine::version(EngineKind::Sim)
        );
        let [table, note] = [table(&kinds).markdown(), note(&kinds)];
        document.write(&format!("{origin}\n\n{table}\n{note}\n"))?;
    }
    output::show(
        options.json,
        || json_of(&kinds),
        |width| below(&[table(&kinds).lines(width)], vec![note(&kinds)]),
    )
}

fn json_of(kinds: &[Kind]) -> serde_json::Value {
    let kind = |kind: &Kind| {
        json!({
            "unit": kind.name,
            "without_effect": kind.without,
            "with_effect": kind.with,
            "alarms_of_many_looks": kind.looks,
        })
    };
    kinds.iter().map(kind).collect()
}

fn table(kinds: &[Kind]) -> Table {
    let share = |share: f64| format!("{:.1} %", share * 100.0);
    let alarms = |count: Count| share(1.0 - count.share());
    let row = |kind: &Kind| {
        vec![
            kind.name.to_owned(),
            alarms(kind.without.throughput),
            alarms(kind.without.throughput_p5),
            alarms(kind.without.careless),
            share(kind.with.throughput.share()),
            share(kind.looks.once.share()),
            share(kind.looks.always.share()),
        ]
    };
    Table::new(
        [
            "randomised",
            "false alarms",
            "of the 5th percentile",
            "careless",
            "8 % covered",
            "50 looks, interval once",
            "50 looks, at any time",
        ],
        kinds.iter().map(row),
    )
}

fn note(kinds: &[Kind]) -> String {
    format!(
        "{} studies of each kind; of 95 % intervals, 5 % are to miss. Careless: connections taken for independent.",
        kinds
            .first()
            .map_or(0, |kind| kind.without.throughput.studies)
    )
}
