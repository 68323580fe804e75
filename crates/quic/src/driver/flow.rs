//! What a connection's controller and the driver tell each other.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::pace::Lateness;

/// The link between a controller inside noq and the driver that paces its connection. Both are used on the driver's thread
/// alone, one at a time; noq holds the one and the driver the other, hence the atomics.
#[derive(Debug, Default)]
pub struct Flow {
    /// The pacing rate in bytes per second. Zero until the controller was asked for the first time.
    rate: AtomicU64,
    /// The congestion window has held back a packet.
    is_blocked: AtomicBool,
    /// The application had nothing more to send, and the controller does not know yet.
    ran_dry: AtomicBool,
    lateness: Mutex<Lateness>,
    /// Why the last datagrams did not leave this machine, if they did not.
    error: Mutex<Option<io::Error>>,
}

/// What noq's own pacer hears in place of the rate: it lets everything pass.
pub(crate) const UNPACED: u64 = 1 << 50;

impl Flow {
    /// The controller's pacing rate.
    pub(crate) fn set_rate(&self, bytes_per_second: u64) {
        self.rate.store(bytes_per_second, Ordering::Relaxed);
    }

    /// The pacing rate, once the controller has said it.
    pub(super) fn rate(&self) -> Option<u64> {
        Some(self.rate.load(Ordering::Relaxed)).filter(|rate| *rate > 0)
    }

    /// The congestion window holds back a packet.
    pub(crate) fn block(&self) {
        self.is_blocked.store(true, Ordering::Relaxed);
    }

    /// Whether it has, since this was asked last.
    pub(super) fn take_blocked(&self) -> bool {
        self.is_blocked.swap(false, Ordering::Relaxed)
    }

    /// The application has nothing more to send, from now on.
    pub(super) fn run_dry(&self) {
        self.ran_dry.store(true, Ordering::Relaxed);
    }

    /// How late the connection's datagrams have left.
    pub(super) fn set_lateness(&self, lateness: Lateness) {
        *self.lateness.lock().unwrap_or_else(PoisonError::into_inner) = lateness;
    }

    /// How late they have left so far.
    pub(crate) fn lateness(&self) -> Lateness {
        *self.lateness.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The last datagrams left, or did not.
    pub(super) fn set_error(&self, error: Option<io::Error>) {
        *self.error.lock().unwrap_or_else(PoisonError::into_inner) = error;
    }

    /// Why the last datagrams did not leave, if they did not.
    pub(crate) fn take_error(&self) -> Option<io::Error> {
        let mut error = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        error.take()
    }

    /// Whether the application ran dry since this was asked last.
    pub(crate) fn take_dry(&self) -> bool {
        // Asked at every packet, and seldom true.
        self.ran_dry.load(Ordering::Relaxed) && self.ran_dry.swap(false, Ordering::Relaxed)
    }
}
