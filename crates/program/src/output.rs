//! Printing that tolerates a closed pipe: results go to stdout, everything else to stderr.

use std::fmt::Display;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};

use console::Term;
use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;
use text::is_obeyed;
pub use text::{printable, word};

use crate::failure::Failure;

/// The most failed runs that are listed.
const MAX_LISTED: usize = 10;

/// Prints a result and a newline to stdout at once, so that a pipe's reader sees it while the command still runs. What a
/// terminal obeys is [escaped](printable), because texts of others are in many results.
///
/// A reader that has closed its end (`fullpipe … | head`) is no failure; a full disk is.
pub fn result(text: impl Display) -> Result<(), Failure> {
    offer(text).map(drop)
}

/// Prints a result like [`result`]. Returns false if the reader is gone, for commands that would otherwise go on
/// without end.
pub fn offer(text: impl Display) -> Result<bool, Failure> {
    let text = printable(&text.to_string());
    let mut stdout = io::stdout().lock();
    is_open(writeln!(stdout, "{text}").and_then(|()| stdout.flush()))
}

/// Returns false if the reader is gone.
fn is_open(written: io::Result<()>) -> Result<bool, Failure> {
    match written {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Failure::failed(format_args!(
            "cannot write to stdout: {error}"
        ))),
    }
}

/// The width of stdout's terminal in columns; `None` if it is no terminal, so that no line is too long.
pub fn width() -> Option<usize> {
    let (_, columns) = Term::stdout().size_checked()?;
    io::stdout().is_terminal().then(|| columns.into())
}

/// Prints a result as JSON to stdout, on one line, without having all of the text in memory.
pub fn json(value: &impl Serialize) -> Result<(), Failure> {
    let mut stdout = BufWriter::new(io::stdout().lock());
    let written = write_json(&mut stdout, value)
        .and_then(|()| writeln!(stdout))
        .and_then(|()| stdout.flush());
    is_open(written).map(drop)
}

/// Prints a result: as JSON for programs, or for people as a table of at most this width.
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

/// Lists the failures, up to a maximum.
pub fn failed(reasons: impl IntoIterator<Item = impl Display>) {
    for reason in reasons.into_iter().take(MAX_LISTED) {
        note(format_args!("failed: {reason}"));
    }
}

/// Prints a message for people on stderr. Errors are ignored, because there is nobody to tell.
pub fn note(text: impl Display) {
    let _ = writeln!(io::stderr().lock(), "{}", printable(&text.to_string()));
}

/// A formatter of JSON on one line that escapes characters that a terminal obeys. The escapes mean the same in JSON.
struct Obeyless;

impl Formatter for Obeyless {
    fn write_string_fragment<W: Write + ?Sized>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(is_obeyed) {
            let (before, from) = rest.split_at(at);
            let mut chars = from.chars();
            let c = chars.next().map_or(0, u32::from);
            write!(writer, "{before}\\u{c:04x}")?;
            rest = chars.as_str();
        }
        writer.write_all(rest.as_bytes())
    }
}

fn write_json(to: impl Write, value: &impl Serialize) -> io::Result<()> {
    let mut serializer = Serializer::with_formatter(to, Obeyless);
    value.serialize(&mut serializer).map_err(io::Error::from)
}

/// A value as JSON on one line.
pub fn json_text(value: &impl Serialize) -> String {
    let mut text = Vec::new();
    // Results always serialize.
    let _ = write_json(&mut text, value);
    String::from_utf8(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::json_text;

    #[test]
    fn json_means_the_same_without_what_a_terminal_obeys() {
        let names = [
            "a\u{9b}2J\u{7f}",
            "\u{202e}\u{2069}txt",
            "ä 文\n\u{1b}\"\\",
            "",
        ];
        let text = json_text(&names);
        assert_eq!(
            text,
            r#"["a\u009b2J\u007f","\u202e\u2069txt","ä 文\n\u001b\"\\",""]"#
        );
        let read: Vec<String> = serde_json::from_str(&text).expect("JSON");
        assert_eq!(read, names);
    }
}
