//! A text line by line, in bounded memory.

use std::io::{self, BufRead, Read};

use crate::encoding::{is_utf_16, without_mark};
use crate::{LineFault, TextError};

/// Reads the lines of a text.
#[derive(Debug)]
pub struct Lines<R> {
    source: R,
    line: Vec<u8>,
    longest: usize,
    number: u64,
    skips_blank: bool,
    is_ended: bool,
}

impl<R: BufRead> Lines<R> {
    /// Lines of at most this many bytes each, including their ends.
    pub fn new(source: R, longest: usize) -> Lines<R> {
        Lines {
            source,
            line: Vec::new(),
            longest,
            number: 0,
            skips_blank: false,
            is_ended: false,
        }
    }

    /// The same without lines of nothing but blanks. They count, and a file of nothing else is skipped as fast as it is read.
    #[must_use]
    pub fn without_blank(mut self) -> Lines<R> {
        self.skips_blank = true;
        self
    }

    /// The next line without its end (LF or CRLF); `None` at the end of the text. A line with a fault does not end the
    /// reading.
    ///
    /// # Errors
    ///
    /// The source cannot be read, or is UTF-16.
    pub fn next_line(&mut self) -> Result<Option<Result<&str, LineFault>>, TextError> {
        self.begin_line()?;
        self.read_line()
    }

    fn read_line(&mut self) -> Result<Option<Result<&str, LineFault>>, TextError> {
        self.line.clear();
        let most = self.longest as u64 + 1;
        if (&mut self.source)
            .take(most)
            .read_until(b'\n', &mut self.line)?
            == 0
        {
            return Ok(None);
        }
        self.number += 1;
        self.is_ended = self.line.ends_with(b"\n");
        let mut line = &self.line[..];
        if self.number == 1 {
            line = without_mark(line);
        }
        if self.line.len() > self.longest {
            if !line.ends_with(b"\n") {
                self.is_ended = skip_line(&mut self.source)?;
            }
            return Ok(Some(Err(LineFault::Long(self.longest))));
        }
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        Ok(Some(str::from_utf8(line).map_err(|error| {
            LineFault::Byte(line.get(error.valid_up_to()).copied().unwrap_or(0))
        })))
    }

    /// The same for a text in which each line must be valid.
    ///
    /// # Errors
    ///
    /// The source cannot be read, is UTF-16, or the line has a fault.
    pub fn next_valid(&mut self) -> Result<Option<&str>, TextError> {
        self.begin_line()?;
        let number = self.number + 1;
        match self.read_line()? {
            Some(Err(fault)) => Err(TextError::Line(number, fault)),
            Some(Ok(line)) => Ok(Some(line)),
            None => Ok(None),
        }
    }

    /// Comes to the next line: looks at the encoding, and skips and counts blank lines that are not wanted.
    fn begin_line(&mut self) -> Result<(), TextError> {
        if self.number == 0 && is_utf_16(self.source.fill_buf()?) {
            return Err(TextError::Utf16);
        }
        while self.skips_blank {
            let held = self.source.fill_buf()?;
            let is_blank = |byte: &u8| matches!(byte, b'\n' | b'\r' | b'\t' | b' ');
            let blank = held.iter().position(|byte| !is_blank(byte));
            let blank = &held[..blank.unwrap_or(held.len())];
            // What is behind the last end belongs to the next line.
            let Some(end) = blank.iter().rposition(|&byte| byte == b'\n') else {
                break;
            };
            let count = blank.iter().filter(|&&byte| byte == b'\n').count();
            self.source.consume(end + 1);
            self.number += count as u64;
        }
        Ok(())
    }

    /// Whether the latest line had an end. If not, the text ends there, and another program may still write the line.
    pub fn is_ended(&self) -> bool {
        self.is_ended
    }

    /// The number of the latest line, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }
}

/// Skips the rest of a line. Returns whether it has an end.
fn skip_line(source: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let held = source.fill_buf()?;
        let end = held.iter().position(|&byte| byte == b'\n');
        let length = end.map_or(held.len(), |end| end + 1);
        source.consume(length);
        if end.is_some() || length == 0 {
            return Ok(end.is_some());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8]) -> Vec<Result<String, LineFault>> {
        let mut lines = Lines::new(bytes, 8);
        let mut all = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            all.push(line.map(str::to_owned));
        }
        assert_eq!(lines.number(), all.len() as u64);
        all
    }

    #[test]
    fn lines_have_no_ends_and_no_mark_and_a_fault_is_of_its_line() {
        let own = |text: &str| Ok(text.to_owned());
        assert_eq!(
            all(b"\xef\xbb\xbfone\r\n\ntwo\xff\nmore than eight\n1234567\nlast"),
            [
                own("one"),
                own(""),
                Err(LineFault::Byte(0xff)),
                Err(LineFault::Long(8)),
                own("1234567"),
                own("last"),
            ]
        );
        assert_eq!(all(b"123456789"), [Err(LineFault::Long(8))]);
        assert!(all(b"").is_empty());
        assert_eq!(all(b"\xef\xbb\xbf"), [own("")]);
        let mut lines = Lines::new(&b"\xff\xfea\0\n\0"[..], 8);
        assert!(matches!(lines.next_line(), Err(TextError::Utf16)));
        let mut lines = Lines::new(&b"more than eight\na\nb"[..], 8);
        for is_ended in [true, true, false] {
            assert!(lines.next_line().unwrap().is_some());
            assert_eq!(lines.is_ended(), is_ended);
        }
        let mut lines = Lines::new(&b"a\n\xe4\n"[..], 8);
        assert_eq!(lines.next_valid().unwrap(), Some("a"));
        let error = lines.next_valid().unwrap_err().to_string();
        assert!(error.starts_with("line 2: the byte 0xe4"), "{error}");
    }

    #[test]
    fn blank_lines_that_are_not_wanted_count() {
        let text = [&b"\n \r\n a\n"[..], &b"\n".repeat(1 << 20), b"b\n\n"].concat();
        // A source that gives little at a time.
        let source = io::BufReader::with_capacity(7, &text[..]);
        let mut lines = Lines::new(source, 8).without_blank();
        assert_eq!(lines.next_valid().unwrap(), Some(" a"));
        assert_eq!(lines.number(), 3);
        assert_eq!(lines.next_line().unwrap(), Some(Ok("b")));
        assert_eq!(lines.number(), 4 + (1 << 20));
        assert_eq!(lines.next_line().unwrap(), None);
        let mut lines = Lines::new(&b"\n\0a\0"[..], 8).without_blank();
        assert!(matches!(lines.next_line(), Err(TextError::Utf16)));
    }

    proptest::proptest! {
        #[test]
        fn any_text_has_the_lines_that_it_has(text in "[a-z\u{e4}\u{feff}\r\n]{0,40}") {
            let marked = ["\u{feff}", &text].concat();
            let expected: Vec<Result<String, LineFault>> =
                text.split_inclusive('\n').map(|line| match line.len() {
                    9.. => Err(LineFault::Long(8)),
                    _ => {
                        let line = line.strip_suffix('\n').unwrap_or(line);
                        Ok(line.strip_suffix('\r').unwrap_or(line).to_owned())
                    }
                }).collect();
            // The mark counts as three bytes of its line.
            let first = text.split_inclusive('\n').next().map_or(0, str::len);
            if !text.is_empty() && first <= 5 {
                proptest::prop_assert_eq!(all(marked.as_bytes()), expected);
            }
        }
    }
}
