//! The receiver.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::stream::{self, Stream, StreamExt};
use noq::{Connection, ConnectionError, Endpoint, RecvStream, SendStream};
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::accept::{self, Knock};
use super::disk::{Disk, RealDisk};
use super::error::{Error, Refusal, code};
use super::listen;
use super::part::Part;
use super::store::Store;
use super::ticket::Ticket;
use super::wire::{self, Answer, Have, MAX_ANSWER, MAX_OFFER, MAX_REPLY, Offer, Reply, WireError};
use super::{Event, FAREWELL, FileStatus, QUEUE, STREAMS, Transferred, Watch, tree};
use crate::endpoint::{Sockets, Udp};

/// How to receive.
#[derive(Debug, Clone)]
pub struct ReceiverConfig {
    /// Where to listen; port 0 for any.
    pub listen: SocketAddr,
    /// What the ticket says instead of the addresses found; port 0 for the port that is listened on.
    pub advertise: Vec<SocketAddr>,
    /// The directory in which the files appear.
    pub out: PathBuf,
    /// Whether existing files may be replaced.
    pub overwrite: bool,
    /// Forget an unfinished transfer, its ticket and its parts.
    pub fresh: bool,
}

/// What a receiver found in its output directory when it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resumption {
    /// Nothing: the ticket is new.
    None,
    /// An unfinished transfer: the ticket is the one that was printed before.
    SameTicket,
    /// An unfinished transfer, but its port is taken: only the new ticket works, and continues it.
    NewPort,
}

/// A receiver that listens.
pub struct Receiver {
    endpoint: Endpoint,
    store: Arc<Store>,
    ticket: Ticket,
    resumption: Resumption,
}

impl Receiver {
    /// Starts to listen, and makes the ticket or finds that of an unfinished transfer in `config.out`.
    pub async fn bind(config: ReceiverConfig) -> Result<Receiver, Error> {
        Receiver::bind_on(config, Box::new(RealDisk), &Udp).await
    }

    pub(super) async fn bind_on(
        config: ReceiverConfig,
        disk: Box<dyn Disk>,
        sockets: &dyn Sockets,
    ) -> Result<Receiver, Error> {
        let (out, overwrite) = (config.out.clone(), config.overwrite);
        let store = spawn_blocking(move || Store::open(&out, overwrite, disk)).await??;
        if config.fresh {
            store.forget()?;
        }
        let before = store.identity()?;
        let is_new = before.is_none();
        let listening = listen::listen(sockets, &config, &store, before);
        if listening.is_err() && is_new {
            // The error says more than one about what is left behind could.
            let _ = store.clear();
        }
        let (endpoint, ticket, resumption) = listening?;
        Ok(Receiver {
            endpoint,
            store: Arc::new(store),
            ticket,
            resumption,
        })
    }

    /// What the sender needs.
    pub fn ticket(&self) -> &Ticket {
        &self.ticket
    }

    /// Whether this continues an unfinished transfer.
    pub fn resumption(&self) -> Resumption {
        self.resumption
    }

    /// Receives: until one transfer is complete, whatever interruptions it takes, or until this side fails. `watch` is
    /// told how it goes.
    ///
    /// After an error, or when the future is dropped, the same configuration continues with the same ticket.
    pub async fn run(self, watch: Watch<'_>) -> Result<Vec<Transferred>, Error> {
        let result = accept::serve(&self.endpoint, &self.store, &self.ticket, watch).await;
        let code = result.as_ref().err().map_or(code::DONE, Error::code);
        self.endpoint.close(code, b"");
        if result.is_ok() {
            // At once: who ends the program during the farewell must not find an unfinished transfer next time.
            let store = self.store.clone();
            spawn_blocking(move || store.clear()).await??;
        }
        let _ = timeout(FAREWELL, self.endpoint.wait_all_draining()).await;
        result
    }
}

/// The files that arrived, and whether the sender knows.
pub(super) type Outcome = Result<(Vec<Transferred>, bool), Error>;

/// Receives over a connection that has proven itself.
pub(super) async fn converse(store: Arc<Store>, mut knock: Knock, watch: Watch<'_>) -> Outcome {
    watch(Event::Connected(&knock.connection));
    let result = receive_all(store, &mut knock, watch).await;
    match result {
        Ok(received) => {
            knock.replies.finish()?;
            let is_known = match knock.replies.stopped().await {
                Ok(_) => true,
                Err(_) => matches!(
                    knock.connection.close_reason(),
                    Some(ConnectionError::ApplicationClosed(close)) if close.error_code == code::DONE
                ),
            };
            Ok((received, is_known))
        }
        Err(error) => {
            if matches!(error, Error::Refused(_)) {
                // The sender closes as soon as it has read the reason.
                let _ = knock.replies.finish();
                let _ = timeout(FAREWELL, knock.connection.closed()).await;
            }
            knock.connection.close(error.code(), b"");
            Err(error)
        }
    }
}

