//! Failures of the command: one line and an exit code.

use std::fmt::{self, Display};
use std::process::ExitCode;

/// An end without success, which `main` reports once.
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

    /// The requested work failed: exit code 1.
    pub fn failed(message: impl Display) -> Failure {
        Failure::new(1, message)
    }

    /// The request is invalid: exit code 2, as for arguments that cannot be parsed.
    pub fn usage(message: impl Display) -> Failure {
        Failure::new(2, message)
    }

    /// The user's command was not run: exit code 125, as in env(1) and others. Commands themselves hardly use this
    /// code.
    pub fn not_run(message: impl Display) -> Failure {
        Failure::new(125, message)
    }

    /// The same failure with exit code 125, for a command that runs a user's command, as with
    /// [`not_run`](Failure::not_run).
    #[must_use]
    pub fn of_the_host(self) -> Failure {
        Failure { code: 125, ..self }
    }

    /// The user ended the command: exit code 130, as shells report a process that SIGINT ended.
    pub fn interrupted(advice: &str) -> Failure {
        Failure::new(130, format_args!("interrupted; {advice}"))
    }

    /// All of these, of which none hides another. The exit code is that of the first failure.
    ///
    /// # Errors
    ///
    /// One failed. Several are told in one line.
    pub fn all(results: impl IntoIterator<Item = Result<(), Failure>>) -> Result<(), Failure> {
        let failures = results.into_iter().filter_map(Result::err);
        let together = failures.reduce(|first, next| Failure {
            message: format!("{}; {}", first.message, next.message),
            ..first
        });
        together.map_or(Ok(()), Err)
    }

    /// The exit code.
    pub fn code(&self) -> ExitCode {
        ExitCode::from(self.code)
    }
}

/// The error in one line.
impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<&str> = self.message.split_whitespace().collect();
        f.write_str(&words.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_failure_hides_another() {
        let results = || {
            [
                Ok(()),
                Err(Failure::failed("no room")),
                Err(Failure::usage("no file")),
            ]
        };
        let together = Failure::all(results()).expect_err("two failures");
        assert_eq!(together.to_string(), "no room; no file");
        assert_eq!(together.code, 1);
        Failure::all([Ok(()), Ok(())]).expect("no failure");
    }
}
