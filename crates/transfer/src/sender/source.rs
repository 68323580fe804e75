//! The files to send: found before the transfer starts, opened one at a time.

use std::collections::HashMap;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use rustix::fs::{Access, access};
use walkdir::{DirEntry, WalkDir};

use crate::disk;
use crate::error::Error;
use crate::limits::MAX_FILES;
use crate::message::{Kind, Offered};
use crate::name::{self, STATE_FOLDER};
use crate::ranges::Ranges;
use crate::skipped::Skipped;
use crate::sparse;
use crate::tree::BLOCK;

/// The files and directories to send, in order.
#[derive(Debug)]
pub struct Sources {
    /// The offer.
    pub offered: Arc<[Offered]>,
    /// The source of each entry of the offer.
    pub files: Vec<Source>,
    /// Entries of directories that cannot be sent, and the reasons.
    pub skipped: Vec<(PathBuf, Skipped)>,
}

/// The source of a file or directory.
#[derive(Debug)]
pub struct Source {
    /// Its path.
    pub path: PathBuf,
    stamp: Stamp,
}

/// Metadata that change when a file is modified or replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp {
    size: u64,
    modified: Option<SystemTime>,
    /// The time of the last change of the inode (even by setting the modification time), in seconds and nanoseconds;
    /// the device and the inode number.
    inode: (i64, i64, u64, u64),
}

impl Stamp {
    fn of(metadata: &Metadata) -> Stamp {
        Stamp {
            size: metadata.len(),
            modified: metadata.modified().ok(),
            inode: (
                metadata.ctime(),
                metadata.ctime_nsec(),
                metadata.dev(),
                metadata.ino(),
            ),
        }
    }
}

impl Sources {
    /// Finds all files and the contents of all directories. Reports everything that cannot be sent, which is an error
    /// unless `skip` is set.
    pub fn find(paths: &[PathBuf], skip: bool) -> Result<Sources, Error> {
        let mut found = Found::default();
        let mut names: HashMap<String, PathBuf> = HashMap::new();
        for path in paths {
            let name = match name_of(path)? {
                Ok(name) => name,
                Err(why) => {
                    found.skipped.push((path.clone(), why));
                    continue;
                }
            };
            if let Some(first) = names.insert(name.clone(), path.clone()) {
                return Err(Error::SameName {
                    first,
                    second: path.clone(),
                });
            }
            found.add(path, &name)?;
        }
        if !skip && found.skipped.iter().any(|(_, why)| !why.is_usual()) {
            found.skipped.retain(|(_, why)| !why.is_usual());
            return Err(Error::Unsendable(found.skipped));
        }
        match found.files.len() {
            0 => Err(Error::NoFiles),
            n if n > MAX_FILES => Err(Error::TooManyFiles(n)),
            _ => Ok(Sources {
                offered: found.offered.into(),
                files: found.files,
                skipped: found.skipped,
            }),
        }
    }
}

/// The name at the receiver of the source `path`, or the reason why there is none.
fn name_of(path: &Path) -> Result<Result<String, Skipped>, Error> {
    // `.`, `..` and the like stand for directories with names of their own.
    let whole = match path.file_name() {
        Some(_) => path.to_owned(),
        None => path.canonicalize().map_err(unreadable(path))?,
    };
    let named = whole.file_name();
    let named = named.ok_or_else(|| Error::NotAFile(path.to_owned()))?;
    let Some(name) = named.to_str() else {
        return Ok(Err(Skipped::NotUnicode));
    };
    let checked = name::check(name).map(|()| name.to_owned());
    Ok(checked.map_err(Skipped::Name))
}

/// The path at the receiver of an `entry` of the directory `path`, whose own path at the receiver is `name`.
fn path_within(name: &str, path: &Path, entry: &DirEntry) -> Result<String, Skipped> {
    let within = entry.path().strip_prefix(path).unwrap_or(Path::new(""));
    let mut there = name.to_owned();
    for component in within {
        let component = component.to_str();
        there.push('/');
        there += component.ok_or(Skipped::NotUnicode)?;
    }
    name::check_path(&there).map_err(Skipped::Name)?;
    Ok(there)
}

/// The reason why an entry of a directory is skipped, if it is.
fn skipped(entry: &DirEntry, metadata: &Metadata) -> Option<Skipped> {
    let is_state = entry.file_name().eq_ignore_ascii_case(STATE_FOLDER);
    if metadata.is_symlink() {
        Some(Skipped::Link)
    } else if is_state && metadata.is_dir() && entry.depth() > 0 {
        Some(Skipped::State)
    } else if !metadata.is_dir() && !metadata.is_file() {
        Some(Skipped::Special)
    } else {
        None
    }
}

#[derive(Default)]
struct Found {
    offered: Vec<Offered>,
    files: Vec<Source>,
    skipped: Vec<(PathBuf, Skipped)>,
}

