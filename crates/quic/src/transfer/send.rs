//! The sender.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::controller::Controllers;
use noq::{
    ClientConfig, Connection, ConnectionError, Endpoint, RecvStream, SendStream, TransportErrorCode,
};
use tokio::sync::mpsc;
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::{sleep, timeout};

use super::error::{Error, code};
use super::proof::proof;
use super::source::{self, Block, Source};
use super::ticket::Ticket;
use super::wire::{self, Answer, Have, MAX_ANSWER, MAX_OFFER, MAX_REPLY, Offer, Reply, WireError};
use super::{Event, FAREWELL, FileStatus, QUEUE, Transferred, Watch, transport};
use crate::endpoint::{self, SERVER_NAME};

/// The next address is tried so much after the one before (RFC 8305, "Connection Attempt Delay").
const ATTEMPT_DELAY: Duration = Duration::from_millis(250);

/// The TLS alert `access_denied`, which our own verifier of certificates raises and nothing else does.
const ACCESS_DENIED: u8 = 49;

/// How to send.
pub struct SenderConfig {
    /// Makes the congestion controller ([`crate::controller`]), with an observer where one is wanted.
    pub controllers: Arc<dyn Controllers>,
    /// Begin anew: forget what an earlier attempt with this ticket left at the receiver.
    pub restart: bool,
}

/// Sends `files`, in this order, to the receiver that printed `ticket`. `watch` is told how it goes.
///
/// Returns when the receiver has all of them, whole, verified and under their names. What an earlier call with the
/// same ticket brought there is not sent again.
pub async fn send(
    files: &[PathBuf],
    ticket: &Ticket,
    config: SenderConfig,
    watch: Watch<'_>,
) -> Result<Vec<Transferred>, Error> {
    let files = files.to_vec();
    let sources = spawn_blocking(move || source::open_all(&files)).await??;
    let ecn = config.controllers.responds_to_ecn();
    let transport = Arc::new(transport(config.controllers));
    let client = endpoint::client_config(ticket.fingerprint(), wire::ALPN, transport)?;
    let (endpoint, connection) = connect(ticket, &client, ecn).await?;
    watch(Event::Connected(&connection));
    let result = converse(&connection, ticket, sources, config.restart, watch).await;
    let code = result.as_ref().err().map_or(code::DONE, Error::code);
    connection.close(code, b"");
    drop(connection);
    // Until the receiver has surely heard of it.
    let _ = timeout(FAREWELL, endpoint.wait_all_draining()).await;
    result
}

