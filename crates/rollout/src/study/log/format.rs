//! The format of a log.

use std::str::FromStr;

use super::json::Keys;
use super::named::{FormatError, NGINX};
use super::pattern::Pattern;

/// The format of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Format {
    /// Lines of text.
    Pattern(Pattern),
    /// Lines of JSON.
    Json(Keys),
}

impl FromStr for Format {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<Format, FormatError> {
        match text {
            "nginx" => NGINX.parse().map(Format::Pattern),
            _ if text.split(',').next() == Some("caddy") => {
                Keys::caddy(text.split(',').skip(1)).map(Format::Json)
            }
            _ => match text.strip_prefix("json:") {
                Some(keys) => keys.parse().map(Format::Json),
                None if text.contains('$') => text.parse().map(Format::Pattern),
                None => Err(FormatError::None),
            },
        }
    }
}