impl Found {
    /// Adds the source `path`, which may be a symbolic link, as `name`.
    fn add(&mut self, path: &Path, name: &str) -> Result<(), Error> {
        let metadata = fs::metadata(path).map_err(unreadable(path))?;
        if metadata.is_file() {
            self.add_file(path.to_owned(), name.to_owned(), &metadata);
            return Ok(());
        }
        if !metadata.is_dir() {
            return Err(Error::NotAFile(path.to_owned()));
        }
        let mut walk = WalkDir::new(path).sort_by_file_name().into_iter();
        while let Some(entry) = walk.next() {
            let read = entry.and_then(|entry| {
                let metadata = match entry.depth() {
                    0 => Ok(metadata.clone()),
                    _ => entry.metadata(),
                };
                Ok((metadata?, entry))
            });
            let (metadata, entry) = match read {
                Ok(read) => read,
                Err(error) => {
                    let at = error.path().unwrap_or(path).to_owned();
                    let kind = io::Error::from(error).kind();
                    self.skipped.push((at, Skipped::Unreadable(kind)));
                    continue;
                }
            };
            let within = match skipped(&entry, &metadata) {
                Some(why) => Err(why),
                None => path_within(name, path, &entry),
            };
            match within {
                Ok(within) if metadata.is_dir() => {
                    let offered = offered(within, 0, Kind::Directory);
                    self.push(entry.path().to_owned(), offered, &metadata);
                }
                Ok(within) => self.add_file(entry.path().to_owned(), within, &metadata),
                Err(why) => {
                    self.skipped.push((entry.path().to_owned(), why));
                    if metadata.is_dir() {
                        walk.skip_current_dir();
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds the file at `path` as `name`, if it is readable.
    fn add_file(&mut self, path: PathBuf, name: String, metadata: &Metadata) {
        let sparse = false;
        let executable = is_executable(metadata);
        let mut offered = offered(name, metadata.len(), Kind::File { executable, sparse });
        match look_into(&path, &mut offered, metadata) {
            Ok(true) => self.push(path, offered, metadata),
            Ok(false) => self.skipped.push((path, Skipped::Size)),
            Err(error) => self.skipped.push((path, Skipped::Unreadable(error.kind()))),
        }
    }

    fn push(&mut self, path: PathBuf, offered: Offered, metadata: &Metadata) {
        self.offered.push(offered);
        self.files.push(Source {
            path,
            stamp: Stamp::of(metadata),
        });
    }
}

fn offered(path: String, size: u64, kind: Kind) -> Offered {
    Offered {
        path,
        size,
        kind,
        holes: Ranges::default(),
    }
}

/// Finds the holes of the file at `path`, and checks its size if that is doubtful: a file without blocks on a disk may
/// be generated by the kernel during the read (proc(5), sysfs(5)), and then has no meaningful size.
fn look_into(path: &Path, offered: &mut Offered, metadata: &Metadata) -> io::Result<bool> {
    if !may_have_holes(metadata) && metadata.blocks() > 0 {
        access(path, Access::READ_OK)?;
        return Ok(true);
    }
    let file = disk::read_any(path)?;
    if !offered.is_small() {
        let holes = sparse::holes(&file, offered.size)?;
        offered.kind = Kind::File {
            executable: offered.is_executable(),
            sparse: holes.any,
        };
        offered.holes = holes.blocks;
    }
    if metadata.blocks() > 0 || offered.is_sparse() {
        return Ok(true);
    }
    let read = offered.size.min(BLOCK);
    let mut buffer = Vec::with_capacity(read as usize + 1);
    let count = disk::append(&file, offered.size - read, read as usize, &mut buffer)?;
    Ok(count as u64 == read)
}

fn is_executable(metadata: &Metadata) -> bool {
    metadata.mode() & 0o100 != 0
}

/// True if a file takes less room on the disk than its size.
fn may_have_holes(metadata: &Metadata) -> bool {
    metadata.blocks().saturating_mul(512) < metadata.len()
}

fn unreadable(path: &Path) -> impl Fn(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Source {
        path: path.clone(),
        source,
    }
}

impl Source {
    /// Opens the file, if it is still the same.
    pub fn open(&self) -> Result<File, Error> {
        let file = disk::read_any(&self.path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Error::SourceChanged(self.path.clone()),
            _ => self.unreadable(error),
        })?;
        self.check(&file)?;
        Ok(file)
    }

    /// Checks that the open `file` has not changed since it was found.
    pub fn check(&self, file: &File) -> Result<(), Error> {
        let metadata = file.metadata().map_err(|error| self.unreadable(error))?;
        if Stamp::of(&metadata) != self.stamp {
            return Err(Error::SourceChanged(self.path.clone()));
        }
        Ok(())
    }

    /// Appends `len` bytes of the open `file`, from byte `at`, to `buffer`. The file must have them and, with
    /// `is_end`, end there.
    pub fn read(
        &self,
        file: &File,
        (at, len): (u64, usize),
        is_end: bool,
        buffer: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let end = buffer.len() + len;
        // Spare capacity reveals a file that continues.
        buffer.reserve_exact(len + usize::from(is_end));
        let count = disk::append(file, at, len, buffer);
        let count = count.map_err(|error| self.unreadable(error))?;
        if count < len || (is_end && count > len) {
            return Err(Error::SourceChanged(self.path.clone()));
        }
        buffer.truncate(end);
        Ok(())
    }

    /// The error for a file that cannot be read.
    pub fn unreadable(&self, source: io::Error) -> Error {
        unreadable(&self.path)(source)
    }
}
