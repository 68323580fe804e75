//! The receiver.

use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{self, Stream, StreamExt};
use noq::congestion::CubicConfig;
use noq::{Connection, ConnectionError, Endpoint, Incoming, RecvStream, SendStream, VarInt};
use tokio::sync::mpsc;
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::{Instant, sleep_until, timeout};

use super::disk::{Disk, RealDisk};
use super::error::{Error, Refusal, code};
use super::part::Part;
use super::proof::{PROOF_LEN, proof};
use super::store::{SavedIdentity, Store};
use super::ticket::{MAX_ADDRESSES, Secret, Ticket};
use super::wire::{self, Answer, Have, MAX_ANSWER, MAX_OFFER, MAX_REPLY, Offer, Reply, WireError};
use super::{Event, FAREWELL, FileStatus, QUEUE, STREAMS, Transferred, Watch, transport, tree};
use crate::endpoint::{self, EndpointError, Identity};

/// So many wrong proofs in one run are no accident any more.
const MAX_WRONG: u32 = 100;

/// So many connections may be on their way to a proof.
const MAX_KNOCKING: usize = 16;

/// From so many on, a connection must show that its address is its own before it takes memory.
const MAX_UNPROVEN: usize = 4;

/// How long a connection may take to its proof.
const KNOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// What a connection may make us keep before its proof, and after it.
const KNOCK_WINDOW: VarInt = VarInt::from_u32(MAX_OFFER as u32 + 4096);
const RECEIVE_WINDOW: VarInt = VarInt::from_u32(32 << 20);

