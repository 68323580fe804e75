//! Shelves of scenario files: directories, or the program.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use include_dir::{Dir, include_dir};

use document::de::MAX_FILE_BYTES;
use files::regular;
use text::TextError;
use units::hint;

/// Fullpipe's own scenarios, so that an installed program needs no checkout. They are linked into this crate, since a
/// published crate has no files from outside.
static BUILT_IN: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/scenarios");

/// A place of scenario files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shelf {
    /// A directory of Fullpipe's `scenarios/`, in the program.
    BuiltIn(&'static str),
    /// A directory on disk.
    Directory(PathBuf),
}

/// The text of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// The file's name without `.toml`.
    pub name: String,
    /// The displayed path.
    pub place: String,
    /// The text.
    pub text: String,
    /// The directory to which file names in the text are relative.
    pub directory: PathBuf,
}

/// The reasons for which a file cannot be read. Each prints as one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShelfError {
    /// There is no such file.
    #[error("there is no {name} in {place}{hint}")]
    Unknown {
        /// The requested name.
        name: String,
        /// The shelf.
        place: String,
        /// A hint at the nearest known name, or empty.
        hint: String,
    },
    /// The shelf has no files.
    #[error("{0}: there are no scenarios in it, no *.toml")]
    Empty(String),
    /// The file cannot be read.
    #[error("cannot read {}: {source}", .path.display())]
    File {
        /// The path.
        path: PathBuf,
        /// The reason.
        source: TextError,
    },
}

impl Shelf {
    /// The directory `name` of Fullpipe's own scenarios, as of the program's build.
    pub const fn built_in(name: &'static str) -> Shelf {
        Shelf::BuiltIn(name)
    }

    /// The given directory, or by default the directory `name` of Fullpipe's own scenarios.
    pub fn or_built_in(directory: Option<&Path>, name: &'static str) -> Shelf {
        directory.map_or(Shelf::BuiltIn(name), |directory| {
            Shelf::Directory(directory.to_owned())
        })
    }

    /// The displayed path of the shelf.
    pub fn place(&self) -> String {
        match self {
            Shelf::BuiltIn(name) => format!("scenarios/{name} (built in)"),
            Shelf::Directory(directory) => directory.display().to_string(),
        }
    }

    /// The sorted names of its files, without `.toml`.
    ///
    /// # Errors
    ///
    /// The shelf cannot be read, or is empty.
    pub fn names(&self) -> Result<Vec<String>, ShelfError> {
        let paths: Vec<PathBuf> = match self {
            Shelf::BuiltIn(name) => built_in(name)
                .into_iter()
                .flat_map(Dir::files)
                .map(|file| file.path().to_owned())
                .collect(),
            Shelf::Directory(directory) => fs::read_dir(directory)
                .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect())
                .map_err(|error: io::Error| ShelfError::File {
                    path: directory.clone(),
                    source: error.into(),
                })?,
        };
        let is_toml = |path: &&PathBuf| path.extension().is_some_and(|is| is == "toml");
        let stem = |path: &PathBuf| Some(path.file_stem()?.to_str()?.to_owned());
        let mut names: Vec<String> = paths.iter().filter(is_toml).filter_map(stem).collect();
        names.sort();
        if names.is_empty() {
            Err(ShelfError::Empty(self.place()))
        } else {
            Ok(names)
        }
    }

    /// The file `name`.toml.
    ///
    /// # Errors
    ///
    /// The file does not exist, or cannot be read.
    pub fn get(&self, name: &str) -> Result<Text, ShelfError> {
        let names = self.names()?;
        if !names.iter().any(|known| known == name) {
            let known: Vec<&str> = names.iter().map(String::as_str).collect();
            return Err(ShelfError::Unknown {
                name: name.to_owned(),
                place: self.place(),
                hint: hint(name, &known),
            });
        }
        let file = format!("{name}.toml");
        let (place, text, directory) = match self {
            Shelf::BuiltIn(of) => {
                let path = Path::new(of).join(file);
                let file = BUILT_IN.get_file(&path);
                let text = file.and_then(|file| file.contents_utf8());
                let place = format!("scenarios/{} (built in)", path.display());
                (place, text.unwrap_or_default().to_owned(), PathBuf::new())
            }
            Shelf::Directory(directory) => {
                let path = directory.join(file);
                let text =
                    regular::text(&path, MAX_FILE_BYTES).map_err(|source| ShelfError::File {
                        path: path.clone(),
                        source,
                    })?;
                (path.display().to_string(), text, directory.clone())
            }
        };
        Ok(Text {
            name: name.to_owned(),
            place,
            text,
            directory,
        })
    }

    /// All files, sorted by name.
    ///
    /// # Errors
    ///
    /// The shelf is empty, or a file cannot be read.
    pub fn all(&self) -> Result<Vec<Text>, ShelfError> {
        self.names()?.iter().map(|name| self.get(name)).collect()
    }
}

/// A built-in directory; without a name, their root.
fn built_in(name: &str) -> Option<&'static Dir<'static>> {
    match name {
        "" => Some(&BUILT_IN),
        name => BUILT_IN.get_dir(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_built_in_is_there_by_name() {
        let shelf = Shelf::built_in("sweeps");
        let names = shelf.names().unwrap();
        assert!(names.contains(&"buffer-sweep".to_owned()), "{names:?}");
        let text = shelf.get("buffer-sweep").unwrap();
        assert!(text.text.contains("128kbit"), "{text:?}");
        let error = shelf.get("bufer-sweep").unwrap_err().to_string();
        assert!(error.ends_with("did you mean `buffer-sweep`?"), "{error}");
        assert!(Shelf::built_in("nothing").names().is_err());
    }

    #[test]
    fn a_directory_is_read_in_the_order_of_names() {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in [("b.toml", "two"), ("a.toml", "one"), ("c.txt", "")] {
            fs::write(directory.path().join(name), text).unwrap();
        }
        let shelf = Shelf::or_built_in(Some(directory.path()), "sweeps");
        let texts = shelf.all().unwrap();
        let said: Vec<_> = texts.iter().map(|of| (&*of.name, &*of.text)).collect();
        assert_eq!(said, [("a", "one"), ("b", "two")]);
        fs::write(directory.path().join("d.toml"), b"\xff").unwrap();
        assert!(matches!(shelf.all(), Err(ShelfError::File { .. })));
    }

    #[test]
    fn what_never_ends_is_not_read() {
        let directory = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/dev/zero", directory.path().join("a.toml")).unwrap();
        let shelf = Shelf::Directory(directory.path().to_owned());
        let error = shelf.get("a").unwrap_err().to_string();
        assert!(error.ends_with("a.toml: is not a regular file"), "{error}");
    }
}
