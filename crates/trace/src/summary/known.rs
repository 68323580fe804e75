//! The path that a flow shows, with uncertainties.

use serde::{Serialize, Serializer};
use units::{Duration, Rate};

use super::causes::Causes;

/// A burst size that suits most policers.
pub const POLICER_BURST: &str = "100kb";

/// Without an upper bound, a rate may be this many times what was measured.
const MAX_RATE_FACTOR: u64 = 100;

/// Without an upper bound, a buffer may be this many times the longest queue or the BDP.
const MAX_BUFFER_FACTOR: f64 = 8.0;

/// The uncertainty of a full buffer: the least and the greatest share of it, and a number of packets.
const MIN_BUFFER_SHARE: f64 = 0.9;
const MAX_BUFFER_SHARE: f64 = 1.15;
const BUFFER_PACKETS: f64 = 2.0;

/// The path of a flow that shows both RTprop and BtlBw. Serializes as ranges.
#[derive(Debug, Clone)]
pub struct KnownPath {
    /// BtlBw, as a rate of IP packets.
    pub rate: Rate,
    /// The sum of the rates of all flows at the same time, if they filled the pipe. A shared bottleneck is no faster.
    pub rate_of_all: Rate,
    /// RTprop.
    pub rtt: Duration,
    /// The longest queue in BDP, or the size of the buffer if it dropped packets.
    pub buffer: f64,
    /// The size of a packet in BDP.
    pub packet: f64,
    /// The smallest buffer that a scenario may have, in BDP.
    pub smallest: f64,
    /// The causes of losses.
    pub causes: Causes,
    /// True if the flow filled the pipe. If not, the bottleneck may be faster.
    pub is_pipe_filled: bool,
    /// The rate of a policer, if there is a sign of one.
    pub policed: Option<Rate>,
}

impl KnownPath {
    /// The share of packets lost at random.
    pub fn random_loss(&self) -> f64 {
        self.causes.random[1]
    }

    /// True if a full buffer dropped packets, which shows its size.
    pub fn is_buffer_known(&self) -> bool {
        self.causes.full.is_some()
    }

    /// The fields of a scenario's path, each with the range that the capture supports.
    pub fn ranges(&self) -> Vec<(&'static str, String)> {
        // BtlBw is accurate to some percent, because a tenth of its windows exceed it. A flow that never filled the pipe
        // gives only a lower bound.
        let least = three_digits(self.rate, 97);
        let most = if self.is_pipe_filled {
            three_digits(self.rate_of_all.max(self.rate), 103)
        } else {
            three_digits(self.rate, 100 * MAX_RATE_FACTOR)
        };
        let (rtt, buffer) = (self.rtt, self.buffer);
        let upper_rtt = Duration::from_nanos(rtt.as_nanos() / 100 * 102);
        // Without drops, the queue never filled the buffer.
        let [shortest, longest] = if self.is_buffer_known() {
            let slack = self.packet * BUFFER_PACKETS;
            [
                buffer * MIN_BUFFER_SHARE - slack,
                buffer * MAX_BUFFER_SHARE + slack,
            ]
        } else {
            [buffer, buffer.max(1.0) * MAX_BUFFER_FACTOR]
        };
        let shortest = shortest.max(buffer / 2.0).max(self.smallest);
        let longest = longest.max(shortest);
        let mut ranges = vec![
            ("rate", format!("{least}..{most}")),
            ("rtt", format!("{rtt}..{upper_rtt}")),
            ("buffer", format!("{shortest:.2}bdp..{longest:.2}bdp")),
        ];
        let [least, _, most] = self.causes.random.map(|share| share * 100.0);
        if most > 0.0 {
            ranges.push(("loss", format!("{least:.4}%..{most:.4}%")));
        }
        if let Some(rate) = self.policed {
            ranges.push(("policer.rate", rate.to_string()));
            ranges.push(("policer.burst", POLICER_BURST.to_owned()));
        }
        ranges
    }
}

impl Serialize for KnownPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.ranges())
    }
}

/// `percent` of the rate, rounded to three digits.
pub fn three_digits(rate: Rate, percent: u64) -> Rate {
    Rate::from_bits_per_sec(rounded(rate.bits_per_sec() / 100 * percent))
}

/// The number, rounded to three digits.
pub fn rounded(number: u64) -> u64 {
    let power = 10_u64.pow(number.max(1).ilog10().saturating_sub(2));
    (number + power / 2) / power * power
}
