//! Environments for those who train controllers: the native half of `fullpipe.gym`.

use std::iter;
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};
use std::thread;

use ::gym::{Episode, OBSERVATION, Row, Seen, TRUTH};
use document::tree::Node;
use lab::Cancel;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use simulate::RunError;
use units::Duration;

use crate::arguments::{self, Asked};
use crate::error;
use crate::events;
use crate::record::Record;
use crate::said::Reader;
use crate::waiting::interruptible;

/// The most environments that are stepped together: each holds a simulation.
const MAX_ENVIRONMENTS: usize = 100_000;

/// The controller's name in the records of episodes.
const AGENT: &str = "python:Agent";

/// The names of the values of an observation, and those of the truth about the path.
#[pyfunction]
#[pyo3(name = "_fields")]
pub fn fields() -> (Vec<&'static str>, Vec<&'static str>) {
    (OBSERVATION.to_vec(), TRUTH.to_vec())
}

/// Numbers as NumPy reads them from bytes.
fn bytes<'py>(py: Python<'py>, numbers: impl Iterator<Item = f64>) -> Bound<'py, PyBytes> {
    let all: Vec<u8> = numbers.flat_map(f64::to_ne_bytes).collect();
    PyBytes::new(py, &all)
}

/// The numbers of a row.
fn numbers(row: &Row) -> impl Iterator<Item = f64> {
    let ends = [row.has_ended, row.is_cut_off].map(|is| f64::from(u8::from(is)));
    row.seen.into_iter().chain(row.truth).chain(ends)
}

/// The least time between two decisions.
fn interval(asked: Asked<'_, '_>) -> PyResult<Duration> {
    let Some(said) = asked else {
        return Ok(Duration::ZERO);
    };
    let text = arguments::text("interval", said, "give a str such as \"20ms\"")?;
    text.parse()
        .map_err(|wrong| error::of_field(&format!("interval: {wrong}"), "interval", None))
}

/// The two logarithms of an action.
fn action(pacing: f64, window: f64) -> PyResult<[f64; 2]> {
    if pacing.is_nan() || window.is_nan() {
        return Err(PyValueError::new_err(
            "action: a value is not a number; give two numbers from -1 to 1",
        ));
    }
    Ok([pacing, window])
}

/// What a controller of ``fullpipe.gym`` sees of its connection, and its window and pacing rate.
#[pyclass(name = "_View", module = "fullpipe")]
pub struct View {
    view: ::gym::View,
}

#[pymethods]
impl View {
    #[new]
    #[pyo3(signature = (connection, interval))]
    fn new(connection: &Bound<'_, events::Connection>, interval: Asked<'_, '_>) -> PyResult<View> {
        let connection = connection.get().to_rust()?;
        let view = ::gym::View::new(&connection, self::interval(interval)?);
        Ok(View { view })
    }

    /// Notes an ACK. Returns an observation if a decision is due.
    fn on_ack<'py>(&mut self, ack: &Bound<'py, events::Ack>) -> Option<Bound<'py, PyBytes>> {
        let (py, ack) = (ack.py(), ack.get());
        let is_due = self.view.on_ack(&Seen {
            now_ns: ack.now_ns,
            newly_acked: ack.newly_acked,
            inflight: ack.inflight,
            lost: ack.lost,
            ce_marked: ack.ce_marked,
            rtt_ns: ack.rtt_ns,
            delivery_rate_bps: ack.delivery_rate_bps,
            is_app_limited: ack.is_app_limited,
        });
        is_due.then(|| bytes(py, self.view.observe(ack.now_ns).into_iter()))
    }

    /// Notes a timeout. Returns an observation if a decision is due.
    fn on_timeout<'py>(
        &mut self,
        py: Python<'py>,
        now_ns: u64,
        inflight: u64,
    ) -> Option<Bound<'py, PyBytes>> {
        let is_due = self.view.on_timeout(now_ns, inflight);
        is_due.then(|| bytes(py, self.view.observe(now_ns).into_iter()))
    }

    /// Decides.
    fn act(&mut self, pacing: f64, window: f64) -> PyResult<()> {
        self.view.act(action(pacing, window)?);
        Ok(())
    }

    /// The window in bytes, and the pacing rate in bit/s.
    #[getter]
    fn values(&self) -> (u64, u64) {
        self.view.values()
    }
}

/// Episodes that are stepped together.
#[pyclass(name = "_Environments", module = "fullpipe")]
pub struct Environments {
    episodes: Vec<Option<Episode>>,
}

#[pymethods]
impl Environments {
    #[new]
    fn new(count: Asked<'_, '_>) -> PyResult<Environments> {
        let count = arguments::count("num_envs", count)?;
        let count = count.map_or(1, NonZeroUsize::get);
        if count > MAX_ENVIRONMENTS {
            let message = format!("num_envs: {count} are more than {MAX_ENVIRONMENTS}; give fewer");
            return Err(error::of_field(&message, "num_envs", None));
        }
        Ok(Environments {
            episodes: iter::repeat_with(|| None).take(count).collect(),
        })
    }

