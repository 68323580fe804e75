//! Fullpipe's congestion controllers inside a real QUIC stack.
//!
//! The stack is noq. [`controller`] drives our controllers from noq's hooks. [`observer`] watches a flow, ACK by ACK.
//! [`endpoint`] sets up TLS and transport. [`bulk`] sends the flows of experiments, over our own driver: one thread
//! that moves packets between the sockets and noq's state machines. A [`connection`] of the driver is for asynchronous
//! tasks. [`probe`] measures a path repeatedly over such connections, and a [`server`] receives.

pub mod bulk;
pub mod connection;
pub mod controller;
mod driver;
pub mod endpoint;
mod lock;
pub mod observer;
pub mod probe;
pub mod server;

pub use driver::{Datagram, DatagramSocket, Environment, Lateness, System, Waker, Worker};
