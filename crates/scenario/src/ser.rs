//! Writes what [`de`](super::de) reads, as TOML.

use std::path::PathBuf;

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
    if let Some(Toml::Table(rest)) = table.remove(REST) {
        let own = std::mem::replace(table, rest);
        table.extend(own);
    }
    if let Some(next) = table.remove("path.next")
        && let Some(Toml::Table(path)) = table.get_mut("path")
    {
        path.insert("next".to_string(), next);
    }
    // A loss of nothing is said only of a place.
    let is_none = |loss: &Toml| loss.as_str() == Some("0%");
    if table.get("loss").is_some_and(is_none) && !table.contains_key("loss_at") {
        table.remove("loss");
    }
    for (_, value) in table {
        match value {
            Toml::Table(inner) => tidy(inner),
            Toml::Array(items) => items
                .iter_mut()
                .filter_map(Toml::as_table_mut)
                .for_each(tidy),
            _ => {}
        }
    }
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
