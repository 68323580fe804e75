//! The conditions of a rule.

use crate::bounds::MAX_RULES;
use crate::connection::Connection;
use crate::interface::Interface;
use crate::ports::Ports;
use crate::quantity::{Quantity, Span};
use crate::spans::Spans;

/// The conditions of a rule for a new connection, apart from its client's network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conditions {
    /// The ports of connections that this side accepted.
    pub listen: Vec<Ports>,
    /// The ports to which this side opened connections.
    pub connect: Vec<Ports>,
    /// The interfaces through which data leave. Without any, all interfaces.
    pub interfaces: Vec<Interface>,
    /// The span of each quantity.
    pub spans: Spans,
}

impl Conditions {
    /// The conditions that a connection has one of these ports, and leaves through one of these interfaces.
    pub fn new(listen: Vec<Ports>, connect: Vec<Ports>, interfaces: Vec<Interface>) -> Conditions {
        Conditions {
            listen,
            connect,
            interfaces,
            spans: Spans::ANY,
        }
    }

    /// The same with this span of a quantity.
    #[must_use]
    pub fn with(mut self, quantity: Quantity, span: Span) -> Conditions {
        self.spans = self.spans.with(quantity, span);
        self
    }

    /// The span of a quantity.
    pub fn span(&self, quantity: Quantity) -> Span {
        self.spans.of(quantity)
    }

    /// True if the quantity decides whether the rule matches.
    pub fn has_bounds(&self, quantity: Quantity) -> bool {
        self.span(quantity) != Span::ANY
    }

    /// True if they hold for connections with this port.
    pub fn has_port(&self, of: &Connection) -> bool {
        let ports = if of.is_incoming {
            &self.listen
        } else {
            &self.connect
        };
        ports.iter().any(|ports| ports.has(of.port))
    }

    /// An unknown interface is none of a rule's.
    fn has_interface(&self, interface: Option<Interface>) -> bool {
        self.interfaces.is_empty() || interface.is_some_and(|one| self.interfaces.contains(&one))
    }

    /// True if they hold for a new connection: `holds` of `crates/kernel/bpf/steer/rule.h`.
    pub fn hold(&self, of: &Connection) -> bool {
        let mut quantities = Quantity::ALL.into_iter();
        quantities.all(|quantity| self.span(quantity).has(of.quantity(quantity)))
            && self.has_port(of)
            && self.has_interface(of.interface)
    }
}

/// The place of the first rule that matches a new connection: `rule_of` of `crates/kernel/bpf/steer/rule.h`. `for_client` has
/// the bits of the rules that are for its client. Rules beyond [`MAX_RULES`] are ignored.
pub fn first_match<'r>(
    rules: impl IntoIterator<Item = &'r Conditions>,
    for_client: u64,
    of: &Connection,
) -> Option<usize> {
    let mut rules = rules.into_iter().take(MAX_RULES).enumerate();
    let found = rules.find(|(place, rule)| for_client >> place & 1 == 1 && rule.hold(of));
    found.map(|(place, _)| place)
}
