//! `fullpipe.run`.

use std::sync::Arc;

use congestion::AnyController;
use document::DocumentError;
use lab::{Cancel, EngineKind, MakeController, Sim};
use pyo3::prelude::*;
use scenario::Scenario;

use crate::arguments::{self, Asked, named};
use crate::controller::{EitherController, PythonController, Raised};
use crate::error;
use crate::record::Record;
use crate::said::{Classes, Reader};
use crate::waiting::interruptible;

/// Runs a scenario, and returns its record.
///
/// ``scenario`` is a dict, TOML text, the path of a TOML file, or a :class:`fullpipe.Scenario`. Values are as in TOML: text
/// with a unit, such as ``"20mbit"`` or ``"40ms"``, or a number.
///
/// ``engine`` is ``"sim"`` (virtual time: the same scenario and seed give the same record on any machine), ``"quic"`` or
/// ``"linux"`` (real time). ``seed`` replaces the scenario's. ``set`` replaces fields: ``{"path.loss": "2%"}``.
///
/// A flow's ``controller`` may be a class of yours, with engine ``"sim"``: see :mod:`fullpipe.reno`.
///
/// Other Python threads continue meanwhile. Ctrl-C ends the run, even within a controller of yours.
///
/// :raises fullpipe.ScenarioError: the scenario is invalid, or impossible on this engine; ``field`` names the error
/// :raises fullpipe.EngineError: the run failed
/// :raises OSError: a file cannot be read
/// :raises KeyboardInterrupt: Ctrl-C
#[pyfunction]
#[pyo3(
    signature = (scenario, *, engine = None, seed = None, set = None),
    text_signature = "(scenario, *, engine='sim', seed=None, set=None)"
)]
pub fn run(
    py: Python<'_>,
    scenario: &Bound<'_, PyAny>,
    engine: Asked<'_, '_>,
    seed: Asked<'_, '_>,
    set: Asked<'_, '_>,
) -> PyResult<Record> {
    let kind = named("engine", engine, EngineKind::Sim)?;
    let seed = arguments::seed(seed)?;
    let mut reader = Reader::default();
    let mut draft = reader.draft(scenario)?;
    for (field, value) in reader.replacements(set)? {
        let replaced = draft.replace(&field, &value);
        replaced.map_err(|error| error::of_scenario(&error))?;
    }
    let classes = Arc::new(std::mem::take(&mut reader.classes));
    // A field replaced by `set` does not come from the file.
    let wrong = |error: &DocumentError| match draft.culprit(error) {
        Some(_) => error::of_scenario(error),
        None => reader.wrong(error),
    };
    let mut scenario = draft.read().map_err(|error| wrong(&error))?;
    scenario.seed = seed.unwrap_or(scenario.seed);
    let mut used = scenario.flows.iter().map(|flow| flow.controller.name());
    if kind != EngineKind::Sim && used.any(|name| classes.contains_key(name)) {
        let message = format!(
            "flow.controller: engine {kind} runs no class of Python's; give engine=\"sim\""
        );
        return Err(error::of_field(&message, "flow.controller", None));
    }
    let cancel = Cancel::new();
    let raised = Raised::new(&cancel);
    let outcome = if kind == EngineKind::Sim && !classes.is_empty() {
        // On this thread, so that signals reach a controller that waits or loops, as any other Python code.
        py.detach(|| {
            let controllers = |group| either(&scenario, group, &classes, &raised);
            // While no controller is called, signals are checked here.
            let look = |_| {
                let signals = Python::attach(|py| py.check_signals());
                signals.unwrap_or_else(|error| raised.note(error));
            };
            Sim::new().run_with(&scenario, &controllers, &look, &cancel)
        })
    } else {
        interruptible(py, &cancel, || {
            kind.engine().run(&scenario, &|_| (), &cancel)
        })?
    };
    if let Some(error) = raised.take() {
        return Err(error);
    }
    match outcome {
        Ok(record) => Ok(Record::new(record)),
        Err(lab::EngineError::Scenario(error)) => Err(wrong(&draft.located(error))),
        Err(error) => Err(error::of_engine(&error)),
    }
}

/// Makes the controllers of a group of flows: objects of one of the classes, or built-in ones.
fn either(
    scenario: &Scenario,
    group: usize,
    classes: &Classes,
    raised: &Raised,
) -> Result<MakeController<EitherController>, DocumentError> {
    let controller = scenario.flows[group].controller;
    let (classes, raised) = (Arc::clone(classes), raised.clone());
    if classes.contains_key(controller.name()) {
        return Ok(MakeController::new(move |connection| {
            let class = &classes[controller.name()];
            let made = PythonController::new(class, connection, &raised);
            EitherController::Python(Box::new(made))
        }));
    }
    let settings = scenario.our_controller(group, EngineKind::Sim.name())?;
    Ok(MakeController::new(move |connection| {
        EitherController::Rust(Box::new(AnyController::on_host(settings, connection)))
    }))
}
