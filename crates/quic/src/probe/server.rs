//! The receiving side of probes.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use noq_proto::VarInt;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::door::{Door, Seat};
use super::token::{PROOF_LEN, Token};
use super::{ALPN, Answer, challenge_of};
use crate::connection::{Connection, Incoming, RecvStream, SendStream};
use crate::endpoint::{EndpointError, Identity, STREAMS};
use crate::server::{self, Server};

/// The most bytes that a stream may bring.
pub const LARGEST: u64 = 1 << 30;

/// The most connections at a time that have proved that they know the token, and the most that have not yet.
const CONNECTIONS: usize = 64;

/// From so many unproven connections on, one must show that its address is its own before it takes a place.
const CROWDED: usize = 8;

/// A connection has so long for its handshake and its proof.
pub const PROOF_TIME: Duration = Duration::from_secs(10);

/// What may be under way to us, or wait for what was sent before it: before the proof, which fits in; after it with a token;
/// and without one. A connection can make us hold so much.
const GUEST_WINDOW: VarInt = VarInt::from_u32(4 << 10);
const WINDOW: VarInt = VarInt::from_u32(32 << 20);
const OPEN_WINDOW: VarInt = VarInt::from_u32(4 << 20);

/// A connection over which nothing has been asked for so long is closed: longer than any interval of probes.
pub const IDLE: Duration = Duration::from_secs(15 * 60);

/// A probe that brings nothing for so long ends its connection.
pub const STALL: Duration = Duration::from_secs(60);

/// What is taken from a stream at a time.
const READ: usize = 256 << 10;

/// What the connections of a receiver share.
struct Hall {
    token: Token,
    guests: Arc<Door>,
    senders: Arc<Door>,
}

/// Receives probes of those who know the token until dropped: whatever comes is counted and discarded. Listens at `address`
/// (port 0: any free one) as `identity`. Must be called within a tokio runtime.
///
/// # Errors
/// The address is taken, or the identity is unusable.
pub fn serve(
    address: SocketAddr,
    identity: &Identity,
    token: &Token,
) -> Result<Server, EndpointError> {
    let mut transport = server::transport();
    transport
        .receive_window(GUEST_WINDOW)
        .datagram_receive_buffer_size(None)
        .max_concurrent_bidi_streams(VarInt::from_u32(1))
        .max_concurrent_uni_streams(VarInt::from_u32(0));
    let hall = Arc::new(Hall {
        token: token.clone(),
        guests: Door::new(CONNECTIONS),
        senders: Door::new(CONNECTIONS),
    });
    Server::start(address, identity, ALPN, transport, move |incoming| {
        if hall.guests.taken() >= CROWDED && incoming.may_retry() {
            incoming.retry();
            return None;
        }
        let from = incoming.remote_address()?.ip();
        match hall.guests.enter(from) {
            Some(guest) => Some(receive(incoming, from, guest, hall.clone())),
            None => {
                incoming.refuse();
                None
            }
        }
    })
}

/// Takes a connection from its handshake to its end. Whatever ends it, there is nobody to tell.
async fn receive(incoming: Incoming, from: IpAddr, guest: Seat, hall: Arc<Hall>) {
    let proven = tokio::select! {
        proven = timeout(PROOF_TIME, greet(incoming, from, &hall)) => proven.ok().flatten(),
        () = guest.lost() => None,
    };
    let Some((connection, sender)) = proven else {
        return;
    };
    drop(guest);
    let sender = Arc::new(sender);
    tokio::select! {
        () = attend(&connection, &sender) => {}
        () = sender.lost() => {}
    }
    connection.close(0u32.into(), b"");
}

/// Waits for the proof, and answers it. The connection, if it may send.
async fn greet(incoming: Incoming, from: IpAddr, hall: &Hall) -> Option<(Connection, Seat)> {
    let connection = incoming.accept().await.ok()?;
    let (mut to, mut proof) = connection.accept_bi().await.ok()?;
    let proof = proof.read_to_end(PROOF_LEN).await.ok()?;
    let challenge = challenge_of(&connection).ok()?;
    let is_proven = hall.token.is_proven(&challenge, &proof);
    let sender = is_proven.then(|| hall.senders.enter(from)).flatten();
    let answer = match &sender {
        Some(_) => Answer::Welcome,
        None if is_proven => Answer::Full,
        None => Answer::WrongToken,
    };
    if sender.is_some() {
        let is_open = hall.token.is_none();
        connection.set_receive_window(if is_open { OPEN_WINDOW } else { WINDOW });
        connection.set_max_concurrent_bi_streams(VarInt::from_u32(STREAMS));
    }
    to.write_all(&[answer as u8]).await.ok()?;
    to.finish().ok()?;
    if sender.is_none() {
        // Until the answer is there.
        let _ = to.stopped().await;
    }
    Some((connection, sender?))
}

/// Takes probes until the connection ends, stalls, or breaks the protocol.
async fn attend(connection: &Connection, sender: &Arc<Seat>) {
    let mut streams = JoinSet::new();
    loop {
        tokio::select! {
            accepted = timeout(IDLE, connection.accept_bi()) => match accepted {
                Ok(Ok((to, from))) => {
                    sender.active();
                    streams.spawn(take(to, from, sender.clone()));
                }
                _ => return,
            },
            Some(taken) = streams.join_next() => {
                if !matches!(taken, Ok(Some(()))) {
                    return;
                }
            }
        }
    }
}

/// Discards what a stream brings, and answers how much it was. Nothing if it broke a rule.
async fn take(mut to: SendStream, mut from: RecvStream, sender: Arc<Seat>) -> Option<()> {
    let mut bytes = 0;
    while let Some(chunk) = timeout(STALL, from.read_chunk(READ)).await.ok()?.ok()? {
        sender.active();
        bytes += chunk.len() as u64;
        if bytes > LARGEST {
            return None;
        }
    }
    if to.write_all(&bytes.to_be_bytes()).await.is_ok() {
        // Fails only if the sender no longer wants to know.
        let _ = to.finish();
    }
    Some(())
}
