//! What whoever drives a connection and the connection's controller tell each other.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The most bytes in one burst: what fits the length field of an IPv4 packet, with IP and UDP headers taken off. The
/// kernel takes no more for segmentation at once.
pub const MAX_BURST: u64 = 65_535 - 20 - 8;

/// Takes pacing out of noq's hands, into those of whoever calls `poll_transmit` (our [`driver`](crate::driver), or one of
/// your own over `noq-proto`).
///
/// noq paces with a token bucket of its own ([why not](crate::controller)). A controller that was made
/// [for a pace](crate::controller::Controllers::for_pace) reports a rate to that bucket which never limits, and obeys this gate
/// instead: while it is shut, the congestion window appears full, so that acknowledgements and loss probes leave but data
/// waits. After each burst, the driver asks for the rate and works out when the next may leave.
///
/// A connection does one thing at a time, so each of these is read and written by one thread at a time; they are atomic
/// only for noq, which demands controllers that threads may share.
#[derive(Debug, Default)]
pub struct Pace {
    is_open: AtomicBool,
    is_held: AtomicBool,
    is_dry: AtomicBool,
    bytes_per_sec: AtomicU64,
}

/// What the pacer of noq is told: its bucket is full again after any time at all.
pub(super) const NEVER_LIMITS: u64 = u64::MAX;

impl Pace {
    /// Opens or shuts the gate, for the next `poll_transmit`.
    pub fn set_open(&self, is_open: bool) {
        self.is_open.store(is_open, Ordering::Relaxed);
        self.is_held.store(false, Ordering::Relaxed);
    }

    /// Whether data waited in the last `poll_transmit`: for the gate, or for the congestion window if the gate was open.
    pub fn is_held(&self) -> bool {
        self.is_held.load(Ordering::Relaxed)
    }

    /// The pacing rate in bytes per second, as of the last `poll_transmit`.
    pub fn bytes_per_sec(&self) -> u64 {
        self.bytes_per_sec.load(Ordering::Relaxed)
    }

    /// The application has nothing more to send, from now until it sends again: what is delivered until then says how fast
    /// the application is, and not the path (draft-ietf-ccwg-bbr, "Detecting application-limited phases").
    pub fn mark_dry(&self) {
        self.is_dry.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_open(&self) -> bool {
        self.is_open.load(Ordering::Relaxed)
    }

    pub(super) fn hold(&self) {
        self.is_held.store(true, Ordering::Relaxed);
    }

    pub(super) fn take_dry(&self) -> bool {
        self.is_dry.swap(false, Ordering::Relaxed)
    }

    pub(super) fn set_rate(&self, bytes_per_sec: u64) {
        self.bytes_per_sec.store(bytes_per_sec, Ordering::Relaxed);
    }
}
