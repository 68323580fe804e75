//! Jitter: delay that varies from packet to packet.

use serde::{Deserialize, Serialize};
use units::Duration;

use crate::random::{Stream, Streams};

/// Delay on top of the propagation delay, drawn for each packet: uniform over all nanoseconds from zero to
/// [`up_to`](Self::up_to), both included; its mean is half of that.
///
/// It is only ever added, so the propagation delay stays the least that a packet takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { up_to = \"5ms\", reorders = true }"
)]
pub struct Jitter {
    /// The most that is added.
    pub up_to: Duration,
    /// Whether a packet may overtake another that drew a longer delay. If not, it waits until that one has arrived, and
    /// arrives at the same instant: the delays of packets close to one another are then no longer independent.
    #[serde(default)]
    pub reorders: bool,
}

/// Delays of at most so much, without overtaking.
impl From<Duration> for Jitter {
    fn from(up_to: Duration) -> Jitter {
        Jitter {
            up_to,
            reorders: false,
        }
    }
}

/// Draws the jitter of one packet after the other.
#[derive(Debug, Clone)]
pub(crate) struct JitterProcess {
    model: Option<Jitter>,
    stream: Stream,
}

impl JitterProcess {
    pub(crate) fn new(model: Option<Jitter>, streams: &mut Streams) -> JitterProcess {
        JitterProcess {
            model,
            stream: streams.deal(),
        }
    }

    /// The next packet's extra delay.
    #[inline]
    pub(crate) fn draw(&mut self) -> Duration {
        match self.model {
            None => Duration::ZERO,
            Some(jitter) => {
                let values = jitter.up_to.as_nanos().saturating_add(1);
                Duration::from_nanos(self.stream.below(values))
            }
        }
    }

    /// Whether packets may overtake each other.
    #[inline]
    pub(crate) fn reorders(&self) -> bool {
        self.model.is_some_and(|jitter| jitter.reorders)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uniform_from_zero_to_the_bound() {
        let jitter = Jitter {
            up_to: Duration::from_nanos(4),
            reorders: false,
        };
        let mut process = JitterProcess::new(Some(jitter), &mut Streams::new(1));
        let mut seen = [0u32; 5];
        for _ in 0..50_000 {
            seen[process.draw().as_nanos() as usize] += 1;
        }
        assert!(seen.iter().all(|n| n.abs_diff(10_000) < 450), "{seen:?}");
    }
}
