//! Writes TOML that [`de`](super::de) reads.

use std::path::PathBuf;

use serde::ser::{Error as _, Serialize, Serializer};
use toml::{Table, Value as Toml};

use super::de::{REST, UNNAMED};

/// Returns the fields of a struct.
///
/// # Errors
///
/// A number is beyond TOML's range.
pub fn table(value: &impl Serialize) -> Result<Table, toml::ser::Error> {
    let mut table = Table::try_from(value)?;
    tidy(&mut table);
    Ok(table)
}

/// Moves the parts of tables to the places where they are read.
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
    let dotted = table.keys().filter(|key| key.contains('.')).cloned();
    for field in dotted.collect::<Vec<_>>() {
        if let Some((outer, inner)) = field.split_once('.')
            && table.get(outer).is_some_and(Toml::is_table)
            && let Some(value) = table.remove(&field)
            && let Some(Toml::Table(outer)) = table.get_mut(outer)
        {
            outer.insert(inner.to_string(), value);
        }
    }
}

/// True if a field need not be written: its value is the default.
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Writes a file's name. TOML is UTF-8, so other bytes of a name are replaced.
pub fn file<S: Serializer>(file: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    file.as_ref()
        .map(|file| file.to_string_lossy())
        .serialize(serializer)
}

/// Writes an enum, and the enums in it, as a name or as a table with the name as `kind`.
pub fn tagged<S: Serializer>(form: &impl Serialize, serializer: S) -> Result<S::Ok, S::Error> {
    let written = Toml::try_from(form).map_err(S::Error::custom)?;
    with_kind(written).serialize(serializer)
}

/// Returns a value with its variants as names, or as tables with the name as `kind`. Serde writes a variant as a table
/// with one key, its name.
pub fn with_kind(value: Toml) -> Toml {
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

/// Writes a whole number. TOML's end at 2^63.
pub fn whole<S: Serializer>(number: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    match i64::try_from(*number) {
        Ok(number) => serializer.serialize_i64(number),
        Err(_) => serializer.collect_str(number),
    }
}
