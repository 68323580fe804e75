//! A network path under real packets, in real time.
//!
//! There are two forms: a [`Relay`] for programs that use UDP, and a [`Tunnel`](tunnel::Tunnel) between two TUN devices
//! for all traffic of the kernel.
//!
//! A [`Relay`] stands between UDP clients and a server as a link would: it takes each client's datagrams, sends them
//! through a [`path`] (bottleneck, buffer, delay, loss …) in real time, and forwards those that arrive, in both
//! directions. The programs need no change, and the relay needs no privilege.
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
//! One thread waits for datagrams and for the next release time, whichever comes first. A datagram enters the path at
//! the time when the kernel received it (`SO_TIMESTAMPNS`). Elsewhere than on Linux with glibc, and from sockets for
//! both IPv6 and IPv4 or at a mapped address, it enters when the relay reads it. It leaves at the path's own time or as
//! soon after as the system wakes the thread, and never before. Packets that became due while the thread was late leave
//! at once. Before that, the relay reads the datagrams that wait in its sockets, up to 1024, shared evenly among the
//! sockets, and lets them enter in the order of the kernel's times. If more wait after a stall, the rest may enter
//! late. The path computes its times from each other, and not from the thread's wake-ups, so lateness does not add up.
//! [`DirectionCounters::late_packets`] shows whether it mattered. Changes of a path come at their times since the
//! relay's start, also for the own paths of later clients.
//!
//! The relay asks the system to run its thread before all normal ones (`SCHED_FIFO`, or else a nice value of −20). This
//! helps on a busy machine and needs the right to do it (`CAP_SYS_NICE`, or a limit on real-time priorities or `nice`).
//! Without it, only punctuality under load is lost. `cargo bench -p fullpipe-emulator` measures the precision of the
//! times on this machine.
//!
//! # Limits
//! - A packet's size on the path is its UDP payload plus 28 bytes (IPv4) or 48 (IPv6).
//! - ECN codepoints pass, and a queue that marks sets CE. A client's datagrams are one flow. Other IP options and the
//!   TTL do not pass. Datagrams are not fragmented: the system refuses one that is larger than the real link's MTU,
//!   which counts as a send error.
//! - There are 512 clients at a time; one that is silent for two minutes is forgotten. When all places are taken,
//!   addresses share them ([`places`]).
//! - All packets on the path take at most 256 MiB of memory, over both directions and all clients. Further packets are
//!   dropped and counted ([`RelayCounters::overload_drops`]).
//! - Datagrams that the kernel drops before the relay reads them do not enter the path. They are counted when the
//!   relay stops (Linux).
//! - Unix only; made for Linux, whose waits have nanoseconds and not, as elsewhere, milliseconds.
//! - ICMP errors are not passed on: an absent server seems silent to its clients.

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
mod socket;
pub mod tunnel;
mod view;
mod wakeup;
mod worker;

pub use awake::Awake;
pub use config::{RelayConfig, Sharing};
pub use counters::{DirectionCounters, RelayCounters};
pub use error::RelayError;
pub use path::Queued;
pub use relay::Relay;
