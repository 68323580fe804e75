//! Network namespaces by name.

use std::collections::HashMap;
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use linux::Error;
use linux::diag::Diag;

/// The directory in which `ip netns` keeps names (ip-netns(8)).
const NAMES_DIRECTORY: &str = "/run/netns";

/// A network namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Namespace {
    /// The namespace of this process.
    Here,
    /// Another namespace: its name and its file.
    At(String, PathBuf),
}

/// A namespace that cannot be observed.
#[derive(Debug, thiserror::Error)]
pub enum NamespaceError {
    /// No namespace has this name.
    #[error(
        "{0}: {1}; give a name of `ip netns`, the number of a process, a file such as /proc/PID/ns/net, or `all`"
    )]
    Unknown(String, io::Error),
    /// The namespace cannot be entered, or has no sock_diag.
    #[error("{0}: {1}")]
    Closed(String, Error),
}

impl Namespace {
    /// Finds namespaces by a name of `ip netns`, a process's number, a file, or `all` for those that this user can see.
    ///
    /// # Errors
    ///
    /// There is no such namespace.
    pub fn find(text: &str) -> Result<Vec<Namespace>, NamespaceError> {
        if text == "all" {
            return Ok(Namespace::all());
        }
        let path = if text.contains('/') {
            PathBuf::from(text)
        } else if text.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty() {
            PathBuf::from(format!("/proc/{text}/ns/net"))
        } else {
            Path::new(NAMES_DIRECTORY).join(text)
        };
        match fs::metadata(&path) {
            Ok(about) if about.is_file() => Ok(vec![Namespace::At(text.to_owned(), path)]),
            Ok(_) => Err(NamespaceError::Unknown(
                text.to_owned(),
                io::ErrorKind::IsADirectory.into(),
            )),
            Err(error) => Err(NamespaceError::Unknown(text.to_owned(), error)),
        }
    }

    /// Each namespace that has a process or a name, once.
    fn all() -> Vec<Namespace> {
        let mut found: HashMap<u64, Namespace> = HashMap::new();
        let here = fs::metadata("/proc/self/ns/net").map(|about| about.ino());
        if let Ok(here) = here {
            found.insert(here, Namespace::Here);
        }
        let entries = |directory: &str| fs::read_dir(directory).into_iter().flatten().flatten();
        let named = entries(NAMES_DIRECTORY).map(|entry| (entry.file_name(), entry.path()));
        let of_processes =
            entries("/proc").map(|entry| (entry.file_name(), entry.path().join("ns/net")));
        for (name, path) in named.chain(of_processes) {
            let Ok(about) = fs::metadata(&path) else {
                continue;
            };
            let name = name.to_string_lossy().into_owned();
            found
                .entry(about.ino())
                .or_insert(Namespace::At(name, path));
        }
        let mut all: Vec<Namespace> = found.into_values().collect();
        all.sort_by_key(|namespace| namespace.name().to_owned());
        all
    }

    /// The name.
    pub fn name(&self) -> &str {
        match self {
            Namespace::Here => "here",
            Namespace::At(name, _) => name,
        }
    }

    pub(crate) fn diag(&self) -> Result<Diag, NamespaceError> {
        let closed = |error: Error| match error {
            // setns(2): the file is of another kind.
            Error::System { source, .. } if source.kind() == io::ErrorKind::InvalidInput => {
                let why = io::Error::other("is not a network namespace");
                NamespaceError::Unknown(self.name().to_owned(), why)
            }
            error => NamespaceError::Closed(self.name().to_owned(), error),
        };
        match self {
            Namespace::Here => Diag::open_here().map_err(closed),
            Namespace::At(name, path) => {
                let file = File::open(path)
                    .map_err(|error| NamespaceError::Unknown(name.clone(), error))?;
                Diag::open_in(file).map_err(closed)
            }
        }
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_is_a_process_a_file_or_a_name() {
        let found = Namespace::find("/proc/self/ns/net").unwrap();
        assert_eq!(found[0].name(), "/proc/self/ns/net");
        let own = std::process::id().to_string();
        assert_eq!(Namespace::find(&own).unwrap()[0].name(), own);
        for none in ["", "no-such-namespace", "4294967295", "/proc/self/ns/none"] {
            let error = Namespace::find(none).unwrap_err().to_string();
            assert!(error.contains("give a name of `ip netns`"), "{error}");
        }
        let file = Namespace::find("/proc/self/stat").unwrap();
        let error = file[0].diag().err().unwrap().to_string();
        assert!(
            error.starts_with("/proc/self/stat: is not a network namespace; give"),
            "{error}"
        );
        assert!(Namespace::all().contains(&Namespace::Here));
    }
}
