//! Printing that survives a reader who has gone: results go to stdout, everything else to stderr.

use std::fmt::Display;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};

use console::Term;
use serde::Serialize;

use crate::failure::Failure;

/// So many failed runs are named.
const NAMED: usize = 10;

/// Prints a result and a newline to stdout at once, so that a pipe's reader sees it while the command still runs.
///
/// A reader that has closed its end (`fullpipe … | head`) is no failure; a full disk is.
pub fn result(text: impl Display) -> Result<(), Failure> {
    offer(text).map(drop)
}

/// Prints a result like [`result`]; whether there still is a reader, for those who would go on without end.
pub fn offer(text: impl Display) -> Result<bool, Failure> {
    let mut stdout = io::stdout().lock();
    told(writeln!(stdout, "{text}").and_then(|()| stdout.flush()))
}

/// Whether there still is a reader.
fn told(written: io::Result<()>) -> Result<bool, Failure> {
    match written {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Failure::failed(format_args!(
            "cannot write to stdout: {error}"
        ))),
    }
}

/// The columns of the terminal that results go to; nothing if they go elsewhere, where no line is too long.
pub fn width() -> Option<usize> {
    let (_, columns) = Term::stdout().size_checked()?;
    io::stdout().is_terminal().then(|| columns.into())
}

/// Prints a result as JSON to stdout, on one line, without having all of it in memory.
pub fn json(value: &impl Serialize) -> Result<(), Failure> {
    let mut stdout = BufWriter::new(io::stdout().lock());
    let written = serde_json::to_writer(&mut stdout, value)
        .map_err(io::Error::from)
        .and_then(|()| writeln!(stdout))
        .and_then(|()| stdout.flush());
    told(written).map(drop)
}

/// Prints a result: as JSON for programs, or as a table for people that fits so many columns.
pub fn show<J: Serialize>(
    is_json: bool,
    value: impl FnOnce() -> J,
    table: impl FnOnce(Option<usize>) -> String,
) -> Result<(), Failure> {
    if is_json {
        return json(&value());
    }
    result(table(width()).trim_end())
}

/// Names what failed, as far as anybody wants to read it.
pub fn failed(reasons: impl IntoIterator<Item = impl Display>) {
    for reason in reasons.into_iter().take(NAMED) {
        note(format_args!("failed: {reason}"));
    }
}

/// Says something to people, on stderr. If nobody can hear it, there is nobody to tell.
pub fn note(text: impl Display) {
    let _ = writeln!(io::stderr().lock(), "{}", printable(&text.to_string()));
}

/// `text` without characters that a terminal obeys: control characters other than line ends and tabs, and those that
/// change the direction of text, are written as escapes. Names of files and words of a peer may hold any.
pub fn printable(text: &str) -> String {
    let obeyed = |c: char| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if obeyed(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn nothing_that_a_terminal_obeys() {
        assert_eq!(printable("ä b\t文\n"), "ä b\t文\n");
        assert_eq!(printable("\u{1b}[2J\u{9b}m\r"), "\\u{1b}[2J\\u{9b}m\\r");
        assert_eq!(printable("\u{202e}txt"), "\\u{202e}txt");
    }
}
