//! Where a report is written: never over anything but an older report.

use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::files::whole;

/// Every report has this in its head, and nothing that people write by hand has.
const MARK: &[u8] = b"<meta name=\"generator\" content=\"fullpipe";
/// How far into a file the mark is looked for.
const HEAD_BYTES: u64 = 4096;

/// A place for a report.
#[derive(Debug)]
pub struct ReportFile {
    path: PathBuf,
}

impl ReportFile {
    /// Checks, before the work whose result is to be reported, that a report may be written to `path`.
    ///
    /// # Errors
    ///
    /// There is something else at `path`, or nothing can be written there.
    pub fn at(path: &Path) -> Result<ReportFile, Failure> {
        let shown = path.display();
        let refuse =
            |reason: String| Err(Failure::usage(format_args!("--report {shown}: {reason}")));
        if let Err(error) = whole::check(path) {
            return refuse(error.to_string());
        }
        // Whoever opens a pipe waits for its other end.
        if path.exists() && !path.is_file() {
            return refuse("is no file; give the name of one".to_owned());
        }
        match head(path) {
            Ok(head) if head.windows(MARK.len()).any(|part| part == MARK) => {}
            Ok(_) => {
                return refuse(
                    "exists and is no Fullpipe report; remove it or give another name".to_owned(),
                );
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return refuse(error.to_string()),
        }
        Ok(ReportFile {
            path: path.to_owned(),
        })
    }

    /// Writes the report: all of it, or nothing.
    pub fn write(&self, html: &str) -> Result<(), Failure> {
        whole::write(&self.path, html.as_bytes())
    }

    /// Where the report is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn head(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::new();
    fs::File::open(path)?
        .take(HEAD_BYTES)
        .read_to_end(&mut head)?;
    Ok(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "<!doctype html><meta name=\"generator\" content=\"fullpipe 0.1.0\">";

    #[test]
    fn replaces_a_report_and_nothing_else() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("race.html");
        ReportFile::at(&path)
            .expect("free")
            .write(REPORT)
            .expect("written");
        ReportFile::at(&path)
            .expect("a report")
            .write(REPORT)
            .expect("written again");
        fs::write(&path, "my notes").expect("written");
        ReportFile::at(&path).expect_err("notes");
        ReportFile::at(directory.path()).expect_err("a directory");
        ReportFile::at(&directory.path().join("no/race.html")).expect_err("no such directory");
        assert_eq!(fs::read_to_string(&path).expect("still there"), "my notes");
        assert_eq!(fs::read_dir(directory.path()).expect("readable").count(), 1);
    }
}
