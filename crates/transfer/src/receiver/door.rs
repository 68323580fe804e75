//! The receiver's door: accepts connections, and checks that they know the ticket's secret.

use std::net::SocketAddr;
use std::time::Duration;

use noq_proto::VarInt;
use quic::connection::{Connection, Incoming, RecvStream, SendStream};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, Id, JoinError, JoinSet};
use tokio::time::{Instant, sleep_until, timeout};

use super::guests::Guests;
use super::turned_away::TurnedAway;
use crate::error::Error;
use crate::event::{Event, Watch};
use crate::proof::{self, OPENING_LEN, SenderId};
use crate::ticket::Secret;

/// Timeouts for the handshake and for the proof after it, which is sent in the flight that ends the handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(8);
const PROOF_TIMEOUT: Duration = Duration::from_secs(3);

/// The receive window in bytes of a connection that is not sending files yet.
pub const GUEST_WINDOW: VarInt = VarInt::from_u32(32 << 10);

/// A connection with a valid proof.
pub struct Knock {
    pub connection: Connection,
    pub replies: SendStream,
    pub control: RecvStream,
    pub sender: SenderId,
}

/// The result of a guest's attempt.
type Visit = Result<Knock, Error>;

/// Connections on their way to a proof.
pub struct Door {
    secret: Secret,
    guests: Guests<Id>,
    visits: JoinSet<Visit>,
    visitors: Vec<(AbortHandle, SocketAddr)>,
    greet: mpsc::UnboundedSender<Id>,
    greeted: mpsc::UnboundedReceiver<Id>,
    turned_away: TurnedAway,
}

impl Door {
    pub fn new(secret: Secret) -> Door {
        let (greet, greeted) = mpsc::unbounded_channel();
        Door {
            secret,
            guests: Guests::new(),
            visits: JoinSet::new(),
            visitors: Vec::new(),
            greet,
            greeted,
            turned_away: TurnedAway::new(),
        }
    }

    /// Accepts a connection that has yet to send its proof.
    pub fn admit(&mut self, incoming: Incoming) {
        let Some(peer) = incoming.remote_address() else {
            return;
        };
        if self.guests.is_crowded() && incoming.may_retry() {
            incoming.retry();
            return;
        }
        if !self.guests.may_start(peer.ip(), Instant::now().into_std()) {
            // The client repeats its first packet later; a refusal would end it.
            incoming.ignore();
            return;
        }
        if let Some(oldest) = self.guests.to_go() {
            self.guests.leave(oldest);
            let of_oldest = |(handle, _): &&(AbortHandle, _)| handle.id() == oldest;
            if let Some((handle, _)) = self.visitors.iter().find(of_oldest) {
                handle.abort();
            }
        }
        let (secret, greet) = (self.secret, self.greet.clone());
        let visit = self.visits.spawn(knock(incoming, secret, greet));
        self.guests.come(visit.id(), peer.ip());
        self.visitors.push((visit, peer));
    }

    /// The next connection with a valid proof.
    pub async fn next(&mut self, watch: Watch<'_>) -> Knock {
        loop {
            let due = self.turned_away.due(Instant::now().into_std());
            let report = due.map_or_else(Instant::now, Instant::from_std);
            tokio::select! {
                Some(visit) = self.visits.join_next_with_id() => {
                    if let Some(knock) = self.leave(visit) {
                        return knock;
                    }
                }
                Some(id) = self.greeted.recv() => self.guests.greeted(id),
                () = sleep_until(report), if due.is_some() => {
                    if let Some((peer, error, others)) = self.turned_away.take(Instant::now().into_std()) {
                        watch(Event::TurnedAway { peer, error: &error, others });
                    }
                }
            }
        }
    }

    /// Handles the end of a guest: a valid proof, a failure, or an eviction.
    fn leave(&mut self, visit: Result<(Id, Visit), JoinError>) -> Option<Knock> {
        let (id, visit) = match visit {
            Ok((id, visit)) => (id, visit),
            Err(gone) => (gone.id(), Err(Error::NoProof)),
        };
        self.guests.leave(id);
        let place = self
            .visitors
            .iter()
            .position(|(handle, _)| handle.id() == id)?;
        let (_, peer) = self.visitors.swap_remove(place);
        visit
            .map_err(|error| self.turned_away.add(peer, error))
            .ok()
    }
}

async fn knock(
    incoming: Incoming,
    secret: Secret,
    greet: mpsc::UnboundedSender<Id>,
) -> Result<Knock, Error> {
    let connection = timeout(HANDSHAKE_TIMEOUT, incoming.accept())
        .await
        .map_err(|_| Error::Cut)??;
    let _ = greet.send(tokio::task::id());
    let prove = async {
        let (replies, mut control) = connection.accept_bi().await?;
        let mut opening = [0; OPENING_LEN];
        control.read_exact(&mut opening).await?;
        Ok::<_, Error>((replies, control, opening))
    };
    let (replies, control, opening) = timeout(PROOF_TIMEOUT, prove)
        .await
        .map_err(|_| Error::NoProof)??;
    let sender = match proof::check(&connection, secret, &opening) {
        Ok(sender) => sender,
        Err(error) => {
            connection.close(error.code(), b"");
            return Err(error);
        }
    };
    Ok(Knock {
        connection,
        replies,
        control,
        sender,
    })
}
