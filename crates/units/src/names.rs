//! Closed sets of names. Values are read and written by name, and the error for an unknown name lists the known ones.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// The most known names in an error that also has a hint.
const MAX_LISTED: usize = 16;

/// The error that a name is unknown. Displays the nearest known name, and all if they are few.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownName {
    what: &'static str,
    hint: String,
    known: Vec<&'static str>,
}

impl UnknownName {
    /// The error that no `what` has this `name`. The known names are `known`.
    pub fn new(
        what: &'static str,
        name: &str,
        known: impl IntoIterator<Item = &'static str>,
    ) -> UnknownName {
        let known: Vec<&str> = known.into_iter().collect();
        let hint = hint(name, &known);
        UnknownName { what, hint, known }
    }

    /// The same error with one more known name.
    #[must_use]
    pub fn or(mut self, other: &'static str) -> UnknownName {
        self.known.push(other);
        self
    }
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown {}{}", self.what, told(&self.hint, &self.known))
    }
}

impl core::error::Error for UnknownName {}

/// Implements reading and writing by name for a type with `ALL` and `name`. Names are read in any case. Errors call the
/// type `$what`.
#[macro_export]
macro_rules! by_name {
    ($type:ty, $what:literal) => {
        impl ::core::fmt::Display for $type {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.pad(self.name())
            }
        }

        impl ::core::str::FromStr for $type {
            type Err = $crate::UnknownName;

            fn from_str(name: &str) -> Result<Self, $crate::UnknownName> {
                let mut all = <$type>::ALL.iter().copied();
                let is_named = |one: &$type| one.name().eq_ignore_ascii_case(name.trim());
                all.find(is_named).ok_or_else(|| {
                    let known = <$type>::ALL.iter().map(|one| one.name());
                    $crate::UnknownName::new($what, name, known)
                })
            }
        }
    };
}

/// Declares an enum whose variants have names, with `ALL`, `name`, and [`by_name`](crate::by_name).
#[macro_export]
macro_rules! named {
    (
        $(#[$of_type:meta])*
        $visibility:vis enum $type:ident, $what:literal {
            $($(#[$of_variant:meta])* $variant:ident = $name:literal,)+
        }
    ) => {
        $(#[$of_type])*
        $visibility enum $type {
            $($(#[$of_variant])* $variant,)+
        }

        impl $type {
            /// All variants.
            pub const ALL: &'static [$type] = &[$($type::$variant),+];

            /// The name used everywhere.
            pub const fn name(self) -> &'static str {
                match self {
                    $($type::$variant => $name,)+
                }
            }
        }

        $crate::by_name!($type, $what);
    };
}

/// The hint ``; did you mean `near`?`` for an unknown name. Empty if no known name is near.
pub fn hint(name: &str, known: &[&str]) -> String {
    let near = nearest(name, known);
    near.map_or(String::new(), |near| format!("; did you mean `{near}`?"))
}

/// The `hint`, and all `known` names if they are few or there is no hint.
pub fn told(hint: &str, known: &[&str]) -> String {
    let all = known.join(", ");
    if hint.is_empty() {
        format!("; known: {all}")
    } else if known.len() <= MAX_LISTED {
        format!("{hint} known: {all}")
    } else {
        hint.into()
    }
}

/// The known name that `name` was probably meant to be.
pub fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    let letters = name.chars().count();
    // For a short name fewer than half of its letters. Otherwise any name of its length would be near.
    let most = |of: &str| (1 + of.len() / 3).min(of.len().saturating_sub(1) / 2);
    // A much longer or shorter name is never near, and may have any length.
    let alike = known
        .iter()
        .filter(|of| letters.abs_diff(of.chars().count()) <= most(of));
    let measured = alike.map(|of| (distance(&name.to_lowercase(), &of.to_lowercase()), *of));
    let (distance, near) = measured.min()?;
    (distance <= most(near)).then_some(near)
}

/// The number of letters to change, add, leave out, or swap with their neighbour, none of them twice (optimal string
/// alignment).
fn distance(one: &str, other: &str) -> usize {
    let [one, other] = [one, other].map(|text| text.chars().collect::<Vec<char>>());
    let mut rows: Vec<Vec<usize>> = Vec::new();
    for i in 0..=one.len() {
        let mut row = Vec::with_capacity(other.len() + 1);
        for j in 0..=other.len() {
            row.push(if i == 0 || j == 0 {
                i + j
            } else {
                let differs = usize::from(one[i - 1] != other[j - 1]);
                let is_swap =
                    i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1];
                let swapped = if is_swap {
                    rows[i - 2][j - 2] + 1
                } else {
                    i + j
                };
                let changed = rows[i - 1][j - 1] + differs;
                swapped.min(changed).min(rows[i - 1][j].min(row[j - 1]) + 1)
            });
        }
        rows.push(row);
    }
    rows[one.len()][other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    crate::named! {
        /// Fruit.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        enum Fruit, "fruit" {
            Apple = "apple",
            Pear = "pear",
        }
    }

    #[test]
    fn names_are_read_back_and_others_are_answered() {
        for fruit in Fruit::ALL {
            assert_eq!(fruit.to_string().parse(), Ok(*fruit));
            assert_eq!(fruit.to_string().to_uppercase().parse(), Ok(*fruit));
        }
        for (name, answer) in [
            (
                "Aplpe",
                "unknown fruit; did you mean `apple`? known: apple, pear",
            ),
            ("durian", "unknown fruit; known: apple, pear"),
        ] {
            let error = name.parse::<Fruit>().unwrap_err();
            assert_eq!(error.to_string(), answer);
        }
        let error = UnknownName::new("fruit", "", ["apple"]).or("plum");
        assert_eq!(error.to_string(), "unknown fruit; known: apple, plum");
    }

    #[test]
    fn a_short_name_is_near_only_if_most_of_it_is_the_same() {
        assert_eq!(nearest("udp", &["tcp", "quic"]), None);
        assert_eq!(nearest("tpc", &["tcp", "quic"]), Some("tcp"));
        assert_eq!(nearest("rat", &["rate", "rtt"]), Some("rate"));
        assert_eq!(nearest("abc", &["xyz", "ab"]), None);
    }

    #[test]
    fn distances() {
        for (one, other, letters) in [
            ("", "", 0),
            ("", "abc", 3),
            ("rate", "rate", 0),
            ("rat", "rate", 1),
            ("lsos", "loss", 1),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(distance(one, other), letters, "{one} {other}");
            assert_eq!(distance(other, one), letters, "{one} {other}");
        }
    }
}
