//! The setting of the courses: the path's rate and RTprop, and the rates, windows and spans on it.

use congestion::{Bytes, Duration, Rate};

/// The path of every course.
pub(crate) const RATE: Rate = Rate::from_bits_per_sec(20_000_000);
pub(crate) const RTPROP: Duration = Duration::from_millis(40);
/// The pacing rate of the fixed controller: half of the path's.
pub(crate) const PACE: Rate = Rate::from_bits_per_sec(10_000_000);
/// The lower rate of a controller whose rate changes, and the time between changes. This time is no multiple of a second or of a
/// tenth of one, so that a transport which reads the rate at such intervals is found.
pub(crate) const SLOW_PACE: Rate = Rate::from_bits_per_sec(5_000_000);
pub(crate) const CHANGE_INTERVAL: Duration = Duration::from_millis(730);
/// ACKs are held back for at most this time, which is less than a round trip.
pub(crate) const MAX_ACK_HOLD: Duration = Duration::from_millis(35);
pub(crate) const SECOND: Duration = Duration::from_secs(1);
/// Bursts of the fixed controller, in packets.
pub(crate) const QUANTUM_PACKETS: u64 = 2;
/// Longer than a probe timeout on this path (RFC 9002: about two round trips and the receiver's delay of 25 ms), and shorter
/// than the least retransmission timeout in use (200 ms and a round trip) or two probe timeouts.
pub(crate) const SHORT_SILENCE: Duration = Duration::from_millis(150);
/// A window that pacing never fills.
pub(crate) const WIDE_WINDOW_PACKETS: u64 = 400;
/// A window that pacing would exceed at once.
pub(crate) const NARROW_WINDOW_PACKETS: u64 = 20;
/// More than the burst that is always allowed, and much less than the inflight of a paced course.
pub(crate) const BURST_OF_LOSSES: u32 = 25;

/// The window in packets. With small packets, the pacing rate needs more of them.
pub(crate) fn packets(window: u64, mss: Bytes) -> u64 {
    match window {
        WIDE_WINDOW_PACKETS => {
            WIDE_WINDOW_PACKETS.max(WIDE_WINDOW_PACKETS * 1_200 / mss.get().max(1))
        }
        narrow => narrow,
    }
}
