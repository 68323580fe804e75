//! Advice for the path of a scenario, as `fullpipe advise --from` gives it.

use std::convert::Infallible;
use std::path::Path;

use congestion::ControllerKind;
use document::DocumentError;
use lab::{Cancel, EngineKind};
use serde::Serialize;
use studies::advise::{self, Advice, Gathering, Goal, Json, Outcomes, Question, RangedPath};
use studies::runs::{self, Execution};

/// The candidates of `fullpipe advise`.
const CANDIDATES: [ControllerKind; 4] = [
    ControllerKind::Bbr3,
    ControllerKind::Bbr1,
    ControllerKind::Cubic,
    ControllerKind::Reno,
];

/// The advice, in words and as data.
#[derive(Serialize)]
struct Advised<'a> {
    text: String,
    summary: Json<'a>,
}

/// The advice as JSON; `None` if nobody wants it any more.
pub fn of(text: &str, is_unwanted: &(dyn Fn() -> bool + Sync)) -> Result<Option<Vec<u8>>, String> {
    let told = |error: DocumentError| error.to_string();
    play::read(text)?;
    let mut path = RangedPath::parse(text, Path::new("")).map_err(told)?;
    path.complete();
    let question = Question {
        path,
        controllers: CANDIDATES.to_vec(),
        paths: None,
        duration: None,
        seed: 1,
    };
    let sampling = question.sampling().map_err(told)?;
    let cases = sampling.cases(&question.controllers);
    let cancel = Cancel::new();
    let plan = sampling.plan("advise", &cases, &cancel);
    let all = plan.all();
    let engine = EngineKind::Sim.engine();
    let execution = Execution {
        engine: engine.as_ref(),
        jobs: runs::jobs(None, EngineKind::Sim),
        repeats: None,
        watch: &|_| {
            if is_unwanted() {
                cancel.cancel();
            }
        },
        cancel: &cancel,
    };
    let mut gathering = Gathering::new(all.len());
    let Ok(failed) = runs::execute(&all, &execution, |place, outcome| {
        if let Ok(record) = outcome {
            gathering.note(place, &record);
        }
        Ok::<(), Infallible>(())
    });
    if cancel.is_cancelled() {
        return Ok(None);
    }
    let outcomes = Outcomes::new(&question.controllers, &cases, &gathering);
    let goal = Goal::default();
    let Some(advice) = Advice::new(&outcomes, &sampling) else {
        return Err(advise::nothing(&outcomes, &sampling));
    };
    let advised = Advised {
        text: advise::text(&advice, goal, None),
        summary: Json::new(&advice, goal, all.len() - failed.len()),
    };
    serde_json::to_vec(&advised)
        .map(Some)
        .map_err(|error| error.to_string())
}
