//! The progress of runs, as reported to Python.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use lab::{Cancel, EngineKind};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use studies::runs::{Event, Run, Work};

use crate::nesting;
use crate::waiting::watched;

/// The interval of progress reports: short enough for a progress bar, and long enough to cost nothing.
const REPORT_INTERVAL: Duration = Duration::from_millis(100);

/// The receiver of progress: nobody, or a callable with the number of ended runs, the number of all runs, and the share
/// of the work that is done.
pub struct Progress<'py>(Option<Bound<'py, PyAny>>);

impl<'py> Progress<'py> {
    /// The receiver that the argument `progress` requests.
    ///
    /// # Errors
    ///
    /// It is neither a bool nor callable (`TypeError`).
    pub fn asked(py: Python<'py>, progress: Option<&Bound<'py, PyAny>>) -> PyResult<Progress<'py>> {
        let Some(asked) = progress else {
            return Ok(Progress(None));
        };
        if let Ok(wanted) = asked.extract::<bool>() {
            let bar = || py.import("fullpipe._progress")?.getattr("Bar")?.call0();
            return Ok(Progress(wanted.then(bar).transpose()?));
        }
        if asked.is_callable() {
            return Ok(Progress(Some(asked.clone())));
        }
        let kind = asked.get_type();
        Err(PyTypeError::new_err(format!(
            "progress: {kind} cannot be called; give True, or a function of (ended, runs, share)"
        )))
    }

    /// The callable.
    pub fn callable(&self) -> Option<&Bound<'py, PyAny>> {
        self.0.as_ref()
    }

    /// Reports progress.
    ///
    /// # Errors
    ///
    /// The callable raises an exception.
    pub fn tell(&self, ended: usize, runs: usize, share: f64) -> PyResult<()> {
        let Some(told) = &self.0 else {
            return Ok(());
        };
        nesting::ask(told.py(), "progress", |_| {
            told.call1((ended, runs, share)).map(drop)
        })
    }

    /// Does work that consists of these runs, records their [events](Event), and reports progress.
    ///
    /// # Errors
    ///
    /// A signal handler or the callable raised an exception. The work was cancelled then, and has ended.
    pub fn of_runs<T: Send>(
        &self,
        py: Python<'py>,
        engine: EngineKind,
        runs: &[&Run],
        cancel: &Cancel,
        work: impl FnOnce(&(dyn Fn(Event) + Sync)) -> T + Send,
    ) -> PyResult<T> {
        let course = Mutex::new((0, Work::new(engine, runs)));
        let lock = || course.lock().unwrap_or_else(PoisonError::into_inner);
        let note = |event: Event| {
            let (ended, work) = &mut *lock();
            *ended += usize::from(matches!(event, Event::Ended(_)));
            work.note(&event);
        };
        let tell = || {
            let (ended, share) = {
                let course = lock();
                (course.0, course.1.share())
            };
            self.tell(ended, runs.len(), share)
        };
        let mut told = Instant::now();
        let look = |_: Python<'_>| {
            if self.0.is_none() || told.elapsed() < REPORT_INTERVAL {
                return Ok(());
            }
            told = Instant::now();
            tell()
        };
        let made = watched(py, cancel, look, || work(&note))?;
        tell()?;
        Ok(made)
    }
}
