//! Writes a page or a picture. Only an older file of the same kind is replaced.

use std::ffi::OsStr;
use std::fmt::{self, Display, Formatter};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use files::parent;
use program::failure::Failure;
use program::whole;
use report::{page, place};
use studies::probe;

/// A kind of file that Fullpipe writes to a place that the user names.
#[derive(Debug)]
pub struct Kind {
    /// The option with the place.
    option: &'static str,
    name: &'static str,
    /// The usual extension.
    ending: &'static str,
    /// The text that identifies files of Fullpipe.
    mark: &'static str,
}

/// A page.
pub const REPORT: Kind = Kind {
    option: "--report",
    name: "report",
    ending: "html",
    mark: page::MARK,
};

/// An SVG.
pub const PICTURE: Kind = Kind {
    option: "--picture",
    name: "picture",
    ending: "svg",
    mark: probe::MARK,
};

/// The scenario of the worst case of a criterion of `fullpipe evaluate`.
pub const WORST_CASE: Kind = Kind {
    option: "--scenarios",
    name: "worst-case scenario",
    ending: "toml",
    mark: WORST_CASE_MARK,
};

/// The first line of such a scenario.
pub const WORST_CASE_MARK: &str = "# A worst case, by fullpipe evaluate";

/// The file beside the page of a record.
const SUMMARY: &str = "summary.json";

/// A place for such a file.
#[derive(Debug)]
pub struct OwnFile {
    path: PathBuf,
    kind: &'static Kind,
}

/// The place where a file was written, in words.
#[derive(Debug)]
pub struct Written {
    path: PathBuf,
    /// The reason why it is not at the requested place.
    refused: Option<Failure>,
}

impl OwnFile {
    /// The place for such a file, if one was requested.
    ///
    /// # Errors
    ///
    /// Those of [`OwnFile::at`].
    pub fn asked(path: Option<&Path>, kind: &'static Kind) -> Result<Option<OwnFile>, Failure> {
        path.map(|path| OwnFile::at(path, kind)).transpose()
    }

    /// A place in a directory that does not exist yet. `write` checks it again.
    pub fn in_new_directory(path: &Path, kind: &'static Kind) -> OwnFile {
        OwnFile {
            path: path.to_owned(),
            kind,
        }
    }

