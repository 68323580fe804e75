//! The command line of this process.

use std::path::Path;
use std::time::SystemTime;

use report::Origin;

/// The command that repeats this run, for a shell: the program's name without its directory, and the arguments.
pub fn again() -> String {
    let mut arguments = std::env::args_os();
    let program = arguments.next().unwrap_or_default();
    let name = Path::new(&program).file_name().unwrap_or_default();
    let words = std::iter::once(name.to_owned()).chain(arguments);
    let quoted = words.map(|word| quote(&word.to_string_lossy()));
    quoted.collect::<Vec<_>>().join(" ")
}

/// The origin of a result that is made now.
pub fn origin() -> Origin {
    Origin {
        command: again(),
        generated: SystemTime::now(),
    }
}

/// The word, quoted for a shell.
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
