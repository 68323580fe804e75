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
}

impl<'d> Document<'d> {
    /// The document, if one was requested.
    pub fn asked(path: Option<&'d Path>, marks: Marks) -> Result<Option<Document<'d>>, Failure> {
        let Some(path) = path else { return Ok(None) };
        let document = Document::read(path, marks)?;
        whole::check(path).map_err(|error| wrong(path, &error))?;
        Ok(Some(document))
    }

    /// Checks before the work that the document has a section for the result.
    pub fn read(path: &'d Path, marks: Marks) -> Result<Document<'d>, Failure> {
        let document = Document { path, marks };
        let text = document.text()?;
        document
            .marks
            .section(&text)
            .map_err(|error| wrong(path, &error))?;
        Ok(document)
    }

    /// Reads the document again, because others may have changed it during the work.
    fn text(&self) -> Result<String, Failure> {
        let mut text = String::new();
        let mut file = regular::open(self.path).map_err(|error| wrong(self.path, &error))?;
        let read = file.read_to_string(&mut text);
        read.map_err(|error| wrong(self.path, &error))?;
        Ok(text)
    }

    /// Compares the section with the present one, apart from their origins.
    pub fn compare(&self, section: &str) -> Result<(), Failure> {
        let text = self.text()?;
        let there = self.marks.section(&text).map_err(Failure::failed)?;
        self.equal(results(there), results(section))
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

    /// Replaces the section. The rest of the document stays as it is.
    pub fn write(&self, section: &str) -> Result<(), Failure> {
        let text = self.marks.replace(&self.text()?, section);
        whole::write(self.path, text.map_err(Failure::failed)?.as_bytes())
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
        let document = Document::read(file.path(), Marks("claims")).ok().unwrap();
        assert!(document.compare_parts(&["one"], SECTION).is_ok());
        let other = SECTION.replace("\n2\n", "\n3\n");
        assert!(document.compare_parts(&["one"], &other).is_ok());
        assert!(document.compare_parts(&["one", "two"], &other).is_err());
        let more = format!("{SECTION}### three\n");
        assert!(document.compare_parts(&["three"], &more).is_err());
    }
}
