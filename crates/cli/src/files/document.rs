//! A document with a place for a result.

use std::fs;
use std::path::Path;

use report::Marks;

use crate::failure::Failure;
use crate::files::whole;

/// A document with a place for a section.
pub struct Document<'d> {
    path: &'d Path,
    marks: Marks,
    text: String,
}

impl<'d> Document<'d> {
    /// The document, if there is one asked for.
    pub fn asked(path: Option<&'d Path>, marks: Marks) -> Result<Option<Document<'d>>, Failure> {
        path.map(|path| Document::read(path, marks)).transpose()
    }

    /// Checks, before the work whose result it is to have, that there is a place for it.
    fn read(path: &'d Path, marks: Marks) -> Result<Document<'d>, Failure> {
        let wrong = |reason: &dyn std::fmt::Display| {
            Failure::usage(format_args!("--document {}: {reason}", path.display()))
        };
        let text = fs::read_to_string(path).map_err(|error| wrong(&error))?;
        marks.replace(&text, "").map_err(|error| wrong(&error))?;
        whole::check(path).map_err(|error| wrong(&error))?;
        Ok(Document { path, marks, text })
    }

    /// Puts the section in its place.
    pub fn write(&self, section: &str) -> Result<(), Failure> {
        let text = self.marks.replace(&self.text, section);
        whole::write(self.path, text.map_err(Failure::failed)?.as_bytes())
    }
}
