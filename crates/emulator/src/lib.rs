//! A network path under real packets, in real time.
//!
//! There are two ways in: a [`Relay`] for programs that speak UDP, and a [`Tunnel`](tunnel::Tunnel) between two TUN devices
//! for all that the kernel sends.
//!
//! A [`Relay`] stands between UDP clients and a server as a link would: it takes each client's datagrams, sends them
//! through a [`path`] (bottleneck, buffer, delay, loss …) in real time, and forwards what arrives; and the same back.
//! The programs need no change and the relay needs no privilege.
//!
//! ```no_run
//! use emulator::{Relay, RelayConfig, Sharing};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let relay = Relay::start(RelayConfig {
//!     listen: "127.0.0.1:0".parse()?,
//!     to: "127.0.0.1:4433".parse()?,
//!     path: path::PathConfig::default(),
//!     seed: 1,
//!     sharing: Sharing::OneBottleneck,
//! })?;
//! println!("send to {}", relay.local_addr());
//! println!("{:?}", relay.stop());
//! # Ok(())
//! # }
//! ```
//!
//! # Time
//! One thread waits for datagrams and for the next release time, whichever comes first. A datagram enters the path
//! when the kernel received it (`SO_TIMESTAMPNS`; elsewhere than on Linux with glibc, and from sockets for both IPv6 and
//! IPv4 or at a mapped address, when the relay reads it), and leaves at the path's own time or as soon after as the system
//! wakes the thread: never before. Whatever became due while the thread was late leaves at once. Before that, the relay
//! reads what waits in its sockets, up to 1024 datagrams shared evenly among them, and lets it enter in the order of the
//! kernel's times. If more waits after a stall, the rest may enter late. The path computes all times from each other, not
//! from when the thread woke, so lateness does not add up; [`DirectionCounters::late_packets`] tells whether it mattered.
//! Changes of a path come at their times since the relay's
//! start, also for the own paths of clients that came later.
//!
//! The relay asks that its thread runs before all normal ones (`SCHED_FIFO`, or else a nice value of −20), which helps on
//! a busy machine and takes the right to (`CAP_SYS_NICE`, or a limit on real-time priorities or `nice`); without it,
//! nothing but punctuality under load is lost.
//! `cargo bench -p fullpipe-emulator` measures how exact the times are on this machine.
//!
//! # Limits
//! - A packet's size on the path is its UDP payload plus 28 bytes (IPv4) or 48 (IPv6).
//! - ECN codepoints pass, and a queue that marks makes CE of them. A client's datagrams are one flow. Other IP options and the TTL do not, and datagrams are not fragmented: one that is
//!   larger than the real link's MTU is refused by the system and counted as a send error.
//! - 512 clients at a time; one that is silent for two minutes is forgotten. When all places are taken, addresses share
//!   them ([`places`]).
//! - All packets on the path take at most 256 MiB of memory, over both directions and all clients. What comes beyond that
//!   is dropped and counted ([`RelayCounters::overload_drops`]).
//! - Datagrams that the kernel drops before the relay reads them do not enter the path. They are counted when the
//!   relay stops (Linux).
//! - Unix only; made for Linux, where waits are told in nanoseconds and not, as elsewhere, in milliseconds.
//! - ICMP errors are not passed on: to its clients, an absent server is a silent one.

mod alike;
mod awake;
mod clients;
mod clock;
mod config;
mod counters;
mod ends;
mod entry;
mod error;
mod kernel;
mod relay;
mod routes;
mod running;
mod shown;
mod socket;
pub mod tunnel;
mod wakeup;
mod worker;

pub use awake::Awake;
pub use config::{RelayConfig, Sharing};
pub use counters::{DirectionCounters, RelayCounters};
pub use error::RelayError;
pub use path::Queued;
pub use relay::Relay;
