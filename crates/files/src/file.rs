//! A file that gets its name when it is complete.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::left::{NO_SUCH_RENAME, part, sweep};
use crate::{WriteError, parent, sync};

/// The readers of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    /// Everybody, as far as the umask allows. The owner, group and mode of an older file stay.
    Everybody,
    /// Only its owner, which is this process's user. The owner of an older file does not matter: any user who may write
    /// to the directory could have made it.
    Owner,
    /// Only the owner of a new file. The owner, group and mode of an older file stay.
    AsBefore,
}

/// Writes a file as a whole: see [`NewFile::create`] and [`NewFile::commit`].
///
/// # Errors
///
/// The system refuses. Nothing has changed, unless only the sync of the directory failed.
pub fn write(path: &Path, contents: &[u8], readers: Readers) -> Result<(), WriteError> {
    let new = NewFile::create(path, readers)?;
    new.write_all(contents)?;
    new.commit()
}

/// A file without its name. It is removed if it does not get its name.
#[derive(Debug)]
pub struct NewFile {
    path: PathBuf,
    part: PathBuf,
    file: File,
    has_name: bool,
}

impl NewFile {
    /// Makes the file beside `path`, and removes the remains of killed writers of `path`.
    ///
    /// # Errors
    ///
    /// The system refuses.
    pub fn create(path: &Path, readers: Readers) -> Result<NewFile, WriteError> {
        sweep(parent(path), |left| Some(left) == path.file_name());
        NewFile::create_unswept(path, readers)
    }

    /// Like [`NewFile::create`], but removes nothing, and so does not read the directory: for one of many files, in a
    /// directory that the caller [`sweep`]s once.
    ///
    /// # Errors
    ///
    /// The system refuses.
    pub fn create_unswept(path: &Path, readers: Readers) -> Result<NewFile, WriteError> {
        let old = fs::symlink_metadata(path).ok();
        if old.as_ref().is_some_and(Metadata::is_dir) {
            // The file would not get its name in the end.
            let error =
                io::Error::new(ErrorKind::IsADirectory, "is a directory; give another name");
            return Err(WriteError::of(path)(error));
        }
        let keeps_mode = readers != Readers::Owner;
        let old = old.filter(|old| keeps_mode && old.is_file());
        // At no time may a user read it who may not read the older one.
        let mode = match (&old, readers) {
            (None, Readers::Everybody) => 0o666,
            _ => 0o600,
        };
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(mode);
        let (part, file) = part(path, |part| options.open(part)).map_err(WriteError::of(path))?;
        let new = NewFile {
            path: path.to_owned(),
            part,
            file,
            has_name: false,
        };
        if let Some(old) = old {
            new.take_after(&old)?;
        }
        Ok(new)
    }

    /// The open file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Appends these bytes.
    ///
    /// # Errors
    ///
    /// The system refuses.
    pub fn write_all(&self, contents: &[u8]) -> Result<(), WriteError> {
        let written = self.file().write_all(contents);
        written.map_err(WriteError::of(&self.path))
    }

    /// Gives the file the owner, group and mode of another one. Only root may change the owner, and only members may give a
    /// file to a group. If the group cannot be given, its members get only the permissions of others.
    ///
    /// # Errors
    ///
    /// The mode cannot be set.
    pub fn take_after(&self, other: &Metadata) -> Result<(), WriteError> {
        let given = self.file.metadata().and_then(|now| {
            if now.uid() != other.uid() {
                let _ = fchown(&self.file, Some(other.uid()), None);
            }
            let has_group =
                now.gid() == other.gid() || fchown(&self.file, None, Some(other.gid())).is_ok();
            let mode = other.mode() & 0o777;
            let group = if has_group {
                mode & 0o070
            } else {
                (mode & 0o007) << 3
            };
            let mode = Permissions::from_mode((mode & 0o707) | group);
            self.file.set_permissions(mode)
        });
        given.map_err(WriteError::of(&self.path))
    }

    /// Gives the file its name, in the place of an older file.
    ///
    /// # Errors
    ///
    /// The system refuses. Nothing has changed, unless only the sync of the directory failed.
    pub fn commit(self) -> Result<(), WriteError> {
        self.commit_by(|part, path| fs::rename(part, path))
    }

    /// Gives the file its name if the name is free.
    ///
    /// # Errors
    ///
    /// The name is taken ([`AlreadyExists`](io::ErrorKind::AlreadyExists)); otherwise those of [`NewFile::commit`].
    pub fn commit_new(self) -> Result<(), WriteError> {
        self.commit_by(|part, path| {
            match renameat_with(CWD, part, CWD, path, RenameFlags::NOREPLACE) {
                // A second name serves as well, and the first one does no harm.
                Err(error) if NO_SUCH_RENAME.contains(&error) => {
                    fs::hard_link(part, path).map(|()| drop(fs::remove_file(part)))
                }
                renamed => Ok(renamed?),
            }
        })
    }

