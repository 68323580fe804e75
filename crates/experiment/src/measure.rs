//! What connections are compared in.

use crate::observation::{Observation, Scope};

/// From so many bytes on, an object tells the throughput of its path: those of which a large CDN reported throughput.
pub const LARGE: u64 = 3_000_000;

/// The kernel counts a connection's busy time in ticks of up to 10 ms; less than this is not told apart.
const LEAST_BUSY: f64 = 0.001;

/// An object's, in microseconds.
const LEAST_BUSY_OF_OBJECT: f64 = 0.000_001;

units::named! {
    /// What connections, or the objects that they carried, are compared in.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Measure, "measure" {
        /// Payload over busy time, of objects of 3 MB and more.
        Throughput = "throughput",
        /// Busy time of objects below 10 kB.
        Time10k = "time_10kb",
        /// Busy time of objects from 10 kB on, below 100 kB.
        Time100k = "time_100kb",
        /// Busy time of objects from 100 kB on, below 1 MB.
        Time1m = "time_1mb",
        /// Busy time of objects from 1 MB on, below 3 MB.
        Time3m = "time_3mb",
        /// The share of packets that were sent again, of all packets.
        Resent = "resent",
        /// The RTT: of each connection its median, or the smoothed one at its end.
        Rtt = "rtt",
        /// The share of objects of 3 MB and more: a controller should not change it.
        Large = "large",
        /// The share of objects that ended with their connection, before all of them had come.
        Unfinished = "unfinished",
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
            Measure::Resent | Measure::Large | Measure::Unfinished => Kind::Share,
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
            Measure::Rtt => "RTT",
            Measure::Large => "share over 3 MB",
            Measure::Unfinished => "objects cut short",
        }
    }

    /// The sizes of what it is of, in bytes.
    fn sizes(self) -> std::ops::Range<u64> {
        match self {
            Measure::Throughput => LARGE..u64::MAX,
            Measure::Time10k => 1..10_000,
            Measure::Time100k => 10_000..100_000,
            Measure::Time1m => 100_000..1_000_000,
            Measure::Time3m => 1_000_000..LARGE,
            Measure::Resent | Measure::Rtt | Measure::Large | Measure::Unfinished => 1..u64::MAX,
        }
    }

    /// Whether it looks at such an observation at all.
    fn is_of(self, scope: Scope) -> bool {
        let is_of_packets = matches!(self, Measure::Resent | Measure::Rtt);
        match scope {
            // Whether its last object came whole is not known.
            Scope::Connection => self != Measure::Unfinished,
            Scope::Carrier => is_of_packets,
            Scope::Object => !is_of_packets,
            Scope::Part => matches!(
                self,
                Measure::Throughput | Measure::Large | Measure::Unfinished
            ),
        }
    }

    /// What the observation contributes to it; nothing if it tells nothing about it.
    pub fn sample(self, of: &Observation) -> Option<Sample> {
        if !self.is_of(of.scope) || !self.sizes().contains(&of.acknowledged) {
            return None;
        }
        let least = match of.scope {
            Scope::Connection | Scope::Carrier => LEAST_BUSY,
            Scope::Object | Scope::Part => LEAST_BUSY_OF_OBJECT,
        };
        let busy = of.busy.as_secs_f64().max(least);
        let logarithm = |value: f64| Sample {
            value: value.ln(),
            weight: 1.0,
        };
        let counted = |is_one: bool| Sample {
            value: f64::from(u8::from(is_one)),
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
            Measure::Large => Some(counted(of.acknowledged >= LARGE)),
            Measure::Unfinished => Some(counted(of.scope == Scope::Part)),
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
            // One of the sizes, whether it is large, and whether it came whole.
            assert_eq!(measures(Scope::Object, bytes).len(), 3, "{bytes}");
            assert_eq!(measures(Scope::Connection, bytes).len(), 4, "{bytes}");
        }
    }

    #[test]
    fn a_connection_and_its_objects_share_the_measures() {
        assert_eq!(
            measures(Scope::Carrier, LARGE),
            [Measure::Resent, Measure::Rtt]
        );
        let sizes = [Measure::Throughput, Measure::Large, Measure::Unfinished];
        assert_eq!(measures(Scope::Object, LARGE), sizes);
        assert_eq!(measures(Scope::Part, LARGE), sizes);
        assert_eq!(measures(Scope::Part, LARGE - 1), sizes[1..]);
    }

    #[test]
    fn what_was_cut_short_is_a_share_of_objects_and_worse() {
        let value = |scope| {
            let sample = Measure::Unfinished.sample(&observation(scope, 8000));
            sample.map(|sample| (sample.value, sample.weight))
        };
        assert_eq!(value(Scope::Object), Some((0.0, 1.0)));
        assert_eq!(value(Scope::Part), Some((1.0, 1.0)));
        assert_eq!(
            (value(Scope::Connection), value(Scope::Carrier)),
            (None, None)
        );
        assert_eq!(Measure::Unfinished.kind(), Kind::Share);
        assert_eq!(Measure::Unfinished.is_more_better(), Some(false));
    }

    #[test]
    fn an_object_is_told_apart_below_a_millisecond_and_a_connection_is_not() {
        let value = |scope, micros| {
            let of = Observation {
                busy: Duration::from_micros(micros),
                ..observation(scope, 8000)
            };
            Measure::Time10k.sample(&of).unwrap().value
        };
        assert!(value(Scope::Object, 300) < value(Scope::Object, 600));
        assert_eq!(value(Scope::Connection, 300), value(Scope::Connection, 600));
        assert!(value(Scope::Object, 0).is_finite());
    }

    fn observation(scope: Scope, bytes: u64) -> Observation {
        Observation {
            scope,
            unit: 0,
            arm: 0,
            acknowledged: bytes,
            busy: Duration::from_secs(2),
            packets: 9,
            resent: 1,
            rtt: Some(Duration::from_millis(9)),
            groups: Vec::new(),
        }
    }

    fn measures(scope: Scope, bytes: u64) -> Vec<Measure> {
        let of = observation(scope, bytes);
        let all = Measure::ALL.iter();
        let told = all.filter(|measure| measure.sample(&of).is_some());
        told.copied().collect()
    }
}
