//! A span of each quantity.

use std::fmt;

use serde::de::{DeserializeSeed, Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::form::Form;
use crate::quantity::{Quantity, Span};

const QUANTITIES: usize = Quantity::ALL.len();

/// The fields of all bounds, two for each quantity.
const FIELDS: [&str; 2 * QUANTITIES] = {
    let mut fields = [""; 2 * QUANTITIES];
    let mut place = 0;
    while place < QUANTITIES {
        [fields[2 * place], fields[2 * place + 1]] = Quantity::ALL[place].fields();
        place += 1;
    }
    fields
};

/// The span of each quantity in [`Quantity::ALL`]. It is read from a table with the [fields](Quantity::fields) of those that
/// have bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spans(pub [Span; QUANTITIES]);

impl Spans {
    /// All values of all quantities.
    pub const ANY: Spans = Spans([Span::ANY; QUANTITIES]);

    /// The span of a quantity.
    pub const fn of(&self, quantity: Quantity) -> Span {
        self.0[quantity as usize]
    }

    /// The same with this span of a quantity.
    #[must_use]
    pub const fn with(mut self, quantity: Quantity, span: Span) -> Spans {
        self.0[quantity as usize] = span;
        self
    }
}

impl<'de> Deserialize<'de> for Spans {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Spans, D::Error> {
        deserializer.deserialize_struct("Spans", &FIELDS, Bounds)
    }
}

struct Bounds;

impl<'de> Visitor<'de> for Bounds {
    type Value = Spans;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table of bounds")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut bounds: A) -> Result<Spans, A::Error> {
        let mut spans = Spans::ANY;
        while let Some(field) = bounds.next_key::<String>()? {
            let place = FIELDS.iter().position(|known| *known == field);
            let place = place.ok_or_else(|| Error::unknown_field(&field, &FIELDS))?;
            let bound = bounds.next_value_seed(Bound(Quantity::ALL[place / 2].form()))?;
            let span = &mut spans.0[place / 2];
            match place % 2 {
                0 => span.from = bound,
                _ => span.below = bound,
            }
        }
        Ok(spans)
    }
}

/// A bound in this form.
struct Bound(Form);

impl<'de> DeserializeSeed<'de> for Bound {
    type Value = u64;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<u64, D::Error> {
        self.0.bound(deserializer)
    }
}
