//! The plan of an evaluation, and its runs.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;

use congestion::ControllerKind;
use lab::{Cancel, EngineError, EngineKind};
use record::measure::{Flows, Select, Subject as Part};
use record::{Measure, Record};
use scenario::{Controller, FlowSpec, Scenario};
use serde::{Deserialize, Serialize};
use studies::runs::{self, Event, Execution, Plan, Run};

use crate::bench::Bench;
use crate::case::{Case, Extent, Planned, REFERENCES};
use crate::criteria::{Criteria, Criterion, Experiment};
use crate::drawn;
use crate::evaluation::Evaluation;
use crate::subject::Subject;

/// The controller in the criteria whose place the subject takes.
const PLACE: &str = "rust:Subject";

/// The plan of an evaluation.
#[derive(Debug)]
pub struct Work {
    planned: Planned,
    plan: Plan,
    left_out: Vec<String>,
}

impl Work {
    /// Plans the runs of an evaluation by these criteria.
    ///
    /// Criteria whose experiments the engine cannot run are [left out](Work::left_out).
    pub fn new<C>(subject: &Subject<C>, criteria: &Criteria, extent: Extent) -> Work {
        let engine = subject.engine();
        let mut kept = criteria.clone();
        if engine != EngineKind::Sim {
            kept.experiments.retain(|one| is_live(one, subject));
        }
        let is_kept = |name: &&str| kept.names().any(|one| one == *name);
        let left_out = criteria.names().filter(|name| !is_kept(name));
        let mut work = Work {
            left_out: left_out.map(str::to_owned).collect(),
            planned: Planned {
                criteria: kept.clone(),
                extent: extent.of(&kept.experiments),
                controller: subject.controller().to_string(),
                engine,
                references: references(engine),
                cases: Vec::new(),
            },
            plan: Plan::new("evaluate", ["experiment", "case", "controller"]),
        };
        for (place, experiment) in kept.experiments.iter().enumerate() {
            for (name, scenario) in cases(experiment, extent) {
                work.add(subject, place, experiment, name, &scenario);
            }
        }
        work
    }

    fn add<C>(
        &mut self,
        subject: &Subject<C>,
        place: usize,
        experiment: &Experiment,
        name: String,
        scenario: &Scenario,
    ) {
        let with = |flow: &FlowSpec| Arc::new(with(scenario, flow));
        let own = with(&subject.flow);
        let references = self.planned.references.clone();
        let samples = experiment.criterion.iter().any(needs_samples);
        let mut run = |controller: &str, scenario: &Arc<Scenario>| {
            let values = [&experiment.name, name.as_str(), controller].map(str::to_owned);
            self.plan.add_point(values.to_vec(), Arc::clone(scenario));
            self.plan.add_run(0, Arc::clone(scenario), String::new());
            let place = self.plan.runs.len() - 1;
            self.plan.runs[place].keeps_samples = samples;
            place
        };
        let first = run(&self.planned.controller, &own);
        let mut runs = vec![first];
        for kind in references {
            let other = with(&FlowSpec::new(kind.into()));
            // A reference is its own subject.
            let is_own = other == own;
            runs.push(if is_own {
                first
            } else {
                run(kind.name(), &other)
            });
        }
        self.planned.cases.push(Case {
            experiment: place,
            name,
            scenario: own,
            runs,
        });
    }

    /// Its runs, for a display of the progress.
    pub fn runs(&self) -> Vec<&Run> {
        self.plan.all()
    }

    /// How much is run.
    pub fn extent(&self) -> Extent {
        self.planned.extent
    }

    /// The criteria whose experiments the engine cannot run.
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// Checks that this machine has what the runs of a built-in controller take.
    ///
    /// # Errors
    ///
    /// A privilege or a controller of the kernel is missing.
    pub fn check_here(&self) -> Result<(), EngineError> {
        let engine = self.planned.engine.engine();
        // The neighbours of other cases are references.
        let first = self.planned.cases.first();
        let mut runs = first.iter().flat_map(|case| &case.runs);
        runs.try_for_each(|run| engine.check_here(&self.plan.runs[*run].scenario))
    }

