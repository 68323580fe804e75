//! Fullpipe's congestion controllers inside a real QUIC stack.
//!
//! The stack is noq. [`controller`] drives our controllers from its hooks, and says what the hooks cannot carry;
//! [`observer`] watches a flow, ACK by ACK; [`endpoint`] sets up TLS and transport, and a [`server`] receives. [`bulk`] carries
//! what experiments measure, over a driver of our own: one thread that moves packets between the sockets and noq's state
//! machines. A [`connection`] of it is for tasks of a runtime; over such, [`probe`] measures a path again and again.

pub mod bulk;
pub mod connection;
pub mod controller;
mod driver;
pub mod endpoint;
mod lock;
pub mod observer;
pub mod probe;
pub mod server;

pub use driver::{Bell, Datagram, Ground, Lateness, Port, System, Worker};
