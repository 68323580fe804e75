//! `fullpipe.claims`.

use lab::{Cancel, EngineKind};
use pyo3::prelude::*;
use studies::claims::{Claim, ClaimsError, Judgement, Table};
use studies::runs::Batch;
use studies::study::{Length, Shelf, ShelfError};

use crate::arguments::{Asked, flag, jobs, named, names, path};
use crate::error;
use crate::json;
use crate::progress::Progress;
use crate::waiting::interruptible;

/// The result of :func:`fullpipe.claims`.
#[pyclass(frozen, module = "fullpipe")]
pub struct Claims {
    summary: serde_json::Value,
    text: String,
    tally: String,
}

#[pymethods]
impl Claims {
    /// All judgements as a new dict: the output of ``fullpipe claims --json``. ``holds``, ``differs`` and ``fails`` are
    /// counts; ``unexplained`` counts those that differ without an established cause. Shares are fractions of one,
    /// times in milliseconds, rates in bits per second.
    #[getter]
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::object(py, &self.summary)
    }

    /// The table of ``fullpipe claims``.
    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        format!("<fullpipe.Claims: {}>", self.tally)
    }
}

/// Measures published claims about BBR again, and judges whether they hold.
///
/// ``ids`` are the claims, such as ``["loss-sweep"]``; by default all, which takes minutes. ``engine`` is ``"sim"``
/// (virtual time), ``"quic"`` or ``"linux"`` (real time). ``quick`` runs fewer points for a shorter time; do not cite
/// the result. ``scenarios`` is a directory with a table of claims and its studies, instead of the built-in ones.
///
/// ``jobs`` is the number of concurrent runs, by default that of processors, and one in real time. ``progress`` is as
/// for :func:`fullpipe.sweep`.
///
/// A claim that fails raises no exception: ``summary["fails"]`` counts them. A run that fails makes its claims fail.
///
/// :raises fullpipe.ScenarioError: a claim is unknown or cannot be shown on this engine, or a study is invalid
/// :raises OSError: a file cannot be read
/// :raises KeyboardInterrupt: Ctrl-C; nothing is kept
#[pyfunction]
#[pyo3(
    signature = (
        ids = None, *, engine = None, quick = None, scenarios = None, jobs = None, progress = None
    ),
    text_signature = "(ids=(), *, engine='sim', quick=False, scenarios=None, jobs=None, progress=None)"
)]
pub fn claims(
    py: Python<'_>,
    ids: Asked<'_, '_>,
    engine: Asked<'_, '_>,
    quick: Asked<'_, '_>,
    scenarios: Asked<'_, '_>,
    jobs: Asked<'_, '_>,
    progress: Asked<'_, '_>,
) -> PyResult<Claims> {
    let ids = names("ids", ids, "give a list of names such as [\"loss-sweep\"]")?;
    let ids = ids.unwrap_or_default();
    let engine = named("engine", engine, EngineKind::Sim)?;
    let scenarios = scenarios.map(|at| path("scenarios", at)).transpose()?;
    let progress = Progress::asked(py, progress)?;
    let jobs = self::jobs(jobs, engine)?;
    let length = match quick.map(|quick| flag("quick", quick)).transpose()? {
        Some(true) => Length::Quick,
        Some(false) | None => Length::Whole,
    };
    let shelf = Shelf::or_built_in(scenarios.as_deref(), "claims");
    let table = Table::open(&shelf).map_err(|error| wrong(&error))?;
    let claims = table.choose(&ids).map_err(|error| wrong(&error))?;
    if !claims.iter().any(|claim| claim.is_shown_on(engine)) {
        let message = format!("engine: these claims cannot be seen on {engine}; try another one");
        return Err(error::of_field(&message, "engine", None));
    }
    let cancel = Cancel::new();
    let planned = interruptible(py, &cancel, || {
        batch(&shelf, &claims, engine, length, &cancel)
    });
    let (batch, studies) = planned??;
    let all = batch.runs();
    let judgements = progress.of_runs(py, engine, &all, &cancel, |watch| {
        let mut judgements = Vec::new();
        batch.run(jobs, watch, &cancel, |place, findings| {
            judgements.extend(Judgement::all(&claims, studies[place], &findings, length));
        });
        studies::claims::sort(&mut judgements, &claims, &[engine]);
        judgements
    })?;
    Ok(Claims {
        summary: studies::claims::json(&judgements),
        text: studies::claims::table(&judgements, Some(120)),
        tally: studies::claims::Tally::of(&judgements).text(),
    })
}

/// The runs of these claims, with the names of the studies. Incomplete if cancelled.
fn batch<'c>(
    shelf: &Shelf,
    claims: &[&'c Claim],
    engine: EngineKind,
    length: Length,
    cancel: &Cancel,
) -> PyResult<(Batch, Vec<&'c str>)> {
    let wrong = |error: &dyn std::fmt::Display| error::of_field(&error.to_string(), "", None);
    let (mut batch, mut names) = (Batch::new(engine), Vec::new());
    for study in studies::claims::studies(shelf, claims, length).map_err(|error| wrong(&error))? {
        if study.engines.contains(&engine) && !cancel.is_cancelled() {
            let added = study.runs.add_to(&mut batch);
            added.map_err(|error| wrong(&error))?;
            names.push(study.name);
        }
    }
    Ok((batch, names))
}

fn wrong(error: &ClaimsError) -> PyErr {
    match error {
        ClaimsError::Shelf(ShelfError::File { .. }) => error::of_files(error),
        ClaimsError::Shelf(_) => error::of_field(&error.to_string(), "scenarios", None),
        ClaimsError::Text { error: wrong, .. } => {
            error::of_field(&error.to_string(), &wrong.field, wrong.line)
        }
        ClaimsError::Unknown { id, hint } => {
            error::of_field(&format!("ids: no claim is called {id}{hint}"), "ids", None)
        }
        error => error::of_field(&error.to_string(), "", None),
    }
}
