//! The values of cells, and the units in which they are written.

use std::borrow::Cow;

use serde::Serialize;
use units::{Bytes, Duration, Rate};

/// The type of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A whole number.
    Whole,
    /// A number.
    Real,
    /// A text.
    Text,
    /// A list of structs.
    List,
}

/// The value of a cell that is not a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value<'c> {
    /// A whole number.
    Whole(u64),
    /// A number.
    Real(f64),
    /// A text.
    Text(Cow<'c, str>),
}

/// The units at the end of names.
pub(crate) const UNITS: [&str; 4] = ["_ms", "_s", "_bps", "_bytes"];

/// A name without its unit, and the unit: `rtt_ms` has one; `jain_per_s` has none.
pub fn split_unit(name: &str) -> (&str, &str) {
    let of = |unit: &&str| name.ends_with(*unit) && !name.ends_with("_per_s");
    let unit = UNITS.into_iter().find(of).unwrap_or_default();
    name.split_at(name.len() - unit.len())
}

/// Panics if the name does not end with one of these units; without units, if it ends with one.
pub(crate) fn check_unit(name: &str, units: &[&str]) {
    let unit = split_unit(name).1;
    if units.is_empty() {
        assert!(
            unit.is_empty(),
            "{name} has a unit, and its values have none"
        );
    } else {
        assert!(
            units.contains(&unit),
            "{name} does not end with its unit, one of {units:?}"
        );
    }
}

/// A type whose values are cells. It determines the type of a column. The column's name determines the unit.
pub trait Cell<'c> {
    /// The type of the column.
    const KIND: Kind;

    /// The units of which the column's name must have one. Empty if the values have no unit that is known.
    const UNITS: &'static [&'static str] = &[];

    /// The value in this unit; `None` for null.
    fn value(self, unit: &str) -> Option<Value<'c>>;
}

macro_rules! cells {
    ($($type:ty: $kind:ident $(in $units:expr)?, |$cell:ident, $unit:pat_param| $value:expr;)*) => {$(
        impl<'c> Cell<'c> for $type {
            const KIND: Kind = Kind::$kind;
            $(const UNITS: &'static [&'static str] = &$units;)?

            fn value(self, $unit: &str) -> Option<Value<'c>> {
                let $cell = self;
                Some(Value::$kind($value))
            }
        }
    )*};
}

cells! {
    u64: Whole, |cell, _| cell;
    u32: Whole, |cell, _| cell.into();
    u16: Whole, |cell, _| cell.into();
    bool: Whole, |cell, _| cell.into();
    usize: Whole, |cell, _| cell as u64;
    Bytes: Whole in ["_bytes"], |cell, _| cell.get();
    Rate: Whole in ["_bps"], |cell, _| cell.bits_per_sec();
    f64: Real, |cell, _| cell;
    Duration: Real in ["_ms", "_s"], |cell, unit| match unit {
        "_ms" => cell.as_millis_f64(),
        _ => cell.as_secs_f64(),
    };
    &'c str: Text, |cell, _| cell.into();
    String: Text, |cell, _| cell.into();
    Cow<'c, str>: Text, |cell, _| cell;
}

/// An unknown value is null.
impl<'c, T: Cell<'c>> Cell<'c> for Option<T> {
    const KIND: Kind = T::KIND;
    const UNITS: &'static [&'static str] = T::UNITS;

    fn value(self, unit: &str) -> Option<Value<'c>> {
        self?.value(unit)
    }
}