/// How long a sender that was cut off right before the end may take to come back and hear of it.
const LINGER: Duration = Duration::from_secs(30);

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
        Receiver::bind_on(config, Box::new(RealDisk)).await
    }

    pub(super) async fn bind_on(
        config: ReceiverConfig,
        disk: Box<dyn Disk>,
    ) -> Result<Receiver, Error> {
        let (out, overwrite) = (config.out.clone(), config.overwrite);
        let store = spawn_blocking(move || Store::open(&out, overwrite, disk)).await??;
        if config.fresh {
            store.forget()?;
        }
        let before = store.identity()?;
        let is_new = before.is_none();
        let listening = Receiver::listen(&config, &store, before);
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

    /// Listens with the identity from `before`, or a new one, which is then kept.
    fn listen(
        config: &ReceiverConfig,
        store: &Store,
        before: Option<SavedIdentity>,
    ) -> Result<(Endpoint, Ticket, Resumption), Error> {
        let (identity, secret) = match &before {
            Some(saved) => (
                Identity::from_der(saved.certificate.clone(), saved.key.clone()),
                Secret(saved.secret),
            ),
            None => (
                Identity::generate()?,
                Secret::generate().ok_or_else(|| Error::System("no randomness".to_owned()))?,
            ),
        };
        let mut transport = transport(Arc::new(CubicConfig::default()));
        transport.receive_window(KNOCK_WINDOW);
        let server = endpoint::server_config(&identity, wire::ALPN, Arc::new(transport))?;
        let port = before.as_ref().map(|saved| saved.port);
        let endpoint = bind(config.listen, port, server)?;
        let address = endpoint
            .local_addr()
            .map_err(|source| EndpointError::Bind {
                address: config.listen,
                source,
            })?;
        let saved = SavedIdentity {
            certificate: identity.certificate_der().to_vec(),
            key: identity.key_der().to_vec(),
            secret: secret.0,
            port: address.port(),
        };
        if before.as_ref() != Some(&saved) {
            store.save_identity(&saved)?;
        }
        let resumption = match port {
            None => Resumption::None,
            Some(port) if port == address.port() => Resumption::SameTicket,
            Some(_) => Resumption::NewPort,
        };
        let addresses = advertised(address, &config.advertise);
        let ticket = Ticket::new(addresses, identity.fingerprint(), secret);
        Ok((endpoint, ticket, resumption))
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
        let result = self.serve(watch).await;
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

    async fn serve(&self, watch: Watch<'_>) -> Result<Vec<Transferred>, Error> {
        let mut knocking = JoinSet::new();
        let mut wrong = 0;
        let mut session: Option<Session> = None;
        let mut finished: Option<(Vec<Transferred>, Instant)> = None;
        loop {
            let linger = finished.as_ref().map(|(_, since)| *since + LINGER);
            tokio::select! {
                incoming = self.endpoint.accept() => {
                    let incoming = incoming.ok_or_else(|| Error::System("the endpoint is closed".to_owned()))?;
                    self.admit(incoming, &mut knocking);
                }
                Some(knock) = knocking.join_next() => {
                    let (peer, knock): (SocketAddr, Result<Knock, Error>) = knock?;
                    match knock {
                        Ok(knock) => {
                            if let Some(former) = session.take() {
                                former.connection.close(code::TAKEN_OVER, b"");
                                // It must have let go of its files.
                                let _ = former.work.await;
                            }
                            session = Some(Session::start(self.store.clone(), knock, watch));
                        }
                        Err(error) => {
                            watch(Event::TurnedAway { peer, error: &error });
                            wrong += u32::from(matches!(error, Error::WrongSecret));
                            if wrong >= MAX_WRONG {
                                return Err(Error::TooManyAttempts(wrong));
                            }
                        }
                    }
                }
                end = current(&mut session) => {
                    session = None;
                    match end {
                        Ok((received, true)) => return Ok(received),
                        Ok((received, false)) => finished = Some((received, Instant::now())),
                        Err(error) if is_ours(&error) => return Err(error),
                        Err(error) => watch(Event::Interrupted(&error)),
                    }
                }
                () = sleep_until(linger.unwrap_or_else(Instant::now)), if linger.is_some() && session.is_none() => {
                    return Ok(finished.map(|(received, _)| received).unwrap_or_default());
                }
            }
        }
    }

    /// Lets a connection knock, if there are not too many.
    fn admit(
        &self,
        incoming: Incoming,
        knocking: &mut JoinSet<(SocketAddr, Result<Knock, Error>)>,
    ) {
        if knocking.len() >= MAX_KNOCKING {
            incoming.refuse();
        } else if knocking.len() >= MAX_UNPROVEN && incoming.may_retry() {
            // It may retry, so this does not fail.
            let _ = incoming.retry();
        } else {
            let peer = incoming.remote_address();
            let secret = self.ticket.secret();
            knocking.spawn(async move {
                let knock = timeout(KNOCK_TIMEOUT, knock(incoming, secret)).await;
                (peer, knock.unwrap_or(Err(Error::Cut)))
            });
        }
    }
}

/// Whether an error is this side's own, so that waiting for the sender to come back does not help.
fn is_ours(error: &Error) -> bool {
    matches!(
        error,
        Error::Refused(Refusal::DiskFull { .. } | Refusal::Disk { .. })
            | Error::State { .. }
            | Error::Damaged(_)
            | Error::System(_)
    )
}

/// Binds to the port of the unfinished transfer, if `listen` leaves the choice and it is free.
fn bind(
    listen: SocketAddr,
    before: Option<u16>,
    server: noq::ServerConfig,
) -> Result<Endpoint, EndpointError> {
    if let Some(port) = before.filter(|_| listen.port() == 0) {
        let same = SocketAddr::new(listen.ip(), port);
        if let Ok(endpoint) = endpoint::bind(same, Some(server.clone())) {
            return Ok(endpoint);
        }
    }
    endpoint::bind(listen, Some(server))
}

/// The addresses for the ticket of a receiver that listens at `bound`.
fn advertised(bound: SocketAddr, advertise: &[SocketAddr]) -> Vec<SocketAddr> {
    let with_port = |ip| SocketAddr::new(ip, bound.port());
    if !advertise.is_empty() {
        let complete = |address: &SocketAddr| match address.port() {
            0 => with_port(address.ip()),
            _ => *address,
        };
        return advertise.iter().map(complete).collect();
    }
    if !bound.ip().is_unspecified() {
        return vec![bound];
    }
    let interfaces = if_addrs::get_if_addrs().unwrap_or_default();
    let mut found: Vec<IpAddr> = interfaces.iter().map(|interface| interface.ip()).collect();
    found.retain(|ip| match ip {
        IpAddr::V4(ip) => !ip.is_loopback() && !ip.is_link_local(),
        // A link-local address needs a scope, which means nothing on another host.
        IpAddr::V6(ip) => bound.is_ipv6() && !ip.is_loopback() && !ip.is_unicast_link_local(),
    });
    if found.is_empty() {
        found.push(match bound {
            SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        });
    }
    // IPv4 first: its addresses are short, and reach further in most local networks.
    found.sort_by_key(IpAddr::is_ipv6);
    found.dedup();
    found.truncate(MAX_ADDRESSES);
    found.into_iter().map(with_port).collect()
}

/// A connection with the right proof.
struct Knock {
    connection: Connection,
    replies: SendStream,
    control: RecvStream,
}

async fn knock(incoming: Incoming, secret: Secret) -> Result<Knock, Error> {
    let connection = incoming.accept()?.await?;
    let (replies, mut control) = connection.accept_bi().await?;
    let mut given = [0; PROOF_LEN];
    control.read_exact(&mut given).await?;
    if proof(&connection, secret)? != blake3::Hash::from_bytes(given) {
        connection.close(code::WRONG_SECRET, b"");
        return Err(Error::WrongSecret);
    }
    connection.set_receive_window(RECEIVE_WINDOW);
    Ok(Knock {
        connection,
        replies,
        control,
    })
}

/// The files that arrived, and whether the sender knows.
type Outcome = Result<(Vec<Transferred>, bool), Error>;

struct Session<'a> {
    connection: Connection,
    work: Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>,
}

impl<'a> Session<'a> {
    fn start(store: Arc<Store>, knock: Knock, watch: Watch<'a>) -> Session<'a> {
        let connection = knock.connection.clone();
        let work = Box::pin(converse(store, knock, watch));
        Session { connection, work }
    }
}

/// The end of the session, if there is one.
async fn current(session: &mut Option<Session<'_>>) -> Outcome {
    match session {
        Some(session) => session.work.as_mut().await,
        None => std::future::pending().await,
    }
}

async fn converse(store: Arc<Store>, mut knock: Knock, watch: Watch<'_>) -> Outcome {
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