async fn receive_all(
    store: Arc<Store>,
    knock: &mut Knock,
    watch: Watch<'_>,
) -> Result<Vec<Transferred>, Error> {
    let offer: Offer = wire::read(&mut knock.control, MAX_OFFER).await?;
    let begun = spawn_blocking(move || store.begin(&offer)).await?;
    let mut parts = match begun {
        Ok(parts) => parts,
        Err(refusal) => {
            let answer = Answer::Refused(refusal.clone());
            say(&mut knock.replies, &answer, MAX_ANSWER).await?;
            return Err(refusal.into());
        }
    };
    let have: Vec<Have> = parts.iter_mut().map(Part::have).collect();
    let answer = Answer::Accepted(have.clone());
    say(&mut knock.replies, &answer, MAX_ANSWER).await?;
    let files: Vec<FileStatus> = parts.iter().map(status).collect();
    watch(Event::Begun(&files));

    let Knock {
        connection,
        replies,
        control,
        ..
    } = knock;
    let mut arriving = std::pin::pin!(arriving(connection, missing(&files, &have)));
    let mut received = Vec::new();
    for (file, part) in parts.into_iter().enumerate() {
        let taken = receive(part, file, arriving.as_mut(), control, replies, watch).await;
        match taken {
            Ok(whole) => received.push(whole),
            Err(Error::Refused(refusal)) => {
                let reply = Reply::Failed(refusal.clone());
                say(replies, &reply, MAX_REPLY).await?;
                return Err(refusal.into());
            }
            Err(error) => return Err(error),
        }
        let complete = Reply::Complete { file: file as u32 };
        say(replies, &complete, MAX_REPLY).await?;
        watch(Event::Complete { file });
    }
    Ok(received)
}

fn status(part: &Part) -> FileStatus {
    FileStatus {
        name: part.name().to_owned(),
        size: part.size(),
        verified: part.verified_bytes(),
    }
}

async fn say(
    replies: &mut SendStream,
    message: &impl serde::Serialize,
    max: usize,
) -> Result<(), Error> {
    let frame = wire::encode(message, max).ok_or(WireError::TooLong)?;
    Ok(replies.write_all(&frame).await?)
}

/// A block's place, and what has arrived of it.
struct Block {
    index: u64,
    hash: [u8; 32],
    data: Vec<u8>,
}

/// The blocks that are missing of all files, in the order in which they come.
fn missing(files: &[FileStatus], have: &[Have]) -> impl Iterator<Item = Block> {
    files.iter().zip(have).flat_map(|(file, have)| {
        let missing = (0..tree::blocks(file.size)).filter(|index| !have.contains(*index));
        missing.map(|index| Block {
            index,
            hash: [0; 32],
            data: vec![0; tree::block_len(file.size, index)],
        })
    })
}

/// Takes the stream of each block in `expected`. Many are read at a time, but they come out in order.
fn arriving(
    connection: &Connection,
    expected: impl Iterator<Item = Block>,
) -> impl Stream<Item = Result<Block, Error>> {
    stream::iter(expected)
        .then(async |block| Ok((connection.accept_uni().await?, block)))
        .map(async |accepted: Result<(RecvStream, Block), Error>| {
            let (mut stream, mut block) = accepted?;
            stream.read_exact(&mut block.hash).await?;
            stream.read_exact(&mut block.data).await?;
            match stream.read_chunk(1).await? {
                None => Ok(block),
                Some(_) => Err(WireError::TooLong.into()),
            }
        })
        .buffered(STREAMS as usize)
}

/// Takes one file's missing blocks from `arriving` and its hash from `control`, and gives it its name.
async fn receive(
    mut part: Part,
    file: usize,
    mut arriving: Pin<&mut impl Stream<Item = Result<Block, Error>>>,
    control: &mut RecvStream,
    replies: &mut SendStream,
    watch: Watch<'_>,
) -> Result<Transferred, Error> {
    let (size, resumed) = (part.size(), part.verified_bytes());
    let missing = tree::blocks(size) - part.verified_blocks();
    let (blocks, mut queue) = mpsc::channel::<Block>(QUEUE);
    let (written, verified) = mpsc::channel::<u64>(QUEUE);
    let writing = spawn_blocking(move || {
        let mut bytes = resumed;
        while let Some(Block { index, hash, data }) = queue.blocking_recv() {
            part.write(index, hash, &data)?;
            bytes += data.len() as u64;
            if written.blocking_send(bytes).is_err() {
                break;
            }
        }
        Ok::<Part, Refusal>(part)
    });
    let feed = async {
        // Owned, so that its end is the writer's.
        let blocks = blocks;
        for _ in 0..missing {
            let block = arriving.next().await.ok_or(WireError::Sense)??;
            if blocks.send(block).await.is_err() {
                break;
            }
        }
        Ok::<(), Error>(())
    };
    let report = async {
        // Owned too: if the sender is gone, the writer must not wait for its reports to be taken.
        let mut verified = verified;
        while let Some(bytes) = verified.recv().await {
            watch(Event::Verified { file, bytes });
            let file = file as u32;
            say(replies, &Reply::Verified { file, bytes }, MAX_REPLY).await?;
        }
        Ok::<(), Error>(())
    };
    let (fed, reported) = tokio::join!(feed, report);
    // An error of the disk is the cause of the others.
    let mut part = writing.await??;
    fed?;
    reported?;
    let mut hash = [0; 32];
    control.read_exact(&mut hash).await?;
    let path = part.destination();
    let name = part.name().to_owned();
    spawn_blocking(move || part.publish(blake3::Hash::from_bytes(hash))).await??;
    Ok(Transferred {
        name,
        path,
        size,
        hash,
        resumed,
    })
}
