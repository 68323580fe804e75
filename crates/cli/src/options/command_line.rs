//! The command as it was given.

use std::time::SystemTime;

use report::Origin;

/// The command that does the same again, for a shell.
pub fn again() -> String {
    let arguments = std::env::args_os().skip(1);
    let quoted = arguments.map(|argument| quote(&argument.to_string_lossy()));
    std::iter::once("fullpipe".to_owned())
        .chain(quoted)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Where a result that is made now comes from.
pub fn origin() -> Origin {
    Origin {
        command: again(),
        generated: SystemTime::now(),
    }
}

/// The word as a shell reads it back.
pub fn quote(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_.,:/=%+@".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn words_survive_a_shell() {
        assert_eq!(quote("--loss"), "--loss");
        assert_eq!(quote("1%"), "1%");
        assert_eq!(quote(""), "''");
        assert_eq!(quote("my file"), "'my file'");
        assert_eq!(quote("it's; rm"), "'it'\\''s; rm'");
    }
}