    /// Begins an episode in this place. The next step goes on to its first decision.
    fn begin(
        &mut self,
        place: usize,
        scenario: &Bound<'_, PyAny>,
        flow: &Bound<'_, PyAny>,
        interval: Asked<'_, '_>,
        seed: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let interval = self::interval(interval)?;
        let group = arguments::whole("flow", flow, "give the number of a flow, from 0 on")?;
        let seed = arguments::seed(Some(seed))?;
        let mut reader = Reader::default();
        let mut draft = reader.draft(scenario)?;
        let field = format!("flow.{group}.controller");
        let replaced = draft.replace(&field, &Node::Scalar(AGENT.to_owned()));
        replaced.map_err(|error| error::of_scenario(&error))?;
        let mut scenario = draft.read().map_err(|error| reader.wrong(&error))?;
        scenario.seed = seed.unwrap_or(scenario.seed);
        let group = usize::try_from(group).unwrap_or(usize::MAX);
        let episode = Episode::new(scenario, group, interval);
        let episode = episode.map_err(|failed| match failed {
            RunError::Scenario(error) => reader.wrong(&draft.located(error)),
            error => error::of_run(&error.to_string()),
        })?;
        let free = self.episodes.get_mut(place);
        let free = free.ok_or_else(|| PyValueError::new_err("place: there is no such place"))?;
        *free = Some(episode);
        Ok(())
    }

    /// Takes an action for each episode, and goes on to the next decision of each. Returns their rows one after the other.
    /// An episode that is over goes on no more.
    fn step<'py>(&mut self, py: Python<'py>, actions: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let (words, rest) = actions.as_chunks::<8>();
        let values: Vec<f64> = words.iter().map(|it| f64::from_ne_bytes(*it)).collect();
        let (pairs, odd) = values.as_chunks::<2>();
        if pairs.len() != self.episodes.len() || !odd.is_empty() || !rest.is_empty() {
            return Err(PyValueError::new_err(
                "action: give two numbers from -1 to 1 for each environment",
            ));
        }
        let mut jobs = Vec::new();
        for (episode, [pacing, window]) in self.episodes.iter_mut().zip(pairs) {
            let episode = episode
                .as_mut()
                .ok_or_else(|| error::of_run("step: no episode has begun; call reset first"))?;
            jobs.push((episode, action(*pacing, *window)?));
        }
        let rows = match jobs.as_mut_slice() {
            [(episode, action)] => vec![alone(py, episode, *action)?],
            _ => together(py, jobs)?,
        };
        Ok(bytes(py, rows.iter().flat_map(numbers)))
    }

    /// Ends all episodes, and frees their memory.
    fn close(&mut self) {
        self.episodes.fill_with(|| None);
    }

    /// The record of the episode in this place, until now.
    fn record(&self, py: Python<'_>, place: usize) -> PyResult<Record> {
        let episode = self.episodes.get(place).and_then(Option::as_ref);
        let episode = episode
            .ok_or_else(|| error::of_run("record: no episode has begun; call reset first"))?;
        Ok(Record::new(py.detach(|| episode.record())))
    }
}

/// Steps one episode on this thread.
fn alone(py: Python<'_>, episode: &mut Episode, action: [f64; 2]) -> PyResult<Row> {
    let mut raised = None;
    let stepped = py.detach(|| {
        let mut go_on = || {
            raised = Python::attach(|py| py.check_signals()).err();
            raised.is_none()
        };
        episode.step(action, &mut go_on)
    });
    finished(stepped, raised)
}

/// Steps all episodes on threads.
fn together(py: Python<'_>, jobs: Vec<(&mut Episode, [f64; 2])>) -> PyResult<Vec<Row>> {
    let cancel = Cancel::new();
    let count = jobs.len();
    let threads = arguments::jobs(None, lab::EngineKind::Sim)?.min(count);
    let mut rows: Vec<Result<Option<Row>, RunError>> =
        iter::repeat_with(|| Ok(None)).take(count).collect();
    let work = Mutex::new(jobs.into_iter().zip(&mut rows));
    interruptible(py, &cancel, || {
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    let next = || work.lock().unwrap_or_else(PoisonError::into_inner).next();
                    while let Some(((episode, action), row)) = next() {
                        *row = episode.step(action, &mut || !cancel.is_cancelled());
                    }
                });
            }
        });
    })?;
    drop(work);
    rows.into_iter().map(|row| finished(row, None)).collect()
}

/// The row of a step, or the exception of what ended it.
fn finished(stepped: Result<Option<Row>, RunError>, raised: Option<PyErr>) -> PyResult<Row> {
    match (stepped, raised) {
        (_, Some(raised)) => Err(raised),
        (Ok(Some(row)), None) => Ok(row),
        (Ok(None), None) => Err(error::of_run("step: the run was ended")),
        (Err(failed), None) => Err(error::of_run(&failed.to_string())),
    }
}
