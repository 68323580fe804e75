//! Probes of paths, by an engine.
//!
//! Each connection has its path to itself, so that the controllers do not compete: a run for each path and controller, in
//! which the receiver asks for the same number of bytes in every round. A probe's time is that from its request to its last
//! byte, which has the one round trip in it that a host's answer takes.

use std::convert::Infallible;
use std::path::Path;

use super::row::Row;
use super::spec::{Spec, Target};
use crate::sweep::{self, Event, Failed, Plan, Run, SweepError, derive_seed};
use lab::Cancel;
use lab::Engine;
use record::{Record, Transfer};

/// The runs: each path with each controller, for as many rounds as the spec says. Rounds that begin with another one than
/// zero have other seeds.
///
/// # Errors
///
/// A path makes no sense, or there are too many.
pub fn paths(spec: &Spec, directory: &Path, first_round: u64) -> Result<Plan, SweepError> {
    let seed = match first_round {
        0 => spec.seed,
        later => derive_seed(spec.seed, &[("first", &later.to_string())], 0),
    };
    let spec = Spec {
        seed,
        ..spec.clone()
    };
    Plan::new(&spec.sweep(directory)?, "")
}

/// Carries out the plan, as many runs at a time as `jobs` says; `watch` is told how it goes, from several threads. The rows,
/// round by round, in the order of the plan; and the runs that failed, which have a row in each round as well.
///
/// Nothing of a run that `cancel` ended is returned.
pub fn run_paths(
    spec: &Spec,
    plan: &Plan,
    first_round: u64,
    engine: &(dyn Engine + Sync),
    jobs: usize,
    watch: &(dyn Fn(Event) + Sync),
    cancel: &Cancel,
) -> (Vec<Row>, Vec<Failed>) {
    let places: Vec<usize> = (0..plan.runs.len()).collect();
    let mut rows: Vec<(usize, Row)> = Vec::new();
    let keep = |run: &Run, record: Record| {
        let new = of_record(spec, plan, run, &record, first_round);
        rows.extend(new.into_iter().map(|row| (run.point, row)));
        Ok::<(), Infallible>(())
    };
    let failed = sweep::execute_each(plan, &places, engine, jobs, watch, cancel, keep);
    let failed = failed.unwrap_or_else(|never| match never {});
    for one in &failed {
        let Some(run) = plan.runs.get(one.run) else {
            continue;
        };
        let new = (0..rounds(spec)).map(|round| Row {
            failure: Some(one.reason.clone()),
            ..blank(spec, plan, run, first_round + round)
        });
        rows.extend(new.map(|row| (run.point, row)));
    }
    rows.sort_by_key(|(point, row)| (row.round, *point));
    (rows.into_iter().map(|(_, row)| row).collect(), failed)
}

fn rounds(spec: &Spec) -> u64 {
    spec.rounds.unwrap_or(10)
}

/// A row that says nothing but what was to be done.
fn blank(spec: &Spec, plan: &Plan, run: &Run, round: u64) -> Row {
    let point = plan.points.get(run.point);
    let values = point.into_iter().flat_map(|point| &point.values);
    let named = plan
        .fields
        .iter()
        .zip(values)
        .filter(|(field, _)| field.as_str() != "flow.controller");
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
        round,
        destination: match named.is_empty() {
            true => spec.name.clone(),
            false => named.join(" "),
        },
        over: over.to_string(),
        controller: controller.unwrap_or_default(),
        at_s: 0.0,
        unix_ms: None,
        bytes: spec.bytes.get(),
        took_ms: None,
        goodput_bps: None,
        is_first: false,
        seed: Some(run.scenario.seed),
        failure: None,
    }
}

/// The rows of one run: one for each round. What the engine did not see arrive has failed.
fn of_record(spec: &Spec, plan: &Plan, run: &Run, record: &Record, first_round: u64) -> Vec<Row> {
    let end = record.summary.duration_s;
    let mut transfers: Vec<&Transfer> = record.transfers.rows.iter().collect();
    transfers.sort_by_key(|transfer| transfer.start);
    let row = |round: u64| {
        let transfer = usize::try_from(round)
            .ok()
            .and_then(|place| transfers.get(place).copied());
        let blank = blank(spec, plan, run, first_round + round);
        let took = transfer.and_then(|one| Some(one.completed?.saturating_sub(one.start)));
        Row {
            at_s: transfer.map_or(0.0, |transfer| transfer.start.as_secs_f64()),
            took_ms: took.map(units::Duration::as_millis_f64),
            goodput_bps: took.map(|took| spec.bytes.get() as f64 * 8.0 / took.as_secs_f64()),
            is_first: round == 0,
            failure: failure(transfer, end),
            ..blank
        }
    };
    (0..rounds(spec)).map(row).collect()
}

/// Why a probe failed, in a run that ended after so many seconds; nothing if it did not.
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
    use units::{Bytes, Duration};

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
