//! Bounds of single values, for `#[serde(deserialize_with)]`.

use alloc::format;
use alloc::string::{String, ToString};
use core::fmt::{self, Display};
use core::ops::RangeInclusive;
use core::str::FromStr;

use ::serde::de::{Error, Expected, Unexpected};
use ::serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Bytes, Duration, ParseError, Rate, Ratio, parsed};

/// The error that a value is refused for `reason`, which follows the value in the message.
pub fn refused<E: Error>(reason: impl Display) -> E {
    struct Reason<T>(T);
    impl<T: Display> Expected for Reason<T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.fmt(f)
        }
    }
    E::invalid_value(Unexpected::Other("value"), &Reason(reason))
}

/// A quantity that must not be zero.
pub trait Amount {
    /// An example value.
    const EXAMPLE: &str;

    /// The least value: a smaller number in a text is zero.
    const LEAST: &str;

    /// Whether the value is zero.
    fn is_none_at_all(&self) -> bool;
}

macro_rules! amounts {
    ($($type:ty: $example:literal, $least:literal)+) => {$(
        impl Amount for $type {
            const EXAMPLE: &str = $example;
            const LEAST: &str = $least;

            fn is_none_at_all(&self) -> bool {
                self.is_zero()
            }
        }
    )+};
}

amounts! {
    Rate: "a rate such as 20mbit", "8bit, the least rate"
    Duration: "a time such as 10ms", "1ns, the least time"
    Bytes: "a size such as 100kb", "1b, the least size"
}

impl<T: Amount> Amount for Option<T> {
    const EXAMPLE: &str = T::EXAMPLE;
    const LEAST: &str = T::LEAST;

    fn is_none_at_all(&self) -> bool {
        self.as_ref().is_some_and(T::is_none_at_all)
    }
}

/// Reads a value above zero.
pub fn positive<'de, D: Deserializer<'de>, T: Deserialize<'de> + Amount>(
    deserializer: D,
) -> Result<T, D::Error> {
    let amount = T::deserialize(deserializer)?;
    if amount.is_none_at_all() {
        let (least, example) = (T::LEAST, T::EXAMPLE);
        Err(refused(format!("is less than {least}; give {example}")))
    } else {
        Ok(amount)
    }
}

/// Reads an optional field by its `FromStr`.
///
/// # Errors
///
/// The text is not such a value.
pub fn given<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: Display>,
{
    parsed(deserializer).map(Some)
}

/// Reads a share of at most 100 %.
pub fn share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Ratio, D::Error> {
    Ok(Share::read(deserializer)?.ratio)
}

/// Reads a share of lost packets, where `1` may be meant as one percent: all packets must be written as `100%`.
pub fn lost_share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Ratio, D::Error> {
    let share = Share::read(deserializer)?;
    if share.ratio == Ratio::ONE && share.number.is_some() {
        let reason = "could be all or one in a hundred; write 100% or 1%";
        return Err(refused(reason));
    }
    Ok(share.ratio)
}

struct Share {
    ratio: Ratio,
    /// The text, if it has no percent sign.
    number: Option<String>,
}

impl Share {
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Share, D::Error> {
        let share: Share = parsed(deserializer)?;
        match share.problem() {
            Some(problem) => Err(refused(problem)),
            None => Ok(share),
        }
    }

    /// The reason why it is not a share, if it is none. `90` was probably meant as percent.
    fn problem(&self) -> Option<String> {
        if self.ratio <= Ratio::ONE {
            return None;
        }
        let fix = match self.percent() {
            Some(percent) => format!("; write {percent} if percent are meant"),
            None => String::new(),
        };
        Some(format!("is more than 100%{fix}"))
    }

    fn percent(&self) -> Option<String> {
        let percent = format!("{}%", self.number.as_deref()?);
        let share: Ratio = percent.parse().ok()?;
        (share <= Ratio::ONE).then_some(percent)
    }
}

