//! Lines of JSON, with a key for each value.

use std::borrow::Cow;
use std::str::FromStr;

use serde_json::Value;

use super::format::{FormatError, WHAT};
use super::{Request, Said};

/// The key of each value in [`WHAT`]. A nested key has dots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keys([String; 5]);

impl FromStr for Keys {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<Keys, FormatError> {
        let mut keys: [String; 5] = Default::default();
        for one in text.split(',') {
            let wrong = || FormatError::Key(one.to_owned());
            let (what, key) = one.split_once('=').ok_or_else(wrong)?;
            let place = WHAT.iter().position(|(name, _)| *name == what.trim());
            let place = place.ok_or_else(wrong)?;
            if key.trim().is_empty() {
                return Err(wrong());
            }
            if !keys[place].is_empty() {
                return Err(FormatError::Twice(WHAT[place].0));
            }
            key.trim().clone_into(&mut keys[place]);
        }
        match keys.iter().position(String::is_empty) {
            Some(place) => {
                let what = WHAT[place].0;
                Err(FormatError::Lacking(what, format!("{what}=KEY")))
            }
            None => Ok(Keys(keys)),
        }
    }
}

impl Keys {
    /// The request in a line.
    pub fn request(&self, line: &str) -> Result<Request, String> {
        let value: Value = serde_json::from_str(line).map_err(|_| "is no JSON".to_owned())?;
        let mut texts: [Cow<'_, str>; 5] = Default::default();
        for (text, key) in texts.iter_mut().zip(&self.0) {
            *text = match find(&value, key) {
                Some(Value::String(text)) => Cow::Borrowed(text.as_str()),
                Some(Value::Number(number)) => Cow::Owned(number.to_string()),
                _ => return Err(format!("lacks {}", key.escape_debug())),
            };
        }
        let values = texts.each_ref().map(AsRef::as_ref);
        Said { values }.request()
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
