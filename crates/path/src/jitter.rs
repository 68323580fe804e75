//! Jitter: delay that varies from packet to packet.

use serde::{Deserialize, Serialize};
use units::Duration;

use crate::random::{Stream, Streams};

/// A delay in addition to the propagation delay, drawn for each packet from zero to [`up_to`](Self::up_to), both
/// included, by its [`Distribution`].
///
/// It is never negative, so the propagation delay stays the minimum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { up_to = \"5ms\", reorders = true }"
)]
pub struct Jitter {
    /// The maximum additional delay.
    pub up_to: Duration,
    /// True if a packet may overtake another with a longer delay. If not, it waits until the other has arrived, and
    /// arrives at the same time. The delays of neighbouring packets are then not independent any more.
    #[serde(default)]
    pub reorders: bool,
    /// The distribution of the delays.
    #[serde(default, skip_serializing_if = "Distribution::is_uniform")]
    pub distribution: Distribution,
}

/// The distribution of delays up to the maximum. The names are those of `tc-netem(8)`. Every distribution here is
/// bounded and in whole nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename = "distribution", rename_all = "lowercase")]
pub enum Distribution {
    /// All delays have the same probability. The mean is half of the maximum.
    #[default]
    Uniform,
    /// The mean of twelve uniform delays, which is close to a normal distribution (Irwin and Hall). The mean is half of
    /// the maximum, and the standard deviation a twelfth.
    Normal,
    /// Mostly short delays and few long ones: a Pareto distribution of the second kind (Lomax) with shape 3, as in
    /// `tc-netem`, with a tenth of the maximum as its scale, truncated at the maximum. Half of the packets have less
    /// than 2.6 % of the maximum, and one in a hundred more than 35 %.
    Pareto,
    /// A quarter of a normal delay and three quarters of a Pareto delay, as in `tc-netem`.
    ParetoNormal,
}

impl Distribution {
    fn is_uniform(&self) -> bool {
        *self == Distribution::Uniform
    }

    /// The name in scenarios.
    pub fn name(self) -> &'static str {
        match self {
            Distribution::Uniform => "uniform",
            Distribution::Normal => "normal",
            Distribution::Pareto => "pareto",
            Distribution::ParetoNormal => "paretonormal",
        }
    }

    /// Draws a delay of at most `most` nanoseconds.
    #[inline]
    fn draw(self, most: u64, stream: &mut Stream) -> u64 {
        match self {
            Distribution::Uniform => stream.below(most.saturating_add(1)),
            Distribution::Normal => normal(most, stream),
            Distribution::Pareto => pareto(most, stream),
            Distribution::ParetoNormal => {
                let normal = u128::from(normal(most, stream));
                let sum = normal + 3 * u128::from(pareto(most, stream));
                u64::try_from(sum / 4).unwrap_or(most)
            }
        }
    }
}

/// The number of uniform delays in one normal delay.
const PARTS: u128 = 12;

fn normal(most: u64, stream: &mut Stream) -> u64 {
    let parts = (0..PARTS).map(|_| u128::from(stream.below(most.saturating_add(1))));
    u64::try_from(parts.sum::<u128>() / PARTS).unwrap_or(most)
}

/// The maximum delay in units of the distribution's scale.
const SCALES: u64 = 10;

/// The upper end of the cube root of a random number: shares of a delay are exact to a millionth.
const ROOT: u64 = 1 << 20;

/// The inverse of the distribution function, scale × (v^(-1/3) − 1), of a uniform v from 11⁻³ to 1.
fn pareto(most: u64, stream: &mut Stream) -> u64 {
    let all = ROOT * ROOT * ROOT;
    let least = all.div_ceil((SCALES + 1) * (SCALES + 1) * (SCALES + 1));
    let root = cube_root(least + stream.below(all - least + 1));
    let delay = u128::from(most) * u128::from(ROOT - root) / u128::from(SCALES * root.max(1));
    u64::try_from(delay).unwrap_or(most).min(most)
}

