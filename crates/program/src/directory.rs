//! Directories for results that users name.

use std::fs;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

use files::others;

use crate::failure::Failure;
use crate::whole::{check_end, try_at};

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

/// Checks before the work that [`make()`] can make the directory that `option` names, and makes nothing.
pub fn check(option: &str, directory: &Path) -> Result<(), Failure> {
    check_name(option, directory)?;
    let mut ways = directory
        .ancestors()
        .map(|way| match fs::symlink_metadata(way) {
            Ok(_) => Ok(Some(way)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        });
    // A relative path begins in the present directory.
    let there = ways
        .find_map(Result::transpose)
        .unwrap_or(Ok(Path::new("")));
    there
        .and_then(|there| try_at(&there.join(tried())))
        .map_err(|error| wrong(option, directory, &error))
}

/// Makes the directory that `option` names, if necessary, and checks that files can be written into it.
pub fn make(option: &str, directory: &Path) -> Result<MadeDirectory, Failure> {
    check_name(option, directory)?;
    let ways = directory.ancestors().take_while(|way| {
        let is_named = !way.as_os_str().is_empty();
        is_named && fs::symlink_metadata(way).is_err()
    });
    let made = MadeDirectory(ways.map(Path::to_owned).collect());
    files::make_directory(directory, 0o777)
        // Another user may have laid a link meanwhile.
        .and_then(|()| others::check_links(directory))
        .and_then(|()| try_at(&directory.join(tried())))
        .map_err(|error| wrong(option, directory, &error))?;
    Ok(made)
}

/// Checks that the name is no file's, and that no link leads nowhere or was laid by another user.
fn check_name(option: &str, directory: &Path) -> Result<(), Failure> {
    if directory.exists() && !directory.is_dir() {
        let name = directory.display();
        return Err(Failure::usage(format_args!(
            "{option} {name} is not a directory; give another name"
        )));
    }
    others::check_links(directory)
        .and_then(|()| check_end(directory))
        .map_err(|error| wrong(option, directory, &error))
}

/// A name that nobody has: there may be a directory called fullpipe.
fn tried() -> String {
    format!(".fullpipe-{}", std::process::id())
}

fn wrong(option: &str, directory: &Path, error: &Error) -> Failure {
    Failure::usage(format_args!("{option} {}: {error}", directory.display()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, lchown, symlink};

    use super::*;

    #[test]
    fn no_directory_is_made_behind_a_link_that_another_user_has_laid() {
        let home = tempfile::tempdir().expect("a directory");
        let link = home.path().join("link");
        symlink(".", &link).expect("linked");
        fs::set_permissions(home.path(), fs::Permissions::from_mode(0o1777)).expect("set");
        drop(make("--out", &link.join("own")).expect("an own link"));
        if lchown(&link, Some(65_534), None).is_err() {
            skipping::skip!("a link of another user: this takes root");
            return;
        }
        for name in [&link, &link.join("own")] {
            let error = make("--out", name).expect_err("another user's link");
            assert!(error.to_string().contains("is a symbolic link"), "{error}");
        }
        assert!(!home.path().join("own").exists());
    }

    #[test]
    fn a_directory_without_results_is_removed_and_no_other() {
        let home = tempfile::tempdir().expect("a directory");
        let [above, own] = ["above", "above/own"].map(|name| home.path().join(name));
        check("--out", &own).expect("room");
        assert!(!above.exists());
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
        for below in ["notes/own", "notes/own/deep"] {
            check("--out", &above.join(below)).expect_err("below a file");
        }
        check("--out", &own).expect("there already");
        let long = "x".repeat(300);
        check("--out", &above.join(long).join("own")).expect_err("a name that is too long");
        let error = make("--out", &above.join("notes")).expect_err("a file");
        assert!(
            error
                .to_string()
                .ends_with("notes is not a directory; give another name")
        );
        symlink(above.join("no"), above.join("link")).expect("linked");
        let error = make("--out", &above.join("link")).expect_err("a link to nothing");
        let said = format!(
            "above/link: leads to {}, which does not exist",
            above.join("no").display()
        );
        assert!(error.to_string().ends_with(&said), "{error}");
        assert!(!above.join("no").exists());
        // Nobody can make a directory there, not even root.
        check("--out", Path::new("/proc/no/such")).expect_err("no place for directories");
        make("--out", Path::new("/proc/no/such")).expect_err("no place for directories");
    }
}
