//! Some runs of an evaluation as text, for a worker elsewhere.

use std::ops::Range;
use std::time::Instant;

use evaluate::Measured;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};

use super::asked::Evaluated;
use crate::build::build;
use crate::error;
use crate::json;

/// Runs of an evaluation. The controller travels beside it, as a Python object.
#[derive(Serialize, Deserialize)]
pub struct Order {
    /// The build that must do it: another one could run something else.
    pub build: String,
    pub quick: bool,
    pub only: Vec<String>,
    /// The places of the runs in the plan.
    pub places: Range<usize>,
}

/// The results of an order.
#[derive(Serialize, Deserialize)]
pub struct Report {
    /// The duration.
    pub seconds: f64,
    pub measured: Measured,
}

/// Does an order on a worker, and returns its report. Both are JSON.
#[pyfunction]
#[pyo3(name = "_evaluate")]
pub fn part(py: Python<'_>, order: &str, controller: &Bound<'_, PyAny>) -> PyResult<String> {
    let order: Order = json::read(order)?;
    if order.build != build(py)? {
        return Err(error::of_run(
            "executor: a worker has another build of fullpipe; install the same wheel on all machines",
        ));
    }
    let began = Instant::now();
    let asked = Evaluated::new(controller, order.quick, order.only)?;
    let measured = asked.part(py, order.places)?;
    json::line(&Report {
        seconds: began.elapsed().as_secs_f64(),
        measured,
    })
}
