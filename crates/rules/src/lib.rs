//! The conditions of rules that choose a controller for a new connection.
//!
//! A policy's rules and a study's plan are lowered to [`Conditions`] and [`Networks`]. The program in the kernel gets the
//! same. The tests in `crates/kernel/tests/twin` prove that it matches connections as [`first_match`] and
//! [`Networks::rules`] do.

mod bounds;
mod conditions;
mod connection;
mod form;
mod interface;
mod networks;
mod ports;
mod prefix;
mod quantity;
mod spans;

pub use bounds::{
    CONTROLLER_NAME_BYTES, INTERFACE_NAME_BYTES, MAX_ARMS, MAX_INTERFACES, MAX_PORT_RANGES,
    MAX_RULES, PROGRAM_BOUNDS, RULE_NAME_BYTES, can_be_controller,
};
pub use conditions::{Conditions, first_match};
pub use connection::Connection;
pub use form::Form;
pub use interface::{Interface, check_interfaces};
pub use networks::{Networks, mapped};
pub use ports::Ports;
pub use prefix::Prefix;
pub use quantity::{Quantity, Span};
pub use spans::Spans;