/// The largest whole number whose cube is at most `number`, which is at most that of [`ROOT`].
fn cube_root(number: u64) -> u64 {
    let (mut low, mut high) = (0, ROOT);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if middle * middle * middle <= number {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

/// Delays up to this maximum, without overtaking.
impl From<Duration> for Jitter {
    fn from(up_to: Duration) -> Jitter {
        Jitter {
            up_to,
            reorders: false,
            distribution: Distribution::Uniform,
        }
    }
}

/// Draws the jitter of each packet in turn.
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

    /// Returns the next packet's additional delay.
    #[inline]
    pub(crate) fn draw(&mut self) -> Duration {
        match self.model {
            None => Duration::ZERO,
            Some(jitter) => {
                let most = jitter.up_to.as_nanos();
                Duration::from_nanos(jitter.distribution.draw(most, &mut self.stream))
            }
        }
    }

    /// True if packets may overtake each other.
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
        let jitter = Jitter::from(Duration::from_nanos(4));
        let mut process = JitterProcess::new(Some(jitter), &mut Streams::new(1));
        let mut seen = [0u32; 5];
        for _ in 0..50_000 {
            seen[process.draw().as_nanos() as usize] += 1;
        }
        assert!(seen.iter().all(|n| n.abs_diff(10_000) < 450), "{seen:?}");
    }

    /// Returns delays of at most 1,200,000 ns, in ascending order.
    fn drawn(distribution: Distribution) -> Vec<u64> {
        let jitter = Jitter {
            distribution,
            ..Jitter::from(Duration::from_nanos(1_200_000))
        };
        let mut process = JitterProcess::new(Some(jitter), &mut Streams::new(1));
        let mut delays: Vec<u64> = (0..40_000).map(|_| process.draw().as_nanos()).collect();
        delays.sort_unstable();
        assert!(delays.last().is_some_and(|delay| *delay <= 1_200_000));
        delays
    }

    fn is_close(value: f64, expected: f64) -> bool {
        (value / expected - 1.0).abs() < 0.02
    }

    #[test]
    fn normal_delays_have_their_mean_and_deviation() {
        let delays = drawn(Distribution::Normal);
        let count = delays.len() as f64;
        let mean = delays.iter().sum::<u64>() as f64 / count;
        let squares = delays.iter().map(|delay| (*delay as f64 - mean).powi(2));
        let deviation = (squares.sum::<f64>() / count).sqrt();
        assert!(is_close(mean, 600_000.0), "{mean}");
        assert!(is_close(deviation, 100_000.0), "{deviation}");
        // In a normal distribution, 2.3 % are more than two deviations below the mean.
        let low = delays.partition_point(|delay| *delay < 400_000) as f64 / count;
        assert!((low - 0.0228).abs() < 0.003, "{low}");
    }

    #[test]
    fn pareto_delays_have_their_quantiles() {
        let delays = drawn(Distribution::Pareto);
        let quantile = |per_mille: usize| delays[delays.len() * per_mille / 1_000] as f64;
        let expected = |share: f64| {
            let least = 11f64.powi(-3);
            let v = 1.0 - share * (1.0 - least);
            120_000.0 * (v.powf(-1.0 / 3.0) - 1.0)
        };
        for per_mille in [250, 500, 750, 900] {
            let expected = expected(per_mille as f64 / 1_000.0);
            let seen = quantile(per_mille);
            assert!(
                (seen / expected - 1.0).abs() < 0.05,
                "{per_mille}: {seen} {expected}"
            );
        }
        let mixed = drawn(Distribution::ParetoNormal);
        let mean = |delays: &[u64]| delays.iter().sum::<u64>() as f64 / delays.len() as f64;
        let expected = 0.25 * 600_000.0 + 0.75 * mean(&delays);
        assert!(is_close(mean(&mixed), expected), "{}", mean(&mixed));
    }

    #[test]
    fn cube_roots_are_exact() {
        for root in [0, 1, 2, 95_325, ROOT - 1, ROOT] {
            let cube = root * root * root;
            assert_eq!(cube_root(cube), root);
            assert_eq!(cube_root(cube + root), root);
            assert_eq!(cube_root(cube.saturating_sub(1)), root.saturating_sub(1));
        }
    }
}
