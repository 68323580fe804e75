//! Reads serde's types from a [`Node`]: its scalars are texts, whatever their types will be, and its errors name the
//! field and the text.
//!
//! Two things differ from serde's formats. A variant of an enum is a name, or a table with the name as `kind`; the
//! variants named `""`, `"[]"` and `"{}"` stand for a scalar, a list and a table without `kind`. A field named [`REST`]
//! has the same table's other keys; one named `a.b` is `b` in the table `a`.

use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::path::Path;

use serde::Deserialize;
use serde::de::value::{MapDeserializer, StrDeserializer};
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer,
    MapAccess, SeqAccess, Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use text::TextError;
use units::bounds::refused;
use units::{hint, told};

use super::error::{DocumentError, Reason, TABLE, shortened, unknown_key};
use super::tree::{Entry, Node};

/// The field that stands for the rest of its table.
pub const REST: &str = "*";

/// The variants that have no name.
pub(super) const UNNAMED: [&str; 3] = ["", "[]", "{}"];

/// The maximum size of a TOML file, in bytes.
pub const MAX_FILE_BYTES: u64 = 16 << 20;

/// Reads a file and gives its text to `parse`, with the directory that names in the text are relative to.
///
/// # Errors
///
/// The file cannot be read, or those of `parse`.
pub fn load<T>(
    file: &Path,
    parse: impl FnOnce(&str, &Path) -> Result<T, DocumentError>,
) -> Result<T, DocumentError> {
    let read = File::open(file).map_err(TextError::from);
    let read = read.and_then(|file| text::read(file, MAX_FILE_BYTES));
    let text = read.map_err(|error| {
        DocumentError::new("", format!("cannot read {}: {error}", file.display()))
    })?;
    parse(&text, file.parent().unwrap_or(Path::new("")))
}

/// Reads a `T`. The error's field is relative to the value.
pub fn read<T: DeserializeOwned>(value: &Node) -> Result<T, DocumentError> {
    T::deserialize(value).map_err(|fault| fault.of(value).into())
}

/// Reads a `T` from a table of these entries.
pub fn read_entries<T: DeserializeOwned>(entries: &[Entry]) -> Result<T, DocumentError> {
    read(&Node::Table(entries.to_vec()))
}

/// Reads a `T` from a text in TOML. Also returns the entries. An error has its line.
pub fn read_toml<T: DeserializeOwned>(text: &str) -> Result<(T, Vec<Entry>), DocumentError> {
    let table = Node::Table(Node::from_toml(text)?);
    let read = read(&table);
    let Node::Table(entries) = table else {
        return Err(DocumentError::new("", "is not a table"));
    };
    match read {
        Ok(read) => Ok((read, entries)),
        Err(error) => Err(error.on_line_in(&entries)),
    }
}

/// The possible keys of a `T`'s table.
pub fn keys_of<T: DeserializeOwned>() -> Vec<&'static str> {
    let unknown = Node::Table(vec![Entry::new("", Node::Scalar(String::new()))]);
    match T::deserialize(&unknown) {
        Err(Fault {
            cause: Cause::Unknown(known),
            ..
        }) => known,
        _ => Vec::new(),
    }
}

