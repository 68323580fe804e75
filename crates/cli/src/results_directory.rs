//! The directory for the results of many runs.

use std::fs;
use std::io;
use std::path::Path;

use lab::sweep::Store;

use crate::failure::Failure;
use crate::files;

/// Makes the directory if need be. One that is used for something else is left alone.
pub fn make(directory: &Path) -> Result<(), Failure> {
    let failed = |error: io::Error| {
        Failure::usage(format_args!(
            "cannot use {}: {error}; name another directory with --out",
            directory.display()
        ))
    };
    match fs::read_dir(directory) {
        Ok(mut entries) => {
            let is_in_use = entries.next().is_some() && !directory.join(Store::FILE).exists();
            match is_in_use {
                true => Err(Failure::usage(format_args!(
                    "{} has files that are not of runs like these; name another directory with --out",
                    directory.display()
                ))),
                false => Ok(()),
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            files::make_directory("--out", directory)
        }
        Err(error) => Err(failed(error)),
    }
}
