//! Probes of paths, run by an engine.
//!
//! Each connection has its path to itself, so that controllers do not compete: one run for each path and controller. In
//! every round the receiver requests the same number of bytes. A probe lasts from its request to its last byte; this
//! includes one round trip, like a host's answer.

use std::convert::Infallible;
use std::path::Path;

use super::row::Row;
use super::spec::{Spec, Target};
use crate::runs::{Execution, Failed, Plan, Run, derive_seed, execute};
use crate::sweep::SweepError;
use record::{FlowSample, LimitShares, Transfer};
use units::Duration;

/// The runs: each path with each controller, for the spec's rounds. A first round other than zero changes the seeds.
///
/// # Errors
///
/// A path is invalid, or there are too many.
pub fn paths(spec: &Spec, directory: &Path, first_round: u64) -> Result<Plan, SweepError> {
    let seed = match first_round {
        0 => spec.seed,
        later => derive_seed(spec.seed, &[("first", &later.to_string())], 0),
    };
    let spec = Spec {
        seed,
        ..spec.clone()
    };
    spec.sweep(directory)?.plan("")
}

/// Executes the plan. Returns the rows, round by round in the order of the plan, and the failed runs, which also have a
/// row in each round.
///
/// Cancelled runs leave no rows.
pub fn run_paths<'p>(
    spec: &Spec,
    plan: &'p Plan,
    first_round: u64,
    execution: &Execution<'_>,
) -> (Vec<Row>, Vec<Failed<'p>>) {
    let runs = plan.all();
    let mut rows: Vec<(usize, Row)> = Vec::new();
    let Ok(failed) = execute(&runs, execution, |place, outcome| {
        let seen = outcome.map(|mut record| {
            let mut transfers = record.transfers.rows;
            transfers.sort_by_key(|transfer| transfer.start);
            let samples = record.flows.pop().map(|flow| flow.samples);
            (
                transfers,
                samples.unwrap_or_default(),
                record.summary.duration_s,
            )
        });
        let row = |round: u64| {
            let blank = blank(spec, plan, runs[place], first_round, round);
            match &seen {
                Ok((transfers, samples, end)) => {
                    let transfer = transfers.get(round as usize);
                    let limited_by = transfer.and_then(|transfer| limits(transfer, samples));
                    Row {
                        limited_by,
                        ..of_transfer(blank, transfer, *end)
                    }
                }
                Err(reason) => Row {
                    failure: Some(reason.to_string()),
                    ..blank
                },
            }
        };
        rows.extend((0..rounds(spec)).map(|round| (place, row(round))));
        Ok::<(), Infallible>(())
    });
    rows.sort_by_key(|(place, row)| (row.round, *place));
    (rows.into_iter().map(|(_, row)| row).collect(), failed)
}

fn rounds(spec: &Spec) -> u64 {
    spec.rounds.unwrap_or(10)
}

/// A row with the parameters of a probe, but no results.
fn blank(spec: &Spec, plan: &Plan, run: &Run, first_round: u64, round: u64) -> Row {
    let named = plan.fields.iter().zip(&plan.point(run).values);
    let named = named.filter(|(field, _)| field.as_str() != "flow.controller");
    let named: Vec<String> = named
        .map(|(field, value)| format!("{field}={value}"))
        .collect();
    let controller = run
        .scenario
        .flows
        .first()
        .map(|flow| flow.controller.to_string());
    let over = match &spec.target {
        Target::Paths { engine, .. } => engine.name(),
        Target::Hosts(_) => "",
    };
    Row {
        round: first_round + round,
        destination: if named.is_empty() {
            spec.name.clone()
        } else {
            named.join(" ")
        },
        over: over.to_string(),
        controller: controller.unwrap_or_default(),
        at_s: 0.0,
        unix_ms: None,
        bytes: spec.bytes.get(),
        took_ms: None,
        goodput_bps: None,
        limited_by: None,
        is_first: round == 0,
        seed: Some(run.scenario.seed),
        failure: None,
    }
}

/// The row of a probe in a run that ended after `end` seconds. A transfer that did not complete has failed.
fn of_transfer(blank: Row, transfer: Option<&Transfer>, end: f64) -> Row {
    let took = transfer.and_then(|one| Some(one.completed?.saturating_sub(one.start)));
    Row {
        at_s: transfer.map_or(0.0, |transfer| transfer.start.as_secs_f64()),
        took_ms: took.map(Duration::as_millis_f64),
        goodput_bps: took.map(|took| blank.bytes as f64 * 8.0 / took.as_secs_f64()),
        failure: failure(transfer, end),
        ..blank
    }
}

/// The sender's limits during a probe, from the samples around it. The idle time outside of the probe is excluded.
fn limits(transfer: &Transfer, samples: &[FlowSample]) -> Option<LimitShares> {
    let (start, end) = (transfer.start, transfer.completed?);
    let (before, rest) = samples.split_at(samples.partition_point(|sample| sample.at <= start));
    let before = before.last();
    let after = rest
        .iter()
        .find(|sample| sample.at >= end)
        .or(rest.last())?;
    let idle_before = before.map_or(Duration::ZERO, |before| start.saturating_sub(before.at));
    let idle = idle_before + after.at.saturating_sub(end);
    let before = before.and_then(|before| before.limits.as_ref());
    after.limits?.shares_since(before, idle)
}

/// The reason why a probe failed, in a run that ended after `end` seconds. Nothing if it did not fail.
fn failure(transfer: Option<&Transfer>, end: f64) -> Option<String> {
    match transfer {
        None => Some("not begun before the run ended".to_owned()),
        Some(transfer) if transfer.completed.is_some() => None,
        Some(transfer) => {
            let span = (end - transfer.start.as_secs_f64()).max(0.0);
            Some(format!("cut off after {span:.1} s, when the run ended"))
        }
    }
}

#[cfg(test)]
mod tests {
    use units::Bytes;

    use super::*;

    #[test]
    fn what_its_run_cut_off_says_so() {
        let transfer = |completed| Transfer {
            flow: 0,
            controller: congestion::ControllerKind::Bbr1.into(),
            start: Duration::from_millis(7_700),
            bytes: Bytes::new(500_000),
            completed,
        };
        let done = transfer(Some(Duration::from_secs(9)));
        assert_eq!(failure(Some(&done), 20.0), None);
        let cut = failure(Some(&transfer(None)), 20.0);
        assert_eq!(
            cut.as_deref(),
            Some("cut off after 12.3 s, when the run ended")
        );
        let never = failure(None, 20.0);
        assert_eq!(never.as_deref(), Some("not begun before the run ended"));
    }
}
