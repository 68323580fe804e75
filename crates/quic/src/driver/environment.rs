//! The environment of a driver: sockets, a clock, and a thread or another source of turns.

use std::io;
use std::net::SocketAddr;
use std::thread::{self, JoinHandle};
use std::time::Instant;

use super::datagram_socket::DatagramSocket;
use super::mtu;
use super::socket::Socket;
use super::waker::{Waker, WakerReceiver};
use super::worker::Worker;

/// The environment of a driver: the [`System`], or a test's own.
pub trait Environment: Send + Sync {
    /// Opens a socket at `address` (port 0: any free port) that receives from anyone. If the socket has no file to wait
    /// for, it calls `waker` when a datagram arrives.
    ///
    /// # Errors
    ///
    /// The address is in use.
    fn listening(&self, address: SocketAddr, waker: &Waker) -> io::Result<Box<dyn DatagramSocket>>;

    /// Opens a socket on a free port, to send to `peer`. `ecn` says whether its packets are ECN-capable.
    ///
    /// # Errors
    ///
    /// The socket cannot be opened.
    fn sending(
        &self,
        peer: SocketAddr,
        ecn: bool,
        waker: &Waker,
    ) -> io::Result<Box<dyn DatagramSocket>>;

    /// The largest UDP payload that may reach `peer` without fragmentation. `None` if it is unknown.
    fn largest_datagram(&self, peer: SocketAddr) -> Option<u16> {
        let _ = peer;
        None
    }

    /// The clock.
    fn clock(&self) -> fn() -> Instant;

    /// Starts to give a driver its turns: when its waker is called, and when it is due.
    ///
    /// # Errors
    ///
    /// The system cannot start a thread.
    fn drive(&self, worker: Worker) -> io::Result<(Waker, Option<JoinHandle<()>>)>;
}

/// UDP sockets, and a thread for each driver.
#[derive(Debug, Clone, Copy)]
pub struct System;

impl Environment for System {
    fn listening(&self, address: SocketAddr, _: &Waker) -> io::Result<Box<dyn DatagramSocket>> {
        Ok(Box::new(Socket::listening(address)?))
    }

    fn sending(
        &self,
        peer: SocketAddr,
        ecn: bool,
        _: &Waker,
    ) -> io::Result<Box<dyn DatagramSocket>> {
        Ok(Box::new(Socket::sending(peer, ecn)?))
    }

    fn largest_datagram(&self, peer: SocketAddr) -> Option<u16> {
        mtu::largest_datagram(peer)
    }

    fn clock(&self) -> fn() -> Instant {
        Instant::now
    }

    fn drive(&self, worker: Worker) -> io::Result<(Waker, Option<JoinHandle<()>>)> {
        let (receiver, waker) = WakerReceiver::new()?;
        let thread = thread::Builder::new().name("quic".to_owned());
        let thread = thread.spawn(move || worker.run(&receiver))?;
        Ok((waker, Some(thread)))
    }
}
