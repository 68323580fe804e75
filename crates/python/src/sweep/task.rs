//! Some runs of a grid as text, for a worker elsewhere.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use lab::{Cancel, EngineKind};
use pyo3::prelude::*;
use record::Summary;
use scenario::{Draft, Scenario};
use serde::{Deserialize, Serialize};
use studies::runs::{self, Execution, Keys, Plan, Run};

use super::parts::{Row, write_part};
use crate::build::build;
use crate::error;
use crate::waiting::interruptible;

/// Runs, and the place of their results.
#[derive(Serialize, Deserialize)]
pub struct Task {
    /// The directory for the part. Without it, the results are in the [`Report`].
    pub directory: Option<PathBuf>,
    /// The runs.
    pub runs: Vec<Order>,
}

/// A run of a task.
#[derive(Serialize, Deserialize)]
pub struct Order {
    /// The index in the plan.
    place: usize,
    /// The key in the plan.
    key: String,
    /// The displayed name.
    name: String,
    /// The key of the scenario below. The worker must compute the same, or it would run something else.
    proof: String,
    /// The scenario as TOML, with its seed. Traces have absolute paths.
    scenario: String,
}

/// The results of a task.
#[derive(Serialize, Deserialize)]
pub struct Report {
    /// The duration.
    pub seconds: f64,
    /// The part that was written, if any.
    pub part: Option<PathBuf>,
    /// Without a part, the results by the runs' indices.
    pub done: Vec<(usize, Summary)>,
    /// The failed runs, with the reasons.
    pub failed: Vec<(usize, String)>,
}

impl Order {
    /// The order for the run at this index.
    ///
    /// # Errors
    ///
    /// A trace cannot be read any more.
    pub fn new(place: usize, run: &Run, keys: &mut Keys<'_>) -> PyResult<Order> {
        let mut scenario = Scenario::clone(&run.scenario);
        for hop in scenario.hops_mut() {
            let traces = [&mut hop.data.trace, &mut hop.uplink.trace];
            for file in traces.into_iter().flatten() {
                let absolute = std::path::absolute(&file);
                *file = absolute.map_err(|error| error::of_file(file, &error))?;
            }
        }
        Ok(Order {
            place,
            key: run.key.clone(),
            name: run.name.clone(),
            proof: keys
                .of(&scenario)
                .map_err(|error| error::of_files(&error))?,
            scenario: scenario.to_string(),
        })
    }

    fn scenario(&self, build: &str) -> PyResult<Scenario> {
        let draft = Draft::parse(&self.scenario, Path::new("/"));
        let scenario = draft.and_then(|draft| draft.read());
        let scenario = scenario.map_err(|error| error::of_scenario(&error))?;
        let proof = Keys::new(EngineKind::Sim, build).of(&scenario);
        let proof = proof.map_err(|error| error::of_files(&error))?;
        if proof == self.proof {
            return Ok(scenario);
        }
        Err(error::of_run(&format!(
            "{}: a worker has another build of fullpipe or another trace; install the same wheel and files on all machines",
            self.name
        )))
    }
}

/// Does a task on a worker, and returns its report. Both are JSON.
#[pyfunction]
#[pyo3(name = "_work")]
pub fn work(py: Python<'_>, task: &str) -> PyResult<String> {
    let wrong = |error: serde_json::Error| error::of_run(&error.to_string());
    let task: Task = serde_json::from_str(task).map_err(wrong)?;
    let build = build(py)?;
    let began = Instant::now();
    let mut plan = Plan::new("", Vec::<String>::new());
    for order in &task.runs {
        let scenario = Arc::new(order.scenario(&build)?);
        plan.add_point(Vec::new(), Arc::clone(&scenario));
        plan.add_run(0, scenario, order.key.clone());
    }
    plan.keep_samples(false);
    let cancel = Cancel::new();
    let report = interruptible(py, &cancel, || {
        let all = plan.all();
        let engine = EngineKind::Sim.engine();
        let execution = Execution::unwatched(engine.as_ref(), 1, &cancel);
        let (mut rows, mut done, mut failed) = (Vec::new(), Vec::new(), Vec::new());
        runs::execute(&all, &execution, |at, outcome| {
            let order = &task.runs[at];
            match outcome {
                Err(reason) => failed.push((order.place, reason.to_string())),
                Ok(record) if task.directory.is_some() => {
                    let summary = serde_json::to_string(&record.summary)?;
                    rows.push(Row::new(order.key.clone(), order.name.clone(), summary));
                }
                Ok(record) => done.push((order.place, record.summary)),
            }
            Ok::<_, serde_json::Error>(())
        })
        .map_err(wrong)?;
        let part = match &task.directory {
            // Cancelled runs are no results.
            Some(directory) if !rows.is_empty() && !cancel.is_cancelled() => {
                let written = write_part(directory, &rows);
                Some(written.map_err(|error| error::of_file(directory, &error))?)
            }
            _ => None,
        };
        Ok::<_, PyErr>(Report {
            seconds: began.elapsed().as_secs_f64(),
            part,
            done,
            failed,
        })
    })??;
    serde_json::to_string(&report).map_err(wrong)
}
