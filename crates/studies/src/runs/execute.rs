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

/// The events of an execution. Runs are identified by their index among those executed.
#[derive(Debug, Clone, Copy)]
pub enum Event {
    /// The progress of a flow of the run.
    Progress(usize, Progress),
    /// The run was not to be trusted, and is repeated.
    Repeated(usize),
    /// The run has ended.
    Ended(usize),
}

/// A run that failed.
#[derive(Debug, Clone)]
pub struct Failed<'r> {
    /// The run.
    pub run: &'r Run,
    /// The reason.
    pub reason: Reason,
}

/// The settings of an execution.
#[derive(Clone, Copy)]
pub struct Execution<'e> {
    /// The engine.
    pub engine: &'e (dyn Engine + Sync),
    /// The number of concurrent runs. Engines in real time measure the machine unless this is one.
    pub jobs: usize,
    /// The number of repetitions of a run in real time that is [not to be trusted](record::Validity), before it fails.
    /// By default records are returned as they are.
    pub repeats: Option<u32>,
    /// Receives events, from several threads.
    pub watch: &'e (dyn Fn(Event) + Sync),
    /// Ends the execution: running runs are aborted, and no further one starts.
    pub cancel: &'e Cancel,
}

impl<'e> Execution<'e> {
    /// An execution without events.
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

/// The number of concurrent runs: as requested, or as suits the engine and the machine.
pub fn jobs(asked: Option<NonZeroUsize>, engine: EngineKind) -> usize {
    match (asked, engine.is_real_time()) {
        (Some(jobs), _) => jobs.get(),
        // They would disturb each other's measurements.
        (None, true) => 1,
        (None, false) => thread::available_parallelism().map_or(1, NonZeroUsize::get),
    }
}

/// The runs of the plan that are not in the store.
pub fn missing<'p, T: Serialize + DeserializeOwned>(
    plan: &'p Plan,
    store: &Store<T>,
) -> Vec<&'p Run> {
    let is_missing = |run: &&Run| store.get(&run.key).is_none();
    plan.runs.iter().filter(is_missing).collect()
}

/// [Executes](execute) these runs, and stores the result of `kept` for each record as soon as there is one.
///
/// # Errors
///
/// A result cannot be stored. The remaining runs are aborted.
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

/// Executes these runs. `note` is called as each ends, with the run's index and its record or the reason of its
/// failure. It is not called for aborted runs.
///
/// A failed run does not end the others. Returns the failed runs, in the order of the runs.
///
/// # Errors
///
/// The errors of `note`, which abort the remaining runs.
pub fn execute<'r, E>(
    runs: &[&'r Run],
    execution: &Execution<'_>,
    mut note: impl FnMut(usize, Result<Record, &Reason>) -> Result<(), E>,
) -> Result<Vec<Failed<'r>>, E> {
    let next = AtomicUsize::new(0);
    let mut reasons = vec![None; runs.len()];
    // An error of `note` ends this execution, but nothing else under the caller's token.
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
                    let how: (&dyn Engine, _) = (execution.engine, execution.repeats);
                    let result = attempt(how, runs[place], &watch, &repeated, cancel);
                    // Nobody receives after an error of `note`.
                    let _ = sender.send((place, result));
                }
            }
        };
        for number in 0..execution.jobs.clamp(1, runs.len().max(1)) {
            let started = thread::Builder::new().spawn_scoped(scope, worker());
            // The system may refuse threads. The existing ones do the work, or this one if there are none.
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
