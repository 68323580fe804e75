//! The state and events that the sockets' loop shares with the observer.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use simulate::FlowId;
use transport::app::{self, App};

use super::side::Side;

/// A connection, shared by its two ends and the observer of the kernel's counters.
#[derive(Debug)]
pub(super) struct SharedConnection {
    /// The flow to which it belongs.
    pub flow: FlowId,
    /// The address from which it was connected; unique among open connections.
    pub origin: SocketAddr,
    /// The side that sends data.
    pub sender: Side,
    /// Whether the sending side connected.
    pub sender_connected: bool,
    /// The payload that the sending application has written, and that the receiving application has read.
    written: AtomicU64,
    received: AtomicU64,
    /// Whether the sending application has more data but the send buffer is full.
    is_waiting: AtomicBool,
    is_over: AtomicBool,
    is_noted: AtomicBool,
}

impl SharedConnection {
    pub fn new(
        flow: FlowId,
        origin: SocketAddr,
        sender: Side,
        sender_connected: bool,
    ) -> SharedConnection {
        SharedConnection {
            flow,
            origin,
            sender,
            sender_connected,
            written: AtomicU64::default(),
            received: AtomicU64::default(),
            is_waiting: AtomicBool::default(),
            is_over: AtomicBool::default(),
            is_noted: AtomicBool::default(),
        }
    }

    pub fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    pub fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    pub fn add_written(&self, bytes: u64) {
        self.written.fetch_add(bytes, Ordering::Relaxed);
    }

    pub fn add_received(&self, bytes: u64) {
        self.received.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Whether the sending application has more data but the send buffer is full.
    pub fn is_waiting(&self) -> bool {
        self.is_waiting.load(Ordering::Relaxed)
    }

    pub fn note_waiting(&self, is_waiting: bool) {
        self.is_waiting.store(is_waiting, Ordering::Relaxed);
    }

    /// Marks the connection as over. Its sockets stay open until [`note_end`](SharedConnection::note_end), so that
    /// the kernel's counters can still be read.
    pub fn end(&self) {
        self.is_over.store(true, Ordering::Release);
    }

    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    /// Marks that the final counters have been read.
    pub fn note_end(&self) {
        self.is_noted.store(true, Ordering::Release);
    }

    pub fn is_end_noted(&self) -> bool {
        self.is_noted.load(Ordering::Acquire)
    }
}

/// An event of the sockets' loop, sent in order.
#[derive(Debug)]
pub(super) enum Event {
    /// A connection has been opened.
    Opened(Arc<SharedConnection>),
    /// An object of the flow has been delivered.
    Transfer(FlowId, app::Transfer),
    /// A connection of the flow is over; everything was delivered.
    Complete(FlowId, App),
    /// A connection of the flow has failed, or was never established.
    Broken(FlowId, App),
}
