//! The least duration of a run that shows the slowest behaviour.

use units::Duration;

use super::plan::{PACKET, Sampled, Sampling};

/// The interval between two ProbeRTTs of BBRv1 (ACM Queue 14(5), 2016).
const PROBE_RTT_INTERVAL: Duration = Duration::from_secs(10);

/// CUBIC's reduction of the window after a loss, and its growth constant C in packets/s³ (RFC 9438, "Definitions").
const REDUCTION: f64 = 0.3;
const C: f64 = 0.4;

/// The least number of recoveries in a run: one does not show what follows it.
const MIN_RETURNS: f64 = 2.0;

impl Sampling {
    /// The least duration, in whole seconds, in which the longest path shows ProbeRTT and CUBIC's return to the window
    /// before a loss.
    pub fn horizon(&self) -> Duration {
        horizon(&self.sampled)
    }

    /// Whether the runs are shorter than the horizon.
    pub fn is_brief(&self) -> bool {
        self.duration < self.horizon()
    }
}

/// See [`Sampling::horizon`].
pub(crate) fn horizon(sampled: &[Sampled]) -> Duration {
    let returns = sampled.iter().map(|of| of.cubic_return() * MIN_RETURNS);
    let longest = returns.fold(0.0, f64::max).ceil();
    PROBE_RTT_INTERVAL.max(Duration::from_secs(longest as u64))
}

impl Sampled {
    /// K, the seconds from a loss until CUBIC has its window again (RFC 9438, "Window Increase Function"). The window
    /// fills path and buffer, or is the mean that random losses allow ("Fairness to Reno", "Using Spare Capacity").
    pub(crate) fn cubic_return(&self) -> f64 {
        let path = &self.scenario.path;
        let rtt = path.rtt.as_secs_f64();
        let bdp = self.rate.bytes_per_sec() as f64 * rtt;
        let buffer = path
            .buffer_bytes()
            .map_or(0.0, |buffer| buffer.get() as f64);
        let full = (bdp + buffer) / PACKET;
        let loss = path.data.effects.loss.mean();
        let cubic = 1.054 * libm::pow(rtt / loss, 0.75);
        let reno = 1.22 / loss.sqrt();
        let window = full.min(cubic.max(reno));
        libm::cbrt(window * REDUCTION / C)
    }
}
