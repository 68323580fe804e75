//! The lost packets: the queue at each loss, and the bytes delivered before it.

use congestion::{Duration, Time};

use crate::evenly::Evenly;

/// Packets that were lost together.
#[derive(Debug, Clone, Copy)]
pub struct Loss {
    /// When the loss was detected.
    pub at: Time,
    /// Payload delivered before the loss.
    pub passed: u64,
    /// The RTT of the packet that was sent next and arrived: it met the same queue. In microseconds; 0 if unknown.
    rtt: u32,
    /// The number of packets.
    pub packets: u32,
}

impl Loss {
    /// A loss of this many packets.
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

/// The duration in microseconds, at most an hour.
pub fn micros(span: Duration) -> u32 {
    u32::try_from(span.as_nanos() / 1_000).unwrap_or(u32::MAX)
}

/// An even sample of the losses.
pub type Losses = Evenly<Loss, 256>;