/// The name with which a [`Node`] is read as it is, with its lines.
const AS_IT_IS: &str = "\u{1f}value";

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Node, D::Error> {
        struct AsItIs;

        impl<'de> Visitor<'de> for AsItIs {
            type Value = Node;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Node, E> {
                Ok(Node::Scalar(text.to_string()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node, A::Error> {
                let mut list = Vec::new();
                while let Some(item) = items.next_element()? {
                    list.push(item);
                }
                Ok(Node::List(list))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Node, A::Error> {
                let mut table = Vec::new();
                while let Some(key) = entries.next_key::<String>()? {
                    let (line, key) = key.split_once(FIELD_END).unwrap_or(("", &key));
                    let (key, line) = (key.to_string(), line.parse().ok());
                    let value = entries.next_value()?;
                    table.push(Entry { key, value, line });
                }
                Ok(Node::Table(table))
            }
        }

        deserializer.deserialize_newtype_struct(AS_IT_IS, AsItIs)
    }
}

impl<'v> IntoDeserializer<'_, Fault> for &'v Node {
    type Deserializer = &'v Node;

    fn into_deserializer(self) -> &'v Node {
        self
    }
}

/// An invalid field of the value that is being read: the error of a `#[serde(try_from)]` that names the field.
pub struct Wrong {
    /// The field, relative to the value.
    pub field: String,
    /// The reason, and the fix.
    pub reason: String,
}

impl Wrong {
    /// Returns the error that `field` has `reason`.
    pub fn new(field: impl Into<String>, reason: impl Into<String>) -> Wrong {
        let (field, reason) = (field.into(), reason.into());
        Wrong { field, reason }
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{FIELD_END}{}", self.field, self.reason)
    }
}

/// Returns the error that `field`, relative to the value, has `reason`.
pub fn wrong<E: serde::de::Error>(field: &str, reason: &str) -> E {
    E::custom(Wrong::new(field, reason))
}

/// The separator of field and reason in serde's errors, which are one text.
const FIELD_END: char = '\u{1f}';

/// The reason for which a value cannot be read.
#[derive(Debug)]
pub struct Fault {
    field: String,
    cause: Cause,
}

#[derive(Debug)]
enum Cause {
    /// The whole reason.
    Whole(Reason),
    /// The words after the value.
    OfValue(String),
    /// The words after the value in quotes and a colon.
    OfText(String),
    /// The list's name is part of it.
    NoList,
    /// The keys that are known.
    Unknown(Vec<&'static str>),
}

impl Fault {
    fn new(field: &str, reason: impl Into<Reason>) -> Fault {
        Fault::by(field, Cause::Whole(reason.into()))
    }

    fn by(field: &str, cause: Cause) -> Fault {
        let field = field.to_string();
        Fault { field, cause }
    }

    /// Returns the error with this value.
    fn of(mut self, value: &Node) -> Fault {
        self.cause = match (self.cause, value) {
            (Cause::OfText(reason), Node::Scalar(text)) => {
                Cause::Whole(format!("\"{}\": {reason}", shortened(text)).into())
            }
            (Cause::OfText(reason), _) => Cause::Whole(reason.into()),
            (Cause::OfValue(reason), value) => Cause::Whole(value.wrong(&reason).reason),
            (cause, _) => cause,
        };
        self
    }

    /// Returns the error relative to the table with the value as `key`.
    fn within(mut self, key: &str, value: &Node) -> Fault {
        self = self.of(value);
        let reason = match (self.cause, value) {
            (Cause::NoList, Node::Scalar(text)) => {
                let text = shortened(text);
                let item = match text.parse::<u64>() {
                    Ok(number) => number.to_string(),
                    Err(_) => format!("\"{text}\""),
                };
                let fix = format!(" is not a list; write [{item}], or [[{key}]] for tables");
                Reason::of(text).words(fix)
            }
            (Cause::NoList, _) => format!("is a list; write [[{key}]]").into(),
            (Cause::Unknown(known), _) => unknown_key(&self.field, &known),
            (Cause::Whole(reason), _) => reason,
            (Cause::OfValue(reason) | Cause::OfText(reason), _) => reason.into(),
        };
        let error = DocumentError::new(self.field, reason).within(key);
        Fault::new(&error.field, error.reason)
    }

    /// Returns the error for a table of these keys, where [`REST`] stands for the known ones.
    fn knowing(mut self, keys: &[&'static str]) -> Fault {
        if let Cause::Unknown(known) = &mut self.cause {
            let rest = std::mem::take(known);
            for key in keys {
                let more = if *key == REST { &rest[..] } else { &[*key] };
                known.extend(more);
            }
            let mut seen = Vec::new();
            known.retain(|key| {
                let is_new = !seen.contains(key);
                seen.push(key);
                is_new
            });
        }
        self
    }
}

impl From<Fault> for DocumentError {
    fn from(fault: Fault) -> DocumentError {
        let reason = match fault.cause {
            Cause::Whole(reason) => reason,
            Cause::OfValue(reason) | Cause::OfText(reason) => reason.into(),
            Cause::NoList => "is not a list".into(),
            Cause::Unknown(known) => unknown_key(&fault.field, &known),
        };
        DocumentError::new(fault.field, reason)
    }
}

impl serde::de::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Fault {
        let message = message.to_string();
        match message.split_once(FIELD_END) {
            Some((field, reason)) => Fault::new(field, reason),
            None => Fault::by("", Cause::OfText(message)),
        }
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn serde::de::Expected) -> Fault {
        let expected = expected.to_string();
        // Serde says this of a type without its own words.
        let expected = if expected.starts_with("struct ") {
            "expected a table".to_owned()
        } else {
            format!("expected {expected}")
        };
        let reason = match expected.split_once(TABLE) {
            Some((words, table)) if table.starts_with('{') => Reason::from(words).table(table),
            _ => expected.into(),
        };
        let found = match found {
            Unexpected::Map => ", not a table",
            Unexpected::Seq => ", not a list",
            _ => "",
        };
        Fault::new("", reason.words(found))
    }

    fn invalid_value(_: Unexpected<'_>, reason: &dyn serde::de::Expected) -> Fault {
        Fault::by("", Cause::OfValue(reason.to_string()))
    }

    fn unknown_field(key: &str, known: &'static [&'static str]) -> Fault {
        let named = known
            .iter()
            .filter(|known| **known != REST && !known.contains('.'));
        Fault::by(key, Cause::Unknown(named.copied().collect()))
    }

    fn missing_field(key: &'static str) -> Fault {
        Fault::new(key, "is missing")
    }

    fn duplicate_field(key: &'static str) -> Fault {
        Fault::new(key, "is given twice; once is enough")
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl std::error::Error for Fault {}

macro_rules! numbers {
    ($($method:ident $visit:ident $reason:literal)+) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            // Numbers have no case, but booleans do.
            match self.scalar()?.to_ascii_lowercase().parse() {
                Ok(number) => visitor.$visit(number),
                Err(_) => Err(refused($reason)),
            }
        }
    )+};
}

