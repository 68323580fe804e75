//! Values as text, in any format of serde.

use core::fmt::{self, Display};
use core::marker::PhantomData;
use core::str::FromStr;

use ::serde::de::{Deserializer, Error, Visitor};

use crate::{Bytes, Duration, Rate, Ratio};

/// For the expansion of [`as_text`](crate::as_text).
#[doc(hidden)]
pub use ::serde as reexport;

/// Implements serde for types by their `FromStr` and `Display`.
#[macro_export]
macro_rules! as_text {
    ($($type:ty),+) => {$(
        impl $crate::__serde::Serialize for $type {
            fn serialize<S: $crate::__serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> $crate::__serde::Deserialize<'de> for $type {
            fn deserialize<D: $crate::__serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::parsed(deserializer)
            }
        }
    )+};
}

as_text!(Bytes, Duration, Rate, Ratio);

/// Reads a value by its `FromStr`, for `#[serde(deserialize_with)]`.
///
/// # Errors
///
/// There is no text, or it is not such a value.
pub fn parsed<'de, D: Deserializer<'de>, T: FromStr<Err: Display>>(
    deserializer: D,
) -> Result<T, D::Error> {
    struct Text<T>(PhantomData<T>);

    impl<T: FromStr<Err: Display>> Visitor<'_> for Text<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("one value")
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
            text.parse().map_err(E::custom)
        }
    }

    deserializer.deserialize_str(Text(PhantomData))
}
