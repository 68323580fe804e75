//! What the kernel tells of its TCP sockets: `sock_diag`, the netlink family behind `ss`.
//!
//! [`Diag`] asks for all sockets of one network namespace at once; each answer is a [`SocketState`], whose parts have a
//! file each: [`TcpInfo`], BBR's own [`BbrInfo`], the socket's [`Memory`]. [`Ends`] tells of each socket when it goes. [`CounterReader`] adds what the kernel counts
//! per namespace only. Layouts: `include/uapi/linux/{inet_diag,sock_diag,tcp}.h` of Linux 6.18, read by length, so that an
//! older kernel gives less and a newer one is not misread.
//!
//! The crate `netlink-packet-sock-diag` (0.5) would not do: it has neither the filter of a question nor BBR's own view, its
//! `tcp_info` ends with Linux 5.4, and it allocates for each socket.

mod bbr_info;
mod counters;
mod dump;
mod ends;
mod filter;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod memory;
mod message;
mod native;
mod storage;
mod tcp_info;
mod tcp_state;

pub use bbr_info::BbrInfo;
pub use counters::{CounterReader, Counters};
pub use dump::Diag;
pub use ends::{EndedSocket, Ends};
pub use filter::Filter;
pub use memory::Memory;
pub use message::{ControllerName, SocketState};
pub use storage::Storage;
pub use tcp_info::{AccEcn, Negotiated, RtoCounts, TcpInfo};
pub use tcp_state::{CaState, TcpState};
