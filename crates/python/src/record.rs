//! The record of a run.

use std::sync::OnceLock;
use std::time::SystemTime;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use lab::Cancel;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use record::columns;
use report::{Also, Origin};
use scenario::Scenario;
use tables::numbers;
use units::Duration;

use crate::arguments::{self, Asked};
use crate::columns::batch;
use crate::error;
use crate::json;
use crate::table::Table;
use crate::waiting::interruptible;

/// The observations of a run. The documentation of the program's records explains every column.
#[pyclass(frozen, module = "fullpipe")]
pub struct Record {
    record: record::Record,
    samples: OnceLock<Result<RecordBatch, ArrowError>>,
    throughput: OnceLock<Result<RecordBatch, ArrowError>>,
    queue: OnceLock<Result<RecordBatch, ArrowError>>,
    transfers: OnceLock<Result<RecordBatch, ArrowError>>,
}

impl Record {
    pub fn new(record: record::Record) -> Record {
        Record {
            record,
            samples: OnceLock::new(),
            throughput: OnceLock::new(),
            queue: OnceLock::new(),
            transfers: OnceLock::new(),
        }
    }

    /// The scenario of the run, as TOML.
    pub fn toml(&self) -> String {
        self.record.scenario.to_string()
    }
}

impl Record {
    /// The flows listed in `qlog`.
    fn flows(&self, qlog: Asked<'_, '_>) -> PyResult<Vec<usize>> {
        let Some(qlog) = qlog else {
            return Ok(Vec::new());
        };
        let flows = self.record.flows.len();
        let fix = format!("give numbers of flows, 0 to {}", flows.saturating_sub(1));
        let mut asked = Vec::new();
        for flow in arguments::items("qlog", qlog, &format!("{fix}, in a list"))? {
            let flow = usize::try_from(arguments::whole("qlog", &flow, &fix)?).ok();
            let flow = flow.filter(|flow| *flow < flows);
            let wrong =
                || error::of_field(&format!("qlog: there is no such flow; {fix}"), "qlog", None);
            asked.push(flow.ok_or_else(wrong)?);
        }
        Ok(asked)
    }

    /// The interval in `grid`.
    fn step(&self, grid: &Bound<'_, PyAny>) -> PyResult<Duration> {
        let wrong = |reason: String| error::of_field(&format!("grid: {reason}"), "grid", None);
        let step = arguments::text("grid", grid, "give a str such as \"10ms\"")?;
        let step: Duration = step.parse().map_err(|error| wrong(format!("{error}")))?;
        if step.is_zero() {
            return Err(wrong(
                "times cannot be so close; give a step such as 10ms".to_owned(),
            ));
        }
        let ended = Scenario {
            duration: Some(self.record.summary.end()),
            ..self.record.scenario.clone()
        };
        match columns::grid_rows(&ended, step) {
            Some(rows) if rows > columns::MAX_GRID_ROWS => Err(wrong(format!(
                "{step} are {rows} rows, more than {}; give a longer step",
                columns::MAX_GRID_ROWS
            ))),
            _ => Ok(step),
        }
    }
}

/// The table, made on first use.
fn table(
    py: Python<'_>,
    cell: &OnceLock<Result<RecordBatch, ArrowError>>,
    make: impl FnOnce() -> Result<RecordBatch, ArrowError> + Send,
) -> PyResult<Table> {
    match py.detach(|| cell.get_or_init(make)) {
        Ok(batch) => Ok(Table::new(batch.clone())),
        Err(error) => Err(PyRuntimeError::new_err(error.to_string())),
    }
}

#[pymethods]
impl Record {
    /// The summary of the run as a new dict: the output of ``fullpipe run --json``. Names end with their units.
    #[getter]
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::object(py, &self.record.summary)
    }

    /// The scenario of the run, as TOML.
    #[getter]
    fn scenario(&self) -> String {
        self.toml()
    }

    /// One row for each sample of a flow, flow by flow: its round-trip time (ms), delivery rate (bit/s), window
    /// (bytes), state and further values of an ACK, at the time ``at_s`` (s).
    #[getter]
    fn samples(&self, py: Python<'_>) -> PyResult<Table> {
        table(py, &self.samples, || batch(columns::samples(&self.record)))
    }

    /// One row for each flow and second, flow by flow: the bytes of payload that arrived.
    #[getter]
    fn throughput(&self, py: Python<'_>) -> PyResult<Table> {
        table(py, &self.throughput, || {
            batch(columns::throughput(&self.record))
        })
    }

    /// One row for each sample of a bottleneck, bottleneck by bottleneck: the queue in bytes and ms.
    #[getter]
    fn queue(&self, py: Python<'_>) -> PyResult<Table> {
        table(py, &self.queue, || batch(columns::queue(&self.record)))
    }

    /// One row for each transfer of an application: its size (bytes), start (s), and duration (ms).
    #[getter]
    fn transfers(&self, py: Python<'_>) -> PyResult<Table> {
        table(py, &self.transfers, || {
            batch(columns::transfers(&self.record))
        })
    }

    /// Writes the record as a directory: summary, scenario, tables as Parquet, a page with plots. Replaces an older
    /// record there. Other contents stay, and raise ``OSError``.
    ///
    /// ``qlog`` lists the numbers of flows to write as qlog, too. ``grid`` is an interval such as ``"10ms"``, at which
    /// every flow is written at common times (``grid.parquet``).
    ///
    /// :raises fullpipe.ScenarioError: ``qlog`` or ``grid`` is invalid
    /// :raises OSError: the directory is in use, or cannot be written; nothing has changed then
    /// :raises KeyboardInterrupt: Ctrl-C; nothing has changed then
    #[pyo3(
        signature = (directory, *, qlog = None, grid = None),
        text_signature = "($self, directory, *, qlog=(), grid=None)"
    )]
    fn write(
        &self,
        py: Python<'_>,
        directory: &Bound<'_, PyAny>,
        qlog: Asked<'_, '_>,
        grid: Asked<'_, '_>,
    ) -> PyResult<()> {
        let directory = arguments::path("directory", directory)?;
        let also = Also {
            qlog: self.flows(qlog)?,
            grid: grid.map(|step| self.step(step)).transpose()?,
        };
        let origin = Origin {
            // The directory contains the scenario with all settings.
            command: format!(
                "fullpipe run scenario.toml --engine {}",
                self.record.summary.engine
            ),
            generated: SystemTime::now(),
        };
        let cancel = Cancel::new();
        let written = interruptible(py, &cancel, || {
            report::check_dir(&directory)?;
            let goes_on = || !cancel.is_cancelled();
            report::write_dir_while(&directory, &self.record, &also, &origin, &goes_on)
        })?;
        written.map_err(|error| error::of_files(&error))
    }

    /// The table of ``fullpipe run``.
    fn __str__(&self) -> String {
        report::table(std::slice::from_ref(&self.record), Some(120))
    }

    fn __repr__(&self) -> String {
        let summary = &self.record.summary;
        format!(
            "<fullpipe.Record of {:?} on engine {}: {} s, {}>",
            summary.scenario,
            summary.engine,
            summary.duration_s,
            numbers::count(summary.flows.len() as u64, "flow")
        )
    }
}
