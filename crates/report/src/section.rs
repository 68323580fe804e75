//! Generated sections of documents that are otherwise written by hand.

/// The name of a section. Its marks are lines: `<!-- NAME: begin -->` and `<!-- NAME: end -->`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Marks(pub &'static str);

/// A document has no marks of the section.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("has no lines `{0}` and, below it, `{1}`, or has them twice")]
pub struct NoMarks(String, String);

impl Marks {
    /// Returns the document with the section in place of the text between the marks.
    ///
    /// # Errors
    ///
    /// The document has no marks.
    pub fn replace(self, document: &str, section: &str) -> Result<String, NoMarks> {
        let [begin, end] = self.lines();
        let (before, _, after) = self.split(document)?;
        Ok(format!("{before}{begin}\n{section}{end}{after}"))
    }

    /// Returns the text between the marks.
    ///
    /// # Errors
    ///
    /// The document has no marks.
    pub fn section(self, document: &str) -> Result<&str, NoMarks> {
        let (_, section, _) = self.split(document)?;
        Ok(section.strip_prefix('\n').unwrap_or(section))
    }

    fn split(self, document: &str) -> Result<(&str, &str, &str), NoMarks> {
        let [begin, end] = self.lines();
        match (&places(document, &begin)[..], &places(document, &end)[..]) {
            (&[first], &[last]) if first < last => Ok((
                &document[..first],
                &document[first + begin.len()..last],
                &document[last + end.len()..],
            )),
            _ => Err(NoMarks(begin, end)),
        }
    }

    fn lines(self) -> [String; 2] {
        ["begin", "end"].map(|which| format!("<!-- {}: {which} -->", self.0))
    }
}

/// The places of the lines that are only this mark, and perhaps spaces behind it.
fn places(document: &str, mark: &str) -> Vec<usize> {
    let mut next = 0;
    let lines = document.split_inclusive('\n').map(|line| {
        let place = next;
        next += line.len();
        (place, line)
    });
    let marks = lines.filter(|(_, line)| line.trim_end() == mark);
    marks.map(|(place, _)| place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_between_the_marks_is_replaced() {
        let marks = Marks("results");
        let [begin, end] = ["<!-- results: begin -->", "<!-- results: end -->"];
        let document = format!("# Title\n\n{begin}\nold\n{end}\nBy hand.\n");
        let new = marks.replace(&document, "new\n").unwrap();
        assert_eq!(new, format!("# Title\n\n{begin}\nnew\n{end}\nBy hand.\n"));
        assert_eq!(marks.replace(&new, "new\n").unwrap(), new);
        assert_eq!(marks.section(&new).unwrap(), "new\n");
        // Marks within other lines are none.
        let told = format!("Between `{begin}` and `{end}`:\r\n{begin}\r\n{end}\r\n- {end}");
        let new = marks.replace(&told, "new\n").unwrap();
        assert_eq!(
            new,
            told.replacen(
                "\r\n<!-- results: end -->\r",
                "\nnew\n<!-- results: end -->\r",
                1
            )
        );
        let twice = format!("{document}{document}");
        let wrong = [
            "",
            begin,
            end,
            &format!("{end}\n{begin}"),
            &twice,
            &format!("{document}{begin}\n"),
            &format!("{document}{end}\n"),
            &format!("`{begin}` and `{end}`"),
            &format!("{begin} {end}"),
        ];
        for wrong in wrong {
            let error = marks.replace(wrong, "new").unwrap_err().to_string();
            assert!(error.contains(begin) && error.contains(end), "{error}");
        }
    }
}
