//! What a run gives.

use std::sync::OnceLock;
use std::time::SystemTime;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use lab::Cancel;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use report::{Also, Origin, parquet};
use scenario::Scenario;
use units::Duration;

use crate::arguments::{self, Asked};
use crate::columns::batch;
use crate::error;
use crate::json;
use crate::table::Table;
use crate::waiting::interruptible;

/// What was observed in a run. The documentation of the program's records says what is in every column.
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

    /// The scenario that was run, as TOML.
    pub fn toml(&self) -> String {
        self.record.scenario.to_string()
    }
}

impl Record {
    /// The flows that `qlog` names.
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

    /// The distance in time that `grid` says.
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
        match parquet::grid_rows(&ended, step) {
            Some(rows) if rows > parquet::MAX_GRID_ROWS => Err(wrong(format!(
                "{step} are {rows} rows, more than {}; give a longer step",
                parquet::MAX_GRID_ROWS
            ))),
            _ => Ok(step),
        }
    }
}

/// The table, which is made when it is first asked for.
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
    /// The run in numbers, as a new dict: what ``fullpipe run --json`` prints. Names end with their units.
    #[getter]
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::object(py, &self.record.summary)
    }

    /// The scenario that was run, as TOML.
    #[getter]
    fn scenario(&self) -> String {
        self.toml()
    }

    /// One row a sample of a flow, flow by flow: its round-trip time (ms), delivery rate (bit/s), window (bytes), state
    /// and what else an ACK shows, at the time ``at_s`` (s).
    #[getter]
    fn samples(&self, py: Python<'_>) -> PyResult<Table> {
        table(py, &self.samples, || batch(parquet::samples(&self.record)))
    }

    /// One row a flow and second, flow by flow: the bytes of payload that arrived.
    #[getter]
    fn throughput(&self, py: Python<'_>) -> PyResult<Table> {
        table(py, &self.throughput, || {
            batch(parquet::throughput(&self.record))
        })
    }

    /// One row a sample of a bottleneck, bottleneck by bottleneck: what waits there, in bytes and ms.
    #[getter]
    fn queue(&self, py: Python<'_>) -> PyResult<Table> {
        table(py, &self.queue, || batch(parquet::queue(&self.record)))
    }

    /// One row a transfer of an application: its size (bytes), when it began (s), and how long it took (ms).
    #[getter]
    fn transfers(&self, py: Python<'_>) -> PyResult<Table> {
        table(py, &self.transfers, || {
            batch(parquet::transfers(&self.record))
        })
    }

    /// Writes everything as a directory: summary, scenario, tables as Parquet, a page with plots. An older record there is
    /// replaced; anything else is left alone, and is an ``OSError``.
    ///
    /// ``qlog`` are the flows to write as qlog too, by number. ``grid`` is the distance in time, such as ``"10ms"``, at
    /// which to write every flow at common times (``grid.parquet``).
    ///
    /// :raises fullpipe.ScenarioError: ``qlog`` or ``grid`` makes no sense
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
            // The directory has the scenario, with everything that was set.
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

    /// The table that ``fullpipe run`` prints.
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
            report::count(summary.flows.len() as u64, "flow")
        )
    }
}
