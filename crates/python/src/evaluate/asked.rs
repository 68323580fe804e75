//! The controller and the criteria that an evaluation is asked for.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;

use congestion::{AnyController, Controller};
use evaluate::{Criteria, Evaluation, Extent, Measured, Subject, Work};
use lab::{Cancel, EngineKind};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::controller::{PythonController, Raised};
use crate::error;
use crate::progress::Progress;
use crate::said::Reader;
use crate::waiting::interruptible;

/// The controller: one of Fullpipe's, or a class in Python.
enum Kind {
    Rust(Subject<AnyController>),
    Python(Subject<PythonController>, Raised),
}

/// What is evaluated, and its work.
pub struct Evaluated {
    kind: Kind,
    /// The controller as Python gave it.
    pub said: Py<PyAny>,
    pub quick: bool,
    pub only: Vec<String>,
    work: Work,
    cancel: Cancel,
}

impl Evaluated {
    /// Reads the controller, and plans the work.
    ///
    /// # Errors
    ///
    /// There is no such controller or criterion (`ScenarioError`), or it is neither a name, a flow nor a class
    /// (`TypeError`).
    pub fn new(said: &Bound<'_, PyAny>, quick: bool, only: Vec<String>) -> PyResult<Evaluated> {
        let criteria = Criteria::named(&only);
        let criteria = criteria.map_err(|unknown| error::of_argument("only", &unknown))?;
        let cancel = Cancel::new();
        let kind = kind(said, &cancel)?;
        let extent = if quick { Extent::QUICK } else { Extent::WHOLE };
        let work = match &kind {
            Kind::Rust(subject) => Work::new(subject, &criteria, extent),
            Kind::Python(subject, _) => Work::new(subject, &criteria, extent),
        };
        Ok(Evaluated {
            kind,
            said: said.clone().unbind(),
            quick,
            only,
            work,
            cancel,
        })
    }

    /// The number of runs.
    pub fn runs(&self) -> usize {
        self.work.runs().len()
    }

    /// Does all runs on threads of this process, and judges.
    ///
    /// # Errors
    ///
    /// An exception of the class, of `progress`, or of a signal handler.
    pub fn run(
        &self,
        py: Python<'_>,
        jobs: usize,
        progress: &Progress<'_>,
    ) -> PyResult<Evaluation> {
        match &self.kind {
            Kind::Rust(subject) => self.run_of(py, subject, jobs, progress),
            Kind::Python(subject, raised) => {
                let evaluation = self.run_of(py, subject, jobs, progress);
                raised.take().map_or(evaluation, Err)
            }
        }
    }

    fn run_of<C: Controller + 'static>(
        &self,
        py: Python<'_>,
        subject: &Subject<C>,
        jobs: usize,
        progress: &Progress<'_>,
    ) -> PyResult<Evaluation> {
        let (all, cancel) = (self.work.runs(), &self.cancel);
        progress.of_runs(py, EngineKind::Sim, &all, cancel, |watch| {
            self.work
                .run(subject, NonZeroUsize::new(jobs), watch, cancel)
        })
    }

    /// Does the runs at these places.
    ///
    /// # Errors
    ///
    /// An exception of the class, or of a signal handler.
    pub fn part(&self, py: Python<'_>, places: Range<usize>) -> PyResult<Measured> {
        let cancel = &self.cancel;
        match &self.kind {
            Kind::Rust(subject) => {
                interruptible(py, cancel, || self.work.part(subject, places, cancel))
            }
            Kind::Python(subject, raised) => {
                let measured =
                    interruptible(py, cancel, || self.work.part(subject, places, cancel));
                raised.take().map_or(measured, Err)
            }
        }
    }

    /// Judges what all runs have measured.
    pub fn judge(&self, measured: &Measured) -> Evaluation {
        self.work.judge(measured)
    }
}

fn kind(said: &Bound<'_, PyAny>, cancel: &Cancel) -> PyResult<Kind> {
    let py = said.py();
    let is_flow =
        crate::arguments::is_mapping(said)? || said.hasattr("_to_dict")? && !said.is_callable();
    let flow = if is_flow {
        said.clone()
    } else {
        let flow = PyDict::new(py);
        flow.set_item("controller", said)?;
        flow.into_any()
    };
    let path = PyDict::new(py);
    path.set_item("rate", "1mbit")?;
    let scenario = PyDict::new(py);
    scenario.set_item("name", "evaluate")?;
    scenario.set_item("duration", "1s")?;
    scenario.set_item("path", path)?;
    scenario.set_item("flow", [flow])?;
    let mut reader = Reader::default();
    let draft = reader.draft(&scenario)?;
    let mut scenario = draft.read().map_err(|error| reader.wrong(&error))?;
    let flow = scenario.flows.remove(0);
    let name = flow.controller.name();
    let Some(class) = reader.classes.remove(name) else {
        scenario.flows.push(flow);
        let settings = scenario.our_controller(0, EngineKind::Sim.name());
        settings.map_err(|error| error::of_scenario(&error))?;
        return Ok(Kind::Rust(Subject::built_in(scenario.flows.remove(0))));
    };
    let raised = Raised::new(cancel);
    let (class, noted) = (Arc::new(class), raised.clone());
    let subject = Subject::named(name, move |connection| {
        PythonController::new(&class, connection, &noted)
    });
    let subject = subject
        .map_err(|error| error::of_field(&format!("controller: {error}"), "controller", None))?;
    Ok(Kind::Python(subject, raised))
}
