//! Runs scenarios on all processors.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::attempt::{Reason, attempt};
use super::plan::{Plan, Run};
use super::store::{Store, StoreError};
use lab::Cancel;
use lab::Engine;
use lab::EngineKind;
use lab::Progress;
use record::Record;

/// What happens meanwhile; runs by their places among those that are executed.
#[derive(Debug, Clone, Copy)]
pub enum Event {
    /// A flow of the run has come so far.
    Progress(usize, Progress),
    /// The run was not to be trusted, and is run again.
    Repeated(usize),
    /// The run has ended.
    Ended(usize),
}

/// A run that failed.
#[derive(Debug, Clone)]
pub struct Failed<'r> {
    /// The run.
    pub run: &'r Run,
    /// Why.
    pub reason: Reason,
}

/// How runs are done.
#[derive(Clone, Copy)]
pub struct Execution<'e> {
    /// What runs them.
    pub engine: &'e (dyn Engine + Sync),
    /// So many at a time. Engines in real time measure the machine unless that is one.
    pub jobs: usize,
    /// So often, a run in real time that is [not to be trusted](record::Validity) is repeated; then there is no record of it.
    /// Without this, records are given as they are.
    pub repeats: Option<u32>,
    /// Is told how it goes, from several threads.
    pub watch: &'e (dyn Fn(Event) + Sync),
    /// Ends it: runs that have begun are given up then, and none is begun.
    pub cancel: &'e Cancel,
}

impl<'e> Execution<'e> {
    /// One of which nobody is told how it goes.
    pub fn unwatched(engine: &'e (dyn Engine + Sync), jobs: usize, cancel: &'e Cancel) -> Self {
        Execution {
            engine,
            jobs,
            repeats: None,
            watch: &|_| (),
            cancel,
        }
    }
}

/// How many runs at a time: as many as were asked for, or else as many as the engine and the machine are good for.
pub fn jobs(asked: Option<NonZeroUsize>, engine: EngineKind) -> usize {
    match (asked, engine.is_real_time()) {
        (Some(jobs), _) => jobs.get(),
        // They would measure each other.
        (None, true) => 1,
        (None, false) => thread::available_parallelism().map_or(1, NonZeroUsize::get),
    }
}

/// The runs of the plan that the store has not.
pub fn missing<'p, T: Serialize + DeserializeOwned>(
    plan: &'p Plan,
    store: &Store<T>,
) -> Vec<&'p Run> {
    let is_missing = |run: &&Run| store.get(&run.key).is_none();
    plan.runs.iter().filter(is_missing).collect()
}

/// [Executes](execute) these runs, and puts into the store what `kept` makes of each one's record, as soon as there is one.
///
/// # Errors
///
/// A result cannot be kept; the other runs are given up then.
pub fn resume<'r, T: Serialize + DeserializeOwned>(
    missing: &[&'r Run],
    store: &mut Store<T>,
    execution: &Execution<'_>,
    kept: impl Fn(&Run, Record) -> T,
) -> Result<Vec<Failed<'r>>, StoreError> {
    execute(missing, execution, |place, outcome| match outcome {
        Ok(record) => {
            let run = missing[place];
            store.put(&run.key, &run.name, &kept(run, record))
        }
        Err(_) => Ok(()),
    })
}

/// Executes these runs. `note` is told how each ended, in the order in which they end: the run by its place, with its
/// record or the reason why there is none. Those that were given up it is not told of.
///
/// A run that fails does not end the others: those that failed are returned, in the order of the runs.
///
/// # Errors
///
/// What `note` says; the other runs are given up then.
pub fn execute<'r, E>(
    runs: &[&'r Run],
    execution: &Execution<'_>,
    mut note: impl FnMut(usize, Result<Record, &Reason>) -> Result<(), E>,
) -> Result<Vec<Failed<'r>>, E> {
    let next = AtomicUsize::new(0);
    let mut reasons = vec![None; runs.len()];
    // Results that cannot be kept end this execution, and not what else the caller cancels.
    let cancel = execution.cancel.child_token();
    thread::scope(|scope| {
        let (sender, results) = mpsc::channel();
        let worker = || {
            let (sender, next, cancel) = (sender.clone(), &next, &cancel);
            move || {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    if place >= runs.len() || cancel.is_cancelled() {
                        return;
                    }
                    let watch = |progress| (execution.watch)(Event::Progress(place, progress));
                    let repeated = || (execution.watch)(Event::Repeated(place));
                    let result = attempt(execution, runs[place], &watch, &repeated, cancel);
                    // Nobody receives any more once a result could not be kept.
                    let _ = sender.send((place, result));
                }
            }
        };
        for number in 0..execution.jobs.clamp(1, runs.len().max(1)) {
            let started = thread::Builder::new().spawn_scoped(scope, worker());
            // The system may refuse threads: those that there are do the work, or else this one.
            match (started, number) {
                (Ok(_), _) => {}
                (Err(_), 0) => worker()(),
                (Err(_), _) => break,
            }
        }
        drop(sender);
        for (place, result) in results {
            let noted = match result {
                Ok(record) if record.summary.is_partial => Ok(()),
                Ok(record) => note(place, Ok(record)),
                Err(reason) => note(place, Err(reasons[place].insert(reason))),
            };
            if let Err(error) = noted {
                cancel.cancel();
                return Err(error);
            }
            (execution.watch)(Event::Ended(place));
        }
        Ok(())
    })?;
    let failed = runs.iter().zip(reasons);
    Ok(failed
        .filter_map(|(run, reason)| {
            Some(Failed {
                run,
                reason: reason?,
            })
        })
        .collect())
}
