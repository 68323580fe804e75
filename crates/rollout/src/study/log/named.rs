//! The named values of a request, and the errors of formats.

use super::times::Unit;

/// The required values of a request, with nginx's names for them.
pub const REQUIRED_VALUES: [(&str, &[&str]); 5] = [
    ("address", &["remote_addr"]),
    ("port", &["remote_port"]),
    ("time", &["msec"]),
    ("bytes", &["bytes_sent", "body_bytes_sent"]),
    ("took", &["request_time"]),
];

/// A value that is needed of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Named {
    /// The index in [`REQUIRED_VALUES`].
    pub place: usize,
    /// The unit of the time taken, if the name says one.
    pub unit: Option<Unit>,
}

/// The value with this name: one of [`REQUIRED_VALUES`], or `took_ms`, `took_us` or `took_ns`.
pub fn named(name: &str) -> Option<Named> {
    let unit = name.strip_prefix("took_").and_then(Unit::named);
    let name = if unit.is_some() { "took" } else { name };
    let is_named = |(what, others): &(&str, &[&str])| *what == name || others.contains(&name);
    let place = REQUIRED_VALUES.iter().position(is_named)?;
    Some(Named { place, unit })
}

/// nginx's `log_format`, as in the documentation.
pub const NGINX: &str = "$remote_addr $remote_port $msec $bytes_sent $request_time";

/// A reason why a format is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// The format is unknown.
    #[error(
        "expected nginx, caddy, caddy,took_ms=duration, json:address=KEY,port=KEY,time=KEY,bytes=KEY,took=KEY, or a pattern such as \
         '{NGINX}'"
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
    NotSeparated(String, String),
    /// The keys of a JSON format are not valid.
    #[error(
        "expected address, port, time, bytes, took, took_ms, took_us or took_ns, and a key, such as port=remote_port, and not \
         \"{0}\""
    )]
    Key(String),
}
