//! What a run gives.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::SystemTime;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use report::{Also, Origin, parquet};
use units::Duration;

use crate::columns::batch;
use crate::error;
use crate::json;
use crate::table::Table;

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
    #[pyo3(signature = (directory, *, qlog = Vec::new(), grid = None))]
    fn write(
        &self,
        py: Python<'_>,
        directory: PathBuf,
        qlog: Vec<usize>,
        grid: Option<&str>,
    ) -> PyResult<()> {
        let flows = self.record.flows.len();
        if let Some(flow) = qlog.iter().find(|flow| **flow >= flows) {
            let last = flows.saturating_sub(1);
            return Err(PyValueError::new_err(format!(
                "qlog: {flow} is no flow; there are 0 to {last}"
            )));
        }
        let step = grid.map(str::parse::<Duration>).transpose();
        let grid = step.map_err(|error| PyValueError::new_err(format!("grid: {error}")))?;
        if grid.is_some_and(Duration::is_zero) {
            return Err(PyValueError::new_err(
                "grid: times cannot be so close; give a step such as 10ms",
            ));
        }
        let also = Also { qlog, grid };
        let origin = Origin {
            // The directory has the scenario, with everything that was set.
            command: format!(
                "fullpipe run scenario.toml --engine {}",
                self.record.summary.engine
            ),
            generated: SystemTime::now(),
        };
        py.detach(|| {
            report::check_dir(&directory)?;
            report::write_dir(&directory, &self.record, &also, &origin)
        })
        .map_err(|error| error::of_files(&error))
    }

    /// The table that ``fullpipe run`` prints.
    fn __str__(&self) -> String {
        report::table(std::slice::from_ref(&self.record), Some(120))
    }

    fn __repr__(&self) -> String {
        let summary = &self.record.summary;
        format!(
            "<fullpipe.Record of {:?} on engine {}: {} s, {} flows>",
            summary.scenario,
            summary.engine,
            summary.duration_s,
            summary.flows.len()
        )
    }
}
