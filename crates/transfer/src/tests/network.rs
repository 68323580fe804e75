//! A network in memory. Under tokio's paused clock a transfer over it takes no real time.

use std::collections::{HashMap, HashSet};
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};
use std::time::Duration;

use noq::udp::{EcnCodepoint, RecvMeta, Transmit};
use noq::{AsyncUdpSocket, UdpSender};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant, sleep_until};

use quic::endpoint::Sockets;

/// The addresses of the tests' hosts.
pub const RECEIVER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
pub const SENDER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
pub const STRANGER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 3);

/// A path between every two sockets: so fast, so long, with a buffer that holds so much.
const RATE: u64 = 2_500_000;
const DELAY: Duration = Duration::from_millis(10);
const BUFFER: Duration = Duration::from_millis(100);

/// How far virtual time goes at once.
const STEP: Duration = Duration::from_millis(2);

/// Runs `future` while virtual time passes. tokio would advance its paused clock by itself, but not while a task that may
/// block is there, and each file's writer is one, which waits for what the network brings.
pub async fn in_virtual_time<T>(future: impl Future<Output = T>) -> T {
    let time = async {
        loop {
            // The threads that read and write files need some of the real time.
            std::thread::sleep(Duration::from_micros(100));
            for _ in 0..8 {
                tokio::task::yield_now().await;
            }
            tokio::time::advance(STEP).await;
        }
    };
    tokio::select! {
        done = future => done,
        () = time => unreachable!(),
    }
}

struct Datagram {
    from: SocketAddr,
    content: Vec<u8>,
    ecn: Option<EcnCodepoint>,
}

#[derive(Debug)]
struct Inner {
    mailboxes: HashMap<SocketAddr, UnboundedSender<Datagram>>,
    /// When a socket will have sent what waits.
    busy: HashMap<SocketAddr, Instant>,
    /// Sockets whose datagrams carry another source port, as behind a NAT.
    mapped: HashMap<SocketAddr, SocketAddr>,
    next_port: u16,
    /// Hosts that nothing reaches, and from which nothing comes.
    cut: HashSet<IpAddr>,
    /// Hosts that have sent a datagram as capable of ECN.
    capable_of_ecn: HashSet<IpAddr>,
}

impl std::fmt::Debug for Datagram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes from {}", self.content.len(), self.from)
    }
}

/// The network, of which one side sees what [`Host`] says.
#[derive(Debug, Clone)]
pub struct Network(Arc<Mutex<Inner>>);

impl Network {
    pub fn new() -> Network {
        Network(Arc::new(Mutex::new(Inner {
            mailboxes: HashMap::new(),
            busy: HashMap::new(),
            mapped: HashMap::new(),
            next_port: 1024,
            cut: HashSet::new(),
            capable_of_ecn: HashSet::new(),
        })))
    }

    /// A host on it.
    pub fn host(&self, address: impl Into<IpAddr>) -> Arc<Host> {
        let (network, address) = (self.clone(), address.into());
        Arc::new(Host { network, address })
    }

    /// Whether every datagram from and to the host at `address` vanishes.
    pub fn cut(&self, address: impl Into<IpAddr>, is_cut: bool) {
        let (mut inner, address) = (self.inner(), address.into());
        if is_cut {
            inner.cut.insert(address);
        } else {
            inner.cut.remove(&address);
        }
    }

    /// What sockets of the host at `address` send comes from new ports from now on, and what is sent to the former ones
    /// vanishes.
    pub fn rebind(&self, address: impl Into<IpAddr>) {
        let address = address.into();
        let mut inner = self.inner();
        let sockets: Vec<SocketAddr> = inner.mailboxes.keys().copied().collect();
        for socket in sockets.into_iter().filter(|socket| socket.ip() == address) {
            let port = inner.port();
            inner.mapped.insert(socket, SocketAddr::new(address, port));
        }
    }

    /// Whether the host at `address` has sent a datagram as capable of ECN.
    pub fn is_capable_of_ecn(&self, address: impl Into<IpAddr>) -> bool {
        self.inner().capable_of_ecn.contains(&address.into())
    }

    /// Whether no socket is at `address`.
    pub fn is_free(&self, address: SocketAddr) -> bool {
        self.inner().is_free(address)
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap()
    }

