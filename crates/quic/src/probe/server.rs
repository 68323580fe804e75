//! The receiving side of probes.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use noq_proto::VarInt;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::connection_limit::{ConnectionLimit, Permit};
use super::token::{PROOF_LEN, Token};
use super::{ALPN, Answer, challenge_of};
use crate::connection::{Connection, Incoming, RecvStream, SendStream};
use crate::endpoint::{EndpointError, Identity, STREAMS};
use crate::server::{self, Server};

/// The maximum bytes of a stream.
pub const MAX_STREAM_BYTES: u64 = 1 << 30;

/// The maximum number of proven connections at a time, and that of unproven ones.
const MAX_CONNECTIONS: usize = 64;

/// The number of unproven connections from which on a new client must validate its address first.
const UNPROVEN_BEFORE_RETRY: usize = 8;

/// The maximum time for a connection's handshake and proof.
pub const PROOF_TIMEOUT: Duration = Duration::from_secs(10);

/// Receive windows: before the proof, which fits in; after it with a token; and without a token. They bound the memory
/// that a connection can take.
const GUEST_WINDOW: VarInt = VarInt::from_u32(4 << 10);
const WINDOW: VarInt = VarInt::from_u32(32 << 20);
const OPEN_WINDOW: VarInt = VarInt::from_u32(4 << 20);

/// The maximum time without a probe on a connection: longer than any interval of probes.
pub const IDLE_TIMEOUT: Duration = Duration::from_secs(15 * 60);

/// The maximum time without data in a probe.
pub const STALL_TIMEOUT: Duration = Duration::from_secs(60);

/// The maximum bytes read from a stream at a time.
const READ_BYTES: usize = 256 << 10;

/// The state that the connections of a receiver share.
struct Shared {
    token: Token,
    clients: Arc<ConnectionLimit>,
    senders: Arc<ConnectionLimit>,
}

/// Receives probes of senders that know the token, until it is dropped. It counts and discards their data. Listens at
/// `address` (port 0: any free port) as `identity`. Must be called within a tokio runtime.
///
/// # Errors
/// The address is in use, or the identity is unusable.
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
    let shared = Arc::new(Shared {
        token: token.clone(),
        clients: ConnectionLimit::new(MAX_CONNECTIONS),
        senders: ConnectionLimit::new(MAX_CONNECTIONS),
    });
    Server::start(address, identity, ALPN, transport, move |incoming| {
        if shared.clients.taken() >= UNPROVEN_BEFORE_RETRY && incoming.may_retry() {
            incoming.retry();
            return None;
        }
        let from = incoming.remote_address()?.ip();
        match shared.clients.acquire(from) {
            Some(client) => Some(receive(incoming, from, client, shared.clone())),
            None => {
                incoming.refuse();
                None
            }
        }
    })
}

/// Serves a connection from its handshake to its end. Its errors are not reported.
async fn receive(incoming: Incoming, from: IpAddr, client: Permit, shared: Arc<Shared>) {
    let proven = tokio::select! {
        proven = timeout(PROOF_TIMEOUT, greet(incoming, from, &shared)) => proven.ok().flatten(),
        () = client.lost() => None,
    };
    let Some((connection, sender)) = proven else {
        return;
    };
    drop(client);
    let sender = Arc::new(sender);
    tokio::select! {
        () = attend(&connection, &sender) => {}
        () = sender.lost() => {}
    }
    connection.close(0u32.into(), b"");
}

/// Waits for the proof, and answers it. Returns the connection if it may send.
async fn greet(incoming: Incoming, from: IpAddr, shared: &Shared) -> Option<(Connection, Permit)> {
    let connection = incoming.accept().await.ok()?;
    let (mut to, mut proof) = connection.accept_bi().await.ok()?;
    let proof = proof.read_to_end(PROOF_LEN).await.ok()?;
    let challenge = challenge_of(&connection).ok()?;
    let is_proven = shared.token.is_proven(&challenge, &proof);
    let sender = is_proven.then(|| shared.senders.acquire(from)).flatten();
    let answer = match &sender {
        Some(_) => Answer::Welcome,
        None if is_proven => Answer::Full,
        None => Answer::WrongToken,
    };
    if sender.is_some() {
        let is_open = shared.token.is_none();
        connection.set_receive_window(if is_open { OPEN_WINDOW } else { WINDOW });
        connection.set_max_concurrent_bi_streams(VarInt::from_u32(STREAMS));
    }
    to.write_all(&[answer as u8]).await.ok()?;
    to.finish().ok()?;
    if sender.is_none() {
        // Waits until the answer has arrived.
        let _ = to.stopped().await;
    }
    Some((connection, sender?))
}

/// Receives probes until the connection ends, stalls, or violates the protocol.
async fn attend(connection: &Connection, sender: &Arc<Permit>) {
    let mut streams = JoinSet::new();
    loop {
        tokio::select! {
            accepted = timeout(IDLE_TIMEOUT, connection.accept_bi()) => match accepted {
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

/// Discards a stream's data, and answers their number. Returns `None` if the stream violated a rule.
async fn take(mut to: SendStream, mut from: RecvStream, sender: Arc<Permit>) -> Option<()> {
    let mut bytes = 0;
    while let Some(chunk) = timeout(STALL_TIMEOUT, from.read_chunk(READ_BYTES))
        .await
        .ok()?
        .ok()?
    {
        sender.active();
        bytes += chunk.len() as u64;
        if bytes > MAX_STREAM_BYTES {
            return None;
        }
    }
    if to.write_all(&bytes.to_be_bytes()).await.is_ok() {
        // This fails only if the sender has stopped the stream.
        let _ = to.finish();
    }
    Some(())
}
