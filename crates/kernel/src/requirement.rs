//! One requirement of programs in the kernel.

use crate::Error;

/// A requirement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// Its name.
    pub what: &'static str,
    /// The reason why it is not met, and the remedy. `None` if it is met.
    pub lack: Option<String>,
}

impl Requirement {
    pub(crate) fn new(what: &'static str, lack: Option<impl Into<String>>) -> Requirement {
        Requirement {
            what,
            lack: lack.map(Into::into),
        }
    }
}

/// Checks that all of these are met.
///
/// # Errors
///
/// [`Error::Lacking`] with the first that is not.
pub(crate) fn met(all: &[Requirement]) -> Result<(), Error> {
    let mut lacking = all.iter().filter_map(|Requirement { what, lack }| {
        let lack = lack.as_ref()?;
        Some(Error::Lacking(format!("{what}: {lack}")))
    });
    lacking.next().map_or(Ok(()), Err)
}
