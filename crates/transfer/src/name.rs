//! Valid names: plain components without anything that the receiver's system or a terminal could misinterpret.
//!
//! The receiver's system is a Unix (see the crate), where only `/` separates names. So a backslash
//! (`dev-disk\x2duuid.device`) and a letter with a colon (`B::Concise.3perl`) are as harmless as other characters. A
//! file system that cannot store a name says so itself.

use serde::{Deserialize, Serialize};

/// The folder for unfinished transfers, within the receiver's output directory.
pub const STATE_FOLDER: &str = ".fullpipe";

/// The maximum length of a name in bytes, as common file systems have it.
pub const MAX_NAME: usize = 255;

/// The maximum length of a path in bytes (Linux's limit), and its most components, which is more than real trees have.
const MAX_PATH: usize = 4095;
const MAX_DEPTH: usize = 64;

/// The reason why a file name is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[non_exhaustive]
pub enum NameProblem {
    /// It is empty.
    #[error("is empty")]
    Empty,
    /// It is `.` or `..`.
    #[error("names a directory")]
    Directory,
    /// A component contains `/`, or is missing.
    #[error("is not a plain name or path of plain names")]
    Path,
    /// It contains control characters or characters that change the direction of text.
    #[error("contains control characters or characters that change the direction of text")]
    Control,
    /// It is longer than 255 bytes.
    #[error("is longer than {MAX_NAME} bytes")]
    TooLong,
    /// It is the name of the state folder.
    #[error("is reserved for unfinished transfers")]
    Reserved,
    /// The path has too many bytes or components.
    #[error("is in a path longer than {MAX_PATH} bytes or {MAX_DEPTH} names")]
    TooDeep,
}

/// Checks that a file may be received at `path`, whose components are separated by `/`. The receiver decides this,
/// whatever the sender has checked.
///
/// # Errors
/// The path is invalid.
pub fn check_path(path: &str) -> Result<(), NameProblem> {
    if path.is_empty() {
        return Err(NameProblem::Empty);
    }
    if path.len() > MAX_PATH || path.split('/').count() > MAX_DEPTH {
        return Err(NameProblem::TooDeep);
    }
    path.split('/').try_for_each(|name| match name {
        "" => Err(NameProblem::Path),
        name => check(name),
    })
}

/// The parent directories of `path`, the outermost first.
pub fn parents(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').filter_map(|(at, _)| path.get(..at))
}

/// Checks the file name `name`.
///
/// # Errors
/// The name is invalid.
pub fn check(name: &str) -> Result<(), NameProblem> {
    if name.is_empty() {
        Err(NameProblem::Empty)
    } else if name == "." || name == ".." {
        Err(NameProblem::Directory)
    } else if name.contains('/') {
        Err(NameProblem::Path)
    } else if name.chars().any(|c| c.is_control() || turns_text(c)) {
        Err(NameProblem::Control)
    } else if name.len() > MAX_NAME {
        Err(NameProblem::TooLong)
    } else if name.eq_ignore_ascii_case(STATE_FOLDER) {
        Err(NameProblem::Reserved)
    } else {
        Ok(())
    }
}

/// True for Unicode's explicit directional formatting characters, which make `exe.txt` out of `txt.exe` on a screen.
fn turns_text(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use std::path::{Component, Path};

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn plain_names_pass() {
        for name in [
            "a",
            "movie.mkv",
            ".profile",
            "12:30 log",
            "ünï cödé 文",
            "...",
            "-rf",
            "B::Concise.3perl",
            "C:x",
            "C:\\x",
            r"dev-disk-by\x2duuid.device",
            "..\\x",
            "~",
            "CON",
            "a.",
        ] {
            assert_eq!(check(name), Ok(()), "{name:?}");
        }
    }

    #[test]
    fn dangerous_names_do_not() {
        use NameProblem::*;
        let long = "x".repeat(256);
        for (name, problem) in [
            ("", Empty),
            (".", Directory),
            ("..", Directory),
            ("../x", Path),
            ("/etc/passwd", Path),
            ("a/b", Path),
            ("a\0b", Control),
            ("a\nb", Control),
            ("\u{1b}[2J", Control),
            ("\u{202e}txt.exe", Control),
            (long.as_str(), TooLong),
            (".fullpipe", Reserved),
            (".FullPipe", Reserved),
        ] {
            assert_eq!(check(name), Err(problem), "{name:?}");
        }
    }

    #[test]
    fn paths_stay_below_their_root() {
        use NameProblem::*;
        assert_eq!(check_path("a/b c/d"), Ok(()));
        assert_eq!(parents("a/b c/d").collect::<Vec<_>>(), ["a", "a/b c"]);
        let deep = "x/".repeat(MAX_DEPTH) + "x";
        for (path, problem) in [
            ("", Empty),
            ("/etc/passwd", Path),
            ("a//b", Path),
            ("a/", Path),
            ("a/../../b", Directory),
            ("./a", Directory),
            ("a/\u{1b}", Control),
            ("a/.fullpipe/identity", Reserved),
            (deep.as_str(), TooDeep),
        ] {
            assert_eq!(check_path(path), Err(problem), "{path:?}");
        }
    }

    proptest! {
        #[test]
        fn a_path_that_passes_has_normal_components(path in "[a-c./\\\\:\u{1b}]{0,12}") {
            if check_path(&path).is_ok() {
                let normal = |c: Component<'_>| matches!(c, Component::Normal(_));
                prop_assert!(Path::new(&path).components().all(normal));
                let count = Path::new(&path).components().count();
                prop_assert_eq!(count, parents(&path).count() + 1);
            }
        }

        #[test]
        fn what_passes_is_one_component(name in any::<String>()) {
            if check(&name).is_ok() {
                let components: Vec<Component> = Path::new(&name).components().collect();
                prop_assert_eq!(components, [Component::Normal(name.as_ref())]);
            }
        }
    }
}
