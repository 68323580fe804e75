//! The link between a connection's controller and the driver.

use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::pace::Lateness;
use crate::lock::lock;

/// The link between a controller inside noq and the driver that paces the connection. Both use it on the driver's
/// thread only, one at a time. It uses atomics because noq owns the controller and the driver owns the other end.
#[derive(Debug, Default)]
pub struct Flow {
    /// The pacing rate in bytes per second. Zero until the controller sets it.
    rate: AtomicU64,
    /// True if the congestion window has held back a packet.
    is_blocked: AtomicBool,
    /// True if noq may send nothing that the window could hold back.
    is_shut: AtomicBool,
    /// True if the application ran out of data, and the controller does not know this yet.
    ran_dry: AtomicBool,
    /// True if the application has no data.
    is_dry: AtomicBool,
    /// Bytes that left under congestion control, and that pacing has not counted yet.
    sent: AtomicU64,
    lateness: Mutex<Lateness>,
    /// The error of the last datagrams; `None` if they left this machine.
    error: Mutex<Option<io::Error>>,
}

/// The rate for noq's own pacer, which holds back nothing.
pub(crate) const UNPACED: u64 = 1 << 50;

impl Flow {
    /// Sets the controller's pacing rate.
    pub(crate) fn set_rate(&self, bytes_per_second: u64) {
        self.rate.store(bytes_per_second, Ordering::Relaxed);
    }

    /// The pacing rate; `None` until the controller has set it.
    pub(super) fn rate(&self) -> Option<u64> {
        Some(self.rate.load(Ordering::Relaxed)).filter(|rate| *rate > 0)
    }

    /// Records that the congestion window holds back a packet.
    pub(crate) fn block(&self) {
        self.is_blocked.store(true, Ordering::Relaxed);
    }

    /// True if the congestion window has held back a packet since the last call.
    pub(super) fn take_blocked(&self) -> bool {
        self.is_blocked.swap(false, Ordering::Relaxed)
    }

    /// Shuts the congestion window, or opens it again.
    pub(super) fn shut(&self, is_shut: bool) {
        self.is_shut.store(is_shut, Ordering::Relaxed);
    }

    /// True if the congestion window is shut, whatever its size.
    pub(crate) fn is_shut(&self) -> bool {
        self.is_shut.load(Ordering::Relaxed)
    }

    /// Records that the application has run out of data.
    pub(super) fn run_dry(&self) {
        self.ran_dry.store(true, Ordering::Relaxed);
        self.set_dry(true);
    }

    /// Sets whether the application has no data.
    pub(super) fn set_dry(&self, is_dry: bool) {
        self.is_dry.store(is_dry, Ordering::Relaxed);
    }

    /// True if the application had no data when noq last could send.
    pub(crate) fn is_dry(&self) -> bool {
        self.is_dry.load(Ordering::Relaxed)
    }

    /// Records a departure that counts for congestion control.
    pub(crate) fn send(&self, bytes: u16) {
        // No other thread changes it meanwhile.
        let sent = self.sent.load(Ordering::Relaxed) + u64::from(bytes);
        self.sent.store(sent, Ordering::Relaxed);
    }

    /// Takes the bytes of such packets since the last call.
    pub(super) fn take_sent(&self) -> u64 {
        self.sent.swap(0, Ordering::Relaxed)
    }

    /// Sets the lateness of the connection's datagrams.
    pub(super) fn set_lateness(&self, lateness: Lateness) {
        *lock(&self.lateness) = lateness;
    }

    /// The lateness of the connection's datagrams so far.
    pub(crate) fn lateness(&self) -> Lateness {
        *lock(&self.lateness)
    }

    /// Sets the error of the last datagrams, or that there was none.
    pub(super) fn set_error(&self, error: Option<io::Error>) {
        *lock(&self.error) = error;
    }

    /// Takes the error of the last datagrams, if there was one.
    pub(crate) fn take_error(&self) -> Option<io::Error> {
        lock(&self.error).take()
    }

    /// True if the application has run out of data since the last call.
    pub(crate) fn take_dry(&self) -> bool {
        // This is called for every packet, and is rarely true.
        self.ran_dry.load(Ordering::Relaxed) && self.ran_dry.swap(false, Ordering::Relaxed)
    }
}
