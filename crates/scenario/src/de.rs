//! Reads what serde can from a [`Value`]: its scalars are texts, whatever should become of them, and its errors name the
//! field and the text.
//!
//! Two things are written otherwise than serde's formats have them. A variant of an enum is a name, or a table with the
//! name as `kind`; the variants called `""`, `"[]"` and `"{}"` are what a scalar, a list and a table without `kind` mean.
//! And a field called [`REST`] is the same table's other keys; one called `a.b` is `b` in the table `a`.

use std::borrow::Cow;
use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error as _, MapAccess, SeqAccess,
    Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::error::{ScenarioError, unknown_key};
use super::value::{Entry, Value, shortened};

/// The field that stands for the rest of its table.
pub const REST: &str = "*";

/// The variants that have no name.
pub const UNNAMED: [&str; 3] = ["", "[]", "{}"];

/// Reads a `T`; the error's field is relative to the value.
pub fn read<T: DeserializeOwned>(value: &Value) -> Result<T, ScenarioError> {
    T::deserialize(value).map_err(|fault| fault.of(value).into())
}

/// Reads a `T` from a table of these entries, less those that are called one of `others`, which are known too.
pub fn read_but<T: DeserializeOwned>(
    entries: &[Entry],
    others: &[&'static str],
) -> Result<T, ScenarioError> {
    let own = entries
        .iter()
        .filter(|entry| !others.contains(&entry.key.as_str()));
    let table = Value::Table(own.cloned().collect());
    T::deserialize(&table).map_err(|fault| fault.knowing(others).into())
}

/// The error that `field`, of what is being read, has `reason`.
pub fn wrong<E: serde::de::Error>(field: impl fmt::Display, reason: impl fmt::Display) -> E {
    E::custom(format_args!("{field}{FIELD_END}{reason}"))
}

/// The error that the value being read has `reason`, which follows on the value.
pub fn refused<E: serde::de::Error>(reason: impl fmt::Display) -> E {
    struct Reason<T>(T);
    impl<T: fmt::Display> serde::de::Expected for Reason<T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.fmt(f)
        }
    }
    E::invalid_value(Unexpected::Other("value"), &Reason(reason))
}

/// Errors of serde are one text; in ours this tells the field from the reason.
const FIELD_END: char = '\u{1f}';

/// Why a value cannot be read.
#[derive(Debug)]
pub struct Fault {
    field: String,
    reason: Reason,
}

#[derive(Debug)]
enum Reason {
    /// All there is to say.
    Whole(String),
    /// What follows the value.
    OfValue(String),
    /// What follows the value in quotes and a colon.
    OfText(String),
    /// The list's name is part of it.
    NoList,
    /// The keys that are known.
    Unknown(Vec<&'static str>),
}

impl Fault {
    fn new(field: &str, reason: Reason) -> Fault {
        let field = field.to_string();
        Fault { field, reason }
    }

    /// The same, of this value.
    fn of(mut self, value: &Value) -> Fault {
        self.reason = match (self.reason, value) {
            (Reason::OfText(reason), Value::Scalar(text)) => {
                Reason::Whole(format!("\"{}\": {reason}", shortened(text)))
            }
            (Reason::OfText(reason), _) => Reason::Whole(reason),
            (Reason::OfValue(reason), value) => Reason::Whole(value.wrong(&reason).reason),
            (reason, _) => reason,
        };
        self
    }

    /// The same, seen from the table in which the value is called `key`.
    fn within(mut self, key: &str, value: &Value) -> Fault {
        self = self.of(value);
        if let Reason::NoList = self.reason {
            self.reason = Reason::Whole(match value {
                Value::Scalar(text) => format!(
                    "{} is no list; write [\"{text}\"], or [[{key}]] for tables",
                    shortened(text)
                ),
                _ => format!("is a list; write [[{key}]]"),
            });
        }
        if let Reason::Unknown(known) = &self.reason {
            self.reason = Reason::Whole(unknown_key(&self.field, known));
        }
        self.field = ScenarioError::new(self.field, "").within(key).field;
        self
    }

    /// The same, where these keys are known too.
    fn knowing(mut self, others: &[&'static str]) -> Fault {
        if let Reason::Unknown(known) = &mut self.reason {
            let more = others
                .iter()
                .filter(|other| **other != REST && !known.contains(other));
            known.extend(more.copied().collect::<Vec<_>>());
        }
        self
    }
}

impl From<Fault> for ScenarioError {
    fn from(fault: Fault) -> ScenarioError {
        let reason = match fault.reason {
            Reason::Whole(reason) | Reason::OfValue(reason) | Reason::OfText(reason) => reason,
            Reason::NoList => "is no list".to_string(),
            Reason::Unknown(known) => unknown_key(&fault.field, &known),
        };
        ScenarioError::new(fault.field, reason)
    }
}

impl serde::de::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Fault {
        let message = message.to_string();
        match message.split_once(FIELD_END) {
            Some((field, reason)) => Fault::new(field, Reason::Whole(reason.to_string())),
            None => Fault::new("", Reason::OfText(message)),
        }
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn serde::de::Expected) -> Fault {
        let found = match found {
            Unexpected::Map => ", not a table",
            Unexpected::Seq => ", not a list",
            _ => "",
        };
        Fault::new("", Reason::Whole(format!("expected {expected}{found}")))
    }

    fn invalid_value(_: Unexpected<'_>, reason: &dyn serde::de::Expected) -> Fault {
        Fault::new("", Reason::OfValue(reason.to_string()))
    }

    fn unknown_field(key: &str, known: &'static [&'static str]) -> Fault {
        let named = known
            .iter()
            .filter(|known| **known != REST && !known.contains('.'));
        Fault::new(key, Reason::Unknown(named.copied().collect()))
    }