    fn commit_by(
        mut self,
        name: impl FnOnce(&Path, &Path) -> io::Result<()>,
    ) -> Result<(), WriteError> {
        let named = self.file.sync_all().and_then(|()| {
            name(&self.part, &self.path)?;
            self.has_name = true;
            sync::names(parent(&self.path), || self.file.try_clone())
        });
        named.map_err(WriteError::of(&self.path))
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.has_name {
            // The next writer removes it if this fails.
            let _ = fs::remove_file(&self.part);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{chown, symlink};
    use std::thread;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o777
    }

    #[test]
    fn a_link_in_the_place_of_a_file_or_of_its_part_is_not_followed() {
        let directory = tempfile::tempdir().unwrap();
        let [file, other] = ["file", "other"].map(|name| directory.path().join(name));
        fs::write(&other, "theirs").unwrap();
        let part = directory
            .path()
            .join(format!("file.{}.part", std::process::id()));
        for link in [&file, &part] {
            symlink(&other, link).unwrap();
        }
        write(&file, b"new", Readers::Everybody).unwrap();
        assert_eq!(fs::read_to_string(&other).unwrap(), "theirs");
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert!(!file.is_symlink() && part.is_symlink());
    }

    #[test]
    fn the_mode_of_what_is_replaced_stays() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        // The modes are one that the usual umask widens, one that it narrows, and one that forbids writing.
        for kept in [0o600, 0o666, 0o400] {
            fs::write(&file, "old").unwrap();
            fs::set_permissions(&file, Permissions::from_mode(kept)).unwrap();
            write(&file, b"new", Readers::Everybody).unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap(), "new");
            assert_eq!(mode(&file), kept);
            fs::remove_file(&file).unwrap();
        }
        let plain = directory.path().join("plain");
        fs::write(&plain, "").unwrap();
        write(&file, b"new", Readers::Everybody).unwrap();
        assert_eq!(mode(&file), mode(&plain));
        fs::remove_file(&file).unwrap();
        write(&file, b"new", Readers::AsBefore).unwrap();
        assert_eq!(mode(&file), 0o600);
        for (readers, is) in [(Readers::AsBefore, 0o666), (Readers::Owner, 0o600)] {
            fs::set_permissions(&file, Permissions::from_mode(0o666)).unwrap();
            write(&file, b"new", readers).unwrap();
            assert_eq!(mode(&file), is);
        }
    }

    #[test]
    fn what_only_we_may_read_goes_to_no_owner_of_an_older_file() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        fs::write(&file, "").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o666)).unwrap();
        let user = fs::metadata(&file).unwrap().uid();
        if chown(&file, Some(65_534), Some(65_533)).is_err() {
            skipping::skip!("a file of another user: this takes root");
            return;
        }
        write(&file, b"secret", Readers::Owner).unwrap();
        assert_eq!(fs::metadata(&file).unwrap().uid(), user);
        assert_eq!(mode(&file), 0o600);
    }

    #[test]
    fn a_file_of_many_leaves_the_sweeping_to_its_writer() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        let left = directory.path().join(format!("file.{}.part", i32::MAX));
        fs::write(&left, "").unwrap();
        NewFile::create_unswept(&file, Readers::Everybody).unwrap();
        assert!(left.exists());
        NewFile::create(&file, Readers::Everybody).unwrap();
        assert!(!left.exists());
    }

    #[test]
    fn the_owner_of_what_is_replaced_stays() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        if chown(&file, Some(65_534), Some(65_533)).is_err() {
            skipping::skip!("a file of another user: this takes root");
            return;
        }
        for readers in [Readers::Everybody, Readers::AsBefore] {
            write(&file, b"new", readers).unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap(), "new");
            let about = fs::metadata(&file).unwrap();
            assert_eq!((about.uid(), about.gid()), (65_534, 65_533));
            assert_eq!(mode(&file), 0o640);
        }
    }

    #[test]
    fn a_directory_in_the_place_of_the_file_is_refused_before_the_work() {
        let directory = tempfile::tempdir().unwrap();
        for readers in [Readers::Everybody, Readers::Owner] {
            let error = NewFile::create(directory.path(), readers).unwrap_err();
            assert_eq!(error.source.kind(), io::ErrorKind::IsADirectory);
        }
    }

    #[test]
    fn a_name_that_is_taken_stays_with_its_file() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        let named = || {
            let new = NewFile::create(&file, Readers::Owner).unwrap();
            new.write_all(b"first").unwrap();
            new.commit_new()
        };
        named().unwrap();
        fs::write(&file, "theirs").unwrap();
        let error = named().unwrap_err();
        assert_eq!(error.source.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&file).unwrap(), "theirs");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn writers_of_one_file_do_not_mix() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        write(&file, &[0; 5000], Readers::Owner).unwrap();
        thread::scope(|scope| {
            for writer in 0..4_u8 {
                let file = &file;
                scope.spawn(move || {
                    for _ in 0..20 {
                        write(file, &[writer; 5000], Readers::Owner).unwrap();
                        let seen = fs::read(file).unwrap();
                        assert_eq!(seen, [seen[0]; 5000]);
                    }
                });
            }
        });
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }
}