impl<'de> Deserializer<'de> for &Node {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self {
            Node::Scalar(text) => visitor.visit_str(text),
            Node::List(items) => visitor.visit_seq(Items { items, next: 0 }),
            Node::Table(entries) => visitor.visit_map(Entries::new(entries, &[])),
        }
    }

    numbers! {
        deserialize_u8 visit_u8 "is not a whole number such as 1"
        deserialize_u16 visit_u16 "is not a whole number such as 1"
        deserialize_u32 visit_u32 "is not a whole number such as 1"
        deserialize_u64 visit_u64 "is not a whole number such as 1"
        deserialize_f64 visit_f64 "is not a number such as 1.2"
        deserialize_bool visit_bool "is neither true nor false"
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match self {
            Node::Table(entries) if name == AS_IT_IS => {
                let lined = |entry: &'_ Entry| {
                    let line = entry.line.map_or(String::new(), |line| line.to_string());
                    format!("{line}{FIELD_END}{}", entry.key)
                };
                let entries = entries.iter().map(|entry| (lined(entry), &entry.value));
                visitor.visit_map(MapDeserializer::new(entries))
            }
            _ if name == AS_IT_IS => self.deserialize_any(visitor),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self {
            Node::List(_) => self.deserialize_any(visitor),
            _ => Err(Fault::by("", Cause::NoList)),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match self {
            Node::Table(entries) => {
                no_name_of_ours(entries, fields)?;
                visitor.visit_map(Entries::new(entries, fields))
            }
            Node::List(_) => Err(Fault::invalid_type(Unexpected::Seq, &visitor)),
            Node::Scalar(text) => Err(Fault::invalid_type(Unexpected::Str(text), &visitor)),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_enum(Variant::chosen(self, name, variants)?)
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u128 f32 char str string bytes byte_buf unit unit_struct tuple tuple_struct map identifier
        ignored_any
    }
}

/// The items of a list. An error names the item by its index, counted from zero, unless there is only one.
struct Items<'v> {
    items: &'v [Node],
    next: usize,
}

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = Fault;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Fault> {
        let place = self.next;
        let Some(item) = self.items.get(place) else {
            return Ok(None);
        };
        self.next += 1;
        let read = seed
            .deserialize(item)
            .map_err(|fault| match self.items.len() {
                1 => fault.of(item),
                _ => fault.within(&format!("[{place}]"), item),
            });
        read.map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len() - self.next)
    }
}

