//! Probes over the kernel's TCP. `docs/probe.md` describes the protocol.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use quic::probe::{
    Answer, ConnectionLimit, IDLE_TIMEOUT, MAX_STREAM_BYTES, PROOF_LEN, PROOF_TIMEOUT, Permit,
    STALL_TIMEOUT, Token, challenge,
};

use linux::diag::{Diag, Filter};
use linux::socket::{ConnectOptions, connect_here, established};
use record::Limits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// The first bytes from a sender.
const GREETING: [u8; 8] = *b"fpprobe2";

/// The most concurrent connections that have proved to know the token, and the most that have not yet.
const MAX_CONNECTIONS: usize = 256;

/// The size of one read or write, in bytes.
const CHUNK_LEN: usize = 64 << 10;
static ZEROS: [u8; CHUNK_LEN] = [0; CHUNK_LEN];

/// Connects with a controller by its kernel name, sends the greeting, and proves knowledge of the receiver's token.
pub(super) async fn connect(
    to: SocketAddr,
    controller: &str,
    token: &Token,
) -> io::Result<TcpStream> {
    let from: IpAddr = match to {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let options = ConnectOptions {
        controller,
        mss: None,
    };
    let stream = connect_here(from, to, &options).map_err(io::Error::other)?;
    let stream = TcpStream::from_std(stream)?;
    stream.writable().await?;
    let stream = stream.into_std()?;
    if !established(&stream)? {
        return Err(ErrorKind::NotConnected.into());
    }
    let mut stream = TcpStream::from_std(stream)?;
    stream.write_all(&GREETING).await?;
    let mut challenge = [0; PROOF_LEN];
    stream.read_exact(&mut challenge).await?;
    stream.write_all(&token.proof(&challenge)).await?;
    Answer::read(stream.read_u8().await?).map_err(io::Error::other)?;
    Ok(stream)
}

/// Sends this many bytes, and returns when the receiver has confirmed their arrival.
pub(super) async fn send(stream: &mut TcpStream, bytes: u64) -> io::Result<()> {
    stream.write_u64(bytes).await?;
    let mut left = bytes;
    while left > 0 {
        let length = left.min(CHUNK_LEN as u64);
        // `length` is at most `CHUNK_LEN`.
        stream
            .write_all(ZEROS.get(..length as usize).unwrap_or_default())
            .await?;
        left -= length;
    }
    match stream.read_u64().await? {
        got if got == bytes => Ok(()),
        got => Err(io::Error::other(format!(
            "the receiver says that it got {got} of {bytes} bytes"
        ))),
    }
}

/// The sender's limits so far, as counted by the kernel, without idle time. Nothing if the kernel does not report them.
pub(super) fn limits(stream: &TcpStream) -> Option<Limits> {
    let (local, remote) = (stream.local_addr().ok()?, stream.peer_addr().ok()?);
    let port = |address: SocketAddr| Some(address.port()..=address.port());
    let filter = Filter {
        local_ports: port(local),
        remote_ports: port(remote),
    };
    let mut info = None;
    let mut diag = Diag::open_here().ok()?;
    let told = diag.sockets(&filter, |socket| {
        if (socket.local, socket.remote) == (local, remote) {
            info = Some(socket.info);
        }
    });
    let info = told.ok().and(info)?;
    Some(Limits {
        busy: info.busy_time,
        application: units::Duration::ZERO,
        receiver: info.rwnd_limited,
        send_buffer: info.sndbuf_limited,
        congestion: info.controller_limited(),
        pacing: None,
    })
}

/// The receiving side: counts and discards the bytes of senders that know the token.
#[derive(Debug)]
pub struct TcpServer {
    listener: TcpListener,
    shared: Arc<Shared>,
}

/// The state shared by a receiver's connections.
#[derive(Debug)]
struct Shared {
    token: Token,
    clients: Arc<ConnectionLimit>,
    senders: Arc<ConnectionLimit>,
}

impl TcpServer {
    /// Listens at `address`; port 0 chooses a free one. Must be called within a tokio runtime.
    ///
    /// # Errors
    ///
    /// The address is in use, or not this host's.
    pub async fn bind(address: SocketAddr, token: &Token) -> io::Result<TcpServer> {
        let shared = Shared {
            token: token.clone(),
            clients: ConnectionLimit::new(MAX_CONNECTIONS),
            senders: ConnectionLimit::new(MAX_CONNECTIONS),
        };
        Ok(TcpServer {
            listener: TcpListener::bind(address).await?,
            shared: Arc::new(shared),
        })
    }

    /// The address at which it listens.
    ///
    /// # Errors
    ///
    /// The system does not report it.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Receives until dropped.
    pub async fn run(self) {
        // Dropping the set aborts the connections.
        let mut connections = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                accepted = self.listener.accept() => accepted,
                Some(_) = connections.join_next() => continue,
            };
            let (stream, from) = match accepted {
                Ok((stream, peer)) => (stream, peer.ip()),
                // Too many open files, or an aborted connection: the next attempt may succeed.
                Err(_) => {
                    sleep(Duration::from_millis(100)).await;
                    continue;
                }
            };
            // Without a free place, the connection is closed at once, and the sender tries again in its next round.
            if let Some(client) = self.shared.clients.acquire(from) {
                connections.spawn(receive(stream, from, client, self.shared.clone()));
            }
        }
    }
}

