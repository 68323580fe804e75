//! Directories for results that users name.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::whole::try_at;

/// The directories that were made for results, the innermost first. Those in which nothing is when this is dropped are
/// removed, so that a command without results leaves no directory behind.
#[derive(Debug)]
#[must_use = "an empty directory is removed when this is dropped"]
pub struct MadeDirectory(Vec<PathBuf>);

impl Drop for MadeDirectory {
    fn drop(&mut self) {
        // This removes only empty directories. One that cannot be removed does no harm.
        let _ = self.0.iter().try_for_each(fs::remove_dir);
    }
}

/// Makes the directory that `option` names, if necessary, and checks that files can be written into it.
pub fn make(option: &str, directory: &Path) -> Result<MadeDirectory, Failure> {
    if directory.exists() && !directory.is_dir() {
        let name = directory.display();
        return Err(Failure::usage(format_args!(
            "{option} {name} is not a directory; give another name"
        )));
    }
    let ways = directory.ancestors().take_while(|way| {
        let is_named = !way.as_os_str().is_empty();
        is_named && fs::symlink_metadata(way).is_err()
    });
    let made = MadeDirectory(ways.map(Path::to_owned).collect());
    // A name that nobody has: there may be a directory called fullpipe.
    let tried = directory.join(format!(".fullpipe-{}", std::process::id()));
    files::make_directory(directory, 0o777)
        .and_then(|()| try_at(&tried))
        .map_err(|error| {
            Failure::usage(format_args!("{option} {}: {error}", directory.display()))
        })?;
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_without_results_is_removed_and_no_other() {
        let home = tempfile::tempdir().expect("a directory");
        let [above, own] = ["above", "above/own"].map(|name| home.path().join(name));
        drop(make("--out", &own).expect("room"));
        assert!(!above.exists());
        let made = make("--out", &own).expect("room");
        fs::write(above.join("notes"), "").expect("room");
        drop(made);
        assert!(!own.exists() && above.join("notes").exists());
        let made = make("--out", &own).expect("room");
        fs::write(own.join("results"), "").expect("room");
        drop(made);
        assert!(own.join("results").exists());
        // A directory that was there stays, even if it is empty.
        fs::remove_file(own.join("results")).expect("removed");
        drop(make("--out", &own).expect("there already"));
        assert!(own.exists());
        let error = make("--out", &above.join("notes")).expect_err("a file");
        assert!(
            error
                .to_string()
                .ends_with("notes is not a directory; give another name")
        );
        // Nobody can make a directory there, not even root.
        make("--out", Path::new("/proc/no/such")).expect_err("no place for directories");
    }
}
