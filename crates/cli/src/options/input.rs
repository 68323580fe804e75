//! Reads a command's TOML, and reports errors in it.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use document::de::MAX_FILE_BYTES;
use program::failure::Failure;
use program::output;
use text::TextError;

use crate::options::other_file;

/// The maximum length of a reason, in characters.
const MAX_REASON_CHARS: usize = 500;

/// The text of a file, or of stdin for `-`.
#[derive(Debug)]
pub struct Input {
    pub text: String,
    /// The directory to which paths in the text are relative.
    pub directory: PathBuf,
    name: String,
    command: &'static str,
}

impl Input {
    /// Reads `file`, which should belong to this command.
    ///
    /// # Errors
    ///
    /// It cannot be read, is not UTF-8, or is larger than 16 MiB.
    pub fn read(file: &Path, command: &'static str) -> Result<Input, Failure> {
        let is_stdin = file == Path::new("-");
        let (name, text) = if is_stdin {
            let text = read_text(io::stdin().lock());
            ("stdin".to_owned(), text)
        } else {
            if is_fifo(file) {
                let name = file.display();
                output::note(format_args!("{name} is a pipe: waiting for data"));
            }
            let opened = File::open(file).map_err(|error| Unread::Text(error.into()));
            (file.display().to_string(), opened.and_then(read_text))
        };
        let text = text.map_err(|error| match error {
            Unread::Text(TextError::Read(error)) => {
                let meant = file.with_added_extension("toml");
                let hint = if !file.exists() && meant.is_file() {
                    format!("; did you mean `{}`?", meant.display())
                } else {
                    String::new()
                };
                Failure::usage(format_args!("cannot read {name}: {error}{hint}"))
            }
            Unread::Text(error) => Failure::usage(format_args!("{name}: {error}")),
            Unread::Other(what) => Failure::usage(format_args!("{name}: {what}")),
        })?;
        Ok(Input {
            text,
            directory: file.parent().unwrap_or(Path::new("")).to_owned(),
            name,
            command,
        })
    }

    /// The failure for invalid content. The reason may repeat a part of the content, which is shortened if it is long.
    /// For a file of another command, the reason names that.
    pub fn wrong(&self, reason: impl Display) -> Failure {
        let other = other_file::kind_and_command(&self.text, self.command);
        let reason = other.unwrap_or_else(|| reason.to_string());
        let shown = match reason.char_indices().nth(MAX_REASON_CHARS) {
            Some((end, _)) => reason[..end].to_owned() + "…",
            None => reason,
        };
        Failure::usage(format_args!("{}: {shown}", self.name))
    }
}

/// The reason why there is no text.
enum Unread {
    Text(TextError),
    /// It is a file of another command.
    Other(String),
}

fn read_text(from: impl Read) -> Result<String, Unread> {
    match other_file::begin(from) {
        Ok((Some(what), _)) => Err(Unread::Other(what)),
        Ok((None, all)) => text::read(all, MAX_FILE_BYTES).map_err(Unread::Text),
        Err(error) => Err(Unread::Text(error.into())),
    }
}

/// True for a named pipe, which may wait for a writer for ever. The pipe of a shell's `<(…)` has its writer.
fn is_fifo(file: &Path) -> bool {
    let is_shells = file.starts_with("/dev/fd") || file.starts_with("/proc/self/fd");
    !is_shells && file.metadata().is_ok_and(|it| it.file_type().is_fifo())
}
