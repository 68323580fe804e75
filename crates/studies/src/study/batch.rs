//! The runs of several studies on an engine.

use std::convert::Infallible;

use units::Duration;

use super::spec::Study;
use crate::sweep::{self, Event, Failed, Plan, Point, Run, SweepError};
use lab::Cancel;
use lab::EngineError;
use record::Record;

/// The runs of several studies on an engine, all of them checked.
#[derive(Debug, Clone)]
pub struct Batch {
    /// What runs them.
    pub engine: lab::EngineKind,
    /// All runs, study by study. A run's point is its place among the points of all studies, and the value of the plan's
    /// one field the study with the values of its own point.
    pub plan: Plan,
    /// Of each study, its own plan.
    plans: Vec<Plan>,
    /// Of each study, whether its records keep their samples.
    keep_samples: Vec<bool>,
    /// Of each run of all: its study, and its place among the study's runs.
    places: Vec<(usize, usize)>,
}

/// The runs of a study on an engine.
#[derive(Debug, Clone)]
pub struct Findings {
    /// The engine.
    pub engine: lab::EngineKind,
    /// The names of the fields that vary.
    pub fields: Vec<String>,
    /// The runs that gave a record, in the order of points and repeats.
    pub runs: Vec<Finding>,
    /// Why others gave none: the run, and the reason.
    pub failed: Vec<(String, String)>,
}

/// A run of a study.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The values of the fields that vary, in the order of [`Findings::fields`].
    pub values: Vec<String>,
    /// Which of the point's runs it is, from zero.
    pub repeat: u64,
    /// What was observed.
    pub record: Record,
}

/// Why studies cannot be run. Prints as one line.
#[derive(Debug, thiserror::Error)]
pub enum BatchError {
    /// A study makes no sense.
    #[error("{place}: {error}")]
    Study {
        /// Its file.
        place: String,
        /// What is wrong.
        error: Box<SweepError>,
    },
    /// The engine cannot do what a study asks for.
    #[error("{place}: {run}: {error}")]
    Engine {
        /// The study's file.
        place: String,
        /// The run.
        run: String,
        /// What it cannot do.
        error: Box<EngineError>,
    },
}