    fn send(&self, from: SocketAddr, to: SocketAddr, ecn: Option<EcnCodepoint>, content: &[u8]) {
        let mut inner = self.inner();
        if ecn.is_some() {
            inner.capable_of_ecn.insert(from.ip());
        }
        let now = Instant::now();
        let busy = inner.busy.entry(from).or_insert(now);
        let start = (*busy).max(now);
        if start - now > BUFFER {
            return;
        }
        let length = content.len() as u64 + 28;
        let left = start + Duration::from_nanos(length * 1_000_000_000 / RATE);
        *busy = left;
        if inner.is_cut(from, to) {
            return;
        }
        let seen = inner.mapped.get(&from).copied().unwrap_or(from);
        let datagram = Datagram {
            from: seen,
            content: content.to_vec(),
            ecn,
        };
        let network = self.clone();
        tokio::spawn(async move {
            sleep_until(left + DELAY).await;
            network.inner().deliver(to, datagram);
        });
    }
}

impl Inner {
    fn is_cut(&self, from: SocketAddr, to: SocketAddr) -> bool {
        self.cut.contains(&from.ip()) || self.cut.contains(&to.ip())
    }

    fn is_free(&self, address: SocketAddr) -> bool {
        let mailbox = self.mailboxes.get(&address);
        mailbox.is_none_or(UnboundedSender::is_closed)
    }

    fn port(&mut self) -> u16 {
        self.next_port += 1;
        self.next_port
    }

    fn deliver(&self, to: SocketAddr, datagram: Datagram) {
        if self.is_cut(datagram.from, to) {
            return;
        }
        let inside = self.mapped.iter().find(|(_, outside)| **outside == to);
        let socket = match inside {
            Some((inside, _)) => *inside,
            None if self.mapped.contains_key(&to) => return,
            None => to,
        };
        if let Some(mailbox) = self.mailboxes.get(&socket) {
            let _ = mailbox.send(datagram);
        }
    }
}

/// A host with an address of its own, whose sockets get free ports.
#[derive(Debug)]
pub struct Host {
    network: Network,
    address: IpAddr,
}

impl Sockets for Host {
    fn open(&self, address: SocketAddr) -> io::Result<Box<dyn AsyncUdpSocket>> {
        let mut inner = self.network.inner();
        let port = match address.port() {
            0 => inner.port(),
            port => port,
        };
        let address = SocketAddr::new(self.address, port);
        if !inner.is_free(address) {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        let (sender, mailbox) = unbounded_channel();
        inner.mailboxes.insert(address, sender);
        let network = self.network.clone();
        Ok(Box::new(Socket {
            network,
            address,
            mailbox,
        }))
    }
}

#[derive(Debug)]
struct Socket {
    network: Network,
    address: SocketAddr,
    mailbox: UnboundedReceiver<Datagram>,
}

impl AsyncUdpSocket for Socket {
    fn create_sender(&self) -> Pin<Box<dyn UdpSender>> {
        Box::pin(Sender {
            network: self.network.clone(),
            address: self.address,
        })
    }

    fn poll_recv(
        &mut self,
        cx: &mut Context<'_>,
        bufs: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        let Some(datagram) = std::task::ready!(self.mailbox.poll_recv(cx)) else {
            return Poll::Pending;
        };
        let length = datagram.content.len().min(bufs[0].len());
        bufs[0][..length].copy_from_slice(&datagram.content[..length]);
        let mut about = RecvMeta::default();
        about.addr = datagram.from;
        about.len = length;
        about.stride = length;
        about.ecn = datagram.ecn;
        meta[0] = about;
        Poll::Ready(Ok(1))
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.address)
    }

    fn may_fragment(&self) -> bool {
        false
    }
}

#[derive(Debug)]
struct Sender {
    network: Network,
    address: SocketAddr,
}

impl UdpSender for Sender {
    fn poll_send(
        self: Pin<&mut Self>,
        transmit: &Transmit<'_>,
        _: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        let size = transmit.segment_size.unwrap_or(transmit.contents.len());
        for content in transmit.contents.chunks(size.max(1)) {
            self.network
                .send(self.address, transmit.destination, transmit.ecn, content);
        }
        Poll::Ready(Ok(()))
    }
}
