//! TCP sockets in a host's namespace, and transfer of data that nobody looks at.
//!
//! Everything here is nonblocking: an operation that cannot be done at once returns
//! [`WouldBlock`](std::io::ErrorKind::WouldBlock), and a poller reports when to try again. Nagle's algorithm is off:
//! data are sent as the application writes them, as in the simulator.
//!
//! A function that ends in `_here` acts in the calling thread's network namespace; the function without that ending
//! acts in that of a [`Host`](crate::Host).

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
