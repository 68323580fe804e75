//! Advice for the path of a scenario, as `fullpipe advise --from` gives it.

use lab::{Cancel, EngineKind, Sim};
use play::Advising;
use serde::Serialize;
use studies::advise::{self, Measured};
use studies::runs::{self, Execution};

/// How far the runs are.
#[derive(Serialize)]
struct Progress<'a> {
    /// What the runs are, in a line.
    about: &'a str,
    done: usize,
    of: usize,
}

/// The advice as JSON; `None` if nobody wants it any more. Tells how far the runs are, as JSON, when one has ended.
pub fn of(
    text: &str,
    is_unwanted: &(dyn Fn() -> bool + Sync),
    tell: &dyn Fn(Vec<u8>),
) -> Result<Option<Vec<u8>>, String> {
    let mut advising = Advising::begin(text)?;
    let about = advising.about();
    let cancel = Cancel::new();
    let plan = advise::plan(advising.sampling(), "advise", advising.cases(), &cancel);
    let all = plan.all();
    let engine = Sim::within(play::BOUNDS);
    let execution = Execution {
        engine: &engine,
        jobs: runs::jobs(None, EngineKind::Sim),
        repeats: None,
        watch: &|_| {
            if is_unwanted() {
                cancel.cancel();
            }
        },
        cancel: &cancel,
    };
    let mut done = 0;
    runs::execute(&all, &execution, |place, outcome| {
        done += 1;
        let progress = Progress {
            about: &about,
            done,
            of: all.len(),
        };
        tell(serde_json::to_vec(&progress).map_err(|error| error.to_string())?);
        match outcome {
            Ok(record) => advising.note(place, Measured::of(&record)),
            Err(_) => Ok(()),
        }
    })?;
    if cancel.is_cancelled() {
        return Ok(None);
    }
    advising.answer().map(Some)
}
