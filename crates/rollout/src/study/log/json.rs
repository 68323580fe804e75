//! Lines of JSON, with a key for each value.

use std::borrow::Cow;
use std::str::FromStr;

use serde_json::Value;

use super::named::{FormatError, Named, REQUIRED_VALUES, named};
use super::times::Unit;
use super::{Request, Said};

/// Caddy's keys, in the order of [`REQUIRED_VALUES`].
const CADDY: [&str; 5] = [
    "request.remote_ip",
    "request.remote_port",
    "ts",
    "size",
    "duration",
];

/// The client's address and port in Caddy's log before version 2.5.
const EARLIER: &str = "request.remote_addr";

/// The key of each value in [`REQUIRED_VALUES`]. A nested key has dots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keys {
    keys: [String; 5],
    /// The unit of the time taken, if it is not in seconds.
    unit: Option<Unit>,
    is_caddy: bool,
}

impl FromStr for Keys {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<Keys, FormatError> {
        let mut keys = Keys {
            keys: Default::default(),
            unit: None,
            is_caddy: false,
        };
        keys.set(text.split(','))?;
        match keys.keys.iter().position(String::is_empty) {
            Some(place) => {
                let what = REQUIRED_VALUES[place].0;
                Err(FormatError::Lacking(what, format!("{what}=KEY")))
            }
            None => Ok(keys),
        }
    }
}

impl Keys {
    /// Caddy's keys, except for some, such as `took_ms=duration`.
    pub fn caddy<'o>(others: impl Iterator<Item = &'o str>) -> Result<Keys, FormatError> {
        let mut keys = Keys {
            keys: Default::default(),
            unit: None,
            is_caddy: true,
        };
        keys.set(others)?;
        for (key, own) in keys.keys.iter_mut().zip(CADDY) {
            if key.is_empty() {
                own.clone_into(key);
            }
        }
        Ok(keys)
    }

    fn set<'o>(&mut self, all: impl Iterator<Item = &'o str>) -> Result<(), FormatError> {
        for one in all {
            let wrong = || FormatError::Key(one.to_owned());
            let (what, key) = one.split_once('=').ok_or_else(wrong)?;
            let is_ours = |named: &Named| !REQUIRED_VALUES[named.place].1.contains(&what.trim());
            let Named { place, unit } = named(what.trim()).filter(is_ours).ok_or_else(wrong)?;
            if key.trim().is_empty() {
                return Err(wrong());
            }
            if !self.keys[place].is_empty() {
                return Err(FormatError::Twice(REQUIRED_VALUES[place].0));
            }
            key.trim().clone_into(&mut self.keys[place]);
            self.unit = self.unit.or(unit);
        }
        Ok(())
    }

    /// The request in a line.
    pub fn request(&self, line: &str) -> Result<Request, String> {
        let value: Value = serde_json::from_str(line).map_err(|_| "is no JSON".to_owned())?;
        let mut texts: [Cow<'_, str>; 5] = Default::default();
        for (place, (text, key)) in texts.iter_mut().zip(&self.keys).enumerate() {
            let found = find(&value, key);
            let found = match (place, found) {
                (0, None) if self.is_caddy => find(&value, EARLIER),
                // The address then has the port.
                (1, None) if self.is_caddy => continue,
                _ => found,
            };
            *text = match found {
                Some(Value::String(text)) => Cow::Borrowed(text.as_str()),
                Some(Value::Number(number)) => Cow::Owned(number.to_string()),
                _ => return Err(format!("lacks {}", key.escape_debug())),
            };
        }
        // Caddy writes seconds as a fraction. By its settings, a whole number is in milliseconds or nanoseconds.
        let took = texts[4].trim_start_matches('-');
        let is_whole = took.bytes().all(|byte| byte.is_ascii_digit()) && took != "0";
        if self.is_caddy && self.unit.is_none() && is_whole {
            return Err(
                "has a time taken that may be in milliseconds or nanoseconds; give --log-format caddy,took_ms=duration or \
                 caddy,took_ns=duration"
                    .to_owned(),
            );
        }
        let values = texts.each_ref().map(AsRef::as_ref);
        Said {
            values,
            unit: self.unit,
        }
        .request()
    }
}

/// The value of a key: first a key that itself contains dots, then a nested key.
fn find<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    let whole = value.get(key);
    whole.or_else(|| {
        key.split('.')
            .try_fold(value, |within, part| within.get(part))
    })
}
