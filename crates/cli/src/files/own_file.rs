//! Where a page or a picture is written: never over anything but an older one.

use std::ffi::OsStr;
use std::fmt::Display;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use report::{page, parent, place};
use studies::probe;

use crate::failure::Failure;
use crate::files::whole;

/// A kind of files that Fullpipe writes where it is told to.
#[derive(Debug)]
pub struct Kind {
    /// The option that says where.
    option: &'static str,
    name: &'static str,
    /// What their names end with, if they have an extension.
    ending: &'static str,
    /// What tells those of Fullpipe from others.
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

/// What lies beside the page of a record.
const SUMMARY: &str = "summary.json";

/// A place for a file of ours.
#[derive(Debug)]
pub struct OwnFile {
    path: PathBuf,
}

impl OwnFile {
    /// Checks, before the work whose result it is to have, that a file of this kind may be written to `path`.
    ///
    /// # Errors
    ///
    /// There is something else at `path`, or the page of a record; its extension is that of other files; or nothing can be
    /// written there.
    pub fn at(path: &Path, kind: &Kind) -> Result<OwnFile, Failure> {
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
        whole::check(path).map_err(|error| wrong(&error))?;
        let is_of_record = path.file_name() == Some(OsStr::new(place::REPORT))
            && parent(path).join(SUMMARY).exists();
        if is_of_record {
            return Err(wrong(&"belongs to the record beside it; give another name"));
        }
        // Whoever opens a pipe waits for its other end.
        if path.exists() && !path.is_file() {
            return Err(wrong(&"is no file; give the name of one"));
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
        Ok(OwnFile {
            path: path.to_owned(),
        })
    }

    /// Writes the file: all of it, or nothing.
    pub fn write(&self, text: &str) -> Result<(), Failure> {
        whole::write(&self.path, text.as_bytes())
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

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
        assert_eq!(fs::read_to_string(&path).expect("still there"), "my notes");
        assert_eq!(fs::read_dir(directory.path()).expect("readable").count(), 1);
    }
}
