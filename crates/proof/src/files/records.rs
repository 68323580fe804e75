//! The records of many runs, each in its own directory.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use program::command_line;
use program::failure::Failure;
use program::output;
use record::Record;
use report::Also;

/// The directory of records in a directory for results.
pub struct Records {
    directory: PathBuf,
    /// The number of records of each name.
    names: Mutex<HashMap<String, usize>>,
    /// The number of records that could not be written.
    missing: AtomicUsize,
}

impl Records {
    /// The records in the directory for results `out`. Removes files that a killed writer has left there.
    pub fn within(out: &Path) -> Records {
        let directory = out.join("records");
        report::tidy(&directory);
        Records {
            directory,
            names: Mutex::default(),
            missing: AtomicUsize::new(0),
        }
    }

    /// Writes the record of a run. A second record of the same name gets a number at the end. Measurements do not
    /// depend on records, so a failure is printed and no run is lost.
    pub fn keep(&self, run: &str, record: &Record) {
        // A value may contain characters that a file's name must not have.
        let is_plain = |c: char| c.is_alphanumeric() || "-.%_".contains(c);
        let mut name = run.replace(|c| !is_plain(c), "_");
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let count = names.entry(name.clone()).or_default();
        *count += 1;
        if *count > 1 {
            name = format!("{name}-{count}");
        }
        drop(names);
        let (place, origin) = (self.directory.join(&name), command_line::origin());
        let written = files::make_directory(&self.directory, 0o777)
            .map_err(|error| error.to_string())
            .and_then(|()| {
                report::write_dir(&place, record, &Also::default(), &origin)
                    .map_err(|error| error.to_string())
            });
        if let Err(reason) = written {
            output::note(format_args!("no record of {name}: {reason}"));
            self.missing.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Checks that all records were written. Without any, their directory is not left.
    ///
    /// # Errors
    ///
    /// Some could not be written.
    pub fn finish(&self) -> Result<(), Failure> {
        // The system removes no directory that has something in it.
        let _ = fs::remove_dir(&self.directory);
        match self.missing.load(Ordering::Relaxed) {
            0 => Ok(()),
            missing => Err(Failure::failed(format_args!(
                "records that could not be written: {missing}"
            ))),
        }
    }
}
