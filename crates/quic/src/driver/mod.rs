//! A driver for the QUIC stack: one thread that moves the packets of all its sockets and connections.
//!
//! noq's state machines ([`noq_proto`]) take datagrams and the time, and give datagrams and timers. Here is what is between
//! them and the system: no task hands a packet to another one, and nothing waits for a runtime's timers.
//!
//! # What it promises
//!
//! - **Fair queueing with earliest departure times.** Each connection has the time at which its next burst may leave: the
//!   end of the last one, at the controller's pacing rate. The thread sends what is due first, a burst of one connection after
//!   the other. One that is behind its time waits for its turn like the others. A burst is what the controller's send quantum
//!   says, and goes to the kernel in one call (GSO). noq's own pacer lets everything pass; it paces where the controller is
//!   noq's own.
//! - **A socket may carry any number of connections** ([`Outlet`]), each at its own pace. What that costs, and how late datagrams
//!   leave, `cargo bench -p fullpipe-quic --bench many` shows, beside noq's own endpoint.
//! - **A late thread makes up for three milliseconds**, and forgets the rest. How late datagrams left is counted
//!   ([`Lateness`]), beginning with the time at which pacing and window allowed it; so is what is forgotten.
//! - **An ACK has the time at which the kernel received it**, as far as the kernel tells, and unless the time of day was set. So
//!   a late wake-up makes neither the round-trip time longer nor the delivery rate higher. No ACK is taken for older than it is.
//! - **Nobody waits for strangers.** A socket is read for a fifth of a millisecond at most before the next bursts leave. What is of
//!   a handshake waits behind the rest, and is carried on for a tenth of one.
//! - **An application limit begins when the data ends**, not at the next ACK: the controller's sampler is marked before
//!   anything else happens to the connection.
//! - **Packets say that they are capable of ECN only if marks are answered**; see
//!   [`Controllers::responds_to_ecn`](crate::controller::Controllers::responds_to_ecn).
//! - **Strangers** get what noq's state machine has for them: three times what they sent until their address is proven, a
//!   stateless reset, a version negotiation for a datagram of a first one's size. Who may connect, and who must prove its
//!   address first, a [`Door`] says. What comes from an address that no host has is not looked at.
//! - **What the kernel has no room for** is lost if it answers a stranger, and is kept and sent if it is of a connection. What the
//!   kernel refuses is as good as lost on the way; a stranger's answer that it refuses changes nothing for others.
//!
//! What runs on a connection is called on the thread ([`Application`]), or uses the connection from others ([`Line`]) in turn
//! with it.
//!
//! # What it does not
//!
//! One call hands the kernel one burst of one connection: there is no `sendmmsg` over several. Departure times are kept by the
//! thread; the kernel could (`SO_TXTIME`), where its queue discipline is `fq` or `etf`, which loopback has not. A socket that
//! wants times reads datagrams one by one, up to eight in a call, since `noq-udp` has no room for the time and the size of
//! joined datagrams (GRO) at once.

mod agenda;
mod application;
mod arrival;
#[cfg(test)]
mod by_hand;
mod flow;
mod ground;
mod host;
mod line;
#[cfg(test)]
mod many;
mod pace;
mod queue;
mod session;
mod socket;
#[cfg(test)]
mod tests;
mod worker;

pub(crate) use application::{Application, Crowd, Door, Verdict};
pub use flow::Flow;
pub(crate) use flow::UNPACED;
pub use ground::{Bell, Datagram, Ground, Port, System};
pub(crate) use line::{Desk, HostId, Line};
pub use pace::Lateness;
pub use worker::Worker;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::{self, JoinHandle};

use noq_proto::{ClientConfig, Endpoint, EndpointConfig, ServerConfig, VarInt};

use crate::controller::Controllers;
use crate::endpoint::{EndpointError, SERVER_NAME};
use host::{Host, Shared};
use session::Session;
use worker::Command;

/// The same controllers, such that their connection is one that a driver paces, where they are ours; and the link between them
/// and the driver.
pub(crate) fn paced(controllers: Arc<dyn Controllers>) -> (Arc<dyn Controllers>, Arc<Flow>) {
    let flow = Arc::new(Flow::default());
    let driven = controllers.clone().driven(flow.clone());
    (driven.unwrap_or(controllers), flow)
}

/// A driver's thread. Dropped, it ends its connections, tells their peers, and is gone.
pub(crate) struct Driver {
    ground: Arc<dyn Ground>,
    desk: Arc<Desk>,
    bell: Bell,
    ids: AtomicU64,
    thread: Option<JoinHandle<()>>,
}

impl std::fmt::Debug for Driver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a driver")
    }
}

impl Driver {
    /// Starts one.
    ///
    /// # Errors
    /// The system gives no thread.
    pub(crate) fn start() -> io::Result<Arc<Driver>> {
        Driver::start_on(Arc::new(System))
    }

    /// Starts one on this ground.
    ///
    /// # Errors
    /// The system gives no thread.
    pub(crate) fn start_on(ground: Arc<dyn Ground>) -> io::Result<Arc<Driver>> {
        let (commands, orders) = mpsc::channel();
        let clock = ground.clock();
        let desk = Arc::new(Desk::new(commands, clock));
        let (bell, thread) = ground.drive(Worker::new(orders, clock))?;
        desk.hang(bell.clone());
        Ok(Arc::new(Driver {
            ground,
            desk,
            bell,
            ids: AtomicU64::new(0),
            thread,
        }))
    }

