//! A driver for the QUIC stack: one thread that moves the packets of all its sockets and connections.
//!
//! noq's state machines ([`noq_proto`]) take datagrams and the time, and return datagrams and timers. The driver
//! connects them to the system. No task hands a packet to another task, and nothing waits for a runtime's timers.
//!
//! # What it guarantees
//!
//! - **Fair queueing with earliest departure times.** Each connection has the time at which its next burst may leave:
//!   the end of its last burst at the controller's pacing rate. The thread sends what is due first. If several
//!   connections are behind their time, it sends the same number of bytes of each in turn, as Linux's fq does. The size
//!   of a burst is the controller's send quantum, and a burst goes to the kernel in one call (GSO). noq's own pacer lets
//!   everything pass. It paces only connections whose controller is noq's own.
//! - **Only data is paced.** ACKs of data, probes after a timeout and the end of a connection wait at most a millisecond
//!   for the next burst, and otherwise leave before it (RFC 9002, "Pacing"). ACKs of short datagrams leave by
//!   `max_ack_delay`. ACKs take nothing from the rate. The next burst pays for a probe.
//! - **A socket may carry any number of connections** ([`ClientSocket`]), each at its own pace. A benchmark measures what
//!   this costs and how late datagrams leave, in comparison with noq's own endpoint:
//!   `cargo bench -p fullpipe-quic --bench many`.
//! - **A late thread makes up for three milliseconds, or for half a burst**, and forgets the rest. While bursts have
//!   waited for more than half a millisecond, it sends for up to a millisecond before it reads again, unless what has
//!   arrived has waited for more than two milliseconds. The driver counts how late datagrams left ([`Lateness`]),
//!   relative to the time at which pacing and window allowed them, and counts what is forgotten. The time in which the
//!   kernel has no room for a datagram counts, too.
//! - **Threads that open connections come before threads that accept them.** Where that is allowed (`RLIMIT_NICE`), the
//!   former have the largest share that a normal thread can have (`nice` of −20), and the latter have less (−10).
//! - **An ACK has the time at which the kernel received it**, if the kernel reports that time and the time of day was
//!   not set meanwhile. So a late wake-up increases neither the RTT nor the delivery rate. No ACK is considered older
//!   than it is.
//! - **An ACK comes before a timer** if it arrived before the timer's time, however late the thread is. So lateness causes
//!   neither losses nor probes. A socket that joins datagrams does not know their arrival times, and has timers at once.
//! - **No connection waits long for strangers.** A socket is read for at most a fifth of a millisecond before the next
//!   bursts leave. Datagrams of handshakes wait behind all others, and are processed for a tenth of a millisecond.
//!   A stranger who forges a client's address does not delay the client's datagrams. Timers and commands are each
//!   handled for at most a fifth of a millisecond at a time. Decisions on new clients wait behind all other commands.
//! - **An application limit begins when the data ends**, not at the next ACK: the controller's sampler is marked before
//!   anything else happens to the connection.
//! - **Packets are marked as ECN-capable only if the controller responds to ECN marks**; see
//!   [`Controllers::responds_to_ecn`](crate::controller::Controllers::responds_to_ecn).
//! - **Datagrams are as large as the path carries**, if the user of a connection wants that
//!   ([`Client::with_large_datagrams`](crate::endpoint::Client::with_large_datagrams)). The path MTU is searched with
//!   probes, up to the MTU of the kernel's route. A datagram that is too large for an Ethernet takes at most a
//!   millisecond at the pacing rate. So a slow connection gets no large datagrams, even over loopback. A probe that is
//!   too large for the rate, the interface or the path counts as lost. Lost probes do not reduce the window. A connection
//!   that always has more data than pacing allows is searched, too.
//! - **Strangers** get what noq's state machine provides: three times the data that they sent, and at most one datagram
//!   more, until their address is validated, a stateless reset, or a version negotiation for a datagram as large as a
//!   first one. A client that has moved to a new address must send 800 bytes before it may move on to another one. A
//!   [`Admission`] decides who may connect, and who must validate its address first. Datagrams from an address that no host
//!   can have are ignored.
//! - **If the kernel has no room for a datagram**, an answer to a stranger is lost, and a connection's datagram is kept
//!   and sent later. A datagram that the kernel refuses counts as lost on the path. A refused answer to a stranger does
//!   not affect others.
//!
//! An application on a connection is called on the thread ([`Application`]), or takes turns with the driver to use the
//! connection from other threads ([`SharedConnection`]).
//!
//! # Limits
//!
//! One call hands the kernel one burst of one connection: the driver does not use `sendmmsg` for several connections.
//! The thread keeps the departure times. The kernel could keep them (`SO_TXTIME`) if its queue discipline were `fq` or
//! `etf`, but loopback has neither. A socket that asks for arrival times reads datagrams one by one, up to eight in a
//! call, because `noq-udp` does not have room for both the time and the size of joined datagrams (GRO).
//!
//! If a connection has data, noq sends no ACK without data. So that ACK waits for the next burst.
//!
//! The thread wakes up for each arrival and each departure unless it is busy. A wake-up takes as much processor time as
//! several packets. So a packet of 500 connections takes more time than one of 1,000. With 1,000 connections of 1 Mbit/s,
//! the thread is busy for most of the time on a machine with two processors. If other work needs these, a tenth or more of
//! the datagrams leave more than a millisecond late.
//!
//! Nothing but the socket's send buffer limits how much of a connection waits in the kernel if the local link is slower
//! than the pacing rate. Linux holds back its own TCP after about a millisecond (`tcp_small_queue_check`). On loopback
//! and over virtual links, nothing waits there.
//!
//! noq sends a probe of the path MTU only when no other data waits, or when the window is full. It does not report the
//! progress of its search. So the driver shuts the window of a connection for a moment, once a second, and more often while
//! noq sends probes.
//!
//! The driver does not ask peers for fewer ACKs (`AckFrequencyConfig`). A burst has two packets or more, and a receiver
//! acknowledges it with one ACK at once. Fewer ACKs would have to wait for the next burst, or for a timer. noq does not
//! report how long an ACK waited, so the wait would be part of the RTT.