/// True if a field's name has a special meaning to this reader.
fn is_ours(key: &str) -> bool {
    key == REST || key.contains('.') || UNNAMED.contains(&key)
}

/// Refuses names of fields such as [`REST`] in documents: they are internal.
fn no_name_of_ours(given: &[Entry], fields: &'static [&'static str]) -> Result<(), Fault> {
    // A struct with a rest leaves the error to the rest, which knows more names.
    let has_rest = fields.contains(&REST);
    match given.iter().find(|entry| !has_rest && is_ours(&entry.key)) {
        Some(entry) => Err(serde::de::Error::unknown_field(&entry.key, fields)),
        None => Ok(()),
    }
}

/// The entries of a table, some of which may be grouped.
struct Entries<'v> {
    entries: std::vec::IntoIter<(&'v str, Cow<'v, Node>)>,
    value: Option<(&'v str, Cow<'v, Node>)>,
    fields: &'static [&'static str],
}

impl<'v> Entries<'v> {
    /// Returns the entries for a struct with these fields.
    fn new(given: &'v [Entry], fields: &'static [&'static str]) -> Entries<'v> {
        let mut entries: Vec<_> = given
            .iter()
            .map(|entry| (entry.key.as_str(), Cow::Borrowed(&entry.value)))
            .collect();
        for field in fields {
            if let Some((outer, inner)) = field.split_once('.')
                && let Some((_, table)) = entries.iter_mut().find(|(key, _)| *key == outer)
                && let Node::Table(all) = &**table
                && all.iter().any(|entry| entry.key == inner)
            {
                let (taken, rest) = all
                    .iter()
                    .cloned()
                    .partition::<Vec<_>, _>(|entry| entry.key == inner);
                *table = Cow::Owned(Node::Table(rest));
                let taken = taken.into_iter().next().map(|entry| entry.value);
                entries.extend(taken.map(|value| (*field, Cow::Owned(value))));
            }
        }
        if fields.contains(&REST) {
            let is_own = |key: &str| fields.contains(&key);
            // The groups above stay, and a document's entries with such names are removed.
            entries.retain(|(key, value)| {
                is_own(key) && (!is_ours(key) || matches!(value, Cow::Owned(_)))
            });
            let rest = given
                .iter()
                .filter(|entry| is_ours(&entry.key) || !is_own(&entry.key));
            entries.push((REST, Cow::Owned(Node::Table(rest.cloned().collect()))));
        }
        Entries {
            entries: entries.into_iter(),
            value: None,
            fields,
        }
    }
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = Fault;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Fault> {
        self.value = self.entries.next();
        let key = self.value.as_ref().map(|(key, _)| *key);
        let read = key.map(|key| seed.deserialize(StrDeserializer::new(key)));
        read.transpose()
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Fault> {
        let Some((key, value)) = self.value.take() else {
            return Err(Fault::custom("no value is left"));
        };
        seed.deserialize(&*value).map_err(|fault| match key {
            REST => fault.knowing(self.fields),
            key => {
                let inner = |field: &&'static str| field.strip_prefix(key)?.strip_prefix('.');
                let more = self.fields.iter().filter_map(inner);
                let keys: Vec<_> = std::iter::once(REST).chain(more).collect();
                fault.knowing(&keys).within(key, &value)
            }
        })
    }
}

/// A variant of an enum, with its value.
struct Variant<'v> {
    name: &'static str,
    content: Cow<'v, Node>,
}

impl<'v> Variant<'v> {
    /// Returns the variant of the enum `what` that the value selects.
    fn chosen(
        value: &'v Node,
        what: &str,
        variants: &[&'static str],
    ) -> Result<Variant<'v>, Fault> {
        let unnamed = |name: &str| {
            let name = variants.iter().copied().find(|of| *of == name);
            name.map(|name| Variant {
                name,
                content: Cow::Borrowed(value),
            })
        };
        let named = |text: &str| {
            variants
                .iter()
                .copied()
                .find(|name| name.eq_ignore_ascii_case(text) && !UNNAMED.contains(name))
        };
        let names = || {
            let names = variants.iter().filter(|name| !UNNAMED.contains(name));
            names.copied().collect::<Vec<_>>()
        };
        let unknown = |text: &str| {
            let hint = hint(text, &names());
            refused(format!("is not a known {what}{}", told(&hint, &names())))
        };
        match value {
            Node::Scalar(text) => match named(text) {
                Some(name) => Ok(Variant {
                    name,
                    content: Cow::Owned(Node::Table(Vec::new())),
                }),
                None if names().is_empty() => {
                    unnamed("").ok_or_else(|| refused("is not a table of settings".to_string()))
                }
                None => unnamed("").ok_or_else(|| unknown(text)),
            },
            Node::List(_) => unnamed("[]").ok_or_else(|| {
                let reason = format!(
                    "expected one {what}, not a list; known: {}",
                    names().join(", ")
                );
                Fault::new("", reason)
            }),
            Node::Table(entries) => {
                let mut kinds = entries.iter().filter(|entry| entry.key == "kind");
                // If no variant has a name, `kind` is an ordinary key.
                let Some(kind) = kinds.next().filter(|_| !names().is_empty()) else {
                    let reason = || format!("is missing; known: {}", names().join(", "));
                    return unnamed("{}").ok_or_else(|| Fault::new("kind", reason()));
                };
                if kinds.next().is_some() {
                    return Err(Fault::duplicate_field("kind"));
                }
                let wrong = |fault: Fault| fault.within("kind", &kind.value);
                let text = kind.value.scalar().map_err(wrong)?;
                let rest = entries.iter().filter(|entry| entry.key != "kind").cloned();
                let content = Cow::Owned(Node::Table(rest.collect()));
                Ok(Variant {
                    name: named(text).ok_or_else(|| wrong(unknown(text)))?,
                    content,
                })
            }
        }
    }
}

impl<'de> EnumAccess<'de> for Variant<'_> {
    type Error = Fault;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), Fault> {
        Ok((seed.deserialize(StrDeserializer::new(self.name))?, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        match &*self.content {
            Node::Table(entries) if let Some(entry) = entries.first() => {
                Err(Fault::by(&entry.key, Cause::Unknown(vec!["kind"])))
            }
            _ => Ok(()),
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Fault> {
        let read = seed.deserialize(&*self.content);
        read.map_err(|fault| match self.name {
            name if UNNAMED.contains(&name) => fault,
            _ => fault.knowing(&["kind", REST]),
        })
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Fault> {
        self.content.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let read = self.content.deserialize_struct("", fields, visitor);
        read.map_err(|fault| match self.name {
            name if UNNAMED.contains(&name) => fault,
            _ => fault.knowing(&["kind", REST]),
        })
    }
}

impl Node {
    fn scalar(&self) -> Result<&str, Fault> {
        let text = self.text("one value");
        text.map_err(|error| Fault::new("", error.reason))
    }
}
