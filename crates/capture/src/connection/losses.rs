//! The packets that were lost: with how long a queue, and how much had passed until then.

use congestion::{Duration, Time};

use crate::memory::reserve;

/// No flow keeps more losses: if there are more, every second one goes, and of the next ones only so many are kept.
const MOST: usize = 256;

/// A flow keeps so many, however little memory there is.
const LEAST: usize = 16;

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
#[derive(Debug, Clone)]
pub struct Losses {
    kept: Vec<Loss>,
    /// One of so many is kept.
    stride: u32,
    left_out: u32,
}

impl Default for Losses {
    fn default() -> Losses {
        Losses {
            kept: Vec::new(),
            stride: 1,
            left_out: 0,
        }
    }
}

impl Losses {
    /// One more.
    pub fn add(&mut self, loss: Loss) {
        self.left_out += 1;
        if self.left_out < self.stride {
            return;
        }
        self.left_out = 0;
        if self.kept.len() == MOST {
            self.halve();
        }
        reserve(&mut self.kept);
        self.kept.push(loss);
    }

    fn halve(&mut self) {
        let mut place = 0;
        self.kept.retain(|_| {
            place += 1;
            place % 2 == 0
        });
        self.stride = self.stride.saturating_mul(2);
    }

    /// How many bytes they take.
    #[inline]
    pub fn held(&self) -> usize {
        self.kept.capacity() * size_of::<Loss>()
    }

    /// Keeps few of them.
    pub fn thin(&mut self) {
        while self.kept.len() > LEAST {
            self.halve();
        }
        self.kept.shrink_to_fit();
    }

    /// In their order.
    pub fn kept(&self) -> &[Loss] {
        &self.kept
    }
}
