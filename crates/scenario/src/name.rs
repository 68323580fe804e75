//! Names of links and sites.

use std::fmt;
use std::str::FromStr;

/// The maximum length of a name, in characters.
const MAX_NAME_CHARS: usize = 40;

/// The name of a link or of a site: letters, digits, `-` and `_`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(String);

units::as_text!(Name);

impl Name {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Name {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Name, &'static str> {
        let text = text.trim();
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
        let length = text.chars().count();
        if length == 0 || length > MAX_NAME_CHARS || !text.chars().all(is_part) {
            return Err("expected a name of at most 40 letters, digits, - and _, such as core-1");
        }
        Ok(Name(text.to_string()))
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
