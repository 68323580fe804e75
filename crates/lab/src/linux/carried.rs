//! What the sockets' loop tells whoever watches.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use transport::app::{self, App};

use super::side::Side;
use crate::flows::FlowId;

/// A connection that carries data, as its two ends and whoever watches the kernel's view of it share it.
#[derive(Debug)]
pub(super) struct Carried {
    /// Which of the scenario's flows it belongs to.
    pub flow: FlowId,
    /// The address that it was connected from: no other connection has it at the same time.
    pub origin: SocketAddr,
    /// Where its data are sent.
    pub sender: Side,
    /// Whether that side connected.
    pub sender_connected: bool,
    /// Payload that the sending application has written so far, and that the receiving one has got.
    written: AtomicU64,
    received: AtomicU64,
    /// Whether the sending application has more, and the send buffer no room for it.
    is_waiting: AtomicBool,
    is_over: AtomicBool,
    is_noted: AtomicBool,
}

impl Carried {
    pub fn new(flow: FlowId, origin: SocketAddr, sender: Side, sender_connected: bool) -> Carried {
        Carried {
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

    /// Whether the sending application has more, and the send buffer no room for it.
    pub fn is_waiting(&self) -> bool {
        self.is_waiting.load(Ordering::Relaxed)
    }

    pub fn note_waiting(&self, is_waiting: bool) {
        self.is_waiting.store(is_waiting, Ordering::Relaxed);
    }

    /// Nothing more will be carried. Its sockets stay open until this is [noted](Carried::note_end), so that what the
    /// kernel counted of them can still be seen.
    pub fn end(&self) {
        self.is_over.store(true, Ordering::Release);
    }

    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    /// What is to be seen of its end has been seen.
    pub fn note_end(&self) {
        self.is_noted.store(true, Ordering::Release);
    }

    pub fn is_end_noted(&self) -> bool {
        self.is_noted.load(Ordering::Acquire)
    }
}

/// What has happened, in order.
#[derive(Debug)]
pub(super) enum News {
    /// A connection has been opened.
    Opened(Arc<Carried>),
    /// An object of the flow has been delivered.
    Transfer(FlowId, app::Transfer),
    /// A connection of the flow is over; everything was delivered.
    Complete(FlowId, App),
    /// A connection of the flow is over, or never came to be.
    Broken(FlowId, App),
}
