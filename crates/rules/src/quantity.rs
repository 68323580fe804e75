//! Quantities of a new connection that rules bound.

use units::{Duration, Ratio};

/// Defines the quantities with their names. Without all of these, a quantity does not compile.
macro_rules! quantities {
    ($($(#[$doc:meta])+ $quantity:ident { name: $name:literal, label: $label:literal, meaning: $meaning:literal })+) => {
        /// A quantity of a new connection that rules bound. The values are in the units of the program in the kernel, whose
        /// `enum quantity` has the same order.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Quantity {
            $($(#[$doc])+ $quantity,)+
        }

        impl Quantity {
            /// All quantities.
            pub const ALL: [Quantity; [$(Quantity::$quantity),+].len()] = [$(Quantity::$quantity),+];

            /// The name of its option (`--rtt`).
            pub const fn name(self) -> &'static str {
                match self {
                    $(Quantity::$quantity => $name,)+
                }
            }

            /// The names of its bounds in policies (`rtt_from`, `rtt_below`).
            pub const fn fields(self) -> [&'static str; 2] {
                match self {
                    $(Quantity::$quantity => [concat!($name, "_from"), concat!($name, "_below")],)+
                }
            }

            /// The name in a list of a rule's bounds.
            pub const fn label(self) -> &'static str {
                match self {
                    $(Quantity::$quantity => $label,)+
                }
            }

            /// The meaning in a sentence.
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Quantity::$quantity => $meaning,)+
                }
            }
        }
    };
}

quantities! {
    /// The RTT of the handshake, in nanoseconds.
    Rtt {
        name: "rtt",
        label: "RTT",
        meaning: "the RTT of the handshake"
    }
    /// The share of packets that the connections of the client's network resent, in millionths.
    Resent {
        name: "resent",
        label: "resent",
        meaning: "the share that the client's network resent"
    }
}

impl Quantity {
    /// A value with its unit.
    pub fn text(self, value: u64) -> String {
        match self {
            Quantity::Rtt => Duration::from_nanos(value).to_string(),
            Quantity::Resent => {
                let parts = u32::try_from(value).unwrap_or(u32::MAX);
                Ratio::new(parts, MILLION).to_string()
            }
        }
    }
}

/// The values of a quantity from one on and below another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The least value.
    pub from: u64,
    /// The first value above. With the maximum, there is none.
    pub below: u64,
}

impl Span {
    /// All values, and unknown ones.
    pub const ANY: Span = Span::new(0, None);

    /// The values from one on, and below another one if there is one.
    pub const fn new(from: u64, below: Option<u64>) -> Span {
        let below = match below {
            Some(below) => below,
            None => u64::MAX,
        };
        Span { from, below }
    }

    /// The shares of packets from one on, and below another one if there is one. The program has whole millionths, so bounds
    /// are rounded up: a share of whole millionths is within these if, and only if, it is within the exact ones.
    pub fn of_shares(from: Ratio, below: Option<Ratio>) -> Span {
        Span::new(millionths_up(from), below.map(millionths_up))
    }

    /// True if no value is within the span.
    pub const fn is_empty(self) -> bool {
        self.from >= self.below
    }

    /// True if the value is within the span. An unknown value is within no bounds. For the program, the maximum is unknown:
    /// `is_within` of `crates/kernel/bpf/steer/rule.h`.
    pub fn has(self, value: Option<u64>) -> bool {
        match value {
            None | Some(u64::MAX) => self == Span::ANY,
            Some(value) => self.from <= value && value < self.below,
        }
    }
}

const MILLION: u32 = 1_000_000;

/// A share as the program has it: in millionths, rounded down.
pub(crate) fn millionths(share: Ratio) -> u64 {
    share.of(MILLION.into())
}

fn millionths_up(share: Ratio) -> u64 {
    let parts = u64::from(share.numerator()) * u64::from(MILLION);
    parts.div_ceil(share.denominator().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_value_is_within_no_bounds() {
        for (span, value, has) in [
            (Span::ANY, None, true),
            (Span::ANY, Some(0), true),
            (Span::ANY, Some(u64::MAX), true),
            (Span::new(1, None), Some(u64::MAX), false),
            (Span::new(1, None), Some(u64::MAX - 1), true),
            (Span::new(1, None), None, false),
            (Span::new(0, Some(9)), None, false),
            (Span::new(0, Some(9)), Some(0), true),
            (Span::new(3, Some(9)), Some(2), false),
            (Span::new(3, Some(9)), Some(3), true),
            (Span::new(3, Some(9)), Some(8), true),
            (Span::new(3, Some(9)), Some(9), false),
        ] {
            assert_eq!(span.has(value), has, "{span:?}: {value:?}");
        }
    }

    #[test]
    fn a_share_is_rounded_down_and_a_bound_is_rounded_up() {
        for (numerator, denominator, down, up) in [
            (0, 1, 0, 0),
            (1, 100, 10_000, 10_000),
            (1, 1_000_000_000, 0, 1),
            (10_001, 1_000_000_000, 10, 11),
            (1, 1, 1_000_000, 1_000_000),
        ] {
            let share = Ratio::new(numerator, denominator);
            assert_eq!(millionths(share), down, "{share}");
            let span = Span::of_shares(share, Some(share));
            assert_eq!((span.from, span.below), (up, up), "{share}");
            assert!(span.is_empty());
        }
        assert_eq!(Span::of_shares(Ratio::ZERO, None), Span::ANY);
    }

    #[test]
    fn values_have_units() {
        assert_eq!(Quantity::Rtt.text(50_000_000), "50ms");
        assert_eq!(Quantity::Resent.text(15_000), "1.5%");
    }
}
