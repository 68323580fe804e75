//! Writes what [`de`](super::de) reads, as TOML.

use std::path::PathBuf;

use path::{Effects, LossAt};
use serde::ser::{Error as _, Serialize, Serializer};
use toml::{Table, Value as Toml};

use super::de::{REST, UNNAMED};

/// What a struct says.
///
/// # Errors
///
/// A number in it is beyond TOML's.
pub fn table(value: &impl Serialize) -> Result<Table, toml::ser::Error> {
    let mut table = Table::try_from(value)?;
    tidy(&mut table);
    Ok(table)
}

/// Puts the parts of tables where they are read.
fn tidy(table: &mut Table) {
    for (key, value) in std::mem::take(table) {
        match value {
            Toml::Table(mut inner) => {
                tidy(&mut inner);
                if key == REST {
                    table.extend(inner);
                } else {
                    table.insert(key, Toml::Table(inner));
                }
            }
            Toml::Array(mut items) => {
                let tables = items.iter_mut().filter_map(Toml::as_table_mut);
                tables.for_each(tidy);
                table.insert(key, Toml::Array(items));
            }
            value => {
                table.insert(key, value);
            }
        }
    }
    if let Some(next) = table.remove("path.next")
        && let Some(Toml::Table(path)) = table.get_mut("path")
    {
        path.insert("next".to_string(), next);
    }
}

/// Writes what is not as usual.
pub fn effects<S: Serializer>(effects: &Effects, serializer: S) -> Result<S::Ok, S::Error> {
    let table = |effects| Table::try_from(effects).map_err(S::Error::custom);
    let usual = Effects::default();
    let usual = table(&usual)?;
    let mut written = table(effects)?;
    // A loss of nothing is said only of a place.
    let has_place = effects.loss_at != LossAt::default();
    written.retain(|key, value| usual.get(key) != Some(value) || (key == "loss" && has_place));
    let fields = written.into_iter();
    let table: Table = fields.map(|(key, value)| (key, with_kind(value))).collect();
    table.serialize(serializer)
}

/// Whether it need not be written.
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Writes a file's name. TOML is UTF-8: what a name has that is not, is replaced.
pub fn file<S: Serializer>(file: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    file.as_ref()
        .map(|file| file.to_string_lossy())
        .serialize(serializer)
}

/// Writes an enum, and those in it, as a name or as a table with the name as `kind`.
pub fn tagged<S: Serializer>(form: &impl Serialize, serializer: S) -> Result<S::Ok, S::Error> {
    let written = Toml::try_from(form).map_err(S::Error::custom)?;
    with_kind(written).serialize(serializer)
}

/// Serde has a variant as a table with one key, its name.
fn with_kind(value: Toml) -> Toml {
    let Toml::Table(mut table) = value else {
        return value;
    };
    if table.len() == 1
        && let Some((name, content)) = table.clone().into_iter().next()
    {
        match (content, UNNAMED.contains(&name.as_str())) {
            (Toml::Table(content), true) => table = content,
            (Toml::Table(content), false) => {
                table = Table::from_iter([("kind".to_string(), Toml::String(name))]);
                table.extend(content);
            }
            (content, true) => return content,
            (_, false) => {}
        }
    }
    let fields = table.into_iter();
    Toml::Table(fields.map(|(key, value)| (key, with_kind(value))).collect())
}

/// A whole number; TOML's end at 2^63.
pub fn whole<S: Serializer>(number: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    match i64::try_from(*number) {
        Ok(number) => serializer.serialize_i64(number),
        Err(_) => serializer.collect_str(number),
    }
}
