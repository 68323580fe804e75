//! A directory that gets its name when it is complete.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::left::{Left, NO_SUCH_RENAME, OLD, beside, left_behind, part};
use crate::{WriteError, parent, sync};

/// A directory without its name. It is removed if it does not get its name.
#[derive(Debug)]
pub struct NewDirectory {
    path: PathBuf,
    part: PathBuf,
    /// While this is open, no other process takes the directory for abandoned.
    _held: File,
    has_name: bool,
}

impl NewDirectory {
    /// Makes the directory beside `path`.
    ///
    /// # Errors
    ///
    /// The system refuses.
    pub fn create(path: &Path) -> Result<NewDirectory, WriteError> {
        let made = part(path, |part| {
            fs::create_dir(part)?;
            File::open(part)
        });
        let (part, held) = made.map_err(WriteError::of(path))?;
        Ok(NewDirectory {
            path: path.to_owned(),
            part,
            _held: held,
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
    pub fn commit(mut self) -> Result<(), WriteError> {
        let (part, path) = (&self.part, &self.path);
        let mut name = || {
            sync::tree(part)?;
            let old = exchange(part, path)?;
            self.has_name = true;
            sync::names(parent(path))?;
            match old.map_or(Ok(()), fs::remove_dir_all) {
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
                removed => removed,
            }
        };
        let named = name();
        named.map_err(WriteError::of(path))
    }
}

impl Drop for NewDirectory {
    fn drop(&mut self) {
        if !self.has_name {
            // The next writer removes it if this fails.
            let _ = fs::remove_dir_all(&self.part);
        }
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
            fs::remove_dir_all(&left.path)
        };
    }
}
