//! How the command ends when it does not succeed: one line on stderr and an exit code.

use std::fmt::Display;
use std::process::ExitCode;

use crate::terminal::output;

/// An end without success. Reported once, by `main`.
#[derive(Debug)]
pub struct Failure {
    code: u8,
    message: String,
}

impl Failure {
    /// Something went wrong while doing what was asked: exit code 1.
    pub fn failed(message: impl Display) -> Failure {
        Failure {
            code: 1,
            message: message.to_string(),
        }
    }

    /// What was asked makes no sense: exit code 2, as for arguments that cannot be parsed.
    pub fn usage(message: impl Display) -> Failure {
        Failure {
            code: 2,
            message: message.to_string(),
        }
    }

    /// A command of the user's was not run: exit code 125, as env(1) and others have it, which commands themselves hardly
    /// use.
    pub fn not_run(message: impl Display) -> Failure {
        Failure {
            code: 125,
            message: message.to_string(),
        }
    }

    /// The same failure of whoever ran a command of the user's: exit code 125, as with [`not_run`](Failure::not_run).
    #[must_use]
    pub fn of_the_host(self) -> Failure {
        Failure { code: 125, ..self }
    }

    /// The user ended it: exit code 130, as shells report a process that SIGINT ended.
    pub fn interrupted(advice: &str) -> Failure {
        Failure {
            code: 130,
            message: format!("interrupted; {advice}"),
        }
    }

    /// Says on stderr what went wrong, in one line, and gives the exit code.
    pub fn report(self) -> ExitCode {
        let line = self
            .message
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        output::note(format_args!("fullpipe: {line}"));
        ExitCode::from(self.code)
    }
}