mod agenda;
mod application;
mod arrival;
#[cfg(test)]
mod by_hand;
mod command;
mod credit;
mod datagram_socket;
mod environment;
mod flow;
mod host;
#[cfg(test)]
mod many;
mod mtu;
#[cfg(test)]
mod over_path;
mod pace;
mod queue;
mod search;
mod session;
mod shared_connection;
mod socket;
#[cfg(test)]
mod tests;
mod waker;
mod worker;

pub(crate) use application::{Admission, Application, ConnectionCounts, Verdict};
pub(crate) use command::CommandSender;
pub use datagram_socket::{Datagram, DatagramSocket};
pub use environment::{Environment, System};
pub use flow::Flow;
pub(crate) use flow::UNPACED;
pub use pace::Lateness;
pub(crate) use shared_connection::{HostId, SharedConnection};
pub use waker::Waker;
pub use worker::Worker;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::{self, JoinHandle};

use noq_proto::{ClientConfig, Endpoint, EndpointConfig, ServerConfig, VarInt};

use crate::controller::Controllers;
use crate::endpoint::{EndpointError, SERVER_NAME};
use crate::lock::lock;
use command::Command;
use host::{Host, Shared};
use session::Session;
use shared_connection::DriverHandle;

/// Prepares controllers for a connection that a driver paces, if they are ours. Returns them, and the link between them
/// and the driver.
pub(crate) fn paced(controllers: Arc<dyn Controllers>) -> (Arc<dyn Controllers>, Arc<Flow>) {
    let flow = Arc::new(Flow::default());
    let driven = controllers.clone().driven(flow.clone());
    (driven.unwrap_or(controllers), flow)
}

/// A driver's thread. When it is dropped, it closes its connections, tells their peers, and ends.
pub(crate) struct Driver {
    environment: Arc<dyn Environment>,
    commands: Arc<CommandSender>,
    waker: Waker,
    ids: AtomicU64,
    thread: Option<JoinHandle<()>>,
}

impl std::fmt::Debug for Driver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a driver")
    }
}

impl Driver {
    /// Starts a driver.
    ///
    /// # Errors
    ///
    /// The system cannot start a thread.
    pub(crate) fn start() -> io::Result<Arc<Driver>> {
        Driver::start_on(Arc::new(System))
    }

    /// Starts a driver in this environment.
    ///
    /// # Errors
    ///
    /// The system cannot start a thread.
    pub(crate) fn start_on(environment: Arc<dyn Environment>) -> io::Result<Arc<Driver>> {
        let (sender, receiver) = mpsc::channel();
        let clock = environment.clock();
        let commands = Arc::new(CommandSender::new(sender, clock));
        let (waker, thread) = environment.drive(Worker::new(receiver, clock))?;
        commands.set_waker(waker.clone());
        Ok(Arc::new(Driver {
            environment,
            commands,
            waker,
            ids: AtomicU64::new(0),
            thread,
        }))
    }

    /// Opens a socket at `address` (port 0: any free port) for the clients that `admission` accepts. Returns the socket's
    /// address, and its number in this driver.
    ///
    /// # Errors
    ///
    /// The address is in use.
    pub(crate) fn listen(
        &self,
        address: SocketAddr,
        (config, server): (EndpointConfig, ServerConfig),
        admission: Box<dyn Admission>,
    ) -> Result<(SocketAddr, HostId), EndpointError> {
        let bind = |source| EndpointError::Bind { address, source };
        let socket = self
            .environment
            .listening(address, &self.waker)
            .map_err(bind)?;
        let local = socket.local_addr().map_err(bind)?;
        let server = Some(Arc::new(server));
        let endpoint = Endpoint::new(Arc::new(config), server, !socket.may_fragment());
        let (id, _) = self.add(socket, endpoint, Some(admission));
        Ok((local, id))
    }

