//! An endpoint, as the application has it.

use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Instant;
use std::{fmt, io};

use bytes::Bytes;
use noq_proto::{
    ClientConfig, ConnectError, ConnectionError, ConnectionHandle, EndpointConfig, ServerConfig,
    Transmit, TransportConfig, VarInt,
};

use super::connection::{Conn, Connecting, Connection};
use super::shared::{Core, Shared};
use super::socket::Socket;
use super::thread;
use crate::controller::{Controllers, Pace};

/// One socket, with a thread of its own that drives all of its connections.
///
/// Clones are the same endpoint. When the last of them has been dropped, and the last connection is over, the thread ends.
#[derive(Clone)]
pub struct Endpoint {
    shared: Handle,
    address: SocketAddr,
    accepts: Option<Arc<Accepts>>,
}

/// Keeps the driver going.
struct Handle(Arc<Shared>);

impl Clone for Handle {
    fn clone(&self) -> Handle {
        self.core().handles += 1;
        Handle(self.0.clone())
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.core().handles -= 1;
        self.wake();
    }
}

impl std::ops::Deref for Handle {
    type Target = Arc<Shared>;

    fn deref(&self) -> &Arc<Shared> {
        &self.0
    }
}

/// How an endpoint accepts connections.
pub struct Accepts {
    /// TLS, transport, and limits.
    pub config: ServerConfig,
    /// What controls congestion, in place of what the transport says.
    pub controllers: Arc<dyn Controllers>,
}

/// With which settings a connection is paced by the driver, if its controllers allow that.
fn paced(
    transport: &TransportConfig,
    controllers: &Arc<dyn Controllers>,
) -> (Arc<TransportConfig>, Option<Arc<Pace>>) {
    let mut transport = transport.clone();
    let pace = Arc::new(Pace::default());
    let pace = match controllers.clone().for_pace(pace.clone()) {
        Some(factory) => {
            transport.congestion_controller_factory(factory);
            Some(pace)
        }
        None => {
            transport.congestion_controller_factory(controllers.clone());
            None
        }
    };
    (Arc::new(transport), pace)
}

impl Endpoint {
    /// Drives `socket`, which accepts connections if `accepts` says how. Its packets are capable of ECN if `ecn`: what
    /// controls congestion must then [answer marks](Controllers::responds_to_ecn).
    ///
    /// # Errors
    /// The system refuses a setting of the socket, or a thread.
    pub fn new(
        socket: std::net::UdpSocket,
        config: EndpointConfig,
        accepts: Option<Accepts>,
        ecn: bool,
    ) -> io::Result<Endpoint> {
        let address = socket.local_addr()?;
        let socket = Socket::new(socket, ecn)?;
        let server = accepts.as_ref().map(|it| Arc::new(it.config.clone()));
        let inner = noq_proto::Endpoint::new(Arc::new(config), server, socket.may_discover_mtu());
        let shared = thread::start(socket, inner)?;
        Ok(Endpoint {
            shared: Handle(shared),
            address,
            accepts: accepts.map(Arc::new),
        })
    }

    /// Where the socket is.
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Begins to connect to `server`, whose certificate has to be for `name`. `controllers` makes what controls congestion, in
    /// place of what `config` has, of which `transport` is the rest.
    ///
    /// # Errors
    /// The endpoint is closed, or the address cannot be connected to.
    pub fn connect(
        &self,
        mut config: ClientConfig,
        transport: &TransportConfig,
        controllers: &Arc<dyn Controllers>,
        server: SocketAddr,
        name: &str,
    ) -> Result<Connecting, ConnectError> {
        let server = match (self.address, server) {
            (SocketAddr::V4(_), SocketAddr::V6(_)) => {
                return Err(ConnectError::InvalidRemoteAddress(server));
            }
            // A socket of both families knows IPv4's addresses by their IPv6 names (RFC 4291, "IPv4-Mapped IPv6 Address").
            (SocketAddr::V6(_), SocketAddr::V4(v4)) => {
                SocketAddr::new(v4.ip().to_ipv6_mapped().into(), v4.port())
            }
            _ => server,
        };
        let (transport, pace) = paced(transport, controllers);
        config.transport_config(transport);
        let mut core = self.shared.core();
        if core.closing.is_some() {
            return Err(ConnectError::EndpointStopping);
        }
        let (handle, inner) = core
            .endpoint
            .connect(Instant::now(), config, server, name)?;
        let conn = core.insert(&self.shared, handle, server, inner, pace);
        drop(core);
        self.shared.wake();
        Ok(Connecting::new(conn))
    }

    /// The next who wants to connect; nothing once the endpoint is closed.
    pub async fn accept(&self) -> Option<Incoming> {
        let accepts = self.accepts.clone()?;
        loop {
            let mut arrival = pin!(self.shared.arrival.notified());
            arrival.as_mut().enable();
            let (next, is_closing) = {
                let mut core = self.shared.core();
                (core.arrivals.pop_front(), core.closing.is_some())
            };
            if let Some(inner) = next {
                return Some(Incoming(Some(Arrival {
                    inner,
                    shared: self.shared.clone(),
                    accepts,
                })));
            }
            if is_closing {
                return None;
            }
            arrival.await;
        }
    }

