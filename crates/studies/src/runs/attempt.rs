//! One run, repeated if the machine was too late.

use std::fmt;
use std::panic::{self, AssertUnwindSafe};

use super::plan::Run;
use lab::{Cancel, Engine, Progress};
use record::Record;

/// The most repetitions of a run in real time, where a judgement needs a record that can be trusted.
pub const REPEATS: u32 = 2;

/// The reason why a run has no record. Prints as one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// The engine could not run it.
    Failed(String),
    /// All records were [not to be trusted](record::Validity).
    Untrusted {
        /// The warning of the last record.
        warning: String,
        /// The number of runs.
        runs: u32,
    },
}

impl Reason {
    /// Whether the reason concerns the machine rather than the run.
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

/// The record of the run. A run that cannot be trusted is repeated up to `repeats` times, if there is a limit; `repeated` is
/// called each time.
pub(super) fn attempt(
    (engine, repeats): (&dyn Engine, Option<u32>),
    run: &Run,
    watch: &(dyn Fn(Progress) + Sync),
    repeated: &dyn Fn(),
    cancel: &Cancel,
) -> Result<Record, Reason> {
    let once = || once(engine, run, watch, cancel).map_err(Reason::Failed);
    let Some(repeats) = repeats else {
        return once();
    };
    let mut runs = 0;
    loop {
        let record = once()?;
        runs += 1;
        match record.summary.validity.warning() {
            // A partial record is dropped in any case.
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
    engine: &dyn Engine,
    run: &Run,
    watch: &(dyn Fn(Progress) + Sync),
    cancel: &Cancel,
) -> Result<Record, String> {
    // A panic at one point of a grid must not cost the results of the others.
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
