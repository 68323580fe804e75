//! The format of a log.

use std::str::FromStr;

use super::json::Keys;
use super::pattern::Pattern;

/// The values that are needed of a request, with nginx's names for them.
pub const WHAT: [(&str, &[&str]); 5] = [
    ("address", &["remote_addr"]),
    ("port", &["remote_port"]),
    ("time", &["msec"]),
    ("bytes", &["bytes_sent", "body_bytes_sent"]),
    ("took", &["request_time"]),
];

/// The index in [`WHAT`] of the value with this name.
pub fn place_of(name: &str) -> Option<usize> {
    let is_named = |(what, others): &(&str, &[&str])| *what == name || others.contains(&name);
    WHAT.iter().position(is_named)
}

/// nginx's `log_format`, as in the documentation.
const NGINX: &str = "$remote_addr $remote_port $msec $bytes_sent $request_time";

/// Caddy's access log.
const CADDY: &str =
    "address=request.remote_ip,port=request.remote_port,time=ts,bytes=size,took=duration";

/// The format of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Format {
    /// Lines of text.
    Pattern(Pattern),
    /// Lines of JSON.
    Json(Keys),
}

/// Why a format is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// The format is unknown.
    #[error(
        "expected nginx, caddy, json:address=KEY,port=KEY,time=KEY,bytes=KEY,took=KEY, or a pattern such as '{NGINX}'"
    )]
    None,
    /// The format lacks a value.
    #[error("has no value for {0}: name it {1}")]
    Lacking(&'static str, String),
    /// The format has a value twice.
    #[error("has {0} twice; call one of them $_")]
    Twice(&'static str),
    /// No text separates two values.
    #[error("has nothing between ${0} and ${1}, so that nobody can tell them apart")]
    Together(String, String),
    /// The keys of a JSON format are not valid.
    #[error(
        "expected address, port, time, bytes or took, and a key, such as port=remote_port, and not \"{0}\""
    )]
    Key(String),
}

impl FromStr for Format {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<Format, FormatError> {
        match text {
            "nginx" => NGINX.parse().map(Format::Pattern),
            "caddy" => CADDY.parse().map(Format::Json),
            _ => match text.strip_prefix("json:") {
                Some(keys) => keys.parse().map(Format::Json),
                None if text.contains('$') => text.parse().map(Format::Pattern),
                None => Err(FormatError::None),
            },
        }
    }
}
