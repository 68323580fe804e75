//! Finds the ticket of `send`. The ticket holds a secret, and every user can read the arguments of a command.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};

use program::failure::Failure;
use program::output;
use transfer::Ticket;

/// The environment variable for a ticket. Only the owner of a process can read its environment (proc(5), "environ").
const VARIABLE: &str = "FULLPIPE_TICKET";

/// The maximum length of a ticket's line in bytes.
const MAX_LINE_BYTES: u64 = 4096;

/// The minimum length of a word that may be a ticket. An address, a fingerprint and a secret do not fit into a shorter
/// one.
const MIN_TICKET_BYTES: usize = 40;

/// Returns the ticket of `fullpipe send`, and the files among its words.
///
/// A ticket among the words is removed from the list of processes: the command starts again without it. Otherwise the
/// ticket is read from `file` (`-` is stdin), from the environment, or from stdin.
///
/// # Errors
///
/// There is no ticket, or more than one, or it cannot be read.
pub fn find(words: &[PathBuf], file: Option<&Path>) -> Result<(Ticket, Vec<PathBuf>), Failure> {
    let (word, files) = split(words);
    let of_stdin = || {
        if files.iter().any(|file| file == Path::new("-")) {
            return Err(Failure::usage(format_args!(
                "stdin has the data to send, so give the ticket with --ticket-file FILE or in {VARIABLE}"
            )));
        }
        from_stdin()
    };
    let ticket = match (word, file) {
        (Some(_), Some(_)) => {
            return Err(Failure::usage(
                "there is a ticket among the arguments and a --ticket-file; give one of them",
            ));
        }
        (Some(word), None) => {
            let ticket = parse(word, "the arguments")?;
            hide(word);
            ticket
        }
        (None, Some(file)) if file == Path::new("-") => of_stdin()?,
        (None, Some(file)) => {
            let name = format!("--ticket-file {}", file.display());
            let line = File::open(file).and_then(first_line);
            parse(&line.map_err(|error| unreadable(&name, &error))?, &name)?
        }
        (None, None) => match std::env::var(VARIABLE) {
            Ok(text) => parse(&text, VARIABLE)?,
            Err(_) => of_stdin()?,
        },
    };
    Ok((ticket, files))
}

/// The last word that looks like a ticket, and the other words.
fn split(words: &[PathBuf]) -> (Option<&str>, Vec<PathBuf>) {
    let place = words.iter().rposition(|word| looks_like_ticket(word));
    let ticket = place.and_then(|place| words.get(place)?.to_str());
    let others = (0..).zip(words).filter(|(at, _)| Some(*at) != place);
    (ticket, others.map(|(_, word)| word.clone()).collect())
}

fn looks_like_ticket(word: &Path) -> bool {
    let is_ticket = |text: &str| {
        let version = text.strip_prefix("fp").and_then(|rest| rest.chars().next());
        text.len() >= MIN_TICKET_BYTES
            && version.is_some_and(|version| version.is_ascii_digit())
            && text.chars().all(|c| c.is_ascii_alphanumeric())
    };
    word.to_str().is_some_and(is_ticket) && !word.exists()
}

fn from_stdin() -> Result<Ticket, Failure> {
    if io::stdin().is_terminal() {
        // If nobody sees the question, the command does not wait for an answer.
        let _ = write!(io::stderr(), "ticket: ");
    }
    // Only the line is read, so `fullpipe recv | … fullpipe send` keeps the pipe open.
    let line = first_line(io::stdin()).map_err(|error| unreadable("stdin", &error))?;
    if line.trim().is_empty() {
        return Err(Failure::usage(format_args!(
            "there is no ticket: put it on stdin, in a file for --ticket-file, or in {VARIABLE} (see 'fullpipe send --help')"
        )));
    }
    parse(&line, "stdin")
}

fn first_line(from: impl Read) -> io::Result<String> {
    let mut line = String::new();
    BufReader::new(from.take(MAX_LINE_BYTES)).read_line(&mut line)?;
    Ok(line)
}

fn parse(text: &str, origin: &str) -> Result<Ticket, Failure> {
    text.parse()
        .map_err(|error| Failure::usage(format_args!("{origin}: {error}")))
}

fn unreadable(name: &str, error: &io::Error) -> Failure {
    Failure::usage(format_args!("cannot read the ticket from {name}: {error}"))
}

/// Starts this program again in this process, with the ticket `word` in the environment and no longer among the
/// arguments. Returns only if that fails.
fn hide(word: &str) {
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    let place = arguments.iter().rposition(|argument| argument == word);
    place.map(|place| arguments.remove(place));
    let error = restart(&arguments, word);
    output::note(format_args!(
        "warning: the ticket stays visible in the list of processes ({error}); better give it on stdin"
    ));
}

fn restart(arguments: &[OsString], ticket: &str) -> io::Error {
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => return error,
    };
    let mut command = std::process::Command::new(program);
    if let [name, rest @ ..] = arguments {
        command.arg0(name).args(rest);
    }
    command.env(VARIABLE, ticket).exec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_is_told_from_files() {
        let ticket = format!("fp1{}", "abc234".repeat(12));
        let words = |words: &[&str]| words.iter().map(PathBuf::from).collect::<Vec<_>>();
        let given = words(&["a", "fp1", &ticket]);
        let (found, files) = split(&given);
        assert_eq!(found, Some(ticket.as_str()));
        assert_eq!(files, words(&["a", "fp1"]));
        let given = words(&["fp1.txt", "./fp1abc", "b"]);
        let (found, files) = split(&given);
        assert_eq!((found, files.len()), (None, 3));
    }

    #[test]
    fn only_the_first_line_is_taken() {
        assert_eq!(first_line(&b"fp1abc\nmore"[..]).unwrap(), "fp1abc\n");
        let long = vec![b'x'; 1 << 20];
        assert_eq!(first_line(&long[..]).unwrap().len() as u64, MAX_LINE_BYTES);
    }
}
