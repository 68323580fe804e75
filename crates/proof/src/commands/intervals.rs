//! `fullpipe-proof intervals`: the coverage of intervals in simulated studies.

use std::num::NonZeroUsize;

use clap::Args;
use experiment::proof::{Count, Coverage, Peeking, Stratified, coverage, peeking, stratified};
use experiment::simulated::{Model, NETWORKS, Units};
use program::failure::Failure;
use program::output;
use program::usage;
use report::{Table, below};
use serde_json::json;

/// The interval between looks at a study, for results at any time.
const LOOK_INTERVAL: usize = 50;

/// The effect of the studies that have one, and how much it differs between units.
const EFFECT: f64 = 0.08;
const SPREAD: f64 = 0.1;

/// The unit of randomisation, and the number of units in a study.
const ALL: [(&str, Units); 3] = [
    ("connections", Units::Connections(3000)),
    ("client prefixes", Units::Prefixes(500)),
    ("slots", Units::Slots(250)),
];

/// Count how often intervals are right in simulated studies whose truth is known
#[derive(Debug, Args)]
pub struct Options {
    /// Number of studies of each kind
    #[arg(long, value_name = "N", default_value = "200", value_parser = usage::at_least_one)]
    studies: NonZeroUsize,
    /// Seed of the first study
    #[arg(long, value_name = "N", default_value = "0", value_parser = usage::whole)]
    seed: u64,
    /// Print the counts as JSON
    #[arg(long)]
    json: bool,
}

/// Studies of client networks of three operators: without an effect, and with one that differs.
const OF_NETWORKS: [(&str, f64); 2] = [
    ("without an effect", 0.0),
    ("with effects of 0, 20 and 480 %", EFFECT),
];

/// The number of client networks in them.
const PREFIXES: usize = 900;

struct Kind {
    name: &'static str,
    without: Coverage,
    with: Coverage,
    looks: Peeking,
}

/// Counts.
pub fn run(options: &Options) -> Result<(), Failure> {
    let seeds = || (options.seed..=u64::MAX).take(options.studies.get());
    let kind = |(name, units): (&'static str, Units)| {
        let model = |effect, spread| Model {
            units,
            effect,
            spread,
            networks: &[],
        };
        Kind {
            name,
            without: coverage(&model(0.0, 0.0), seeds()),
            with: coverage(&model(EFFECT, SPREAD), seeds()),
            looks: peeking(&model(0.0, 0.0), LOOK_INTERVAL, seeds()),
        }
    };
    let kinds: Vec<Kind> = ALL.into_iter().map(kind).collect();
    let networks = OF_NETWORKS.map(|(name, effect)| {
        let model = Model {
            networks: &NETWORKS,
            ..Model::new(Units::Prefixes(PREFIXES), effect)
        };
        (name, stratified(&model, seeds()))
    });
    output::show(
        options.json,
        || json_of(&kinds, &networks),
        |width| text(&kinds, &networks, width),
    )
}

fn json_of(kinds: &[Kind], networks: &[(&str, Stratified)]) -> serde_json::Value {
    let kind = |kind: &Kind| {
        json!({
            "unit": kind.name,
            "without_effect": kind.without,
            "with_effect": kind.with,
            "alarms_of_many_looks": kind.looks,
        })
    };
    let of_networks = networks.iter().map(|(name, of)| {
        json!({
            "unit": format!("client prefixes of three networks, {name}"),
            "strata": of,
        })
    });
    kinds.iter().map(kind).chain(of_networks).collect()
}

/// The intervals over three networks, within strata and without.
fn of_networks(networks: &[(&str, Stratified)]) -> Table {
    let share = |count: Count| format!("{:.1} %", count.share() * 100.0);
    let row = |(name, of): &(&str, Stratified)| {
        vec![
            (*name).to_owned(),
            share(of.without),
            format!("{:.2}", of.width_without),
            share(of.within),
            format!("{:.2}", of.width_within),
        ]
    };
    Table::new(
        [
            "three networks",
            "covered without strata",
            "high over low",
            "covered within strata",
            "high over low",
        ],
        networks.iter().map(row),
    )
}

fn text(kinds: &[Kind], networks: &[(&str, Stratified)], width: Option<usize>) -> String {
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
    let table = Table::new(
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
    );
    let notes = vec![format!(
        "{} studies of each kind; 5 % of the 95 % intervals should miss the truth. Careless: intervals that treat connections as independent.",
        kinds
            .first()
            .map_or(0, |kind| kind.without.throughput.studies)
    )];
    below(
        &[table.lines(width), of_networks(networks).lines(width)],
        notes,
        width,
    )
}
