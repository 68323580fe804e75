//! What a driver stands on: sockets, a clock, and something that gives it turns.

use std::io;
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Instant;

use bytes::BytesMut;
use noq_proto::{EcnCodepoint, FourTuple, Transmit};

use super::socket::Socket;
use super::worker::Worker;

/// A datagram as it came in.
#[derive(Debug)]
pub struct Datagram {
    /// When.
    pub at: Instant,
    /// From where and to where.
    pub path: FourTuple,
    /// Its ECN codepoint.
    pub ecn: Option<EcnCodepoint>,
    /// The UDP payload.
    pub payload: BytesMut,
}

/// A non-blocking socket.
pub trait Port: Send {
    /// The socket's own address.
    fn local_addr(&self) -> io::Result<SocketAddr>;

    /// Hands a batch of what has come to `take`. Whether there may be more.
    fn read(&mut self, take: &mut dyn FnMut(Datagram)) -> bool;

    /// Sends what noq has put together. What the system refuses, other than for want of room, is as good as lost on the way.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] if there is no room.
    fn send(&self, transmit: &Transmit, contents: &[u8]) -> io::Result<()>;

    /// How many datagrams of this size may be sent at once.
    fn most_datagrams(&self, size: u16) -> usize;

    /// Whether datagrams may be cut on their way.
    fn may_fragment(&self) -> bool;

    /// What to wait for; only the [`System`] has that.
    fn file(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}

/// Lets a driver know that there is something for it.
pub type Bell = Arc<dyn Fn() + Send + Sync>;

/// What a driver stands on. The [`System`]; tests have others.
pub trait Ground: Send + Sync {
    /// A socket at `address` (port 0: any) that anyone may send to. Where nothing waits for its file, it rings when something
    /// comes.
    ///
    /// # Errors
    /// The address is taken.
    fn listening(&self, address: SocketAddr, bell: &Bell) -> io::Result<Box<dyn Port>>;

    /// A socket on a free port, to send to `peer`. `ecn` says whether its packets are capable of ECN.
    ///
    /// # Errors
    /// There is none.
    fn sending(&self, peer: SocketAddr, ecn: bool, bell: &Bell) -> io::Result<Box<dyn Port>>;

    /// The clock.
    fn clock(&self) -> fn() -> Instant;

    /// Begins to give a driver its turns: when it rings, and when it is due.
    ///
    /// # Errors
    /// The system gives no thread.
    fn drive(&self, worker: Worker) -> io::Result<(Bell, Option<JoinHandle<()>>)>;
}

/// UDP sockets, and a thread for each driver.
#[derive(Debug, Clone, Copy)]
pub struct System;

impl Ground for System {
    fn listening(&self, address: SocketAddr, _: &Bell) -> io::Result<Box<dyn Port>> {
        Ok(Box::new(Socket::listening(address)?))
    }

    fn sending(&self, peer: SocketAddr, ecn: bool, _: &Bell) -> io::Result<Box<dyn Port>> {
        Ok(Box::new(Socket::sending(peer, ecn)?))
    }

    fn clock(&self) -> fn() -> Instant {
        Instant::now
    }

    fn drive(&self, worker: Worker) -> io::Result<(Bell, Option<JoinHandle<()>>)> {
        let (ear, rope) = io::pipe()?;
        let thread = thread::Builder::new().name("quic".to_owned());
        let thread = thread.spawn(move || worker.run(&ear))?;
        let bell = move || {
            // Fails only if the thread has panicked: whoever waits for its connections learns that.
            let _ = io::Write::write(&mut &rope, &[0]);
        };
        Ok((Arc::new(bell), Some(thread)))
    }
}
