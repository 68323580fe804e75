//! Our own driver for noq's state machines: one thread a socket, which paces.
//!
//! noq's endpoint hands each packet from the socket's task to the connection's, and paces with a token bucket on a runtime's
//! timers of a millisecond. Here a thread reads the socket, gives the packets to their connections, and sends what is due:
//!
//! ```text
//!            ┌───────────────────────── one thread ─────────────────────────┐
//!  socket ──►│ read a batch, each message with the kernel's time of arrival │
//!            │   └► connections (ACKs, losses, data for the application)    │◄── streams (any thread)
//!            │ timing wheel ──► those whose departure, or timer, has come   │
//!  socket ◄──│   └► in turn, a burst each: the controller's send quantum    │
//!            └──────────────────────────────────────────────────────────────┘
//! ```
//!
//! - **Fair queueing with earliest departure times** (Linux `net/sched/sch_fq.c`). After a burst, the next one of the same
//!   connection may leave when this one has at the pacing rate. Until then, the connection waits in a timing wheel. Those
//!   that are due get a burst each in turn. A burst is at most the controller's send quantum, about a millisecond of the pacing
//!   rate, and is one call to the kernel, which cuts it into datagrams (GSO).
//! - **noq's own pacer never limits**: see [`Pace`](crate::controller::Pace).
//! - **ACKs have the kernel's time of arrival** (`SO_TIMESTAMPNS`), so that a thread that wakes late measures no longer round
//!   trips, and does not take what waited for it for bandwidth.
//! - **Application limits are marked when they begin**: when a connection that may send has nothing to send.
//! - **What noq's state machine protects stays protected**: address validation, stateless resets, limits on amplification and
//!   on incoming connections are in `noq_proto::Endpoint`, which every datagram passes.
//!
//! What an application writes and reads passes the connection's lock, which nobody holds while in the kernel.

mod client;
mod connection;
mod departures;
mod endpoint;
mod engine;
mod shared;
mod socket;
mod streams;
mod thread;
mod wheel;

pub use client::Client;
pub use connection::{Connecting, Connection};
pub use endpoint::{Accepts, Endpoint, Incoming};
pub use streams::{RecvStream, SendStream};
