//! What connections are compared in.

use crate::observation::Observation;

/// From so many bytes on, a connection tells the throughput of its path: the objects of which a large CDN reported throughput.
pub const LARGE: u64 = 3_000_000;

/// The kernel counts busy time in ticks of up to 10 ms; less than this is not told apart.
const LEAST_BUSY: f64 = 0.001;

units::named! {
    /// What connections are compared in.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Measure, "measure" {
        /// Payload over busy time, of connections of 3 MB and more.
        Throughput = "throughput",
        /// Busy time of connections below 10 kB.
        Time10k = "time_10kb",
        /// Busy time of connections from 10 kB on, below 100 kB.
        Time100k = "time_100kb",
        /// Busy time of connections from 100 kB on, below 1 MB.
        Time1m = "time_1mb",
        /// Busy time of connections from 1 MB on, below 3 MB.
        Time3m = "time_3mb",
        /// The share of packets that were sent again, of all packets.
        Resent = "resent",
        /// The smoothed RTT at the end.
        Rtt = "rtt",
        /// The share of connections of 3 MB and more: a controller should not change it.
        Large = "large",
    }
}

units::as_text!(Measure);

/// How the arms' values are made of what connections contribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The mean of logarithms: arms differ by the ratio of geometric means, and a few huge values do not decide.
    Logs,
    /// A sum over a sum: arms differ by the ratio of shares.
    Share,
}

/// What one connection contributes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// The value; for shares the part.
    pub value: f64,
    /// How many it counts as; for shares the whole.
    pub weight: f64,
}

impl Measure {
    /// How it is made of samples.
    pub fn kind(self) -> Kind {
        match self {
            Measure::Resent | Measure::Large => Kind::Share,
            _ => Kind::Logs,
        }
    }

    /// Whether more of it is better; none: it should be the same.
    pub fn is_more_better(self) -> Option<bool> {
        match self {
            Measure::Throughput => Some(true),
            Measure::Large => None,
            _ => Some(false),
        }
    }

    /// In words.
    pub fn title(self) -> &'static str {
        match self {
            Measure::Throughput => "throughput over 3 MB",
            Measure::Time10k => "time below 10 kB",
            Measure::Time100k => "time from 10 to 100 kB",
            Measure::Time1m => "time from 100 kB to 1 MB",
            Measure::Time3m => "time from 1 to 3 MB",
            Measure::Resent => "packets sent again",
            Measure::Rtt => "RTT at the end",
            Measure::Large => "connections over 3 MB",
        }
    }

    /// The sizes of the connections that it is of, in bytes.
    fn sizes(self) -> std::ops::Range<u64> {
        match self {
            Measure::Throughput => LARGE..u64::MAX,
            Measure::Time10k => 1..10_000,
            Measure::Time100k => 10_000..100_000,
            Measure::Time1m => 100_000..1_000_000,
            Measure::Time3m => 1_000_000..LARGE,
            Measure::Resent | Measure::Rtt | Measure::Large => 1..u64::MAX,
        }
    }

    /// What the connection contributes to it; nothing if it tells nothing about it.
    pub fn sample(self, of: &Observation) -> Option<Sample> {
        if !self.sizes().contains(&of.acknowledged) {
            return None;
        }
        let busy = of.busy.as_secs_f64().max(LEAST_BUSY);
        let logarithm = |value: f64| Sample {
            value: value.ln(),
            weight: 1.0,
        };
        match self {
            Measure::Throughput => Some(logarithm(of.acknowledged as f64 * 8.0 / busy)),
            Measure::Time10k | Measure::Time100k | Measure::Time1m | Measure::Time3m => {
                Some(logarithm(busy))
            }
            Measure::Resent => (of.packets > 0).then_some(Sample {
                value: of.resent as f64,
                weight: of.packets as f64,
            }),
            Measure::Rtt => {
                let rtt = of.rtt.filter(|rtt| !rtt.is_zero())?;
                Some(logarithm(rtt.as_secs_f64()))
            }
            Measure::Large => Some(Sample {
                value: f64::from(u8::from(of.acknowledged >= LARGE)),
                weight: 1.0,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use units::Duration;

    use super::*;

    #[test]
    fn each_size_has_one_measure_of_its_time() {
        for bytes in [
            1, 9_999, 10_000, 99_999, 100_000, 999_999, 1_000_000, 2_999_999, LARGE,
        ] {
            let of = Observation {
                unit: 0,
                arm: 0,
                acknowledged: bytes,
                busy: Duration::from_secs(2),
                packets: 0,
                resent: 0,
                rtt: None,
                groups: Vec::new(),
            };
            let found = Measure::ALL
                .iter()
                .filter_map(|measure| measure.sample(&of));
            // Of the sizes, and whether it is large.
            assert_eq!(found.count(), 2, "{bytes}");
        }
    }
}
