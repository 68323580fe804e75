//! Runs what a sweep has not run yet.

use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use super::plan::{Plan, Run};
use super::store::{Store, StoreError};
use lab::Cancel;
use lab::Engine;
use lab::Progress;
use record::Record;

/// What happens while a sweep runs.
#[derive(Debug, Clone, Copy)]
pub enum Event {
    /// A flow of the run with this place in the plan has come so far.
    Progress(usize, Progress),
    /// The run with this place in the plan has ended.
    Ended(usize),
}

/// A run that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failed {
    /// Its place in the plan.
    pub run: usize,
    /// Why, in one line.
    pub reason: String,
}

/// The runs of the plan that are not done yet, as their places in it.
pub fn missing(plan: &Plan, store: &Store) -> Vec<usize> {
    let runs = plan.runs.iter().enumerate();
    runs.filter(|(_, run)| store.get(&run.key).is_none())
        .map(|(place, _)| place)
        .collect()
}

/// Runs what the plan has and the store has not, as many runs at a time as `jobs` says, and puts each result into the
/// store as soon as there is one. `watch` is told how it goes, from several threads.
///
/// A run that fails does not end the others: those that failed are returned, in the order of the plan. Once `cancel`
/// is cancelled, runs that have begun are given up, and none is begun.
///
/// # Errors
///
/// A result cannot be kept; the other runs are given up then.
pub fn execute(
    plan: &Plan,
    store: &mut Store,
    engine: &(dyn Engine + Sync),
    jobs: usize,
    watch: &(dyn Fn(Event) + Sync),
    cancel: &Cancel,
) -> Result<Vec<Failed>, StoreError> {
    let missing = missing(plan, store);
    let keep = |run: &Run, record: Record| store.put(&run.key, &plan.name(run), &record.summary);
    execute_each(plan, &missing, engine, jobs, watch, cancel, keep)
}

/// As [`execute`], of the runs at these places in the plan, in this order: gives each record to `keep`, one after the
/// other.
///
/// # Errors
///
/// What `keep` says; the other runs are given up then.
pub(crate) fn execute_each<E>(
    plan: &Plan,
    places: &[usize],
    engine: &(dyn Engine + Sync),
    jobs: usize,
    watch: &(dyn Fn(Event) + Sync),
    cancel: &Cancel,
    mut keep: impl FnMut(&Run, Record) -> Result<(), E>,
) -> Result<Vec<Failed>, E> {
    let mut failed = Vec::new();
    let note = |place: usize, outcome: Result<Record, String>| match outcome {
        Ok(record) => plan.runs.get(place).map_or(Ok(()), |run| keep(run, record)),
        Err(reason) => {
            failed.push(Failed { run: place, reason });
            Ok(())
        }
    };
    execute_all(plan, places, engine, jobs, watch, cancel, note)?;
    failed.sort_by_key(|failed| failed.run);
    Ok(failed)
}

/// As [`execute_each`]; `note` is also told of the runs that failed, and why, in the order in which they end. It is not
/// told of those that were given up.
///
/// # Errors
///
/// What `note` says; the other runs are given up then.
pub(crate) fn execute_all<E>(
    plan: &Plan,
    places: &[usize],
    engine: &(dyn Engine + Sync),
    jobs: usize,
    watch: &(dyn Fn(Event) + Sync),
    cancel: &Cancel,
    mut note: impl FnMut(usize, Result<Record, String>) -> Result<(), E>,
) -> Result<(), E> {
    let next = AtomicUsize::new(0);
    // Results that cannot be kept end the sweep, and not what else the caller cancels.
    let cancel = cancel.child_token();
    thread::scope(|scope| {
        let (sender, results) = mpsc::channel();
        for _ in 0..jobs.clamp(1, places.len().max(1)) {
            let (sender, next, cancel) = (sender.clone(), &next, &cancel);
            scope.spawn(move || {
                while let Some(place) = places.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let Some(run) = plan.runs.get(*place).filter(|_| !cancel.is_cancelled()) else {
                        return;
                    };
                    let result = attempt(
                        engine,
                        run,
                        &|progress| watch(Event::Progress(*place, progress)),
                        cancel,
                    );
                    // Nobody receives any more once a result could not be kept.
                    let _ = sender.send((*place, result));
                }
            });
        }
        drop(sender);
        for (place, result) in results {
            let is_given_up = matches!(&result, Ok(record) if record.summary.is_partial);
            let noted = match is_given_up {
                true => Ok(()),
                false => note(place, result),
            };
            if let Err(error) = noted {
                cancel.cancel();
                return Err(error);
            }
            watch(Event::Ended(place));
        }
        Ok(())
    })
}

/// The record of one run, or why there is none.
fn attempt(
    engine: &(dyn Engine + Sync),
    run: &Run,
    watch: &(dyn Fn(Progress) + Sync),
    cancel: &Cancel,
) -> Result<Record, String> {
    // A mistake of ours that one corner of a grid brings to light must not cost the night's work on the others.
    let outcome = panic::catch_unwind(AssertUnwindSafe(|| {
        engine.run(&run.scenario, watch, cancel)
    }));
    match outcome {
        Ok(Ok(record)) => Ok(record),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err("the engine panicked, which is a mistake in Fullpipe".to_string()),
    }
}
