//! Quantities of a new connection that rules bound.

use crate::form::Form;

/// Defines the quantities. Without all of these, a quantity does not compile.
macro_rules! quantities {
    ($($(#[$doc:meta])+ $quantity:ident {
        name: $name:literal,
        form: $form:ident,
        label: $label:literal,
        meaning: $meaning:literal,
        help: $help:literal,
    })+) => {
        /// A quantity of a new connection that rules bound. `enum quantity` of the program in the kernel has the same
        /// order.
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

            /// The form of its values.
            pub const fn form(self) -> Form {
                match self {
                    $(Quantity::$quantity => Form::$form,)+
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

            /// The help of its option.
            pub const fn help(self) -> &'static str {
                match self {
                    $(Quantity::$quantity => $help,)+
                }
            }
        }
    };
}

quantities! {
    /// The RTT of the handshake.
    Rtt {
        name: "rtt",
        form: Time,
        label: "RTT",
        meaning: "the RTT of the handshake",
        help: "Round-trip time of the connection's handshake; 0s if it is unknown",
    }
    /// The share of packets that the connections of the client's network resent.
    Resent {
        name: "resent",
        form: Share,
        label: "resent",
        meaning: "the share that the client's network resent",
        help: "Share of packets that the connections of the client's network resent, in place of what the kernel remembers",
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
}
