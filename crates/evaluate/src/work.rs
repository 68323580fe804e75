//! The plan of an evaluation, and its runs.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;

use congestion::Controller;
use lab::{Cancel, EngineKind};
use record::measure::{Flows, Select, Subject as Part};
use record::{Measure, Record};
use scenario::{FlowSpec, Scenario};
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
}

impl Work {
    /// Plans the runs of an evaluation by these criteria.
    pub fn new<C>(subject: &Subject<C>, criteria: &Criteria, extent: Extent) -> Work {
        let mut work = Work {
            planned: Planned {
                criteria: criteria.clone(),
                extent,
                controller: subject.controller().to_string(),
                cases: Vec::new(),
            },
            plan: Plan::new("evaluate", ["experiment", "case", "controller"]),
        };
        for (place, experiment) in criteria.experiments.iter().enumerate() {
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
        let others = REFERENCES.map(|kind| with(&FlowSpec::new(kind.into())));
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
        let mut runs = [first; REFERENCES.len() + 1];
        for (at, (kind, other)) in REFERENCES.iter().zip(&others).enumerate() {
            // A reference is its own subject.
            runs[at + 1] = if *other == own {
                first
            } else {
                run(kind.name(), other)
            };
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

    /// Does the runs, and judges. `jobs` is the number of runs at a time, by default the number of processors. If
    /// cancelled, the evaluation lacks the runs that have not ended.
    pub fn run<C: Controller + 'static>(
        &self,
        subject: &Subject<C>,
        jobs: Option<NonZeroUsize>,
        watch: &(dyn Fn(Event) + Sync),
        cancel: &Cancel,
    ) -> Evaluation {
        let bench = Bench(subject);
        let execution = Execution {
            watch,
            ..Execution::unwatched(&bench, runs::jobs(jobs, EngineKind::Sim), cancel)
        };
        self.judge(&self.measure(0..self.plan.runs.len(), &execution))
    }

    /// Does the runs at these places, on this machine, on one processor: a part of the work for
    /// [`judge`](Work::judge).
    pub fn part<C: Controller + 'static>(
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
        let failed = measured.failed.iter();
        let failed = failed.map(|(at, reason)| format!("{}: {reason}", self.plan.runs[*at].name));
        let values = |case: &Case, controller: usize, criterion: usize| {
            let values = measured.values.get(&case.runs[controller])?;
            Some(values[criterion])
        };
        Evaluation::of(&self.planned, failed.collect(), &values)
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
