//! Fullpipe's congestion controllers inside a real QUIC stack.
//!
//! The stack is noq. [`controller`] drives our controllers from its hooks, and says what the hooks cannot carry; [`driver`]
//! drives noq's state machines in place of noq's own endpoint, and paces; [`observer`] watches a flow, ACK by ACK; [`endpoint`] sets up TLS and transport, and a [`server`] receives; [`bulk`] carries what
//! experiments measure, and [`probe`] measures a path again and again.

pub mod bulk;
pub mod controller;
pub mod driver;
pub mod endpoint;
pub mod observer;
pub mod probe;
mod runtime;
pub mod server;
