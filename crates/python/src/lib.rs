//! The native half of the Python package `fullpipe`: scenarios in, records and Arrow tables out.
//!
//! The other half is `python/fullpipe`: what is better said in Python, and the types of all of it.

mod columns;
mod controller;
mod error;
mod events;
mod looks;
mod record;
mod run;
mod said;
mod sweep;
mod table;
mod waiting;

#[pyo3::pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::events::{Ack, Connection};
    #[pymodule_export]
    use crate::looks::looks;
    #[pymodule_export]
    use crate::record::Record;
    #[pymodule_export]
    use crate::run::run;
    #[pymodule_export]
    use crate::sweep::{Swept, sweep};
    #[pymodule_export]
    use crate::table::{Column, Table};

    /// The version is that of the program.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
