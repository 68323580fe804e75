//! TCP sockets in a host's namespace, and moving data that nobody needs to look at.
//!
//! Everything here is nonblocking: what cannot be done at once is [`WouldBlock`](std::io::ErrorKind::WouldBlock), and a
//! poller says when to try again. Nagle's algorithm is off: what an application writes is sent, as in the simulator.
//!
//! A function that ends in `_here` acts in the calling thread's network namespace; its neighbour without that ending, in a
//! [`Host`](crate::Host)'s.

mod bulk;
mod connect;
mod controller;
mod linger;
mod listen;

pub use bulk::{discard, send};
pub use connect::{ConnectOptions, connect, connect_here, established};
pub use controller::set_controller;
pub use linger::abort_on_close;
pub use listen::{Listener, listen, listen_here};
