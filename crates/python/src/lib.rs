//! The native half of the Python package `fullpipe`: scenarios in, records and Arrow tables out.
//!
//! The other half is `python/fullpipe`: the parts better written in Python, and the types of both.

mod advise;
mod arguments;
mod build;
mod columns;
mod controller;
mod error;
mod evaluate;
mod events;
mod gym;
mod json;
mod looks;
mod nesting;
mod progress;
mod record;
mod run;
mod said;
mod scalar;
mod sender;
mod sweep;
mod table;
mod trace;
mod waiting;

#[pyo3::pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::advise::{Advice, advise};
    #[pymodule_export]
    use crate::evaluate::{AwayEvaluation, Judged, evaluate, part};
    #[pymodule_export]
    use crate::events::{Ack, Connection};
    #[pymodule_export]
    use crate::gym::{Environments, View, fields};
    #[pymodule_export]
    use crate::looks::looks;
    #[pymodule_export]
    use crate::record::Record;
    #[pymodule_export]
    use crate::run::run;
    #[pymodule_export]
    use crate::sender::Sender;
    #[pymodule_export]
    use crate::sweep::{Away, Swept, sweep, work};
    #[pymodule_export]
    use crate::table::{Column, Table};
    #[pymodule_export]
    use crate::trace::{Trace, trace};

    /// The version of the package is that of the program.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
