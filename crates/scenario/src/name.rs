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
        let name = text.trim();
        let is_part = |c: char| text::is_letter(c) || matches!(c, '-' | '_');
        let length = name.chars().count();
        if length == 0 || length > MAX_NAME_CHARS || !name.chars().all(is_part) {
            return Err("expected a name of at most 40 letters, digits, - and _, such as core-1");
        }
        Ok(Name(name.to_string()))
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_seen() {
        for good in ["core-1", "אב", " a_b "] {
            let name: Name = good.parse().expect(good);
            assert_eq!(name.as_str(), good.trim());
        }
        for bad in ["", "a b", "a.b", "\u{3164}", "a\u{115f}", "a\u{200b}"] {
            bad.parse::<Name>().expect_err(bad);
        }
    }
}
