//! Where a command's TOML comes from, and what is said about it.

use std::fmt::Display;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::{fs, str};

use crate::failure::Failure;

/// The text of a file, or of stdin for `-`.
#[derive(Debug)]
pub struct Input {
    /// What it says.
    pub text: String,
    /// What other files that it names are relative to.
    pub directory: PathBuf,
    name: String,
}

impl Input {
    /// Reads `file`.
    ///
    /// # Errors
    ///
    /// It cannot be read, or is no UTF-8.
    pub fn read(file: &Path) -> Result<Input, Failure> {
        let is_stdin = file == Path::new("-");
        let (name, bytes) = match is_stdin {
            true => {
                let mut bytes = Vec::new();
                let read = io::stdin().lock().read_to_end(&mut bytes);
                ("stdin".to_owned(), read.map(|_| bytes))
            }
            false => (file.display().to_string(), fs::read(file)),
        };
        let bytes =
            bytes.map_err(|error| Failure::usage(format_args!("cannot read {name}: {error}")))?;
        let text = str::from_utf8(&bytes)
            .map_err(|_| Failure::usage(format_args!("{name}: is no text (UTF-8)")))?;
        Ok(Input {
            text: text.to_owned(),
            directory: file.parent().unwrap_or(Path::new("")).to_owned(),
            name,
        })
    }

    /// The failure that what it says makes no sense.
    pub fn wrong(&self, reason: impl Display) -> Failure {
        Failure::usage(format_args!("{}: {reason}", self.name))
    }
}
