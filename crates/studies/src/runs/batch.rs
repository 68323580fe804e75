//! Batches: several plans on one engine.

use std::convert::Infallible;

use units::Duration;

use super::attempt::{REPEATS, Reason};
use super::execute::{Event, Execution, execute};
use super::plan::{Plan, Run};
use lab::Cancel;
use lab::EngineError;
use record::Record;

/// Several plans on one engine that can run them all.
#[derive(Debug, Clone)]
pub struct Batch {
    /// The engine.
    pub engine: lab::EngineKind,
    plans: Vec<Plan>,
}

/// The runs of a plan on an engine.
#[derive(Debug, Clone)]
pub struct Findings {
    /// The engine.
    pub engine: lab::EngineKind,
    /// The names of the varying fields.
    pub fields: Vec<String>,
    /// The runs with a record, in the order of the plan.
    pub runs: Vec<Finding>,
    /// The names of runs without one, with the reason.
    pub failed: Vec<(String, Reason)>,
}

/// The result of a run.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The values of the varying fields, in the order of [`Findings::fields`].
    pub values: Vec<String>,
    /// The index of the run among its point's runs.
    pub repeat: u64,
    /// The record.
    pub record: Record,
}

/// The error that the engine cannot run a plan. Prints as one line.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {run}: {error}")]
pub struct BatchError {
    /// The plan's file.
    pub place: String,
    /// The run.
    pub run: String,
    /// The engine's reason.
    pub error: Box<EngineError>,
}

impl Batch {
    /// An empty batch.
    pub fn new(engine: lab::EngineKind) -> Batch {
        Batch {
            engine,
            plans: Vec::new(),
        }
    }

    /// Adds a plan from the file `place`.
    ///
    /// # Errors
    ///
    /// The engine cannot run the plan.
    pub fn add(&mut self, place: &str, plan: Plan) -> Result<(), BatchError> {
        let engine = self.engine.engine();
        for run in &plan.runs {
            let checked = engine.check(&run.scenario);
            checked.map_err(|error| BatchError {
                place: place.to_owned(),
                run: run.name.clone(),
                error: Box::new(error),
            })?;
        }
        self.plans.push(plan);
        Ok(())
    }

    /// All runs, plan by plan.
    pub fn runs(&self) -> Vec<&Run> {
        self.plans.iter().flat_map(|plan| &plan.runs).collect()
    }

    /// The total duration of its runs in sequence. Runs without a duration count as zero.
    pub fn real_time(&self) -> Duration {
        let runs = self.runs();
        let durations = runs.iter().filter_map(|run| run.scenario.duration);
        durations.fold(Duration::ZERO, |sum, next| sum + next)
    }

    /// [Executes](execute) all plans. `done` gets each plan's index and findings when its last run has ended, so that
    /// finished plans do not wait in memory. After `cancel` is cancelled, incomplete plans are not reported.
    pub fn run(
        &self,
        jobs: usize,
        watch: &(dyn Fn(Event) + Sync),
        cancel: &Cancel,
        mut done: impl FnMut(usize, Findings),
    ) {
        let mut open: Vec<Open<'_>> = self.plans.iter().map(Open::new).collect();
        let places: Vec<(usize, usize)> = (open.iter().enumerate())
            .flat_map(|(at, open)| (0..open.left).map(move |place| (at, place)))
            .collect();
        let engine = self.engine.engine();
        let execution = Execution {
            engine: engine.as_ref(),
            jobs,
            repeats: Some(REPEATS),
            watch,
            cancel,
        };
        let Ok(_) = execute(&self.runs(), &execution, |place, outcome| {
            let (at, place) = places[place];
            open[at].outcomes[place] = Some(outcome.map_err(Reason::clone));
            open[at].left -= 1;
            if open[at].left == 0 {
                done(at, open[at].findings(self.engine));
            }
            Ok::<(), Infallible>(())
        });
    }
}

/// A plan with runs that have not ended.
struct Open<'p> {
    plan: &'p Plan,
    left: usize,
    outcomes: Vec<Option<Result<Record, Reason>>>,
}

impl Open<'_> {
    fn new(plan: &Plan) -> Open<'_> {
        Open {
            plan,
            left: plan.runs.len(),
            outcomes: plan.runs.iter().map(|_| None).collect(),
        }
    }

    /// Takes the findings.
    fn findings(&mut self, engine: lab::EngineKind) -> Findings {
        let (mut runs, mut failed) = (Vec::new(), Vec::new());
        for (run, outcome) in self.plan.runs.iter().zip(self.outcomes.drain(..)) {
            match outcome.expect("every run has ended") {
                Ok(record) => runs.push(Finding {
                    values: self.plan.point(run).values.clone(),
                    repeat: run.repeat,
                    record,
                }),
                Err(reason) => failed.push((run.name.clone(), reason)),
            }
        }
        Findings {
            engine,
            fields: self.plan.fields.clone(),
            runs,
            failed,
        }
    }
}
