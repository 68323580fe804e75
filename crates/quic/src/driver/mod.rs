//! A driver for the QUIC stack: one thread that moves the packets of all its sockets and connections.
//!
//! noq's state machines ([`noq_proto`]) take datagrams and the time, and give datagrams and timers. Here is what is between
//! them and the system: no task hands a packet to another one, and nothing waits for a runtime's timers.
//!
//! # What it promises
//!
//! - **Fair queueing with earliest departure times.** Each connection has the time at which its next burst may leave: the
//!   end of the last one, at the controller's pacing rate. The thread sends what is due first, a burst of one connection after
//!   the other. A burst is what the controller's send quantum says, and goes to the kernel in one call (GSO). noq's own
//!   pacer lets everything pass; it paces where the controller is noq's own.
//! - **A late thread makes up for three milliseconds**, and forgets the rest. How late datagrams left is counted
//!   ([`Lateness`]), beginning with the time at which pacing and window allowed it.
//! - **An ACK has the time at which the kernel received it**, as far as the kernel tells. So a late wake-up makes neither the
//!   round-trip time longer nor the delivery rate higher. No ACK is taken for older than it is.
//! - **An application limit begins when the data ends**, not at the next ACK: the controller's sampler is marked before
//!   anything else happens to the connection.
//! - **Packets say that they are capable of ECN only if marks are answered**; see
//!   [`Controllers::responds_to_ecn`](crate::controller::Controllers::responds_to_ecn).
//! - **Strangers** get what noq's state machine has for them: three times what they sent until their address is proven, a
//!   stateless reset, a version negotiation. Who may connect, and who must prove its address first, a [`Door`] says. What
//!   the kernel has no room for is lost if it answers a stranger, and waits if it is of a connection.
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
mod flow;
mod host;
mod pace;
mod session;
mod socket;
#[cfg(test)]
mod tests;
mod worker;

pub(crate) use application::{Application, Crowd, Door, Verdict};
pub use flow::Flow;
pub(crate) use flow::UNPACED;
pub use pace::Lateness;

use std::io::{self, PipeWriter, Write};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use noq_proto::{ClientConfig, Endpoint, EndpointConfig, ServerConfig};

use crate::controller::Controllers;
use crate::endpoint::{EndpointError, SERVER_NAME};
use host::Host;
use session::Session;
use socket::Socket;
use worker::{Command, HostId, Worker};

/// The same controllers, such that their connection is one that a driver paces, where they are ours; and the link between them
/// and the driver.
pub(crate) fn paced(controllers: Arc<dyn Controllers>) -> (Arc<dyn Controllers>, Arc<Flow>) {
    let flow = Arc::new(Flow::default());
    let driven = controllers.clone().driven(flow.clone());
    (driven.unwrap_or(controllers), flow)
}

/// A driver's thread. Dropped, it ends its connections, tells their peers, and is gone.
#[derive(Debug)]
pub(crate) struct Driver {
    commands: Mutex<Sender<Command>>,
    bell: PipeWriter,
    ids: AtomicU64,
    thread: Option<JoinHandle<()>>,
}

impl Driver {
    /// Starts one.
    ///
    /// # Errors
    /// The system gives no thread.
    pub(crate) fn start() -> io::Result<Arc<Driver>> {
        let (ear, bell) = io::pipe()?;
        let (commands, orders) = mpsc::channel();
        let worker = Worker::new(orders, ear);
        let thread = thread::Builder::new().name("quic".to_owned());
        Ok(Arc::new(Driver {
            commands: Mutex::new(commands),
            bell,
            ids: AtomicU64::new(0),
            thread: Some(thread.spawn(move || worker.run())?),
        }))
    }

    /// Opens a socket at `address` (port 0: any free one) for those whom `door` lets in. The address that it got.
    ///
    /// # Errors
    /// The address is taken.
    pub(crate) fn listen(
        &self,
        address: SocketAddr,
        (config, server): (EndpointConfig, ServerConfig),
        door: Box<dyn Door>,
    ) -> Result<SocketAddr, EndpointError> {
        let bind = |source| EndpointError::Bind { address, source };
        let socket = Socket::listening(address).map_err(bind)?;
        let local = socket.local_addr().map_err(bind)?;
        let server = Some(Arc::new(server));
        let endpoint = Endpoint::new(Arc::new(config), server, !socket.may_fragment());
        self.add(Host::new(socket, endpoint, Some(door)));
        Ok(local)
    }

    /// Connects to `server` from a socket of its own, and paces the connection as `flow` says, which its controller was
    /// made with. Its packets are capable of ECN if `ecn` says so.
    ///
    /// # Errors
    /// The system gives no socket, or the address cannot be connected to.
    pub(crate) fn connect(
        self: &Arc<Driver>,
        server: SocketAddr,
        config: ClientConfig,
        flow: Arc<Flow>,
        ecn: bool,
        application: Box<dyn Application>,
    ) -> Result<Line, EndpointError> {
        let server = SocketAddr::new(server.ip().to_canonical(), server.port());
        let socket = Socket::sending(server, ecn).map_err(|source| EndpointError::Bind {
            address: server,
            source,
        })?;
        let settings = Arc::new(EndpointConfig::default());
        let mut endpoint = Endpoint::new(settings, None, !socket.may_fragment());
        let now = Instant::now();
        let (handle, connection) = endpoint.connect(now, config, server, SERVER_NAME)?;
        let mut host = Host::new(socket, endpoint, None);
        host.add(
            handle,
            Session::new(connection, application, Some(flow), now),
        );
        let id = self.add(host);
        Ok(Line {
            driver: self.clone(),
            id,
        })
    }

    fn add(&self, host: Host) -> HostId {
        let id = self.ids.fetch_add(1, Ordering::Relaxed);
        self.ask(Command::Add(id, Box::new(host)));
        id
    }

    fn ask(&self, command: Command) {
        let commands = self.commands.lock();
        // Fails only if the thread has panicked: whoever waits for its connections learns that.
        let _ = commands
            .unwrap_or_else(PoisonError::into_inner)
            .send(command);
        let _ = (&self.bell).write(&[0]);
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.ask(Command::Stop);
        if let Some(thread) = self.thread.take() {
            // Nothing is left to be done if it panicked.
            let _ = thread.join();
        }
    }
}

/// A connection that was begun. Dropped, it is ended.
#[derive(Debug)]
pub(crate) struct Line {
    driver: Arc<Driver>,
    id: HostId,
}

impl Drop for Line {
    fn drop(&mut self) {
        self.driver.ask(Command::Close(self.id));
    }
}