    fn missing_field(key: &'static str) -> Fault {
        Fault::new(key, Reason::Whole("is missing".to_string()))
    }

    fn duplicate_field(key: &'static str) -> Fault {
        Fault::new(
            key,
            Reason::Whole("is given twice; once is enough".to_string()),
        )
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
            match self.scalar()?.parse() {
                Ok(number) => visitor.$visit(number),
                Err(_) => Err(refused($reason)),
            }
        }
    )+};
}

impl<'de> Deserializer<'de> for &Value {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self {
            Value::Scalar(text) => visitor.visit_str(text),
            Value::List(items) => visitor.visit_seq(Items { items, next: 0 }),
            Value::Table(entries) => visitor.visit_map(Entries::new(entries, &[])),
        }
    }

    numbers! {
        deserialize_u8 visit_u8 "is no whole number such as 1"
        deserialize_u16 visit_u16 "is no whole number such as 1"
        deserialize_u32 visit_u32 "is no whole number such as 1"
        deserialize_u64 visit_u64 "is no whole number such as 1"
        deserialize_f64 visit_f64 "is no number such as 1.2"
        deserialize_bool visit_bool "is neither true nor false"
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self {
            Value::List(_) => self.deserialize_any(visitor),
            _ => Err(Fault::new("", Reason::NoList)),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match self {
            Value::Table(entries) => visitor.visit_map(Entries::new(entries, fields)),
            Value::List(_) => Err(Fault::invalid_type(Unexpected::Seq, &visitor)),
            Value::Scalar(text) => Err(Fault::invalid_type(Unexpected::Str(text), &visitor)),
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

/// The items of a list. An error names the item by its place, counted from zero, unless there is only one.
struct Items<'v> {
    items: &'v [Value],
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

/// The entries of a table, of which some may be put together.
struct Entries<'v> {
    entries: std::vec::IntoIter<(&'v str, Cow<'v, Value>)>,
    value: Option<(&'v str, Cow<'v, Value>)>,
    fields: &'static [&'static str],
}

impl<'v> Entries<'v> {
    /// The entries, for a struct with these fields.
    fn new(given: &'v [Entry], fields: &'static [&'static str]) -> Entries<'v> {
        let mut entries: Vec<_> = given
            .iter()
            .map(|entry| (entry.key.as_str(), Cow::Borrowed(&entry.value)))
            .collect();
        for field in fields {
            if let Some((outer, inner)) = field.split_once('.')
                && let Some((_, table)) = entries.iter_mut().find(|(key, _)| *key == outer)
                && let Value::Table(all) = &**table
                && all.iter().any(|entry| entry.key == inner)
            {
                let (taken, rest) = all
                    .iter()
                    .cloned()
                    .partition::<Vec<_>, _>(|entry| entry.key == inner);
                *table = Cow::Owned(Value::Table(rest));
                let taken = taken.into_iter().next().map(|entry| entry.value);
                entries.extend(taken.map(|value| (*field, Cow::Owned(value))));
            }
        }
        if fields.contains(&REST) {
            entries.retain(|(key, _)| fields.contains(key));
            let rest = given
                .iter()
                .filter(|entry| !fields.contains(&entry.key.as_str()));
            entries.push((REST, Cow::Owned(Value::Table(rest.cloned().collect()))));
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
                let more: Vec<_> = self.fields.iter().filter_map(inner).collect();
                fault.knowing(&more).within(key, &value)
            }
        })
    }
}

/// A variant of an enum, and what there is of it.
struct Variant<'v> {
    name: &'static str,
    content: Cow<'v, Value>,
}

impl<'v> Variant<'v> {
    /// The one that the value is, of the enum `what`.
    fn chosen(
        value: &'v Value,
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
                .find(|name| *name == text && !UNNAMED.contains(name))
        };
        let names = || {
            let names = variants.iter().filter(|name| !UNNAMED.contains(name));
            names.copied().collect::<Vec<_>>().join(", ")
        };
        match value {
            Value::Scalar(text) => match named(text) {
                Some(name) => Ok(Variant {
                    name,
                    content: Cow::Owned(Value::Table(Vec::new())),
                }),
                None => unnamed("")
                    .ok_or_else(|| refused(format!("is no known {what}; known: {}", names()))),
            },
            Value::List(_) => unnamed("[]").ok_or_else(|| {
                Fault::new(
                    "",
                    Reason::Whole(format!("expected a {what}, not a list; known: {}", names())),
                )
            }),
            Value::Table(entries) => {
                let Some(kind) = entries.iter().find(|entry| entry.key == "kind") else {
                    return unnamed("{}").ok_or_else(|| Fault::missing_field("kind"));
                };
                let wrong = |fault: Fault| fault.within("kind", &kind.value);
                let text = kind.value.scalar().map_err(wrong)?;
                let unknown = || wrong(refused(format!("is no known {what}; known: {}", names())));
                let rest = entries.iter().filter(|entry| entry.key != "kind").cloned();
                let content = Cow::Owned(Value::Table(rest.collect()));
                Ok(Variant {
                    name: named(text).ok_or_else(unknown)?,
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
            Value::Table(entries) if let Some(entry) = entries.first() => {
                Err(Fault::new(&entry.key, Reason::Unknown(vec!["kind"])))
            }
            _ => Ok(()),
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Fault> {
        let read = seed.deserialize(&*self.content);
        read.map_err(|fault| match self.name {
            name if UNNAMED.contains(&name) => fault,
            _ => fault.knowing(&["kind"]),
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
            _ => fault.knowing(&["kind"]),
        })
    }
}

impl Value {
    fn scalar(&self) -> Result<&str, Fault> {
        let text = self.text("one value");
        text.map_err(|error| Fault::new("", Reason::Whole(error.reason)))
    }
}
