//! Connecting to the receiver, and reconnecting after an outage.

use std::net::SocketAddr;
use std::time::Duration;

use noq_proto::{ConnectionError, TransportErrorCode};
use quic::connection::Connection;
use quic::endpoint::{Client, EndpointError};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::code;
use crate::error::Error;
use crate::event::{Event, Watch};
use crate::ticket::Ticket;
use crate::transport::{FAREWELL_TIMEOUT, KEEP_ALIVE};

/// The delay between attempts at successive addresses (RFC 8305, "Connection Attempt Delay").
const ATTEMPT_DELAY: Duration = Duration::from_millis(250);

/// The time without an acknowledgement after which the path counts as broken. An acknowledgement is requested whenever
/// none has come for [`KEEP_ALIVE`].
const STALL_TIMEOUT: Duration = KEEP_ALIVE.saturating_mul(3);

/// The interval of checks for acknowledgements.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// The longest time for which the sender tries to reconnect to a receiver that has vanished.
pub const RECONNECT_TIMEOUT: Duration = Duration::from_secs(60);

/// The pause after a failed attempt.
const RETRY_PAUSE: Duration = Duration::from_millis(500);

/// The TLS alert `access_denied`, which only our own verifier of certificates raises.
const ACCESS_DENIED: u8 = 49;

/// A connection to the receiver.
pub struct Link {
    pub connection: Connection,
}

impl Link {
    /// Connects to `address`.
    async fn to(client: &Client, address: SocketAddr) -> Result<Link, Error> {
        let unreachable = |reason| Error::Unreachable {
            addresses: vec![address],
            reason,
        };
        let connection = client.connect(address).map_err(|error| match error {
            EndpointError::Connect(error) => unreachable(error.to_string()),
            error => error.into(),
        })?;
        match connection.connected().await {
            Ok(()) => Ok(Link { connection }),
            Err(ConnectionError::TransportError(error))
                if error.code == TransportErrorCode::crypto(ACCESS_DENIED) =>
            {
                // Lets the other host learn that this attempt is over.
                let _ = timeout(FAREWELL_TIMEOUT, connection.draining()).await;
                Err(Error::WrongReceiver(address))
            }
            Err(ConnectionError::TimedOut) => Err(unreachable("no answer".to_owned())),
            Err(error) => Err(unreachable(error.to_string().escape_debug().to_string())),
        }
    }

    /// Closes the connection with the code for this result.
    pub async fn end<T>(self, result: Result<T, Error>) -> Result<T, Error> {
        let code = result.as_ref().err().map_or(code::DONE, Error::code);
        self.connection.close(code, b"");
        // Waits until the receiver has surely got the closing code.
        let _ = timeout(FAREWELL_TIMEOUT, self.connection.draining()).await;
        result
    }
}

/// The parameters of connecting.
pub struct Connector<'a> {
    pub client: Client,
    pub ticket: &'a Ticket,
}

impl Connector<'_> {
    /// Returns a connection that replaces `current`: when that has had no acknowledgement for too long, and the
    /// receiver answers a new connection before the old one.
    ///
    /// A path can recover without its connection. noq's receiver does not send over a new path (such as a NAT creates
    /// by a new source port) before its PATH_CHALLENGE is answered, and gives up after three probe timeouts. The
    /// sender's answer has to wait for the congestion window, which is full with the packets that the outage has
    /// swallowed, and hence for its own probe timeout, which has been backed off. After that, neither side ever tries
    /// again.
    pub async fn replace(&self, current: &Connection, watch: Watch<'_>) -> Result<Link, Error> {
        let heard = || current.stats().frame_rx.acks;
        loop {
            let (mut acks, mut since) = (heard(), Instant::now());
            let mut asked = since;
            while since.elapsed() < STALL_TIMEOUT {
                sleep(POLL_INTERVAL).await;
                if heard() != acks {
                    (acks, since) = (heard(), Instant::now());
                    asked = since;
                } else if asked.elapsed() >= KEEP_ALIVE {
                    // QUIC's own keep-alive is postponed by any arriving packet. A receiver that is busy with its disk
                    // reports its progress, while the sender has nothing left to send that would be acknowledged.
                    current.ping();
                    asked = Instant::now();
                }
            }
            watch(Event::Reconnecting);
            let recovered = async {
                while heard() == acks {
                    sleep(POLL_INTERVAL).await;
                }
            };
            let reached = timeout_at(since + RECONNECT_TIMEOUT, self.reach());
            tokio::select! {
                biased;
                () = recovered => {}
                reached = reached => return reached.map_err(|_| Error::Cut)?,
            }
        }
    }

    /// Connects, with any number of attempts.
    pub async fn reach(&self) -> Result<Link, Error> {
        loop {
            match self.connect().await {
                Err(Error::Unreachable { .. }) => sleep(RETRY_PAUSE).await,
                reached => return reached,
            }
        }
    }

    /// Tries the ticket's addresses, each a little after the one before, until one answers with the right certificate.
    pub async fn connect(&self) -> Result<Link, Error> {
        let mut attempts = JoinSet::new();
        for (place, address) in (0..).zip(self.ticket.addresses().iter().copied()) {
            let client = self.client.clone();
            attempts.spawn(async move {
                sleep(ATTEMPT_DELAY.saturating_mul(place)).await;
                Link::to(&client, address).await
            });
        }
        let mut failure = None;
        while let Some(attempt) = attempts.join_next().await {
            match (attempt?, &failure) {
                (Ok(connected), _) => return Ok(connected),
                // A wrong certificate at one address says more than silence at another.
                (Err(Error::Unreachable { .. }), Some(Error::WrongReceiver(_))) => {}
                (Err(Error::Unreachable { reason, .. }), _) => {
                    failure = Some(Error::Unreachable {
                        addresses: self.ticket.addresses().to_vec(),
                        reason,
                    });
                }
                (Err(error), _) => failure = Some(error),
            }
        }
        Err(failure.unwrap_or(Error::Unreachable {
            addresses: Vec::new(),
            reason: "the ticket has no address".to_owned(),
        }))
    }
}