    /// Closes all connections, with a code and a reason for their peers, and accepts no more.
    pub fn close(&self, code: VarInt, reason: &[u8]) {
        let mut core = self.shared.core();
        core.closing = Some((code, Bytes::copy_from_slice(reason)));
        drop(core);
        self.shared.arrival.notify_waiters();
        self.shared.wake();
    }

    /// Waits until the peers of all connections know that these are over, or have been told and given the time to answer.
    pub async fn wait_all_draining(&self) {
        loop {
            let mut quiet = pin!(self.shared.quiet.notified());
            quiet.as_mut().enable();
            if self.shared.core().active == 0 {
                return;
            }
            quiet.await;
        }
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Endpoint").field(&self.address).finish()
    }
}

impl Core {
    /// A connection that the driver is to see with its next look.
    fn insert(
        &mut self,
        shared: &Arc<Shared>,
        handle: ConnectionHandle,
        remote: SocketAddr,
        inner: noq_proto::Connection,
        pace: Option<Arc<Pace>>,
    ) -> Arc<Conn> {
        let conn = Arc::new(Conn::new(handle, remote, inner, shared.clone()));
        self.fresh.push((conn.clone(), pace));
        self.active += 1;
        conn
    }
}

/// Somebody wants to connect. Dropped, they are refused.
pub struct Incoming(Option<Arrival>);

struct Arrival {
    inner: noq_proto::Incoming,
    shared: Handle,
    accepts: Arc<Accepts>,
}

impl Incoming {
    fn arrival(&self) -> Option<&noq_proto::Incoming> {
        self.0.as_ref().map(|arrival| &arrival.inner)
    }

    /// Where they say they are.
    pub fn remote_address(&self) -> SocketAddr {
        let unknown = SocketAddr::from(([0; 4], 0));
        self.arrival()
            .map_or(unknown, noq_proto::Incoming::remote_address)
    }

    /// Whether they may be asked to prove their address.
    pub fn may_retry(&self) -> bool {
        self.arrival().is_some_and(noq_proto::Incoming::may_retry)
    }

    /// Takes part in the handshake.
    ///
    /// # Errors
    /// There cannot be one: what they sent is not sound, or too old.
    pub fn accept(mut self) -> Result<Connecting, ConnectionError> {
        let Some(arrival) = self.0.take() else {
            return Err(ConnectionError::LocallyClosed);
        };
        let Arrival {
            inner,
            shared,
            accepts,
        } = arrival;
        let remote = inner.remote_address();
        let mut config = accepts.config.clone();
        let (transport, pace) = paced(&config.transport, &accepts.controllers);
        config.transport_config(transport);
        let mut core = shared.core();
        let mut buffer = Vec::new();
        let accepted =
            core.endpoint
                .accept(inner, Instant::now(), &mut buffer, Some(Arc::new(config)));
        let result = match accepted {
            Ok((handle, inner)) => Ok(core.insert(&shared, handle, remote, inner, pace)),
            Err(error) => {
                core.answers
                    .extend(error.response.map(|transmit| (transmit, buffer)));
                Err(error.cause)
            }
        };
        drop(core);
        shared.wake();
        result.map(Connecting::new)
    }

    /// Asks them to prove their address, and come again (RFC 9000, "Address Validation Using Retry Packets"). Refuses them
    /// if they [may not be asked](Self::may_retry).
    pub fn retry(mut self) {
        self.answer(
            |core, inner, buffer| match core.endpoint.retry(inner, buffer) {
                Ok(transmit) => transmit,
                Err(error) => core.endpoint.refuse(error.into_incoming(), buffer),
            },
        );
    }

    /// Does not answer. They will try again.
    pub fn ignore(mut self) {
        if let Some(arrival) = self.0.take() {
            arrival.shared.core().endpoint.ignore(arrival.inner);
        }
    }

    /// Tells them that they are not wanted.
    pub fn refuse(mut self) {
        self.answer(|core, inner, buffer| core.endpoint.refuse(inner, buffer));
    }

    fn answer(
        &mut self,
        make: impl FnOnce(&mut Core, noq_proto::Incoming, &mut Vec<u8>) -> Transmit,
    ) {
        let Some(arrival) = self.0.take() else {
            return;
        };
        let mut core = arrival.shared.core();
        let mut buffer = Vec::new();
        let transmit = make(&mut core, arrival.inner, &mut buffer);
        core.answers.push((transmit, buffer));
        drop(core);
        arrival.shared.wake();
    }
}

impl IntoFuture for Incoming {
    type Output = Result<Connection, ConnectionError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { self.accept()?.await })
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        self.answer(|core, inner, buffer| core.endpoint.refuse(inner, buffer));
    }
}
