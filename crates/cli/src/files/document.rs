//! A document with a place for a result.

use std::fs;
use std::path::Path;

use report::Marks;

use crate::failure::Failure;
use crate::files::whole;

/// A document with a place for a section. Its first paragraph says where the section comes from.
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

    /// Compares the section with the one that is there, except for where they come from.
    pub fn compare(&self, section: &str) -> Result<(), Failure> {
        let there = self.marks.section(&self.text).map_err(Failure::failed)?;
        let (mut there, mut here) = (results(there), results(section));
        loop {
            match (there.next(), here.next()) {
                (None, None) => return Ok(()),
                (there, here) if there == here => {}
                (there, here) => {
                    let path = self.path.display();
                    let [there, here] = [there, here].map(|line| line.unwrap_or("nothing more"));
                    return Err(Failure::failed(format_args!(
                        "--check: {path} is not what was found. It says: {there} Found was: {here}"
                    )));
                }
            }
        }
    }

    /// Puts the section in its place.
    pub fn write(&self, section: &str) -> Result<(), Failure> {
        let text = self.marks.replace(&self.text, section);
        whole::write(self.path, text.map_err(Failure::failed)?.as_bytes())
    }
}

/// The lines after the paragraph that says where they come from.
fn results(section: &str) -> impl Iterator<Item = &str> {
    let after = section.split_once("\n\n").map(|(_, results)| results);
    after.unwrap_or_default().lines()
}
