//! The directory for the results of many runs.

use std::fs;
use std::io;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use studies::runs::{FILE, Store};

use crate::failure::Failure;
use crate::files::whole;
use crate::terminal::output;

/// The results in the directory, which is made if need be. One that is used for something else is left alone. Says how
/// many results cannot be believed.
pub fn open<T: Serialize + DeserializeOwned>(directory: &Path) -> Result<Store<T>, Failure> {
    make(directory)?;
    let store = Store::open(directory).map_err(Failure::failed)?;
    let (path, damaged) = (store.path().display(), store.damaged());
    match damaged {
        0 => {}
        1 => output::note(format_args!(
            "{path}: 1 line is damaged and left out; its run is done again"
        )),
        _ => output::note(format_args!(
            "{path}: {damaged} lines are damaged and left out; their runs are done again"
        )),
    }
    Ok(store)
}

fn make(directory: &Path) -> Result<(), Failure> {
    let failed = |error: io::Error| {
        Failure::usage(format_args!(
            "cannot use {}: {error}; name another directory with --out",
            directory.display()
        ))
    };
    match fs::read_dir(directory) {
        Ok(mut entries) => {
            let is_in_use = entries.next().is_some() && !directory.join(FILE).exists();
            match is_in_use {
                true => Err(Failure::usage(format_args!(
                    "{} has files that are not of runs like these; name another directory with --out",
                    directory.display()
                ))),
                false => Ok(()),
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            whole::make_directory("--out", directory)
        }
        Err(error) => Err(failed(error)),
    }
}