/// Serves a connection from its greeting to its end. Errors end it silently.
async fn receive(mut stream: TcpStream, from: IpAddr, client: Permit, shared: Arc<Shared>) {
    let greeted = tokio::select! {
        greeted = timeout(PROOF_TIMEOUT, greet(&mut stream, from, &shared)) => greeted,
        () = client.lost() => return,
    };
    let Ok(Ok(Some(sender))) = greeted else {
        return;
    };
    drop(client);
    tokio::select! {
        _ = take(&mut stream, &sender) => {}
        () = sender.lost() => {}
    }
}

/// Reads the greeting and checks the proof. Returns the connection's place if it may send.
async fn greet(
    stream: &mut TcpStream,
    from: IpAddr,
    shared: &Shared,
) -> io::Result<Option<Permit>> {
    stream.set_nodelay(true)?;
    let mut greeting = [0; GREETING.len()];
    stream.read_exact(&mut greeting).await?;
    if greeting != GREETING {
        return Err(ErrorKind::InvalidData.into());
    }
    let challenge = challenge().map_err(io::Error::other)?;
    stream.write_all(&challenge).await?;
    let mut proof = [0; PROOF_LEN];
    stream.read_exact(&mut proof).await?;
    let (answer, sender) = if shared.token.is_proven(&challenge, &proof) {
        match shared.senders.acquire(from) {
            None => (Answer::Full, None),
            some => (Answer::Welcome, some),
        }
    } else {
        (Answer::WrongToken, None)
    };
    stream.write_u8(answer as u8).await?;
    Ok(sender)
}

/// Receives probes over a connection until it ends, stalls, or breaks the protocol.
async fn take(stream: &mut TcpStream, sender: &Permit) -> io::Result<()> {
    loop {
        let bytes = timeout(IDLE_TIMEOUT, stream.read_u64()).await??;
        if bytes > MAX_STREAM_BYTES {
            return Err(ErrorKind::InvalidData.into());
        }
        // Allocated for each probe only, since most connections are idle most of the time.
        let mut piece = vec![0; CHUNK_LEN];
        let mut left = bytes;
        while left > 0 {
            sender.active();
            let length = left.min(CHUNK_LEN as u64) as usize;
            let room = piece.get_mut(..length).unwrap_or_default();
            match timeout(STALL_TIMEOUT, stream.read(room)).await?? {
                0 => return Err(ErrorKind::UnexpectedEof.into()),
                got => left -= got as u64,
            }
        }
        drop(piece);
        sender.active();
        timeout(STALL_TIMEOUT, stream.write_u64(bytes)).await??;
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use tokio::net::TcpSocket;

    use super::*;

    #[test]
    fn a_receiver_that_reads_slowly_is_what_limits_its_sender() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime.expect("a runtime").block_on(async {
            let socket = TcpSocket::new_v4().expect("a socket");
            socket.set_recv_buffer_size(16 << 10).expect("a size");
            let here = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
            socket.bind(here).expect("a port");
            let listener = socket.listen(1).expect("a listener");
            let address = listener.local_addr().expect("an address");
            let mut sender = TcpStream::connect(address).await.expect("a connection");
            let (mut receiver, _) = listener.accept().await.expect("a connection");
            let reading = tokio::spawn(async move {
                let mut piece = vec![0; 4 << 10];
                while receiver.read(&mut piece).await.is_ok_and(|got| got > 0) {
                    sleep(Duration::from_millis(2)).await;
                }
            });
            // More than the send buffer can hold, which grows to some megabytes.
            let sent = timeout(Duration::from_secs(2), async {
                while sender.write_all(&ZEROS).await.is_ok() {}
            });
            assert!(sent.await.is_err(), "it is never sent");
            match limits(&sender) {
                Some(limits) => {
                    let others = [limits.send_buffer, limits.congestion];
                    let most = others.into_iter().max();
                    assert!(Some(limits.receiver) > most, "{limits:?}");
                }
                None => skipping::skip!("the kernel does not tell what limits a socket"),
            }
            reading.abort();
        });
    }
}
