//! Quantities of a new connection that rules bound.

use units::{Duration, Ratio};

/// A quantity of a new connection that rules bound. The values are in the units of the program in the kernel, whose
/// `enum quantity` has the same order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// The RTT of the handshake, in nanoseconds.
    Rtt,
    /// The share of packets that the connections of the client's network resent, in millionths.
    Resent,
}

impl Quantity {
    /// All quantities.
    pub const ALL: [Quantity; 2] = [Quantity::Rtt, Quantity::Resent];

    /// The name in policies (`rtt_from`, `rtt_below`) and options (`--rtt`).
    pub const fn name(self) -> &'static str {
        match self {
            Quantity::Rtt => "rtt",
            Quantity::Resent => "resent",
        }
    }

    /// The name in a list of a rule's bounds.
    pub const fn label(self) -> &'static str {
        match self {
            Quantity::Rtt => "RTT",
            Quantity::Resent => "resent",
        }
    }

    /// The meaning in a sentence.
    pub const fn meaning(self) -> &'static str {
        match self {
            Quantity::Rtt => "the RTT of the handshake",
            Quantity::Resent => "the share that the client's network resent",
        }
    }

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

    /// True if the value is within the span. An unknown value is within no bounds.
    pub fn has(self, value: Option<u64>) -> bool {
        value.map_or(self == Span::ANY, |value| {
            self.from <= value && value < self.below
        })
    }
}

const MILLION: u32 = 1_000_000;

/// A share in millionths, rounded up. A share of whole millionths is below this if, and only if, it is below `share`.
pub fn millionths(share: Ratio) -> u64 {
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
    fn shares_are_rounded_up() {
        for (numerator, denominator, millionth) in [
            (0, 1, 0),
            (1, 100, 10_000),
            (1, 1_000_000_000, 1),
            (10_001, 1_000_000_000, 11),
            (1, 1, 1_000_000),
        ] {
            let share = Ratio::new(numerator, denominator);
            assert_eq!(millionths(share), millionth, "{share}");
        }
    }

    #[test]
    fn values_have_units() {
        assert_eq!(Quantity::Rtt.text(50_000_000), "50ms");
        assert_eq!(Quantity::Resent.text(15_000), "1.5%");
    }
}
