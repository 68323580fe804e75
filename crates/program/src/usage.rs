//! Prints clap's messages about the arguments in this command's form.

use std::fmt::Display;
use std::num::NonZeroUsize;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use units::{Duration, Ratio};

use crate::failure::Failure;
use crate::{other_program, output};

/// Prints the requested help or version. Turns any other message into a one-line [`Failure`]. `option_meant` gets the
/// command and an unknown option of it without `--`, and returns a hint.
///
/// # Errors
///
/// The arguments cannot be understood, or stdout cannot be written to.
pub fn answer(
    error: &clap::Error,
    option_meant: impl Fn(&str, &str) -> Option<String>,
) -> Result<(), Failure> {
    let text = error.render().to_string();
    match error.kind() {
        ErrorKind::DisplayHelp
        | ErrorKind::DisplayVersion
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => output::result(text.trim_end()),
        _ => {
            let told = one_line(&text, meant(error, option_meant).as_deref());
            Err(Failure::usage(told))
        }
    }
}

/// Options that take several values, with commas between.
const OF_LISTS: [&str; 3] = ["--controllers", "--engines", "--qlog"];

/// A hint for an unknown argument that is known from elsewhere: an option of another command, the next of several values,
/// or a command of the other program.
fn meant(
    error: &clap::Error,
    option_meant: impl Fn(&str, &str) -> Option<String>,
) -> Option<String> {
    if let Some(ContextValue::String(unknown)) = error.get(ContextKind::InvalidSubcommand) {
        return other_program::told(unknown);
    }
    let Some(ContextValue::String(unknown)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    if error.kind() == ErrorKind::ValueValidation {
        return one_word(unknown, error);
    }
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let given: Vec<String> = std::env::args().collect();
    let (command, before) = given.get(1..)?.split_first()?;
    if let Some(option) = unknown.strip_prefix("--") {
        let word = option.split('=').next().unwrap_or(option);
        return option_meant(command, word);
    }
    let at = before.iter().position(|word| word == unknown)?;
    let several: Vec<&str> = before[..at]
        .iter()
        .rev()
        .map(String::as_str)
        .take_while(|word| !word.starts_with("--"))
        .collect();
    let option = before[..at].get(at.checked_sub(several.len() + 1)?)?;
    let values = several.into_iter().rev().chain([unknown.as_str()]);
    match (option.as_str(), before.get(at.checked_sub(1)?)?) {
        ("--set", field) if !field.contains('=') => {
            Some(format!("--set takes one word: {field}={unknown}"))
        }
        (option, _) if OF_LISTS.contains(&option) => {
            let values: Vec<&str> = values.collect();
            Some(format!(
                "several values are one word: {option} {}",
                values.join(",")
            ))
        }
        _ => None,
    }
}

/// The quoted word for several values, for an `argument` that takes them with commas between.
fn one_word(argument: &str, error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(value)) = error.get(ContextKind::InvalidValue) else {
        return None;
    };
    let option = argument.split_whitespace().next()?;
    let values: Vec<&str> = value.split_whitespace().collect();
    (OF_LISTS.contains(&option) && values.len() > 1).then(|| {
        format!(
            "several values are joined by commas: {option} {}",
            values.join(",")
        )
    })
}

/// The command and its subcommands. Values of options may be negative numbers, which are then wrong values and not
/// unknown options.
pub fn with_negative_values(command: Command) -> Command {
    command
        .mut_args(|argument| {
            let takes_values = argument.get_action().takes_values();
            argument.allow_negative_numbers(takes_values)
        })
        .mut_subcommands(with_negative_values)
}

/// The help of an option that takes one of these names: `What runs it: sim, quic, …`.
pub fn one_of(what: &str, all: &[impl Display]) -> String {
    let names: Vec<String> = all.iter().map(ToString::to_string).collect();
    format!("{what}: {}", names.join(", "))
}

/// A whole number.
pub fn whole(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| format!("expected a whole number from 0 to {}", u64::MAX))
}

/// The seed of every random choice.
pub fn seed(text: &str) -> Result<u64, String> {
    let several = if text.contains([',', '.']) {
        "; a sweep runs a scenario with several seeds (repeats = 5)"
    } else {
        ""
    };
    whole(text).map_err(|error| error + several)
}

/// A whole number above zero.
pub fn at_least_one(text: &str) -> Result<NonZeroUsize, String> {
    text.parse()
        .map_err(|_| "expected a whole number of at least 1".to_owned())
}

/// A share of at most 100 %.
pub fn share(text: &str) -> Result<Ratio, String> {
    units::bounds::share_of(text)
}

/// A time above zero.
pub fn positive_time(text: &str) -> Result<Duration, String> {
    match text.parse::<Duration>() {
        Ok(span) if span.is_zero() => {
            Err("the time must be above zero; give one such as 30s".into())
        }
        Ok(span) => Ok(span),
        Err(error) => Err(error.to_string()),
    }
}

/// clap's message without its usage lines, which `--help` shows better, and with the hint `meant`.
fn one_line(text: &str, meant: Option<&str>) -> String {
    let (message, usage) = text.split_once("Usage:").unwrap_or((text, ""));
    let message = message
        .lines()
        .map(str::trim)
        // A hint to pass an option as a value would not help.
        .filter(|line| {
            !line.starts_with("tip: to pass ") && (meant.is_none() || !line.starts_with("tip: "))
        })
        .filter(|line| !line.is_empty() && !line.starts_with("For more information"))
        .collect::<Vec<_>>()
        .join(" ")
        .replace(" tip: ", "; ");
    let message = message.strip_prefix("error: ").unwrap_or(&message);
    let message = &match meant {
        Some(meant) => format!("{message}; {meant}"),
        None => message.to_owned(),
    };
    // "Usage: fullpipe race [OPTIONS] …": the words before the first placeholder are the command whose help is named. A
    // command without options has no placeholder.
    let line = usage.trim_start().lines().next().unwrap_or_default();
    let command = line
        .split_whitespace()
        .take_while(|word| word.starts_with(char::is_alphabetic))
        .collect::<Vec<_>>()
        .join(" ");
    if command.is_empty() {
        return message.to_owned();
    }
    format!("{message} (see '{command} --help')")
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn lists_and_tips_are_joined() {
        let text = "error: the following required arguments were not provided:\n  <FILE>...\n  <TICKET>\n\n\
                    Usage: fullpipe send <FILE>... <TICKET>\n\nFor more information, try '--help'.\n";
        assert_eq!(
            one_line(text, None),
            "the following required arguments were not provided: <FILE>... <TICKET> (see 'fullpipe send --help')"
        );
    }

    #[test]
    fn a_command_without_options_is_named_alone() {
        let text = "error: unexpected argument 'x' found\n\nUsage: fullpipe study stop\n\nFor more information, try '--help'.\n";
        assert_eq!(
            one_line(text, None),
            "unexpected argument 'x' found (see 'fullpipe study stop --help')"
        );
    }

    #[test]
    fn a_wrong_value_is_explained_without_help() {
        let text = "error: invalid value 'x' for '--rate <RATE>': expected a rate such as 20mbit or 1.5gbit\n\n\
                    For more information, try '--help'.\n";
        assert_eq!(
            one_line(text, None),
            "invalid value 'x' for '--rate <RATE>': expected a rate such as 20mbit or 1.5gbit"
        );
    }
}
