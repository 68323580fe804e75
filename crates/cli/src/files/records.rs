//! The records of many runs, each a directory of its own.

use std::fs;
use std::path::{Path, PathBuf};

use record::Record;
use report::Also;

use crate::options::command_line;
use crate::terminal::output;

/// The directory of records in a directory for results.
pub struct Records {
    directory: PathBuf,
}

impl Records {
    /// Those in the directory for results `out`. Removes what was left there when an earlier writer was killed.
    pub fn within(out: &Path) -> Records {
        let directory = out.join("records");
        report::tidy(&directory);
        Records { directory }
    }

    /// Writes the record of a run. What is measured does not depend on it, so a failure is said and costs no run.
    pub fn keep(&self, run: &str, record: &Record) {
        // What a value is spelled with need not be what a file may be called.
        let is_plain = |c: char| c.is_alphanumeric() || "-.%_".contains(c);
        let name = run.replace(|c| !is_plain(c), "_");
        let (place, origin) = (self.directory.join(&name), command_line::origin());
        let written = fs::create_dir_all(&self.directory)
            .map_err(|error| error.to_string())
            .and_then(|()| {
                report::write_dir(&place, record, &Also::default(), &origin)
                    .map_err(|error| error.to_string())
            });
        if let Err(reason) = written {
            output::note(format_args!("no record of {name}: {reason}"));
        }
    }
}