    /// Checks before the work that a file of this kind may be written to `path`.
    ///
    /// # Errors
    ///
    /// There is something else at `path`, or the page of a record; its extension is that of other files; or nothing can
    /// be written there. If `path` is a link, the same holds for its target, which must exist.
    pub fn at(path: &Path, kind: &'static Kind) -> Result<OwnFile, Failure> {
        let Kind {
            option,
            name,
            ending,
            mark,
        } = kind;
        let wrong = |reason: &dyn Display| {
            let path = path.display();
            Failure::usage(format_args!("{option} {path}: {reason}"))
        };
        if path == Path::new("-") {
            return Err(wrong(&format_args!(
                "no {name} is written to stdout; give the name of a file"
            )));
        }
        whole::check(path).map_err(|error| wrong(&error))?;
        let end = &whole::linked(path);
        let is_of_record = |path: &Path| {
            path.file_name() == Some(OsStr::new(place::REPORT))
                && parent(path).join(SUMMARY).exists()
        };
        if is_of_record(path) || is_of_record(end) {
            return Err(wrong(&"belongs to the record beside it; give another name"));
        }
        // Opening a pipe would wait for its other end.
        if path.exists() && !path.is_file() {
            return Err(wrong(&"is not a file; give the name of one"));
        }
        match place::is_ours_by(path, mark) {
            Ok(true) => {}
            Ok(false) => {
                return Err(wrong(&format_args!(
                    "exists and is no Fullpipe {name}; remove it or give another name"
                )));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(wrong(&error)),
        }
        let is_another = |of: &OsStr| !of.eq_ignore_ascii_case(ending);
        if path.extension().is_some_and(is_another) {
            return Err(wrong(&format_args!(
                "a {name} is written as .{ending}; give such a name"
            )));
        }
        if end.extension().is_some_and(is_another) {
            let end = end.display();
            return Err(wrong(&format_args!(
                "leads to {end}, and a {name} is written as .{ending}; give another name"
            )));
        }
        Ok(OwnFile {
            path: path.to_owned(),
            kind,
        })
    }

    /// Writes the whole file or nothing. If [`OwnFile::at`] would now refuse the place, because something else has
    /// appeared there during the work, the file gets a free name beside it.
    pub fn write(&self, text: &str) -> Result<Written, Failure> {
        let refused = OwnFile::at(&self.path, self.kind).err();
        let path = if refused.is_some() {
            whole::write_beside(&self.path, text.as_bytes())?
        } else {
            whole::write(&self.path, text.as_bytes())?;
            self.path.clone()
        };
        Ok(Written { path, refused })
    }
}

impl Written {
    /// True if it is not at the requested place.
    pub fn is_elsewhere(&self) -> bool {
        self.refused.is_some()
    }
}

impl Display for Written {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.refused {
            None => write!(f, "{path}"),
            Some(refused) => write!(f, "{path} instead ({refused})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt, symlink};

    use super::*;

    const PAGE: &str = "<!doctype html><meta name=\"generator\" content=\"fullpipe 0.1.0\">";

    #[test]
    fn replaces_a_report_and_nothing_else() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("race.html");
        OwnFile::at(&path, &REPORT)
            .expect("free")
            .write(PAGE)
            .expect("written");
        OwnFile::at(&path, &REPORT)
            .expect("a report")
            .write(PAGE)
            .expect("written again");
        OwnFile::at(&path, &PICTURE).expect_err("a report is no picture");
        let png = directory.path().join("race.png");
        OwnFile::at(&png, &PICTURE).expect_err("a picture is an SVG");
        fs::write(&path, "my notes").expect("written");
        OwnFile::at(&path, &REPORT).expect_err("notes");
        OwnFile::at(directory.path(), &REPORT).expect_err("a directory");
        OwnFile::at(&directory.path().join("no/race.html"), &REPORT)
            .expect_err("no such directory");
        let record = tempfile::tempdir().expect("a directory");
        for name in [place::REPORT, SUMMARY] {
            fs::write(record.path().join(name), PAGE).expect("written");
        }
        OwnFile::at(&record.path().join(place::REPORT), &REPORT).expect_err("a record's page");
        OwnFile::at(&record.path().join("race.html"), &REPORT).expect("another name");
        let link = directory.path().join("link.html");
        for end in [
            record.path().join(place::REPORT),
            record.path().join(SUMMARY),
        ] {
            symlink(&end, &link).expect("linked");
            OwnFile::at(&link, &REPORT).expect_err("a link to what is not to be replaced");
            fs::remove_file(&link).expect("removed");
        }
        assert_eq!(fs::read_to_string(&path).expect("still there"), "my notes");
        assert_eq!(fs::read_dir(directory.path()).expect("readable").count(), 1);
    }

    #[test]
    fn what_appears_during_the_work_is_left_alone() {
        let directory = tempfile::tempdir().expect("a directory");
        let [path, beside, notes] =
            ["race.html", "race-2.html", "notes.html"].map(|name| directory.path().join(name));
        let came: [&dyn Fn(); 4] = [
            &|| fs::write(&path, "my notes").expect("written"),
            &|| symlink(&notes, &path).expect("linked"),
            &|| symlink("gone.html", &path).expect("linked"),
            &|| fs::create_dir(&path).expect("made"),
        ];
        fs::write(&notes, "my notes").expect("written");
        for come in came {
            let file = OwnFile::at(&path, &REPORT).expect("free");
            come();
            let before = fs::symlink_metadata(&path).expect("there");
            let written = file.write(PAGE).expect("written beside");
            assert!(written.is_elsewhere());
            let line = written.to_string();
            let start = format!(
                "{} instead (--report {}: ",
                beside.display(),
                path.display()
            );
            assert!(line.starts_with(&start), "{line}");
            assert_eq!(fs::read_to_string(&beside).expect("there"), PAGE);
            let after = fs::symlink_metadata(&path).expect("still there");
            assert_eq!(after.ino(), before.ino());
            assert_eq!(fs::read_to_string(&notes).expect("there"), "my notes");
            fs::remove_file(&beside).expect("removed");
            fs::remove_file(&path)
                .or_else(|_| fs::remove_dir(&path))
                .expect("removed");
        }
        let file = OwnFile::at(&path, &REPORT).expect("free");
        fs::write(&path, PAGE).expect("written");
        let written = file.write(PAGE).expect("another report is replaced");
        assert!(!written.is_elsewhere());
        assert_eq!(written.to_string(), path.display().to_string());
    }
}
