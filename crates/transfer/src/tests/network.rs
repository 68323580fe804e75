//! A network in memory. Under tokio's paused clock a transfer over it takes no real time.

use std::collections::{HashMap, HashSet};
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Duration;

use noq_proto::{EcnCodepoint, FourTuple, Transmit};
use quic::{DatagramSocket, Environment, Waker, Worker};
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant, sleep_until};

/// The addresses of the tests' hosts.
pub const RECEIVER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
pub const SENDER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
pub const STRANGER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 3);

/// The path between any two sockets: its rate in bytes a second, its one-way delay, and its buffer.
const RATE: u64 = 2_500_000;
const DELAY: Duration = Duration::from_millis(10);
const BUFFER: Duration = Duration::from_millis(100);

/// The step of virtual time.
const STEP: Duration = Duration::from_millis(2);

/// Runs `future` while virtual time passes. tokio does not advance its paused clock while a blocking task runs, and
/// the writer of each file is one, which waits for the network.
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

struct Inner {
    mailboxes: HashMap<SocketAddr, (UnboundedSender<Datagram>, Waker)>,
    /// The time at which each socket will have sent its queue.
    busy: HashMap<SocketAddr, Instant>,
    /// Sockets whose datagrams carry another source port, as behind a NAT.
    mapped: HashMap<SocketAddr, SocketAddr>,
    next_port: u16,
    /// Hosts without a connection to the network.
    cut: HashSet<IpAddr>,
    /// Hosts that have sent an ECN-capable datagram.
    capable_of_ecn: HashSet<IpAddr>,
}

/// The network; each side sees it through a [`Host`].
#[derive(Clone)]
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

    /// A host on the network.
    pub fn host(&self, address: impl Into<IpAddr>) -> Arc<Host> {
        let (network, address) = (self.clone(), address.into());
        Arc::new(Host { network, address })
    }

    /// Drops all datagrams from and to the host at `address` while `is_cut` is set.
    pub fn cut(&self, address: impl Into<IpAddr>, is_cut: bool) {
        let (mut inner, address) = (self.inner(), address.into());
        if is_cut {
            inner.cut.insert(address);
        } else {
            inner.cut.remove(&address);
        }
    }

    /// Gives the sockets of the host at `address` new source ports. Datagrams to the old ports are dropped.
    pub fn rebind(&self, address: impl Into<IpAddr>) {
        let address = address.into();
        let mut inner = self.inner();
        let sockets: Vec<SocketAddr> = inner.mailboxes.keys().copied().collect();
        for socket in sockets.into_iter().filter(|socket| socket.ip() == address) {
            let port = inner.port();
            inner.mapped.insert(socket, SocketAddr::new(address, port));
        }
    }

    /// True if the host at `address` has sent an ECN-capable datagram.
    pub fn is_capable_of_ecn(&self, address: impl Into<IpAddr>) -> bool {
        self.inner().capable_of_ecn.contains(&address.into())
    }

    /// True if no socket has this address.
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
        mailbox.is_none_or(|(mailbox, _)| mailbox.is_closed())
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
        if let Some((mailbox, waker)) = self.mailboxes.get(&socket) {
            let _ = mailbox.send(datagram);
            waker();
        }
    }
}

/// A host with its own address. Its sockets get free ports, and its drivers are tasks.
pub struct Host {
    network: Network,
    address: IpAddr,
}

impl Host {
    fn open(&self, port: u16, ecn: bool, waker: &Waker) -> io::Result<Box<dyn DatagramSocket>> {
        let mut inner = self.network.inner();
        let port = match port {
            0 => inner.port(),
            port => port,
        };
        let address = SocketAddr::new(self.address, port);
        if !inner.is_free(address) {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        let (sender, mailbox) = unbounded_channel();
        inner.mailboxes.insert(address, (sender, waker.clone()));
        Ok(Box::new(Socket {
            network: self.network.clone(),
            address,
            mailbox,
            ecn,
        }))
    }
}

impl Environment for Host {
    fn listening(&self, address: SocketAddr, waker: &Waker) -> io::Result<Box<dyn DatagramSocket>> {
        self.open(address.port(), true, waker)
    }

    fn sending(
        &self,
        _: SocketAddr,
        ecn: bool,
        waker: &Waker,
    ) -> io::Result<Box<dyn DatagramSocket>> {
        self.open(0, ecn, waker)
    }

    fn clock(&self) -> fn() -> std::time::Instant {
        || Instant::now().into_std()
    }

    fn drive(&self, mut worker: Worker) -> io::Result<(Waker, Option<JoinHandle<()>>)> {
        let woken = Arc::new(Notify::new());
        let waker = woken.clone();
        tokio::spawn(async move {
            while let Some(due) = worker.turn() {
                let due = async {
                    match due {
                        Some(at) => sleep_until(at.into()).await,
                        None => std::future::pending().await,
                    }
                };
                tokio::select! {
                    () = woken.notified() => {}
                    () = due => {}
                }
            }
        });
        Ok((Arc::new(move || waker.notify_one()), None))
    }
}

struct Socket {
    network: Network,
    address: SocketAddr,
    mailbox: UnboundedReceiver<Datagram>,
    ecn: bool,
}

impl DatagramSocket for Socket {
    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.address)
    }

    fn read(&mut self, take: &mut dyn FnMut(quic::Datagram)) -> bool {
        while let Ok(datagram) = self.mailbox.try_recv() {
            take(quic::Datagram {
                at: Instant::now().into_std(),
                path: FourTuple::new(datagram.from, None),
                ecn: datagram.ecn,
                payload: datagram.content.as_slice().into(),
            });
        }
        false
    }

    fn send(&self, transmit: &Transmit, contents: &[u8]) -> io::Result<()> {
        let size = transmit.segment_size.unwrap_or(contents.len());
        let ecn = transmit.ecn.filter(|_| self.ecn);
        for content in contents.chunks(size.max(1)) {
            self.network
                .send(self.address, transmit.destination, ecn, content);
        }
        Ok(())
    }

    fn most_datagrams(&self, _: u16) -> usize {
        10
    }

    fn may_fragment(&self) -> bool {
        false
    }
}
