//! The sender's side of a connection.

use std::sync::Arc;

use quic::connection::{Connection, RecvStream, SendStream};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::reader::{self, Piece};
use super::source::Sources;
use crate::error::Error;
use crate::event::{Event, Status, Transferred, Watch};
use crate::limits::{self, MAX_OFFER, MAX_REFUSAL, MAX_REPLY};
use crate::message::{Answer, Held, Offer, Offered, Progress, Reply, State};
use crate::proof::{self, SenderId};
use crate::stop::Stop;
use crate::ticket::Ticket;
use crate::transport::FAREWELL_TIMEOUT;
use crate::wire;
use crate::wire_error::WireError;

/// Sends over a connection to the receiver.
pub async fn converse(
    connection: &Connection,
    ticket: &Ticket,
    sender: SenderId,
    sources: Arc<Sources>,
    restart: bool,
    watch: Watch<'_>,
) -> Result<Vec<Transferred>, Error> {
    let (mut control, mut replies) = connection.open_bi().await?;
    let offer = Offer {
        restart,
        files: sources.offered.to_vec(),
    };
    let mut opening = proof::opening(connection, ticket.secret(), sender)?.to_vec();
    opening.extend(wire::encode(&offer, MAX_OFFER).ok_or(Error::LongNames)?);
    drop(offer);
    control.write_all(&opening).await?;
    control.set_priority(i32::MAX)?;

    let largest = limits::max_answer(sources.offered.len());
    let held: Arc<[Held]> = match wire::read(&mut replies, largest).await? {
        Answer::Accepted(held) => held.into(),
        // The refusal is shown to people.
        Answer::Refused(refusal) if wire::encode(&refusal, MAX_REFUSAL).is_none() => {
            return Err(WireError::TooLong.into());
        }
        Answer::Refused(refusal) => return Err(refusal.into()),
    };
    let begun = begun(&sources.offered, &held)?;
    let status = Status::of(&sources.offered, &begun);
    watch(Event::Begun(&status));

    let end = Progress {
        bytes: status.data,
        files: status.files,
    };
    let mut follow = std::pin::pin!(follow(&mut replies, begun, end, watch));
    let sent = tokio::select! {
        biased;
        failure = &mut follow => return failure.and(Err(WireError::Sense.into())),
        sent = send_all(connection, control, sources, held, restart) => sent,
    };
    let (sent, _control) = sent;
    match sent {
        Ok(sent) => follow.await.map(|()| sent),
        Err(error @ (Error::Protocol(_) | Error::PeerClosed(_))) => {
            // The receiver has stopped reading. Its reply contains the reason, and may be on its way.
            match timeout(FAREWELL_TIMEOUT, follow).await {
                Ok(Err(reason)) => Err(reason),
                _ => Err(error),
            }
        }
        Err(error) => Err(error),
    }
}

/// The receiver's progress in earlier attempts, if its claims are consistent.
pub fn begun(files: &[Offered], held: &[Held]) -> Result<Progress, Error> {
    let mut begun = Progress::default();
    let mut next = 0;
    for Held { file, state } in held {
        let offered = files.get(*file as usize).ok_or(WireError::Sense)?;
        if *file < next || offered.is_directory() {
            return Err(WireError::Sense.into());
        }
        next = file + 1;
        begun.bytes += match state {
            State::Complete { .. } => {
                begun.files += 1;
                offered.data()
            }
            State::Part { .. } if offered.is_small() => return Err(WireError::Sense.into()),
            State::Part { blocks, .. } => {
                blocks.check(offered.size)?;
                // Holes are not sent, so no receiver can have blocks of them.
                if blocks.meets(&offered.holes) {
                    return Err(WireError::Sense.into());
                }
                blocks.bytes(offered.size)
            }
        };
    }
    Ok(begun)
}

/// Reads the receiver's reports until all files are complete. There is at least one report, even if all were complete
/// before.
async fn follow(
    replies: &mut RecvStream,
    mut before: Progress,
    end: Progress,
    watch: Watch<'_>,
) -> Result<(), Error> {
    loop {
        match wire::read(replies, MAX_REPLY).await? {
            Reply::Progress(now) => {
                // Verified content stays verified.
                let bytes = before.bytes..=end.bytes;
                if !bytes.contains(&now.bytes) || !(before.files..=end.files).contains(&now.files) {
                    return Err(WireError::Sense.into());
                }
                before = now;
                watch(Event::Verified { bytes: now.bytes });
                watch(Event::Complete { files: now.files });
                if now.files == end.files {
                    return Ok(());
                }
            }
            Reply::Failed(refusal) => return Err(refusal.into()),
        }
    }
}

/// Reads and sends on one thread, which saves handing over each piece. QUIC's send buffer lets it be ahead of the
/// network. Returns the control stream: dropped here, it would end before the connection's closing reason is sent.
async fn send_all(
    connection: &Connection,
    mut control: SendStream,
    sources: Arc<Sources>,
    held: Arc<[Held]>,
    restart: bool,
) -> (Result<Vec<Transferred>, Error>, Option<SendStream>) {
    let connection = connection.clone();
    let stop = Stop::default();
    // The reading ends with the connection.
    let _stop = stop.on_drop();
    let sending = spawn_blocking(move || {
        let mut outgoing = Outgoing {
            connection,
            control: &mut control,
            urgency: i32::MAX,
        };
        let send = |piece| stop.wait(outgoing.send(piece), || ())?;
        let sent = reader::read(sources, held, restart, &stop, send);
        (sent, control)
    });
    let (sent, mut control) = match sending.await {
        Ok(ended) => ended,
        Err(error) => return (Err(error.into()), None),
    };
    // Only after the sender has finished may the receiver report the end.
    let sent = sent.and_then(|sent| {
        control.finish()?;
        Ok(sent)
    });
    (sent, Some(control))
}

/// The outgoing streams.
struct Outgoing<'a> {
    connection: Connection,
    control: &'a mut SendStream,
    /// The priority of the latest stream.
    urgency: i32,
}

impl Outgoing<'_> {
    async fn send(&mut self, piece: Piece) -> Result<(), Error> {
        match piece {
            Piece::Stream { hashes, content } => {
                // Retransmissions of an early stream precede new data of a later one.
                self.urgency = self.urgency.saturating_sub(1);
                let piece = vec![hashes.into(), content.into()];
                self.connection.send_uni(self.urgency, piece).await?;
            }
            Piece::Seal(hash) => self.control.write_all(&hash).await?,
        }
        Ok(())
    }
}
