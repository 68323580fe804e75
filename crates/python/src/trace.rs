//! `fullpipe.trace`.

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ::trace::{Direction, Opened, ReadError, Summary, Timeline};
use files::regular;
use lab::Cancel;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use report::Origin;

use crate::arguments::{items, path};
use crate::columns::batch;
use crate::error;
use crate::json;
use crate::table::Table;
use crate::waiting::interruptible;

/// The most connections in the text.
const MAX_CONNECTIONS_SHOWN: usize = 20;

/// The result of :func:`fullpipe.trace`.
#[pyclass(frozen, module = "fullpipe")]
pub struct Trace {
    summary: Summary,
    timelines: Vec<Timeline>,
}

impl Trace {
    fn path(&self) -> Option<Direction<'_>> {
        Direction::of(&self.summary, |_| true)
    }
}

#[pymethods]
impl Trace {
    /// The connections as a new dict: the output of ``fullpipe trace --json``. Names end with their units.
    #[getter]
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::object(py, &self.summary)
    }

    /// One row for each direction of a connection with data, as in ``connections.parquet``: its RTprop
    /// (``rtprop_ms``), BtlBw (``btl_bw_bps``), losses (packets), limits (shares of its time), and the probable
    /// ``controller``.
    #[getter]
    fn connections(&self, py: Python<'_>) -> PyResult<Table> {
        let made = py.detach(|| batch(report::trace::connections(&self.summary)));
        made.map(Table::new)
            .map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    /// One row for each sample of a direction, at the time ``at_s`` (s), as in ``samples.parquet``.
    #[getter]
    fn samples(&self, py: Python<'_>) -> PyResult<Table> {
        let made = py.detach(|| batch(report::trace::samples(&self.timelines)));
        made.map(Table::new)
            .map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    /// The path of the connection with the most payload as a scenario (TOML), for :func:`fullpipe.run`. None if no
    /// connection shows both RTprop and BtlBw.
    #[getter]
    fn scenario(&self) -> Option<String> {
        self.path().map(|path| path.scenario())
    }

    /// The same path as ranges (TOML), for :func:`fullpipe.advise`.
    #[getter]
    fn ranges(&self) -> Option<String> {
        self.path().map(|path| path.ranges())
    }

    /// Writes summary, tables as Parquet and a page with plots as a directory, as ``fullpipe trace --out`` does.
    /// Replaces an older trace there. Other contents stay, and raise ``OSError``.
    fn write(&self, py: Python<'_>, directory: &Bound<'_, PyAny>) -> PyResult<()> {
        let directory = path("directory", directory)?;
        let origin = Origin {
            command: "fullpipe.trace".to_owned(),
            generated: SystemTime::now(),
        };
        py.detach(|| report::trace::write_dir(&directory, &self.summary, &self.timelines, &origin))
            .map_err(|error| error::of_files(&error))
    }

    /// The output of ``fullpipe trace``: the 20 connections with the most payload.
    fn __str__(&self) -> String {
        report::trace::table(&self.summary, MAX_CONNECTIONS_SHOWN, None)
    }

    fn __repr__(&self) -> String {
        format!(
            "<fullpipe.Trace of {} packets: {} connections>",
            self.summary.read.packets,
            self.summary.connections.len()
        )
    }
}

/// Reads packet captures, and analyses their TCP connections and paths.
///
/// ``files`` is the path of a capture, or a list of them in any order: pcap or pcapng, also compressed with gzip or
/// zstd. They are read as one, in the order of their packets' times. ``tcpdump -s 128 -w FILE`` captures enough of each
/// packet.
///
/// A file that is truncated or damaged is read up to that point; ``summary["read"]`` says so.
///
/// :raises OSError: a file cannot be read, or is not a capture; the message names it
/// :raises KeyboardInterrupt: Ctrl-C
#[pyfunction]
#[pyo3(signature = (files))]
pub fn trace(py: Python<'_>, files: &Bound<'_, PyAny>) -> PyResult<Trace> {
    let one = files.extract::<PathBuf>().map(|file| vec![file]);
    let fix = "give the path of a capture, or a list of one or more";
    let files = one.or_else(|_| {
        let files = items("files", files, fix)?;
        let files = files.iter().map(|file| path("files", file));
        files.collect::<PyResult<Vec<_>>>()
    })?;
    if files.is_empty() {
        return Err(PyTypeError::new_err(format!(
            "files: the list is empty; {fix}"
        )));
    }
    let cancel = Cancel::new();
    let read = interruptible(py, &cancel, || {
        let mut trace = ::trace::Trace::new();
        let goes_on = || !cancel.is_cancelled();
        let open = |place: usize| -> io::Result<Opened<'_>> {
            Ok(Opened {
                source: Box::new(regular::open(&files[place])?),
                is_lasting: true,
            })
        };
        let read = trace.read_all(files.len(), open, &goes_on);
        read.map_err(|(place, error)| wrong(&files[place], error))?;
        Ok::<_, PyErr>(Summary::of(trace))
    })?;
    let (summary, timelines) = read?;
    Ok(Trace { summary, timelines })
}

fn wrong(file: &Path, error: ReadError) -> PyErr {
    match error {
        ReadError::Io(error) => error::of_file(file, &error),
        error => PyOSError::new_err(format!("{}: {error}", file.display())),
    }
}
