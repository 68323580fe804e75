//! The sender's way to the receiver, and back to it after an outage.

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
use crate::transport::{FAREWELL, KEEP_ALIVE};

/// The next address is tried so much after the one before (RFC 8305, "Connection Attempt Delay").
const ATTEMPT_DELAY: Duration = Duration::from_millis(250);

/// Without an acknowledgement for this long the path is taken for broken: one is asked for whenever none has come for
/// [`KEEP_ALIVE`].
const STALL: Duration = KEEP_ALIVE.saturating_mul(3);

/// How often it is looked for acknowledgements.
const LOOK: Duration = Duration::from_millis(100);

/// For this long the sender tries to get back to a receiver that has vanished.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// The pause after an attempt that failed at once.
const RETRY: Duration = Duration::from_millis(500);

/// The TLS alert `access_denied`, which our own verifier of certificates raises and nothing else does.
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
                // So that the stranger learns that this attempt is over.
                let _ = timeout(FAREWELL, connection.draining()).await;
                Err(Error::WrongReceiver(address))
            }
            Err(ConnectionError::TimedOut) => Err(unreachable("no answer".to_owned())),
            Err(error) => Err(unreachable(error.to_string().escape_debug().to_string())),
        }
    }

    /// Tells the receiver of the end.
    pub async fn end<T>(self, result: Result<T, Error>) -> Result<T, Error> {
        let code = result.as_ref().err().map_or(code::DONE, Error::code);
        self.connection.close(code, b"");
        // Until the receiver has surely heard of it.
        let _ = timeout(FAREWELL, self.connection.draining()).await;
        result
    }
}

/// How to get to the receiver.
pub struct Way<'a> {
    pub client: Client,
    pub ticket: &'a Ticket,
}

impl Way<'_> {
    /// A connection that replaces `current`: when that has had no acknowledgement for too long, and the receiver answers
    /// to a new one before it answers to the old one.
    ///
    /// A path can come back without the connection: noq's receiver does not send over a new path (such as a NAT makes by
    /// a new source port) before its PATH_CHALLENGE is answered, and gives up on that after three probe timeouts. The
    /// sender's answer has to wait for the congestion window, which is full with what the outage has swallowed, and hence
    /// for its own probe timeout, which the outage has backed off. From then on neither side ever tries again.
    pub async fn replace(&self, current: &Connection, watch: Watch<'_>) -> Result<Link, Error> {
        let heard = || current.stats().frame_rx.acks;
        loop {
            let (mut acks, mut since) = (heard(), Instant::now());
            let mut asked = since;
            while since.elapsed() < STALL {
                sleep(LOOK).await;
                if heard() != acks {
                    (acks, since) = (heard(), Instant::now());
                    asked = since;
                } else if asked.elapsed() >= KEEP_ALIVE {
                    // QUIC's own keep-alive is put off by whatever arrives: a receiver that is busy with its disk reports how far it
                    // is, while nothing is left to send that it could acknowledge.
                    current.ping();
                    asked = Instant::now();
                }
            }
            watch(Event::Reconnecting);
            let recovered = async {
                while heard() == acks {
                    sleep(LOOK).await;
                }
            };
            let reached = timeout_at(since + PATIENCE, self.reach());
            tokio::select! {
                biased;
                () = recovered => {}
                reached = reached => return reached.map_err(|_| Error::Cut)?,
            }
        }
    }

    /// Connects, however many attempts it takes.
    pub async fn reach(&self) -> Result<Link, Error> {
        loop {
            match self.connect().await {
                Err(Error::Unreachable { .. }) => sleep(RETRY).await,
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
                // A stranger at one address tells more than silence at another.
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
