//! The build of the package, which workers elsewhere must have, too.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::OnceLock;

use pyo3::prelude::*;

use crate::error;

/// An identifier of this build of the package. Results of another build are not the same.
pub fn build(py: Python<'_>) -> PyResult<String> {
    static BUILD: OnceLock<String> = OnceLock::new();
    if let Some(build) = BUILD.get() {
        return Ok(build.clone());
    }
    let module: PathBuf = py
        .import("fullpipe._native")?
        .getattr("__file__")?
        .extract()?;
    let hash = py.detach(|| {
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(File::open(&module)?)?;
        Ok(hasher.finalize().to_hex().to_string())
    });
    let hash = hash.map_err(|error: io::Error| error::of_file(&module, &error))?;
    Ok(BUILD.get_or_init(|| hash).clone())
}
