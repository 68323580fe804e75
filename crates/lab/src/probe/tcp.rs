//! Probes over the kernel's TCP. `docs/probe.md` has the protocol.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use linux::socket::{ConnectOptions, connect_here, established};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

/// What a sender says first.
const GREETING: [u8; 8] = *b"fpprobe1";

/// The most connections at a time.
const CONNECTIONS: usize = 256;

/// A connection over which nothing has come for so long is closed: longer than any interval of probes.
const IDLE: Duration = Duration::from_secs(15 * 60);

/// A greeting, or the rest of a probe, that does not come for so long is given up.
const STALL: Duration = Duration::from_secs(60);

/// What is written or discarded at a time.
const PIECE: usize = 64 << 10;
static ZEROS: [u8; PIECE] = [0; PIECE];

/// Connects with a controller by the kernel's name for it, and says what for.
pub(super) async fn connect(to: SocketAddr, controller: &str) -> io::Result<TcpStream> {
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
    Ok(stream)
}

/// Sends so many bytes, and returns when the receiver has said that they have arrived.
pub(super) async fn send(stream: &mut TcpStream, bytes: u64) -> io::Result<()> {
    stream.write_u64(bytes).await?;
    let mut left = bytes;
    while left > 0 {
        let length = left.min(PIECE as u64);
        // No longer than a piece.
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

/// The receiving side: counts and discards what comes over any number of connections, up to 256.
#[derive(Debug)]
pub struct TcpServer {
    listener: TcpListener,
}

impl TcpServer {
    /// Listens at `address`; port 0 takes a free one. Must be called within a tokio runtime.
    ///
    /// # Errors
    ///
    /// The address is taken, or not this host's.
    pub async fn bind(address: SocketAddr) -> io::Result<TcpServer> {
        let listener = TcpListener::bind(address).await?;
        Ok(TcpServer { listener })
    }

    /// Where it listens.
    ///
    /// # Errors
    ///
    /// The system does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Receives until dropped.
    pub async fn run(self) {
        let places = Arc::new(Semaphore::new(CONNECTIONS));
        loop {
            let stream = match self.listener.accept().await {
                Ok((stream, _)) => stream,
                // Too many open files, or a connection that was broken off: others may fare better, a little later.
                Err(_) => {
                    sleep(Duration::from_millis(100)).await;
                    continue;
                }
            };
            // With no place left, the connection is closed at once, and the sender tries again in its next round.
            if let Ok(place) = places.clone().try_acquire_owned() {
                tokio::spawn(async move {
                    // Whatever ends a connection, there is nobody to tell.
                    let _ = serve(stream).await;
                    drop(place);
                });
            }
        }
    }
}

/// Takes probes over a connection until it ends, stalls, or breaks the protocol.
async fn serve(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut greeting = [0; GREETING.len()];
    timeout(STALL, stream.read_exact(&mut greeting)).await??;
    if greeting != GREETING {
        return Err(ErrorKind::InvalidData.into());
    }
    let mut piece = vec![0; PIECE];
    loop {
        let bytes = timeout(IDLE, stream.read_u64()).await??;
        if bytes > quic::probe::LARGEST {
            return Err(ErrorKind::InvalidData.into());
        }
        let mut left = bytes;
        while left > 0 {
            let length = left.min(PIECE as u64) as usize;
            let room = piece.get_mut(..length).unwrap_or_default();
            match timeout(STALL, stream.read(room)).await?? {
                0 => return Err(ErrorKind::UnexpectedEof.into()),
                got => left -= got as u64,
            }
        }
        timeout(STALL, stream.write_u64(bytes)).await??;
    }
}
