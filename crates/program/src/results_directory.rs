//! The directory for the results of many runs.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use files::others;
use serde::Serialize;
use serde::de::DeserializeOwned;
use studies::runs::{FILE, Store};

use crate::directory::{self, MadeDirectory};
use crate::failure::Failure;
use crate::output;

/// The requested directory, or else a directory in the present one with the name of the file, or `usual` if the file is
/// stdin.
pub fn named(out: Option<&Path>, file: &Path, usual: &str) -> PathBuf {
    let stem = file.file_stem().filter(|_| file != Path::new("-"));
    let named = || stem.map_or_else(|| usual.into(), PathBuf::from);
    out.map_or_else(named, Path::to_owned)
}

/// The results in the directory, which is made if necessary. A directory that is used for something else is refused.
/// Holds the results of runs whose keys satisfy `is_wanted`. Prints how many results are not to be trusted.
pub fn open<T: Serialize + DeserializeOwned>(
    directory: &Path,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<Store<T>, Failure> {
    let _made = make(directory)?;
    let store = Store::open_for(directory, is_wanted).map_err(Failure::failed)?;
    let (path, damaged) = (directory.join(FILE), store.damaged());
    let (lines, runs) = match damaged {
        0 => return Ok(store),
        1 => ("line is", "its run is"),
        _ => ("lines are", "their runs are"),
    };
    output::note(format_args!(
        "{}: {damaged} {lines} damaged and left out; {runs} done again",
        path.display()
    ));
    Ok(store)
}

/// Makes the directory, or checks that an older one has results of runs.
fn make(directory: &Path) -> Result<Option<MadeDirectory>, Failure> {
    let failed = |error: io::Error| {
        Failure::usage(format_args!(
            "cannot use {}: {error}; name another directory with --out",
            directory.display()
        ))
    };
    others::check_links(directory).map_err(failed)?;
    match fs::read_dir(directory) {
        Ok(mut entries) => {
            let is_in_use = entries.next().is_some() && !directory.join(FILE).exists();
            if is_in_use {
                return Err(Failure::usage(format_args!(
                    "{} has files of other runs; name another directory with --out",
                    directory.display()
                )));
            }
            Ok(None)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            directory::make("--out", directory).map(Some)
        }
        Err(error) => Err(failed(error)),
    }
}