    /// Opens a socket for any number of connections to addresses of `peer`'s address family. `ecn` says whether its
    /// packets are ECN-capable.
    ///
    /// # Errors
    ///
    /// The system cannot open a socket.
    pub(crate) fn client_socket(
        self: &Arc<Driver>,
        peer: SocketAddr,
        ecn: bool,
    ) -> Result<ClientSocket, EndpointError> {
        let address = canonical(peer);
        let bind = |source| EndpointError::Bind { address, source };
        let socket = self.environment.sending(address, ecn, &self.waker);
        let socket = socket.map_err(bind)?;
        let settings = Arc::new(EndpointConfig::default());
        let endpoint = Endpoint::new(settings, None, !socket.may_fragment());
        let (id, endpoint) = self.add(socket, endpoint, None);
        Ok(ClientSocket {
            driver: self.clone(),
            id,
            endpoint,
        })
    }

    fn add(
        &self,
        socket: Box<dyn DatagramSocket>,
        endpoint: Endpoint,
        admission: Option<Box<dyn Admission>>,
    ) -> (HostId, Shared) {
        let id = self.ids.fetch_add(1, Ordering::Relaxed);
        let endpoint = Arc::new(Mutex::new(endpoint));
        let host = Host::new(
            (id, self.commands.clone()),
            socket,
            endpoint.clone(),
            admission,
        );
        self.commands.send(Command::Add(id, Box::new(host)));
        (id, endpoint)
    }

    /// The largest UDP payload that may reach `peer`, if it is known; see [`Environment::largest_datagram`].
    pub(crate) fn largest_datagram(&self, peer: SocketAddr) -> Option<u16> {
        self.environment.largest_datagram(canonical(peer))
    }

    /// True if the thread is running. It ends without a stop only after a panic.
    pub(crate) fn is_running(&self) -> bool {
        let thread = self.thread.as_ref();
        thread.is_none_or(|thread| !thread.is_finished())
    }

    /// The interface through which the thread receives its commands.
    pub(crate) fn commands(&self) -> &Arc<CommandSender> {
        &self.commands
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.commands.send(Command::Stop);
        // The last user may have been an application on the thread itself.
        let is_here = |thread: &JoinHandle<()>| thread.thread().id() == thread::current().id();
        if let Some(thread) = self.thread.take().filter(|thread| !is_here(thread)) {
            // If the thread has panicked, nothing is left to do.
            let _ = thread.join();
        }
    }
}

/// Returns the address, as an IPv4 address if it is IPv4-mapped. An IPv6 address keeps its scope, without which a
/// link-local address cannot be reached.
fn canonical(address: SocketAddr) -> SocketAddr {
    match address.ip().to_canonical() {
        IpAddr::V4(ip) => SocketAddr::new(ip.into(), address.port()),
        IpAddr::V6(_) => address,
    }
}

/// A socket of a driver, from which connections are opened. When this is dropped, the socket is closed together with
/// its last connection.
#[derive(Debug)]
pub(crate) struct ClientSocket {
    driver: Arc<Driver>,
    id: HostId,
    endpoint: Shared,
}

impl ClientSocket {
    /// Connects to `server`, and paces the connection by `flow`, which links the driver to the connection's controller.
    ///
    /// # Errors
    ///
    /// The address cannot be used.
    pub(crate) fn open(
        &self,
        server: SocketAddr,
        config: ClientConfig,
        flow: Arc<Flow>,
        application: Box<dyn Application>,
    ) -> Result<SharedConnection, EndpointError> {
        let commands = &self.driver.commands;
        let now = commands.now();
        let server = canonical(server);
        let connected = lock(&self.endpoint).connect(now, config, server, SERVER_NAME);
        let (handle, connection) = connected?;
        let shared = SharedConnection::new(connection, (self.id, handle), commands.clone());
        let session = Session::new(shared.clone(), application, Some(flow), now);
        commands.send(Command::Join(Box::new(session)));
        Ok(shared)
    }

    /// [Opens](ClientSocket::open) a connection that is closed when the result is dropped.
    ///
    /// # Errors
    ///
    /// The address cannot be used.
    pub(crate) fn call(
        &self,
        server: SocketAddr,
        config: ClientConfig,
        flow: Arc<Flow>,
        application: Box<dyn Application>,
    ) -> Result<Call, EndpointError> {
        Ok(Call {
            shared: self.open(server, config, flow, application)?,
            _driver: self.driver.clone(),
        })
    }
}

impl Drop for ClientSocket {
    fn drop(&mut self) {
        self.driver.commands.shut(self.id);
    }
}

/// A connection that was opened. It is closed when this is dropped.
#[derive(Debug)]
pub(crate) struct Call {
    shared: SharedConnection,
    /// Keeps the thread running until then.
    _driver: Arc<Driver>,
}

impl Drop for Call {
    fn drop(&mut self) {
        self.shared.end(VarInt::from_u32(0));
    }
}
