//! One run, and again if the machine was too late for it.

use std::fmt;
use std::panic::{self, AssertUnwindSafe};

use super::execute::Execution;
use super::plan::Run;
use lab::{Cancel, Progress};
use record::Record;

/// How often a run in real time is repeated before it is given up, where what is judged by it must be to be trusted.
pub const REPEATS: u32 = 2;

/// Why there is no record of a run. Prints as one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// The engine could not run it.
    Failed(String),
    /// There are records, but [none is to be trusted](record::Validity).
    Untrusted {
        /// What the last one said.
        warning: String,
        /// How many there were.
        runs: u32,
    },
}

impl Reason {
    /// Whether it says something of the machine, and nothing of what was run.
    pub fn is_untrusted(&self) -> bool {
        matches!(self, Reason::Untrusted { .. })
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Failed(reason) => f.write_str(reason),
            Reason::Untrusted { warning, runs: 1 } => f.write_str(warning),
            Reason::Untrusted { warning, runs } => {
                write!(f, "{warning}, as in each of {runs} runs")
            }
        }
    }
}

/// The record of the run, repeated as long as it is not to be trusted and the execution allows it. `repeated` is told of each
/// time.
pub(super) fn attempt(
    execution: &Execution<'_>,
    run: &Run,
    watch: &(dyn Fn(Progress) + Sync),
    repeated: &dyn Fn(),
    cancel: &Cancel,
) -> Result<Record, Reason> {
    let once = || once(execution, run, watch, cancel).map_err(Reason::Failed);
    let Some(repeats) = execution.repeats else {
        return once();
    };
    let mut runs = 0;
    loop {
        let record = once()?;
        runs += 1;
        match record.summary.validity.warning() {
            // What was ended before its time is not kept in any case.
            Some(warning) if !record.summary.is_partial => {
                if runs > repeats {
                    return Err(Reason::Untrusted { warning, runs });
                }
                repeated();
            }
            _ => return Ok(record),
        }
    }
}

fn once(
    execution: &Execution<'_>,
    run: &Run,
    watch: &(dyn Fn(Progress) + Sync),
    cancel: &Cancel,
) -> Result<Record, String> {
    let engine = execution.engine;
    // A mistake of ours that one corner of a grid brings to light must not cost the night's work on the others.
    let outcome = panic::catch_unwind(AssertUnwindSafe(|| {
        if run.keeps_samples {
            engine.run(&run.scenario, watch, cancel)
        } else {
            engine.run_without_samples(&run.scenario, watch, cancel)
        }
    }));
    match outcome {
        Ok(Ok(record)) => Ok(record),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err("the engine panicked, which is a mistake in Fullpipe".to_string()),
    }
}
