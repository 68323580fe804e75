//! A document with a place for a result.

use std::io::Read;
use std::path::Path;

use files::regular;
use program::failure::Failure;
use program::whole;
use report::Marks;

/// A document with a section for a result. The section's first paragraph names its origin.
pub struct Document<'d> {
    path: &'d Path,
    marks: Marks,
    /// The section is compared with the result, and not replaced.
    is_compared: bool,
}

impl<'d> Document<'d> {
    /// The document whose section is replaced, if one was requested.
    pub fn asked(path: Option<&'d Path>, marks: Marks) -> Result<Option<Document<'d>>, Failure> {
        Document::asked_or_compared(path, marks, false)
    }

    /// The document whose section is replaced, or only compared, if one was requested. Checks before the work that it has
    /// such a section.
    pub fn asked_or_compared(
        path: Option<&'d Path>,
        marks: Marks,
        is_compared: bool,
    ) -> Result<Option<Document<'d>>, Failure> {
        let Some(path) = path else { return Ok(None) };
        let document = Document {
            path,
            marks,
            is_compared,
        };
        let text = document.text()?;
        document
            .marks
            .section(&text)
            .map_err(|error| wrong(path, &error))?;
        if !is_compared {
            whole::check(path).map_err(|error| wrong(path, &error))?;
        }
        Ok(Some(document))
    }

    /// Reads the document again, because others may have changed it during the work.
    fn text(&self) -> Result<String, Failure> {
        let mut text = String::new();
        let mut file = regular::open(self.path).map_err(|error| wrong(self.path, &error))?;
        let read = file.read_to_string(&mut text);
        read.map_err(|error| wrong(self.path, &error))?;
        Ok(text)
    }

    /// Replaces the section, and leaves the rest of the document as it is; or compares the section with the present one,
    /// apart from their origins.
    pub fn keep(&self, section: &str) -> Result<(), Failure> {
        let text = self.text()?;
        if self.is_compared {
            let there = self.marks.section(&text).map_err(Failure::failed)?;
            return self.equal(results(there), results(section));
        }
        let text = self.marks.replace(&text, section);
        whole::write(self.path, text.map_err(Failure::failed)?.as_bytes())
    }

    /// Compares the parts of the section below these headings with the present ones.
    pub fn compare_parts(&self, headings: &[&str], section: &str) -> Result<(), Failure> {
        let text = self.text()?;
        let there = self.marks.section(&text).map_err(Failure::failed)?;
        self.equal(parts(there, headings), parts(section, headings))
    }

    fn equal<'s>(
        &self,
        mut there: impl Iterator<Item = &'s str>,
        mut here: impl Iterator<Item = &'s str>,
    ) -> Result<(), Failure> {
        loop {
            match (there.next(), here.next()) {
                (None, None) => return Ok(()),
                (there, here) if there == here => {}
                (there, here) => {
                    let path = self.path.display();
                    let [there, here] = [there, here].map(|line| line.unwrap_or("nothing more"));
                    return Err(Failure::failed(format_args!(
                        "--check: {path} differs from the results. It has: {there} The results have: {here}"
                    )));
                }
            }
        }
    }
}

fn wrong(path: &Path, reason: &dyn std::fmt::Display) -> Failure {
    Failure::usage(format_args!("--document {}: {reason}", path.display()))
}

/// The lines after the origin.
fn results(section: &str) -> impl Iterator<Item = &str> {
    let is_origin = section.starts_with("Made with `");
    section.lines().skip(usize::from(is_origin))
}

/// The lines of the parts below these headings. Empty ones separate the parts and count for nothing.
fn parts<'s>(section: &'s str, headings: &[&str]) -> impl Iterator<Item = &'s str> {
    let mut is_within = false;
    section.lines().filter(move |line| {
        if let Some(heading) = line.strip_prefix("### ") {
            is_within = headings.contains(&heading);
        }
        is_within && !line.is_empty()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECTION: &str = "Made with `x`.\n\n**1 holds**\n\n### one\n\n1\n\n### two\n\n2\n";

    #[test]
    fn parts_are_what_is_below_their_headings() {
        let lines: Vec<&str> = parts(SECTION, &["two", "three"]).collect();
        assert_eq!(lines, ["### two", "2"]);
        assert_eq!(parts(SECTION, &["three"]).next(), None);
    }

    #[test]
    fn a_part_that_differs_or_is_not_there_is_told() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let text = format!("<!-- claims: begin -->\n{SECTION}<!-- claims: end -->\n");
        std::fs::write(file.path(), text).unwrap();
        let document = Document::asked_or_compared(Some(file.path()), Marks("claims"), true);
        let document = document.ok().flatten().unwrap();
        assert!(document.compare_parts(&["one"], SECTION).is_ok());
        let other = SECTION.replace("\n2\n", "\n3\n");
        assert!(document.compare_parts(&["one"], &other).is_ok());
        assert!(document.compare_parts(&["one", "two"], &other).is_err());
        let more = format!("{SECTION}### three\n");
        assert!(document.compare_parts(&["three"], &more).is_err());
    }
}
