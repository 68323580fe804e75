//! How the command ends when it does not succeed: one line and an exit code.

use std::fmt::{self, Display};
use std::process::ExitCode;

/// An end without success. Reported once, by `main`.
#[derive(Debug)]
pub struct Failure {
    code: u8,
    message: String,
}

impl Failure {
    fn new(code: u8, message: impl Display) -> Failure {
        Failure {
            code,
            message: message.to_string(),
        }
    }

    /// Something went wrong while doing what was asked: exit code 1.
    pub fn failed(message: impl Display) -> Failure {
        Failure::new(1, message)
    }

    /// What was asked makes no sense: exit code 2, as for arguments that cannot be parsed.
    pub fn usage(message: impl Display) -> Failure {
        Failure::new(2, message)
    }

    /// A command of the user's was not run: exit code 125, as env(1) and others have it, which commands themselves hardly
    /// use.
    pub fn not_run(message: impl Display) -> Failure {
        Failure::new(125, message)
    }

    /// The same failure of whoever ran a command of the user's: exit code 125, as with [`not_run`](Failure::not_run).
    #[must_use]
    pub fn of_the_host(self) -> Failure {
        Failure { code: 125, ..self }
    }

    /// The user ended it: exit code 130, as shells report a process that SIGINT ended.
    pub fn interrupted(advice: &str) -> Failure {
        Failure::new(130, format_args!("interrupted; {advice}"))
    }

    /// The exit code.
    pub fn code(&self) -> ExitCode {
        ExitCode::from(self.code)
    }
}

/// What went wrong, in one line.
impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<&str> = self.message.split_whitespace().collect();
        f.write_str(&words.join(" "))
    }
}