/// Tries the ticket's addresses, each a little after the one before, until one answers with the right certificate.
async fn connect(
    ticket: &Ticket,
    client: &ClientConfig,
    ecn: bool,
) -> Result<(Endpoint, Connection), Error> {
    let mut attempts = JoinSet::new();
    for (place, address) in (0..).zip(ticket.addresses().iter().copied()) {
        let client = client.clone();
        attempts.spawn(async move {
            sleep(ATTEMPT_DELAY.saturating_mul(place)).await;
            let endpoint = endpoint::bind_towards(address, ecn)?;
            let connecting = endpoint.connect_with(client, address, SERVER_NAME);
            let unreachable = |reason| Error::Unreachable {
                addresses: vec![address],
                reason,
            };
            let connecting = connecting.map_err(|error| unreachable(error.to_string()))?;
            match connecting.await {
                Ok(connection) => Ok((endpoint, connection)),
                Err(ConnectionError::TransportError(error))
                    if error.code == TransportErrorCode::crypto(ACCESS_DENIED) =>
                {
                    // So that the stranger learns that this attempt is over.
                    let _ = timeout(FAREWELL, endpoint.wait_all_draining()).await;
                    Err(Error::WrongReceiver(address))
                }
                Err(ConnectionError::TimedOut) => Err(unreachable("no answer".to_owned())),
                Err(error) => Err(unreachable(error.to_string().escape_debug().to_string())),
            }
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
                    addresses: ticket.addresses().to_vec(),
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

async fn converse(
    connection: &Connection,
    ticket: &Ticket,
    sources: Vec<Source>,
    restart: bool,
    watch: Watch<'_>,
) -> Result<Vec<Transferred>, Error> {
    let (mut control, mut replies) = connection.open_bi().await?;
    let offer = Offer {
        restart,
        files: sources.iter().map(Source::offered).collect(),
    };
    let mut opening = proof(connection, ticket.secret())?.as_bytes().to_vec();
    opening.extend(wire::encode(&offer, MAX_OFFER).ok_or(WireError::TooLong)?);
    control.write_all(&opening).await?;

    let have = match wire::read(&mut replies, MAX_ANSWER).await? {
        Answer::Accepted(have) => have,
        Answer::Refused(refusal) => return Err(refusal.into()),
    };
    if have.len() != sources.len() {
        return Err(WireError::Sense.into());
    }
    let mut begun = Vec::new();
    for (source, have) in sources.iter().zip(&have) {
        have.check(source.size)?;
        begun.push(FileStatus {
            name: source.name.clone(),
            size: source.size,
            verified: have.bytes(source.size),
        });
    }
    watch(Event::Begun(&begun));

    let mut follow = std::pin::pin!(follow(&mut replies, &begun, watch));
    let sent = tokio::select! {
        biased;
        failure = &mut follow => return failure.and(Err(WireError::Sense.into())),
        sent = send_all(connection, &mut control, sources, have, restart) => sent,
    };
    match sent {
        Ok(sent) => follow.await.map(|()| sent),
        Err(error @ (Error::Protocol(_) | Error::PeerClosed(_))) => {
            // The receiver has stopped reading: its reply says why, and may be on its way.
            match timeout(FAREWELL, follow).await {
                Ok(Err(reason)) => Err(reason),
                _ => Err(error),
            }
        }
        Err(error) => Err(error),
    }
}

/// Reads what the receiver says until all files are complete.
async fn follow(
    replies: &mut RecvStream,
    files: &[FileStatus],
    watch: Watch<'_>,
) -> Result<(), Error> {
    let mut complete = 0;
    while complete < files.len() {
        match wire::read(replies, MAX_REPLY).await? {
            Reply::Verified { file, bytes } => {
                let file = file as usize;
                if files.get(file).is_none_or(|file| bytes > file.size) {
                    return Err(WireError::Sense.into());
                }
                watch(Event::Verified { file, bytes });
            }
            Reply::Complete { file } => {
                let file = file as usize;
                if file != complete {
                    return Err(WireError::Sense.into());
                }
                complete += 1;
                watch(Event::Complete { file });
            }
            Reply::Failed(refusal) => return Err(refusal.into()),
        }
    }
    Ok(())
}

async fn send_all(
    connection: &Connection,
    control: &mut SendStream,
    sources: Vec<Source>,
    have: Vec<Have>,
    restart: bool,
) -> Result<Vec<Transferred>, Error> {
    let mut sent = Vec::new();
    let mut urgency = i32::MAX;
    control.set_priority(urgency)?;
    for (source, have) in sources.into_iter().zip(have) {
        let mut file = Transferred {
            name: source.name.clone(),
            path: source.path.clone(),
            size: source.size,
            hash: [0; 32],
            resumed: have.bytes(source.size),
        };
        let (blocks, mut queue) = mpsc::channel::<Block>(QUEUE);
        let reading = spawn_blocking(move || source.produce(&have, restart, &blocks));
        while let Some(Block { hash, data }) = queue.recv().await {
            let mut stream = connection.open_uni().await?;
            // What was lost of an early block goes before what is new of a later one.
            urgency = urgency.saturating_sub(1);
            stream.set_priority(urgency)?;
            stream.write_all(&hash).await?;
            stream.write_chunk(data.into()).await?;
            stream.finish()?;
        }
        file.hash = *reading.await??.as_bytes();
        control.write_all(&file.hash).await?;
        sent.push(file);
    }
    control.finish()?;
    Ok(sent)
}
