//! Writes what [`de`](super::de) reads, as TOML.

use serde::ser::{
    Error as _, Impossible, Serialize, SerializeSeq, SerializeStruct, SerializeStructVariant,
    Serializer,
};
use toml::{Table, Value as Toml};

use super::de::{REST, UNNAMED};

/// Why a value cannot be written: it is of no type that a scenario has.
pub type Unwritable = serde::de::value::Error;

/// The table of a struct.
///
/// # Errors
///
/// Something in it is of a type that no scenario has.
pub fn table(value: &impl Serialize) -> Result<Table, Unwritable> {
    match value.serialize(Writer)? {
        Some(Toml::Table(table)) => Ok(table),
        _ => Err(Unwritable::custom("is no table")),
    }
}

/// The text of a struct. Only floating point and lists of lists could not be written, and no scenario has them.
pub fn text(value: &impl Serialize) -> String {
    table(value).unwrap_or_default().to_string()
}

/// Gives nothing where nothing is written.
struct Writer;

type Written = Result<Option<Toml>, Unwritable>;

fn scalar(text: impl ToString) -> Written {
    Ok(Some(Toml::String(text.to_string())))
}

macro_rules! as_text {
    ($($method:ident $type:ty)+) => {$(
        fn $method(self, value: $type) -> Written {
            scalar(value)
        }
    )+};
}

macro_rules! whole {
    ($($method:ident $type:ty)+) => {$(
        fn $method(self, value: $type) -> Written {
            // TOML's integers end at 2^63.
            i64::try_from(value).map_or_else(|_| scalar(value), |whole| Ok(Some(Toml::Integer(whole))))
        }
    )+};
}

impl Serializer for Writer {
    type Ok = Option<Toml>;
    type Error = Unwritable;
    type SerializeSeq = List;
    type SerializeTuple = Impossible<Option<Toml>, Unwritable>;
    type SerializeTupleStruct = Impossible<Option<Toml>, Unwritable>;
    type SerializeTupleVariant = Impossible<Option<Toml>, Unwritable>;
    type SerializeMap = Impossible<Option<Toml>, Unwritable>;
    type SerializeStruct = Fields;
    type SerializeStructVariant = Fields;

    whole! {
        serialize_i8 i8 serialize_i16 i16 serialize_i32 i32 serialize_i64 i64
        serialize_u8 u8 serialize_u16 u16 serialize_u32 u32 serialize_u64 u64
    }
    as_text! { serialize_f32 f32 serialize_f64 f64 serialize_char char serialize_str &str }

    fn serialize_bool(self, value: bool) -> Written {
        Ok(Some(Toml::Boolean(value)))
    }

    fn serialize_bytes(self, _: &[u8]) -> Written {
        Err(Unwritable::custom("bytes"))
    }

    fn serialize_none(self) -> Written {
        Ok(None)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Written {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Written {
        Ok(None)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Written {
        Ok(None)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, name: &'static str) -> Written {
        scalar(name)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Written {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        value: &T,
    ) -> Written {
        let content = value.serialize(Writer)?;
        let mut fields = Fields::of_variant(name);
        match content {
            Some(Toml::Table(content)) => fields.table.extend(content),
            content => return Ok(content),
        }
        Ok(Some(Toml::Table(fields.table)))
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<List, Unwritable> {
        Ok(List(Vec::new()))
    }

    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, Unwritable> {
        Err(Unwritable::custom("a tuple"))
    }

    fn serialize_tuple_struct(
        self,
        name: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTuple, Unwritable> {
        Err(Unwritable::custom(name))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTuple, Unwritable> {
        Err(Unwritable::custom(name))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, Unwritable> {
        Err(Unwritable::custom("a map"))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Fields, Unwritable> {
        Ok(Fields::default())
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Fields, Unwritable> {
        Ok(Fields::of_variant(name))
    }
}

/// A list of what was written.
struct List(Vec<Toml>);

impl SerializeSeq for List {
    type Ok = Option<Toml>;
    type Error = Unwritable;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unwritable> {
        self.0.extend(value.serialize(Writer)?);
        Ok(())
    }

    fn end(self) -> Written {
        Ok(Some(Toml::Array(self.0)))
    }
}

/// A table of what was written.
#[derive(Default)]
struct Fields {
    table: Table,
}

impl Fields {
    fn of_variant(name: &str) -> Fields {
        let mut fields = Fields::default();
        if !UNNAMED.contains(&name) {
            fields
                .table
                .insert("kind".to_string(), Toml::String(name.to_string()));
        }
        fields
    }

    fn put<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result<(), Unwritable> {
        match (value.serialize(Writer)?, key.split_once('.')) {
            (Some(Toml::Table(rest)), _) if key == REST => self.table.extend(rest),
            (Some(value), Some((outer, inner))) => {
                if let Some(Toml::Table(outer)) = self.table.get_mut(outer) {
                    outer.insert(inner.to_string(), value);
                }
            }
            (Some(value), None) => {
                self.table.insert(key.to_string(), value);
            }
            (None, _) => {}
        }
        Ok(())
    }
}

impl SerializeStruct for Fields {
    type Ok = Option<Toml>;
    type Error = Unwritable;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), Unwritable> {
        self.put(key, value)
    }

    fn end(self) -> Written {
        Ok(Some(Toml::Table(self.table)))
    }
}

impl SerializeStructVariant for Fields {
    type Ok = Option<Toml>;
    type Error = Unwritable;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), Unwritable> {
        self.put(key, value)
    }

    fn end(self) -> Written {
        Ok(Some(Toml::Table(self.table)))
    }
}
