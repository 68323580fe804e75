//! The kernel's information about its TCP sockets: `sock_diag`, the netlink family behind `ss`.
//!
//! [`Diag`] requests all sockets of one network namespace at once. Each answer is a [`SocketState`], whose parts have
//! a file each: [`TcpInfo`], BBR's own [`BbrInfo`], the socket's [`Memory`]. [`Ends`] reports each socket when it is
//! destroyed. [`CounterReader`] adds the counters that the kernel keeps only per namespace. The layouts are those of
//! `include/uapi/linux/{inet_diag,sock_diag,tcp}.h` of Linux 6.18. They are read by length, so that an older kernel
//! gives less and a newer one is not misread.
//!
//! The crate `netlink-packet-sock-diag` (0.5) does not suffice: it has neither the request's filter nor BBR's
//! information, its `tcp_info` ends with Linux 5.4, and it allocates for each socket.

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
