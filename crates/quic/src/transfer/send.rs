//! The sender.

use noq::{Connection, RecvStream, SendStream};
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::error::Error;
use super::proof::{self, SenderId};
use super::source::{Block, Source};
use super::ticket::Ticket;
use super::wire::{self, Answer, Have, MAX_ANSWER, MAX_OFFER, MAX_REPLY, Offer, Reply, WireError};
use super::{Event, FAREWELL, FileStatus, QUEUE, Transferred, Watch};

/// Sends over a connection whose peer is the receiver.
pub(super) async fn converse(
    connection: &Connection,
    ticket: &Ticket,
    sender: SenderId,
    sources: Vec<Source>,
    restart: bool,
    watch: Watch<'_>,
) -> Result<Vec<Transferred>, Error> {
    let (mut control, mut replies) = connection.open_bi().await?;
    let offer = Offer {
        restart,
        files: sources.iter().map(Source::offered).collect(),
    };
    let mut opening = proof::opening(connection, ticket.secret(), sender)?.to_vec();
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