    /// Opens a socket at `address` (port 0: any free one) for those whom `door` lets in. The address that it got, and which of
    /// this driver's it is.
    ///
    /// # Errors
    /// The address is taken.
    pub(crate) fn listen(
        &self,
        address: SocketAddr,
        (config, server): (EndpointConfig, ServerConfig),
        door: Box<dyn Door>,
    ) -> Result<(SocketAddr, HostId), EndpointError> {
        let bind = |source| EndpointError::Bind { address, source };
        let port = self.ground.listening(address, &self.bell).map_err(bind)?;
        let local = port.local_addr().map_err(bind)?;
        let server = Some(Arc::new(server));
        let endpoint = Endpoint::new(Arc::new(config), server, !port.may_fragment());
        let (id, _) = self.add(port, endpoint, Some(door));
        Ok((local, id))
    }

    /// Opens a socket for any number of connections to addresses of the same family as `peer`'s. Their packets are capable of
    /// ECN if `ecn` says so.
    ///
    /// # Errors
    /// The system gives no socket.
    pub(crate) fn outlet(
        self: &Arc<Driver>,
        peer: SocketAddr,
        ecn: bool,
    ) -> Result<Outlet, EndpointError> {
        let address = canonical(peer);
        let bind = |source| EndpointError::Bind { address, source };
        let port = self.ground.sending(address, ecn, &self.bell);
        let port = port.map_err(bind)?;
        let settings = Arc::new(EndpointConfig::default());
        let endpoint = Endpoint::new(settings, None, !port.may_fragment());
        let (id, endpoint) = self.add(port, endpoint, None);
        Ok(Outlet {
            driver: self.clone(),
            id,
            endpoint,
        })
    }

    fn add(
        &self,
        port: Box<dyn Port>,
        endpoint: Endpoint,
        door: Option<Box<dyn Door>>,
    ) -> (HostId, Shared) {
        let id = self.ids.fetch_add(1, Ordering::Relaxed);
        let endpoint = Arc::new(Mutex::new(endpoint));
        let host = Host::new((id, self.desk.clone()), port, endpoint.clone(), door);
        self.desk.ask(Command::Add(id, Box::new(host)));
        (id, endpoint)
    }

    /// Whether its thread runs. It ends of itself only by a panic.
    pub(crate) fn is_running(&self) -> bool {
        let thread = self.thread.as_ref();
        thread.is_none_or(|thread| !thread.is_finished())
    }

    /// Where its thread is told what is wanted.
    pub(crate) fn desk(&self) -> &Arc<Desk> {
        &self.desk
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.desk.ask(Command::Stop);
        // What runs on the thread itself may have been its last user.
        let is_here = |thread: &JoinHandle<()>| thread.thread().id() == thread::current().id();
        if let Some(thread) = self.thread.take().filter(|thread| !is_here(thread)) {
            // Nothing is left to be done if it panicked.
            let _ = thread.join();
        }
    }
}

/// The same address, of IPv4 where it is one of IPv4 in other words. It keeps its scope, without which there is no way to a
/// link-local address.
fn canonical(address: SocketAddr) -> SocketAddr {
    match address.ip().to_canonical() {
        IpAddr::V4(ip) => SocketAddr::new(ip.into(), address.port()),
        IpAddr::V6(_) => address,
    }
}

/// A socket of a driver, from which connections are opened. It is closed with the last of them, once this is dropped.
#[derive(Debug)]
pub(crate) struct Outlet {
    driver: Arc<Driver>,
    id: HostId,
    endpoint: Shared,
}

impl Outlet {
    /// Connects to `server`, and paces the connection as `flow` says, which its controller was made with.
    ///
    /// # Errors
    /// The address cannot be connected to.
    pub(crate) fn open(
        &self,
        server: SocketAddr,
        config: ClientConfig,
        flow: Arc<Flow>,
        application: Box<dyn Application>,
    ) -> Result<Line, EndpointError> {
        let desk = &self.driver.desk;
        let now = (desk.clock)();
        let server = canonical(server);
        let connected = host::lock(&self.endpoint).connect(now, config, server, SERVER_NAME);
        let (handle, connection) = connected?;
        let line = Line::new(connection, (self.id, handle), desk.clone());
        let session = Session::new(line.clone(), application, Some(flow), now);
        desk.ask(Command::Join(Box::new(session)));
        Ok(line)
    }

    /// [Opens](Outlet::open) a connection that ends when the call is dropped.
    ///
    /// # Errors
    /// The address cannot be connected to.
    pub(crate) fn call(
        &self,
        server: SocketAddr,
        config: ClientConfig,
        flow: Arc<Flow>,
        application: Box<dyn Application>,
    ) -> Result<Call, EndpointError> {
        Ok(Call {
            line: self.open(server, config, flow, application)?,
            _driver: self.driver.clone(),
        })
    }
}

impl Drop for Outlet {
    fn drop(&mut self) {
        self.driver.desk.shut(self.id);
    }
}

/// A connection that was begun. Dropped, it is ended.
#[derive(Debug)]
pub(crate) struct Call {
    line: Line,
    /// Its thread goes on until then.
    _driver: Arc<Driver>,
}

impl Drop for Call {
    fn drop(&mut self) {
        self.line.end(VarInt::from_u32(0));
    }
}
