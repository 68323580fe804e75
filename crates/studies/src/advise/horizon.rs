//! How long a run must be to show what takes longest.

use units::Duration;

use super::plan::{PACKET, Sampled, Sampling};

/// The time from one ProbeRTT of BBRv1 to the next (ACM Queue 14(5), 2016).
const PROBE_RTT: Duration = Duration::from_secs(10);

/// What CUBIC takes after a loss, and how fast it comes back, in packets/s³ (RFC 9438, "Definitions").
const REDUCTION: f64 = 0.3;
const C: f64 = 0.4;

/// So many returns must fit into a run: one says nothing of what comes after it.
const RETURNS: f64 = 2.0;

impl Sampling {
    /// How long a run must be to show ProbeRTT, and CUBIC's return to the window that it had before a loss, on the longest of the
    /// paths; in whole seconds.
    pub fn horizon(&self) -> Duration {
        horizon(&self.sampled)
    }

    /// Whether the runs are shorter than that.
    pub fn is_brief(&self) -> bool {
        self.duration < self.horizon()
    }
}

/// See [`Sampling::horizon`].
pub(super) fn horizon(sampled: &[Sampled]) -> Duration {
    let returns = sampled.iter().map(|of| of.cubic_return() * RETURNS);
    let longest = returns.fold(0.0, f64::max).ceil();
    PROBE_RTT.max(Duration::from_secs(longest as u64))
}

impl Sampled {
    /// K, the time from a loss until CUBIC has its window again, in seconds (RFC 9438, "Window Increase Function"). That window
    /// fills path and buffer, or is the mean that random losses leave it ("Fairness to Reno", "Using Spare Capacity").
    pub(super) fn cubic_return(&self) -> f64 {
        let path = &self.scenario.path;
        let rtt = path.rtt.as_secs_f64();
        let bdp = self.rate.bytes_per_sec() as f64 * rtt;
        let buffer = path
            .buffer_bytes()
            .map_or(0.0, |buffer| buffer.get() as f64);
        let full = (bdp + buffer) / PACKET;
        let loss = path.data.effects.loss.mean();
        let cubic = 1.054 * (rtt / loss).powf(0.75);
        let reno = 1.22 / loss.sqrt();
        let window = full.min(cubic.max(reno));
        (window * REDUCTION / C).cbrt()
    }
}
