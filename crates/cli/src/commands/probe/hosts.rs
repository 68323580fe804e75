//! Probes hosts that run a receiver.

use std::collections::HashSet;

use program::failure::Failure;
use program::interrupt;
use program::output;
use studies::probe::{self, Host, Row};
use tables::numbers;

use super::{Probing, token};

/// The most failed probes of a round whose names are printed.
const MAX_LISTED: usize = 10;

pub fn probe(probing: &Probing<'_>, hosts: &[Host]) -> Result<(), Failure> {
    let hosts = token::for_all(hosts)?;
    let (options, spec) = (probing.options, &probing.spec);
    let mut dataset = probing.dataset()?;
    let (runtime, cancel) = interrupt::cancel()?;
    let first = dataset.next_round();
    let mut results = probing.results();
    if !options.quiet {
        let rounds = spec.rounds.map(|rounds| numbers::count(rounds, "round"));
        output::note(format_args!(
            "{}: {}, {} every {}, {}; rows in {}",
            spec.name,
            numbers::count(hosts.len() as u64, "destination"),
            spec.bytes,
            spec.interval,
            rounds.unwrap_or_else(|| "until Ctrl-C".to_owned()),
            probing.directory.display()
        ));
    }
    let mut said = HashSet::new();
    let keep = |rows: Vec<Row>| {
        probing.keep(&rows, &mut dataset, &mut results)?;
        if !options.quiet {
            report_round(&rows, &mut said);
        }
        Ok(())
    };
    let probed: Result<(), report::DirectoryError> =
        runtime.block_on(probe::run_hosts(spec, &hosts, first, &cancel, keep));
    probed.map_err(Failure::failed)?;
    probing.conclude(&results)?;
    // A target without a number of rounds always ends this way.
    if cancel.is_cancelled() && spec.rounds.is_some() {
        return Err(Failure::interrupted("these are the complete rounds"));
    }
    if results.is_all_failed() {
        return Err(Failure::failed("every probe failed"));
    }
    Ok(())
}

/// Prints the result of a round, and each reason of a failure when it first occurs. `said` has the earlier reasons.
fn report_round(rows: &[Row], said: &mut HashSet<String>) {
    let failed = rows.iter().filter(|row| row.failure.is_some());
    let round = rows.first().map_or(0, |row| row.round);
    output::note(format_args!(
        "round {round}: {}, {} failed",
        numbers::count(rows.len() as u64, "probe"),
        failed.clone().count()
    ));
    let reasons = failed.map(|row| {
        let reason = row.failure.as_deref().unwrap_or_default();
        format!("failed: {} {}: {reason}", row.destination, row.controller)
    });
    for reason in reasons.take(MAX_LISTED) {
        if !said.contains(&reason) {
            output::note(&reason);
            said.insert(reason);
        }
    }
}
