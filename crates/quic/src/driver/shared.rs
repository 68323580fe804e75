//! What an endpoint's handles and its driver share.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use bytes::Bytes;
use noq_proto::{ConnectionHandle, Endpoint, Incoming, Transmit, VarInt};
use tokio::sync::Notify;

use super::connection::Conn;
use crate::controller::Pace;

/// See the [module](self).
pub(super) struct Shared {
    core: Mutex<Core>,
    /// Connections with which the application has done something.
    attended: Mutex<Vec<ConnectionHandle>>,
    /// Whether the driver waits for [`wake`](Self::waker).
    is_asleep: AtomicBool,
    waker: Waker,
    /// Told when a connection comes in, and when the endpoint closes.
    pub(super) arrival: Notify,
    /// Told when no connection is active any more.
    pub(super) quiet: Notify,
}

/// The protocol's endpoint, and what waits for the driver or for the application.
pub(super) struct Core {
    pub(super) endpoint: Endpoint,
    /// Connections that the driver has not seen yet.
    pub(super) fresh: Vec<(Arc<Conn>, Option<Arc<Pace>>)>,
    /// Those who want to connect, whom the application has not seen yet.
    pub(super) arrivals: VecDeque<Incoming>,
    /// Stateless answers that the application has given.
    pub(super) answers: Vec<(Transmit, Vec<u8>)>,
    /// With what all connections are closed.
    pub(super) closing: Option<(VarInt, Bytes)>,
    /// Connections whose peer does not know yet that they are over.
    pub(super) active: usize,
    /// Handles of the endpoint.
    pub(super) handles: usize,
}

impl Shared {
    pub(super) fn new(endpoint: Endpoint, waker: Waker) -> Shared {
        Shared {
            core: Mutex::new(Core {
                endpoint,
                fresh: Vec::new(),
                arrivals: VecDeque::new(),
                answers: Vec::new(),
                closing: None,
                active: 0,
                handles: 1,
            }),
            attended: Mutex::new(Vec::new()),
            is_asleep: AtomicBool::new(false),
            waker,
            arrival: Notify::new(),
            quiet: Notify::new(),
        }
    }

    pub(super) fn core(&self) -> MutexGuard<'_, Core> {
        // Nothing of ours panics with the lock held; if noq does, others must be able to end.
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has the driver look at a connection.
    pub(super) fn attend(&self, connection: ConnectionHandle) {
        self.attended
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(connection);
        self.wake();
    }

    /// Moves the connections to look at.
    pub(super) fn take_attended(&self, into: &mut Vec<ConnectionHandle>) {
        let mut attended = self.attended.lock().unwrap_or_else(PoisonError::into_inner);
        into.append(&mut attended);
    }

    /// Has the driver look at everything. Whatever it is to see must be there before.
    pub(super) fn wake(&self) {
        if self.is_asleep.swap(false, Ordering::SeqCst) {
            self.waker.wake_by_ref();
        }
    }

    /// The driver is about to sleep: from now on, it is woken. It must look once more at what may have come before.
    pub(super) fn fall_asleep(&self) {
        self.is_asleep.store(true, Ordering::SeqCst);
    }

    /// The driver does not sleep, or no longer.
    pub(super) fn stay_awake(&self) {
        self.is_asleep.store(false, Ordering::SeqCst);
    }
}