impl Batch {
    /// The runs of the studies.
    ///
    /// # Errors
    ///
    /// A point of a study makes no sense, or the engine cannot run it.
    pub fn new<'s>(
        studies: impl IntoIterator<Item = &'s Study>,
        engine: lab::EngineKind,
    ) -> Result<Batch, BatchError> {
        let mut batch = Batch {
            engine,
            plan: Plan {
                name: engine.to_string(),
                fields: vec!["study".to_owned()],
                points: Vec::new(),
                runs: Vec::new(),
            },
            plans: Vec::new(),
            keep_samples: Vec::new(),
            places: Vec::new(),
        };
        for study in studies {
            batch.add_study(study)?;
        }
        Ok(batch)
    }

    /// Adds a study.
    ///
    /// # Errors
    ///
    /// A point of it makes no sense, or the engine cannot run it.
    pub fn add_study(&mut self, study: &Study) -> Result<(), BatchError> {
        // Nothing is kept from one program to the next, so that it does not matter which one this is.
        let plan = study.on(self.engine).map_err(SweepError::from);
        let plan = plan.and_then(|sweep| Plan::new(&sweep, ""));
        let plan = plan.map_err(|error| BatchError::Study {
            place: study.place.clone(),
            error: Box::new(error),
        })?;
        self.add(&study.name, &study.place, plan, study.keeps_samples)
    }

    /// Adds a study that is no file: these runs, which people know as `name` and whose scenarios are from `place`.
    ///
    /// # Errors
    ///
    /// The engine cannot run one of them.
    pub fn add(
        &mut self,
        name: &str,
        place: &str,
        plan: Plan,
        keeps_samples: bool,
    ) -> Result<(), BatchError> {
        let runner = self.engine.engine();
        for run in &plan.runs {
            let checked = runner.check(&run.scenario);
            checked.map_err(|error| BatchError::Engine {
                place: place.to_owned(),
                run: plan.name(run),
                error: Box::new(error),
            })?;
        }
        let (study, before) = (self.plans.len(), self.plan.points.len());
        self.plan.points.extend(plan.points.iter().map(|point| {
            let values = std::iter::once(name.to_owned()).chain(point.values.iter().cloned());
            Point {
                values: vec![values.collect::<Vec<_>>().join(" ")],
                scenario: point.scenario.clone(),
            }
        }));
        for (place, run) in plan.runs.iter().enumerate() {
            self.plan.runs.push(Run {
                point: before + run.point,
                ..run.clone()
            });
            self.places.push((study, place));
        }
        self.plans.push(plan);
        self.keep_samples.push(keeps_samples);
        Ok(())
    }

    /// How long its runs take in real time, one after the other; those without a duration count for nothing.
    pub fn real_time(&self) -> Duration {
        let durations = self
            .plan
            .runs
            .iter()
            .filter_map(|run| run.scenario.duration);
        durations.fold(Duration::ZERO, |sum, next| sum + next)
    }

    /// How many runs there are.
    pub fn len(&self) -> usize {
        self.plan.runs.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.plan.runs.is_empty()
    }

    /// Runs all of them, as many at a time as `jobs` says; engines in real time measure the machine unless that is one.
    /// `watch` is told how it goes, from several threads. `done` gets what was found in a study, the study by its place,
    /// when its last run has ended: studies that end early do not wait in memory for the others.
    ///
    /// A run that fails does not end the others. Once `cancel` is cancelled, runs that have begun are given up and none
    /// is begun; studies that are not whole then are not reported.
    pub fn run(
        &self,
        jobs: usize,
        watch: &(dyn Fn(Event) + Sync),
        cancel: &Cancel,
        mut done: impl FnMut(usize, Findings),
    ) {
        let mut open: Vec<Open> = self.plans.iter().map(Open::new).collect();
        let all: Vec<usize> = (0..self.plan.runs.len()).collect();
        let keep = |place: usize, mut outcome: Result<Record, String>| {
            let Some((study, of_study)) = self.places.get(place).copied() else {
                return Ok::<(), Infallible>(());
            };
            if let (Ok(record), Some(false)) = (&mut outcome, self.keep_samples.get(study)) {
                record.drop_samples();
            }
            let (Some(plan), Some(entry)) = (self.plans.get(study), open.get_mut(study)) else {
                return Ok(());
            };
            if entry.note(plan, of_study, outcome) {
                done(study, std::mem::take(entry).findings(plan, self.engine));
            }
            Ok(())
        };
        let Ok(()) = sweep::execute_all(
            &self.plan,
            &all,
            self.engine.engine().as_ref(),
            jobs,
            watch,
            cancel,
            keep,
        );
    }
}

/// A study whose runs have not all ended.
#[derive(Debug, Default)]
struct Open {
    left: usize,
    records: Vec<Option<Record>>,
    failed: Vec<Failed>,
}

impl Open {
    fn new(plan: &Plan) -> Open {
        Open {
            left: plan.runs.len(),
            records: plan.runs.iter().map(|_| None).collect(),
            failed: Vec::new(),
        }
    }

    /// Notes how a run ended; whether it was the last.
    fn note(&mut self, plan: &Plan, place: usize, outcome: Result<Record, String>) -> bool {
        debug_assert!(place < plan.runs.len(), "a run of the plan");
        match outcome {
            Ok(record) => {
                if let Some(kept) = self.records.get_mut(place) {
                    *kept = Some(record);
                }
            }
            Err(reason) => self.failed.push(Failed { run: place, reason }),
        }
        self.left = self.left.saturating_sub(1);
        self.left == 0
    }

    fn findings(mut self, plan: &Plan, engine: lab::EngineKind) -> Findings {
        let runs = plan.runs.iter().zip(self.records);
        let finding = |(run, record): (&Run, Option<Record>)| {
            let point = plan.points.get(run.point)?;
            Some(Finding {
                values: point.values.clone(),
                repeat: run.repeat,
                record: record?,
            })
        };
        self.failed.sort_by_key(|failed| failed.run);
        let failed = self.failed.into_iter().map(|failed| {
            let run = plan.runs.get(failed.run);
            let name = run.map(|run| plan.name(run));
            (name.unwrap_or_default(), failed.reason)
        });
        Findings {
            engine,
            fields: plan.fields.clone(),
            runs: runs.filter_map(finding).collect(),
            failed: failed.collect(),
        }
    }
}