/// Reads a share of at most 100 %.
///
/// # Errors
///
/// A message about the text.
pub fn share_of(text: &str) -> Result<Ratio, String> {
    let share: Share = text
        .parse()
        .map_err(|error: ParseError| error.to_string())?;
    match share.problem() {
        Some(problem) => Err(problem),
        None => Ok(share.ratio),
    }
}

impl FromStr for Share {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Share, ParseError> {
        let parsed: Result<Ratio, _> = text.parse();
        let ratio = match parsed {
            // More than 100 % is not a share, whatever the value.
            Err(error) if error.is_too_large() => Ratio::new(2, 1),
            parsed => parsed?,
        };
        Ok(Share {
            ratio,
            number: (!text.contains('%')).then(|| text.trim().to_string()),
        })
    }
}

/// Reads a whole number within the range, for a field that may be optional. `reason` is the message for other numbers.
pub fn whole<'de, D: Deserializer<'de>, T: From<u64>>(
    deserializer: D,
    range: RangeInclusive<u64>,
    reason: &str,
) -> Result<T, D::Error> {
    let number = u64::deserialize(deserializer)?;
    if range.contains(&number) {
        Ok(number.into())
    } else {
        Err(refused(reason))
    }
}

/// Reads a number without unit, for a field that may be optional. `problem` may refuse it.
///
/// # Errors
///
/// It is not a number, or `problem` refuses it.
pub fn gain<'de, D, T, P>(
    deserializer: D,
    problem: impl Fn(Ratio) -> Option<P>,
) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: From<Ratio>,
    P: Display,
{
    let Number(gain) = parsed(deserializer)?;
    // For an overflow, `problem`'s message is more helpful if there is one.
    match problem(gain.unwrap_or(Number::MAX)) {
        Some(problem) => Err(refused(problem)),
        None => Number(gain).sized().map(T::from),
    }
}

/// A number without unit. `None` is above [`Number::MAX`].
struct Number(Option<Ratio>);

impl Number {
    const MAX: Ratio = Ratio::new(u32::MAX, 1_000_000_000);

    /// The number, unless it is too large.
    fn sized<E: Error>(self) -> Result<Ratio, E> {
        let reason = "is too large; give a number such as 1.25; at most 4.29";
        self.0.ok_or_else(|| refused(reason))
    }
}

impl FromStr for Number {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Number, &'static str> {
        let parsed: Result<Ratio, ParseError> = text.parse();
        match parsed {
            Ok(number) => Ok(Number(Some(number))),
            Err(error) if error.is_too_large() => Ok(Number(None)),
            Err(_) => Err("give a number such as 1.25; at most 4.29"),
        }
    }
}

/// A number without unit, such as 1.2.
pub mod number {
    use super::*;

    /// Reads a number.
    ///
    /// # Errors
    ///
    /// The text is not a number, or one that is too large.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Ratio, D::Error> {
        parsed(deserializer).and_then(Number::sized)
    }

    /// Writes a number.
    ///
    /// # Errors
    ///
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(number: &Ratio, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&number.as_f64())
    }
}

/// An optional count, written as text.
pub fn count_as_text<S: Serializer>(count: &Option<u64>, serializer: S) -> Result<S::Ok, S::Error> {
    count.map(|count| count.to_string()).serialize(serializer)
}

/// A value alone, as a short form of a table, or the table.
#[derive(Deserialize)]
#[serde(crate = "::serde")]
enum Short<V, T> {
    #[serde(rename = "")]
    Alone(V),
    #[serde(rename = "{}")]
    Table(T),
}

/// Reads a table, or a value alone as its short form.
pub fn short<'de, D, V, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    V: Deserialize<'de>,
    T: Deserialize<'de> + From<V>,
{
    Ok(Some(match Short::<V, T>::deserialize(deserializer)? {
        Short::Alone(value) => value.into(),
        Short::Table(table) => table,
    }))
}
