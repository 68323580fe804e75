//! The path that a flow shows, and how well it is known.

use serde::{Serialize, Serializer};
use units::{Duration, Rate};

/// A burst that suits most policers.
pub const BURST: &str = "100kb";

/// A rate that nothing bounds from above is taken for up to so many times what was seen.
const UNBOUNDED: u64 = 100;

/// A share of losses is counted well to so much: chance, and which of them a long queue made.
const MISCOUNTED: f64 = 1.2;

/// The path of a flow that shows both RTprop and BtlBw. Serializes as ranges.
#[derive(Debug, Clone)]
pub struct KnownPath {
    /// BtlBw, of IP packets.
    pub rate: Rate,
    /// RTprop.
    pub rtt: Duration,
    /// The longest queue that was seen, in BDP.
    pub buffer: f64,
    /// The share of packets that were lost.
    pub loss: f64,
    /// The share of packets that were lost while the queue was short.
    pub random_loss: f64,
    /// Whether the flow filled the pipe. If not, the bottleneck may be faster.
    pub is_pipe_filled: bool,
    /// The rate of a policer, if there seems to be one.
    pub policed: Option<Rate>,
}

impl KnownPath {
    /// The fields that a scenario's path has, each as the range within which the capture leaves it.
    pub fn ranges(&self) -> Vec<(&'static str, String)> {
        // BtlBw is good to some percent, as a tenth of its windows exceed it. What never filled the pipe bounds it from below alone.
        let most = if self.is_pipe_filled {
            103
        } else {
            100 * UNBOUNDED
        };
        let [least, most] = [97, most].map(|percent| three_digits(self.rate, percent));
        let (rtt, buffer) = (self.rtt, self.buffer);
        let upper_rtt = Duration::from_nanos(rtt.as_nanos() / 100 * 102);
        // Without losses while the queue was long, it never filled the buffer.
        let longest = if self.loss > self.random_loss * MISCOUNTED {
            buffer * 1.5
        } else {
            buffer.max(1.0) * 8.0
        };
        let mut ranges = vec![
            ("rate", format!("{least}..{most}")),
            ("rtt", format!("{rtt}..{upper_rtt}")),
            ("buffer", format!("{buffer:.2}bdp..{longest:.2}bdp")),
        ];
        if self.loss > 0.0 {
            let shares = [self.random_loss / 2.0, (self.loss * MISCOUNTED).min(1.0)];
            let [least, most] = shares.map(|share| share * 100.0);
            ranges.push(("loss", format!("{least:.4}%..{most:.4}%")));
        }
        if let Some(rate) = self.policed {
            ranges.push(("policer.rate", rate.to_string()));
            ranges.push(("policer.burst", BURST.to_owned()));
        }
        ranges
    }
}

impl Serialize for KnownPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.ranges())
    }
}

/// So many percent of the rate, with three digits.
pub fn three_digits(rate: Rate, percent: u64) -> Rate {
    Rate::from_bits_per_sec(rounded(rate.bits_per_sec() / 100 * percent))
}

/// The number with three digits.
pub fn rounded(number: u64) -> u64 {
    let power = 10_u64.pow(number.max(1).ilog10().saturating_sub(2));
    (number + power / 2) / power * power
}
