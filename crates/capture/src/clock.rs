//! The clock of a capture, which may be set back while packets are captured.

use units::{Duration, Time};

/// Packets of several queues are out of order by less than this. A clock that runs back further was set.
const STEP: Duration = Duration::from_millis(100);

/// A clock is hardly ever set more often. Times that still run back are those of several clocks.
const MOST: u8 = 8;

/// The times of packets in the order of the capture.
#[derive(Debug, Default)]
pub struct Clock {
    latest: Option<Time>,
    /// By how much the clock was set back so far.
    back: Duration,
    steps: u8,
    /// Packets whose time is before that of the packet before.
    pub backward: u64,
}

impl Clock {
    /// The time of the next packet as if the clock had not been set back, and whether it was set back just now.
    #[inline]
    pub fn on_packet(&mut self, at: Time) -> (Time, bool) {
        let mut at = at + self.back;
        let mut is_step = false;
        if let Some(latest) = self.latest.filter(|latest| at < *latest) {
            self.backward += 1;
            let back = latest.since(at);
            is_step = back > STEP && self.steps < MOST;
            if is_step {
                self.steps += 1;
                self.back = self.back + back;
                at = latest;
            }
        }
        self.latest = Some(at);
        (at, is_step)
    }
}
