//! A directory that gets its name when it is complete.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, RenameFlags, openat, renameat_with};
use rustix::io::Errno;

use crate::left::{Left, MAX_NAMES, NO_SUCH_RENAME, OLD, beside, left_behind, part};
use crate::{WriteError, parent, sync};

/// Why a directory has not taken the place of an older one as a whole.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// It was not written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// It has its name, but the older one could not be removed.
    #[error("{} is written; the older one is left at {}: {source}", path.display(), old.display())]
    Left {
        /// Its path.
        path: PathBuf,
        /// The path of the older one.
        old: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

/// Makes a directory, and those above it, if they do not exist. New ones get this mode, as far as the umask allows,
/// and last through a power failure.
///
/// # Errors
///
/// The system refuses, or something else is there.
pub fn make_directory(path: &Path, mode: u32) -> io::Result<()> {
    let make = || match DirBuilder::new().mode(mode).create(path) {
        Ok(()) => sync::names(parent(path), || File::open(path)),
        Err(_) if path.as_os_str().is_empty() || path.is_dir() => Ok(()),
        refused => refused,
    };
    match (make(), path.parent()) {
        (Err(error), Some(above)) if error.kind() == ErrorKind::NotFound => {
            make_directory(above, mode)?;
            make()
        }
        (made, _) => made,
    }
}

/// A directory without its name. It is removed if it does not get its name.
#[derive(Debug)]
pub struct NewDirectory {
    path: PathBuf,
    part: PathBuf,
    /// While this is open, no other process takes the directory for abandoned.
    held: File,
    /// The mode that it is to have.
    mode: u32,
    has_name: bool,
}

impl NewDirectory {
    /// Makes the directory beside `path`.
    ///
    /// # Errors
    ///
    /// The system refuses.
    pub fn create(path: &Path) -> Result<NewDirectory, WriteError> {
        let mut mode = 0;
        let made = part(path, |part| {
            fs::create_dir(part)?;
            let (held, given) = accessible(part).inspect_err(|_| drop(fs::remove_dir(part)))?;
            mode = given;
            Ok(held)
        });
        let (part, held) = made.map_err(WriteError::of(path))?;
        Ok(NewDirectory {
            path: path.to_owned(),
            part,
            held,
            mode,
            has_name: false,
        })
    }

    /// Its path until it has its name.
    pub fn part(&self) -> &Path {
        &self.part
    }

    /// Gives the directory its name, and removes an older directory of this name.
    ///
    /// # Errors
    ///
    /// The system refuses. Nothing has changed, unless only the sync of the parent directory or the removal of the
    /// older one failed.
    pub fn commit(mut self) -> Result<(), CommitError> {
        let (part, path) = (&self.part, &self.path);
        let mut name = || {
            sync::tree(part)?;
            if self.mode & 0o700 != 0o700 {
                let mode = Permissions::from_mode(self.mode);
                self.held.set_permissions(mode)?;
                self.held.sync_all()?;
            }
            let old = exchange(part, path)?;
            self.has_name = true;
            sync::names(parent(path), || self.held.try_clone())?;
            Ok(old)
        };
        let Some(old) = name().map_err(WriteError::of(path))? else {
            return Ok(());
        };
        remove(&old).map_err(|source| CommitError::Left {
            path: path.clone(),
            old: keep(path, old),
            source,
        })
    }
}

impl Drop for NewDirectory {
    fn drop(&mut self) {
        if !self.has_name {
            // The next writer removes it if this fails.
            let _ = remove(&self.part);
        }
    }
}

/// Opens a directory, which its owner may then read and change. Returns also its former mode. A link is not
/// followed.
fn accessible(path: &Path) -> io::Result<(File, u32)> {
    let flags = (OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW)
        .bits()
        .cast_signed();
    let mut options = File::options();
    let at = options.read(true).custom_flags(flags).open(path)?;
    let mode = at.metadata()?.permissions().mode() & 0o7777;
    if mode & 0o700 != 0o700 {
        let itself = format!("/proc/self/fd/{}", at.as_raw_fd());
        fs::set_permissions(itself, Permissions::from_mode(mode | 0o700))?;
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok((openat(&at, ".", flags, Mode::empty())?.into(), mode))
}

/// Removes a directory, also one that its owner may not change.
fn remove(directory: &Path) -> io::Result<()> {
    // If this fails, so does what follows.
    let _ = accessible(directory);
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Gives an older directory that stays the ending `OLD`. Returns its path.
fn keep(path: &Path, old: PathBuf) -> PathBuf {
    let mut names = (0..MAX_NAMES).map(|number| beside(path, OLD, number));
    let free = names.find(|name| *name == old || fs::symlink_metadata(name).is_err());
    match free {
        Some(name) if fs::rename(&old, &name).is_ok() => name,
        _ => old,
    }
}

/// Puts `part` in the place of `path`. Returns the older directory's new path.
fn exchange(part: &Path, path: &Path) -> io::Result<Option<PathBuf>> {
    match renameat_with(CWD, part, CWD, path, RenameFlags::EXCHANGE) {
        Ok(()) => return Ok(Some(part.to_owned())),
        Err(Errno::NOENT) => return fs::rename(part, path).map(|()| None),
        Err(error) if NO_SUCH_RENAME.contains(&error) => {}
        Err(error) => return Err(error.into()),
    }
    // In two steps. If the writer is killed between them, `tidy` puts the older directory back.
    let old = beside(path, OLD, 0);
    let has_old = match fs::rename(path, &old) {
        Ok(()) => true,
        Err(error) if error.kind() == ErrorKind::NotFound => false,
        Err(error) => return Err(error),
    };
    if let Err(error) = fs::rename(part, path) {
        if has_old {
            fs::rename(&old, path)?;
        }
        return Err(error);
    }
    Ok(has_old.then_some(old))
}

/// Removes the remains of killed writers of the directory `name` in `parent`, or of any directory there, and restores
/// the directories that they were about to replace. Directories with other files than those that satisfy `is_ours` are
/// kept.
pub fn tidy(parent: &Path, name: Option<&OsStr>, is_ours: impl Fn(&OsStr) -> bool) {
    let is_wanted = |left: &OsStr| name.is_none_or(|name| left == name);
    let holds_ours = |left: &Left| {
        let entries = fs::read_dir(&left.path);
        entries.is_ok_and(|mut entries| {
            entries.all(|entry| entry.is_ok_and(|entry| is_ours(&entry.file_name())))
        })
    };
    for left in left_behind(parent, is_wanted).filter(holds_ours) {
        let whole = parent.join(&left.name);
        // If this fails, the next write reports it. Nothing is lost here.
        let _ = if left.what == OLD && !whole.exists() {
            fs::rename(&left.path, &whole)
        } else {
            remove(&left.path)
        };
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    fn set(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    /// The variable of a child process.
    const CHILD: &str = "FULLPIPE_TEST_CHILD";

    fn must_be_a_child() {
        std::env::var_os(CHILD).expect("started by another test");
    }

    /// Runs a test of this program as an ordinary user, in a directory of this user.
    fn as_user(test: &str, umask: &str) {
        let home = tempfile::tempdir().unwrap();
        set(home.path(), 0o755);
        let program = home.path().join("tests");
        // By another process: a child that another test starts here would hold the copy open for writing, and such a file
        // cannot be run.
        let copied = Command::new("cp")
            .arg(std::env::current_exe().unwrap())
            .arg(&program)
            .status();
        assert!(copied.unwrap().success());
        let own = home.path().join("own");
        fs::create_dir(&own).unwrap();
        let script = format!("umask {umask} && exec \"$0\" --exact --ignored {test}");
        let mut command = Command::new("sh");
        command
            .arg("-c")
            .arg(script)
            .arg(program)
            .current_dir(&own)
            .env(CHILD, "");
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&own, Some(65_534), Some(65_534)).unwrap();
            std::os::unix::process::CommandExt::gid(&mut command, 65_534);
            std::os::unix::process::CommandExt::uid(&mut command, 65_534);
        }
        let done = command.output().unwrap();
        let said = String::from_utf8_lossy(&done.stdout);
        let complained = String::from_utf8_lossy(&done.stderr);
        assert!(said.contains("1 passed"), "{said}{complained}");
    }

    fn record(contents: &str) -> Result<(), CommitError> {
        let new = NewDirectory::create(Path::new("record"))?;
        fs::write(new.part().join("a"), contents).unwrap();
        new.commit()
    }

    fn names() -> Vec<String> {
        let entries = fs::read_dir(".").unwrap();
        entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    #[test]
    fn a_umask_that_forbids_reading_stops_nobody() {
        as_user("directory::tests::with_a_strange_umask", "0477");
    }

    #[test]
    #[ignore = "a child of a_umask_that_forbids_reading_stops_nobody"]
    fn with_a_strange_umask() {
        must_be_a_child();
        record("old").unwrap();
        record("new").unwrap();
        assert_eq!(names(), ["record"]);
        assert_eq!(mode(Path::new("record")), 0o300);
        drop(NewDirectory::create(Path::new("other")).unwrap());
        assert_eq!(names(), ["record"]);
    }

    #[test]
    fn a_directory_that_may_not_be_read_gets_files_and_directories() {
        as_user("directory::tests::into_a_drop_box", "022");
    }

    #[test]
    #[ignore = "a child of a_directory_that_may_not_be_read_gets_files_and_directories"]
    fn into_a_drop_box() {
        must_be_a_child();
        set(Path::new("."), 0o300);
        record("new").unwrap();
        crate::write(Path::new("file"), b"new", crate::Readers::Everybody).unwrap();
        make_directory(Path::new("more/below"), 0o777).unwrap();
        set(Path::new("."), 0o700);
        let mut names = names();
        names.sort();
        assert_eq!(names, ["file", "more", "record"]);
    }

    #[test]
    fn an_older_directory_that_nobody_may_change_is_replaced() {
        as_user("directory::tests::over_a_closed_directory", "022");
    }

    #[test]
    #[ignore = "a child of an_older_directory_that_nobody_may_change_is_replaced"]
    fn over_a_closed_directory() {
        must_be_a_child();
        record("old").unwrap();
        set(Path::new("record"), 0o500);
        record("new").unwrap();
        assert_eq!(names(), ["record"]);
        assert_eq!(mode(Path::new("record")), 0o755);
        // One within is not opened: nobody of ours makes such.
        fs::create_dir("record/within").unwrap();
        fs::write("record/within/file", "").unwrap();
        set(Path::new("record/within"), 0o500);
        let error = record("newer").unwrap_err().to_string();
        let old = beside(Path::new("record"), OLD, 0);
        let told = format!(
            "record is written; the older one is left at {}: ",
            old.display()
        );
        assert!(error.starts_with(&told), "{error}");
        assert_eq!(fs::read_to_string("record/a").unwrap(), "newer");
        assert!(old.join("within/file").exists());
        assert_eq!(names().len(), 2);
        set(&old.join("within"), 0o700);
        tidy(Path::new("."), None, |_| true);
        assert_eq!(names(), ["record"]);
    }

    #[test]
    fn directories_are_made_with_those_above_and_those_that_are_there_stay() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a/b/c");
        for _ in 0..2 {
            make_directory(&path, 0o700).unwrap();
        }
        for made in path.ancestors().take(3) {
            assert_eq!(mode(made), 0o700);
        }
        set(&path, 0o750);
        make_directory(&path, 0o700).unwrap();
        assert_eq!(mode(&path), 0o750);
        let file = home.path().join("file");
        fs::write(&file, "").unwrap();
        let refused = |path: &Path| make_directory(path, 0o700).unwrap_err().kind();
        assert_eq!(refused(&file), ErrorKind::AlreadyExists);
        assert_eq!(refused(&file.join("a/b")), ErrorKind::NotADirectory);
        make_directory(Path::new(""), 0o700).unwrap();
    }
}