    /// Does the runs, and judges. `jobs` is the number of runs at a time, by default the number of processors. If
    /// cancelled, the evaluation lacks the runs that have not ended.
    pub fn run<C: congestion::Controller + 'static>(
        &self,
        subject: &Subject<C>,
        jobs: Option<NonZeroUsize>,
        watch: &(dyn Fn(Event) + Sync),
        cancel: &Cancel,
    ) -> Evaluation {
        self.judge(&self.measured(subject, jobs, watch, cancel))
    }

    /// Does the [runs](Work::run), and judges each reference as the subject: the runs here are all that its own evaluation
    /// takes.
    pub fn run_references<C: congestion::Controller + 'static>(
        &self,
        subject: &Subject<C>,
        jobs: Option<NonZeroUsize>,
        watch: &(dyn Fn(Event) + Sync),
        cancel: &Cancel,
    ) -> Vec<Evaluation> {
        let measured = self.measured(subject, jobs, watch, cancel);
        let references = self.planned.references.iter().enumerate();
        let judged = references.map(|(place, kind)| {
            let mut planned = self.planned.clone();
            planned.controller = kind.name().to_owned();
            for case in &mut planned.cases {
                case.runs[0] = case.runs[place + 1];
                case.scenario = Arc::clone(&self.plan.runs[case.runs[0]].scenario);
            }
            self.judged(&planned, &measured)
        });
        judged.collect()
    }

    fn measured<C: congestion::Controller + 'static>(
        &self,
        subject: &Subject<C>,
        jobs: Option<NonZeroUsize>,
        watch: &(dyn Fn(Event) + Sync),
        cancel: &Cancel,
    ) -> Measured {
        let bench = Bench(subject);
        let execution = Execution {
            watch,
            ..Execution::unwatched(&bench, runs::jobs(jobs, self.planned.engine), cancel)
        };
        let all = 0..self.plan.runs.len();
        if self.planned.engine == EngineKind::Sim {
            return self.measure(all, &execution);
        }
        let engine = self.planned.engine.engine();
        self.measure(
            all,
            &Execution {
                engine: engine.as_ref(),
                repeats: Some(runs::REPEATS),
                ..execution
            },
        )
    }

    /// Does the runs at these places, on this machine, on one processor: a part of the work for
    /// [`judge`](Work::judge).
    pub fn part<C: congestion::Controller + 'static>(
        &self,
        subject: &Subject<C>,
        places: Range<usize>,
        cancel: &Cancel,
    ) -> Measured {
        let bench = Bench(subject);
        self.measure(places, &Execution::unwatched(&bench, 1, cancel))
    }

    fn measure(&self, places: Range<usize>, execution: &Execution<'_>) -> Measured {
        let first = places.start;
        let all: Vec<&Run> = self.plan.runs[places].iter().collect();
        let mut measured = Measured::default();
        let Ok(_) = runs::execute(&all, execution, |at, outcome| {
            match outcome {
                Ok(record) => {
                    let values = self.criteria(all[at]).iter().map(|one| value(one, &record));
                    measured.values.insert(first + at, values.collect());
                }
                Err(reason) => {
                    measured.failed.insert(first + at, reason.to_string());
                }
            }
            Ok::<(), Infallible>(())
        });
        measured
    }

    /// The criteria that a run answers.
    fn criteria(&self, run: &Run) -> &[Criterion] {
        let experiment = &self.plan.point(run).values[0];
        let mut experiments = self.planned.criteria.experiments.iter();
        let found = experiments.find(|one| one.name == *experiment);
        found.map_or(&[][..], |one| &one.criterion)
    }

    /// Judges what the runs have measured.
    pub fn judge(&self, measured: &Measured) -> Evaluation {
        self.judged(&self.planned, measured)
    }

    fn judged(&self, planned: &Planned, measured: &Measured) -> Evaluation {
        let failed = measured.failed.iter();
        let failed = failed.map(|(at, reason)| format!("{}: {reason}", self.plan.runs[*at].name));
        let values = |case: &Case, controller: usize, criterion: usize| {
            let values = measured.values.get(&case.runs[controller])?;
            Some(values[criterion])
        };
        Evaluation::of(planned, failed.collect(), &values)
    }
}

/// What runs have measured, by their places in the plan. It is plain data, so that a part of the runs can be done
/// elsewhere.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Measured {
    /// A value for each criterion that the run answers.
    values: BTreeMap<usize, Vec<Option<f64>>>,
    /// The reasons of failed runs.
    failed: BTreeMap<usize, String>,
}

impl Measured {
    /// Adds what other runs have measured.
    pub fn add(&mut self, other: Measured) {
        self.values.extend(other.values);
        self.failed.extend(other.failed);
    }
}

/// The references that the engine has.
fn references(engine: EngineKind) -> Vec<ControllerKind> {
    let has = |kind: &ControllerKind| engine == EngineKind::Sim || *kind != ControllerKind::Bbr3;
    REFERENCES.into_iter().filter(has).collect()
}

/// Whether the subject's engine can run the experiment, and has all controllers in it.
fn is_live<C>(experiment: &Experiment, subject: &Subject<C>) -> bool {
    let (engine, references) = (subject.engine(), references(subject.engine()));
    let scenario = with(&experiment.template(), &subject.flow);
    let has = |flow: &FlowSpec| {
        let mut known = references.iter().map(|kind| Controller::from(*kind));
        flow.controller == subject.controller() || known.any(|one| one == flow.controller)
    };
    !experiment.drawn && scenario.flows.iter().all(has) && engine.engine().check(&scenario).is_ok()
}

/// The scenarios of an experiment with their seeds, and their names.
fn cases(experiment: &Experiment, extent: Extent) -> Vec<(String, Scenario)> {
    let template = experiment.template();
    if experiment.drawn {
        let drawn = drawn::paths().take(extent.paths).enumerate();
        let over = drawn.map(|(place, drawn)| {
            let (number, words) = (place as u64 + 1, drawn.words());
            let scenario = Scenario {
                seed: number,
                ..drawn.over(&template)
            };
            (format!("path {number}: {words}"), scenario)
        });
        return over.collect();
    }
    let seeds = 1..=extent.seeds;
    let seeded = seeds.map(|seed| {
        let scenario = Scenario {
            seed,
            ..template.clone()
        };
        (format!("seed {seed}"), scenario)
    });
    seeded.collect()
}

/// The scenario with the controller of this flow, and its settings, in the subject's place.
fn with(scenario: &Scenario, flow: &FlowSpec) -> Scenario {
    let mut scenario = scenario.clone();
    for group in &mut scenario.flows {
        if group.controller.name() == PLACE {
            group.controller = flow.controller;
            (group.bbr1, group.cubic, group.bbr3) = (flow.bbr1, flow.cubic, flow.bbr3);
        }
    }
    scenario
}

fn select(criterion: &Criterion) -> Select {
    Select {
        flows: criterion.of.map(Flows::Group),
        ..Select::default()
    }
}

fn measure(criterion: &Criterion) -> &'static Measure {
    Measure::named(&criterion.measure).expect("a test reads all criteria")
}

fn needs_samples(criterion: &Criterion) -> bool {
    measure(criterion).needs_samples(&select(criterion))
}

fn value(criterion: &Criterion, record: &Record) -> Option<f64> {
    measure(criterion).of(&Part::new(record, &select(criterion)))
}
