//! The packets that were lost: with how long a queue, and how much had passed until then.

use congestion::{Duration, Time};

use super::evenly::Evenly;

/// Packets that were lost together.
#[derive(Debug, Clone, Copy)]
pub struct Loss {
    /// When that was seen.
    pub at: Time,
    /// Payload that was delivered until then.
    pub passed: u64,
    /// The RTT of the packet that was sent next, and arrived: it met the same queue. In microseconds; 0 if nobody knows.
    rtt: u32,
    /// How many packets.
    pub packets: u32,
}

impl Loss {
    /// So many packets.
    pub fn new(at: Time, passed: u64, rtt: Option<Duration>, packets: u64) -> Loss {
        Loss {
            at,
            passed,
            rtt: rtt.map_or(0, micros),
            packets: u32::try_from(packets).unwrap_or(u32::MAX),
        }
    }

    /// The RTT of the packet that was sent next.
    pub fn rtt(&self) -> Option<Duration> {
        (self.rtt > 0).then(|| Duration::from_micros(self.rtt.into()))
    }
}

/// A span in microseconds, up to an hour.
pub fn micros(span: Duration) -> u32 {
    u32::try_from(span.as_nanos() / 1_000).unwrap_or(u32::MAX)
}

/// Losses, evenly taken from all that there were.
pub type Losses = Evenly<Loss, 256>;
