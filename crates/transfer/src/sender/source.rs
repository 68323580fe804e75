//! The files to send: found before anything is sent, opened when their turn comes.

use std::collections::HashMap;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use walkdir::{DirEntry, WalkDir};

use crate::disk;
use crate::error::Error;
use crate::event::Skipped;
use crate::limits::MAX_FILES;
use crate::message::{Kind, Offered};
use crate::name::{self, STATE_FOLDER};
use crate::ranges::Ranges;
use crate::sparse;

/// What is to be sent, in order.
#[derive(Debug)]
pub struct Sources {
    /// How it is offered.
    pub offered: Arc<[Offered]>,
    /// Where each of it is.
    pub files: Vec<Source>,
    /// What was found in directories and cannot be sent, and why.
    pub skipped: Vec<(PathBuf, Skipped)>,
}

/// A file to send, or a directory.
#[derive(Debug)]
pub struct Source {
    /// Where it is.
    pub path: PathBuf,
    stamp: Stamp,
}

/// What changes when a file does, or another one takes its place.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp {
    size: u64,
    modified: Option<SystemTime>,
    /// When anything about the file changed, even its time of modification, in seconds and nanoseconds; its device and
    /// number.
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
    /// Finds all files and what is in all directories, or says which cannot be sent.
    pub fn find(paths: &[PathBuf]) -> Result<Sources, Error> {
        let mut found = Found::default();
        let mut names: HashMap<String, PathBuf> = HashMap::new();
        for path in paths {
            let name = name_of(path)?;
            if let Some(first) = names.insert(name.clone(), path.clone()) {
                return Err(Error::SameName {
                    first,
                    second: path.clone(),
                });
            }
            found.add(path, &name)?;
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

/// The name under which what is at `path` arrives.
fn name_of(path: &Path) -> Result<String, Error> {
    // `.`, `..` and the like have names of their own.
    let whole = match path.file_name() {
        Some(_) => path.to_owned(),
        None => path.canonicalize().map_err(unreadable(path))?,
    };
    let named = whole.file_name();
    let named = named.ok_or_else(|| Error::NotAFile(path.to_owned()))?;
    let name = named
        .to_str()
        .ok_or_else(|| Error::NotUnicode(path.to_owned()))?;
    name::check(name).map_err(|problem| Error::SourceName {
        path: path.to_owned(),
        problem,
    })?;
    Ok(name.to_owned())
}

/// The path under which an `entry` of the directory at `path` arrives, which itself arrives as `name`.
fn path_within(name: &str, path: &Path, entry: &DirEntry) -> Result<String, Error> {
    let within = entry.path().strip_prefix(path).unwrap_or(Path::new(""));
    let mut there = name.to_owned();
    for component in within {
        let component = component.to_str();
        there.push('/');
        there += component.ok_or_else(|| Error::NotUnicode(entry.path().to_owned()))?;
    }
    name::check_path(&there).map_err(|problem| Error::SourceName {
        path: entry.path().to_owned(),
        problem,
    })?;
    Ok(there)
}

/// Why an entry of a directory is not sent, if it is not.
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
    /// Adds what is at `path`, which may be a link to it, as `name`.
    fn add(&mut self, path: &Path, name: &str) -> Result<(), Error> {
        let metadata = fs::metadata(path).map_err(unreadable(path))?;
        if metadata.is_file() {
            return self.push(path.to_owned(), name.to_owned(), &metadata);
        }
        if !metadata.is_dir() {
            return Err(Error::NotAFile(path.to_owned()));
        }
        let mut walk = WalkDir::new(path).sort_by_file_name().into_iter();
        while let Some(entry) = walk.next() {
            let failed = |error: walkdir::Error| Error::Source {
                path: error.path().unwrap_or(path).to_owned(),
                source: error.into(),
            };
            let entry = entry.map_err(failed)?;
            let metadata = match entry.depth() {
                0 => metadata.clone(),
                _ => entry.metadata().map_err(failed)?,
            };
            if let Some(why) = skipped(&entry, &metadata) {
                self.skipped.push((entry.path().to_owned(), why));
                if metadata.is_dir() {
                    walk.skip_current_dir();
                }
                continue;
            }
            self.push(
                entry.path().to_owned(),
                path_within(name, path, &entry)?,
                &metadata,
            )?;
        }
        Ok(())
    }

    fn push(&mut self, path: PathBuf, name: String, metadata: &Metadata) -> Result<(), Error> {
        let mut offered = Offered {
            path: name,
            size: 0,
            kind: Kind::Directory,
            holes: Ranges::default(),
        };
        if metadata.is_file() {
            offered.size = metadata.len();
            offered.kind = Kind::File {
                executable: is_executable(metadata),
                sparse: false,
            };
            if !offered.is_small() && may_have_holes(metadata) {
                let file = disk::read_any(&path).map_err(unreadable(&path))?;
                let holes = sparse::holes(&file, offered.size).map_err(unreadable(&path))?;
                offered.kind = Kind::File {
                    executable: is_executable(metadata),
                    sparse: holes.any,
                };
                offered.holes = holes.blocks;
            }
        }
        self.offered.push(offered);
        self.files.push(Source {
            path,
            stamp: Stamp::of(metadata),
        });
        Ok(())
    }
}

fn is_executable(metadata: &Metadata) -> bool {
    metadata.mode() & 0o100 != 0
}

/// Whether a file takes less room on the disk than its size.
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
    /// Opens the file, if it is still the one that was found.
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

    /// Fills `data` from the open `file`, which has not shrunk.
    pub fn read(&self, file: &mut File, data: &mut [u8]) -> Result<(), Error> {
        match disk::read_full(file, data) {
            Ok(true) => Ok(()),
            Ok(false) => Err(Error::SourceChanged(self.path.clone())),
            Err(error) => Err(self.unreadable(error)),
        }
    }

    /// The error that it cannot be read.
    pub fn unreadable(&self, source: io::Error) -> Error {
        unreadable(&self.path)(source)
    }
}
