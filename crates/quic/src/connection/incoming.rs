//! Clients that connect.

use std::net::SocketAddr;
use std::sync::Arc;

use noq_proto::{ConnectionError, EndpointConfig, ServerConfig, VarInt};
use tokio::sync::{Mutex, mpsc, oneshot};

use super::Connection;
use super::event_handler::EventHandler;
use super::open_connections::{OpenConnections, Registration, Waiter};
use super::waiting::Waiting;
use crate::driver::{Admission, ConnectionCounts, Driver, HostId, Verdict};
use crate::endpoint::EndpointError;

/// A listening socket. When it is dropped, it accepts no more clients.
#[derive(Debug)]
pub struct Listener {
    driver: Arc<Driver>,
    host: HostId,
    address: SocketAddr,
    connections: Arc<OpenConnections>,
    guests: Mutex<mpsc::UnboundedReceiver<noq_proto::Incoming>>,
}

/// Keeps clients until there is a decision on them: at most [`ServerConfig::max_incoming`], since noq refuses others.
struct Keeper(mpsc::UnboundedSender<noq_proto::Incoming>);

impl Admission for Keeper {
    fn admit(
        &mut self,
        incoming: noq_proto::Incoming,
        _: ConnectionCounts,
    ) -> Option<(noq_proto::Incoming, Verdict)> {
        let gone = self.0.send(incoming).err()?;
        Some((gone.0, Verdict::Refuse))
    }
}

impl Listener {
    /// Opens a socket at `address` (port 0: any free port).
    ///
    /// # Errors
    /// The address is in use.
    pub(crate) fn open(
        driver: Arc<Driver>,
        address: SocketAddr,
        configs: (EndpointConfig, ServerConfig),
    ) -> Result<Listener, EndpointError> {
        let (keep, guests) = mpsc::unbounded_channel();
        let (address, host) = driver.listen(address, configs, Box::new(Keeper(keep)))?;
        Ok(Listener {
            driver,
            host,
            address,
            connections: Arc::default(),
            guests: Mutex::new(guests),
        })
    }

    /// The address at which it listens.
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Waits for the next client. Returns `None` if the driver has ended.
    pub async fn accept(&self) -> Option<Incoming> {
        let guest = self.guests.lock().await.recv().await?;
        Some(Incoming {
            guest: Some(guest),
            host: self.host,
            driver: self.driver.clone(),
            connections: self.connections.clone(),
        })
    }

    /// Closes all its connections, and accepts no more clients.
    pub fn close(&self, code: VarInt) {
        let commands = self.driver.commands();
        commands.shut(self.host);
        commands.close(self.host, code);
    }

    /// Waits until the peers of all its connections know of their end, or cannot learn it any more.
    pub async fn all_draining(&self) {
        self.connections.empty().await;
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let guests = self.guests.get_mut();
        guests.close();
        while let Ok(guest) = guests.try_recv() {
            self.driver
                .commands()
                .decide(self.host, guest, Verdict::Refuse);
        }
        self.driver.commands().shut(self.host);
    }
}

/// A client that wants to connect. When this is dropped, the client is refused.
#[derive(Debug)]
pub struct Incoming {
    /// `None` once there is a decision.
    guest: Option<noq_proto::Incoming>,
    host: HostId,
    driver: Arc<Driver>,
    connections: Arc<OpenConnections>,
}

impl Incoming {
    fn decide(&mut self, verdict: Verdict) {
        if let Some(guest) = self.guest.take() {
            self.driver.commands().decide(self.host, guest, verdict);
        }
    }

    /// The client's address.
    pub fn remote_address(&self) -> Option<SocketAddr> {
        let guest = self.guest.as_ref()?;
        Some(guest.remote_address())
    }

    /// True if the client can be asked to validate its address, and has not been asked.
    pub fn may_retry(&self) -> bool {
        self.guest
            .as_ref()
            .is_some_and(noq_proto::Incoming::may_retry)
    }

    /// Asks the client to validate its address.
    pub fn retry(mut self) {
        self.decide(Verdict::Retry);
    }

    /// Refuses the client with an answer.
    pub fn refuse(mut self) {
        self.decide(Verdict::Refuse);
    }

    /// Gives no answer. The client may send its first packet again.
    pub fn ignore(mut self) {
        self.decide(Verdict::Ignore);
    }

    /// Accepts the client, and waits for the end of its handshake.
    ///
    /// # Errors
    /// The handshake fails.
    pub async fn accept(mut self) -> Result<Connection, ConnectionError> {
        let (told, come) = oneshot::channel();
        let waiting = Arc::new(Waiting::default());
        let waiter = self.remote_address().map(|remote| Waiter {
            waiting: waiting.clone(),
            remote,
            driver: self.driver.clone(),
            told,
        });
        let registration = Registration::new(self.connections.clone(), waiter);
        let handler = EventHandler::at(waiting, registration);
        self.decide(Verdict::Accept(Box::new(handler)));
        // The client's first packet is invalid, or the driver has ended.
        let connection = come.await.map_err(|_| ConnectionError::Reset)?;
        connection.connected().await?;
        Ok(connection)
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        self.decide(Verdict::Refuse);
    }
}
