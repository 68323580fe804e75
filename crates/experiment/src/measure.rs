//! The measures that connections are compared in.

use crate::observation::{Observation, Scope};

/// The minimum size, in bytes, of an object that shows the throughput of its path, as in a large CDN's report.
pub const LARGE_BYTES: u64 = 3_000_000;

/// The minimum busy time of a connection, in seconds. The kernel counts busy time in ticks of up to 10 ms.
const MIN_BUSY_S: f64 = 0.001;

/// The minimum busy time of an object, in seconds: a microsecond.
const MIN_OBJECT_BUSY_S: f64 = 0.000_001;

units::named! {
    /// The measures that connections, or the objects that they carry, are compared in.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Measure, "measure" {
        /// Payload over busy time, for objects of 3 MB and more.
        Throughput = "throughput",
        /// Busy time of objects below 10 kB.
        Time10k = "time_10kb",
        /// Busy time of objects from 10 kB on, below 100 kB.
        Time100k = "time_100kb",
        /// Busy time of objects from 100 kB on, below 1 MB.
        Time1m = "time_1mb",
        /// Busy time of objects from 1 MB on, below 3 MB.
        Time3m = "time_3mb",
        /// The share of retransmitted packets in all packets.
        Resent = "resent",
        /// The RTT: the median of each connection, or the smoothed RTT at its end.
        Rtt = "rtt",
        /// The share of objects of 3 MB and more. A controller should not change it.
        Large = "large",
        /// The share of objects that were cut short by the end of their connection.
        Unfinished = "unfinished",
    }
}

units::as_text!(Measure);

/// The derivation of an arm's value from its samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The mean of logarithms. Arms differ by the ratio of geometric means, so a few huge values do not decide.
    Logs,
    /// A sum over a sum. Arms differ by the ratio of shares.
    Share,
}

/// The sample of one observation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// The value; for shares, the numerator.
    pub value: f64,
    /// The weight; for shares, the denominator.
    pub weight: f64,
}

impl Measure {
    /// The derivation of an arm's value from its samples.
    pub fn kind(self) -> Kind {
        match self {
            Measure::Resent | Measure::Large | Measure::Unfinished => Kind::Share,
            _ => Kind::Logs,
        }
    }

    /// True if more is better. `None` if the measure should not change.
    pub fn is_more_better(self) -> Option<bool> {
        match self {
            Measure::Throughput => Some(true),
            Measure::Large => None,
            _ => Some(false),
        }
    }

    /// The measure in words.
    pub fn title(self) -> &'static str {
        match self {
            Measure::Throughput => "throughput over 3 MB",
            Measure::Time10k => "time below 10 kB",
            Measure::Time100k => "time from 10 to 100 kB",
            Measure::Time1m => "time from 100 kB to 1 MB",
            Measure::Time3m => "time from 1 to 3 MB",
            Measure::Resent => "retransmitted packets",
            Measure::Rtt => "RTT",
            Measure::Large => "share over 3 MB",
            Measure::Unfinished => "objects cut short",
        }
    }

    /// The sizes of the objects that it covers, in bytes.
    fn sizes(self) -> std::ops::Range<u64> {
        match self {
            Measure::Throughput => LARGE_BYTES..u64::MAX,
            Measure::Time10k => 1..10_000,
            Measure::Time100k => 10_000..100_000,
            Measure::Time1m => 100_000..1_000_000,
            Measure::Time3m => 1_000_000..LARGE_BYTES,
            Measure::Resent | Measure::Rtt | Measure::Large | Measure::Unfinished => 1..u64::MAX,
        }
    }

    /// True if it covers such an observation.
    fn is_of(self, scope: Scope) -> bool {
        let is_of_packets = matches!(self, Measure::Resent | Measure::Rtt);
        match scope {
            // Whether the last object was complete is unknown.
            Scope::Connection => self != Measure::Unfinished,
            Scope::Carrier => is_of_packets,
            Scope::Object => !is_of_packets,
            Scope::Part => matches!(
                self,
                Measure::Throughput | Measure::Large | Measure::Unfinished
            ),
        }
    }

    /// The sample of an observation. `None` if the observation has none.
    pub fn sample(self, of: &Observation) -> Option<Sample> {
        if !self.is_of(of.scope) || !self.sizes().contains(&of.acknowledged) {
            return None;
        }
        let least = match of.scope {
            Scope::Connection | Scope::Carrier => MIN_BUSY_S,
            Scope::Object | Scope::Part => MIN_OBJECT_BUSY_S,
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
            Measure::Large => Some(counted(of.acknowledged >= LARGE_BYTES)),
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
            1,
            9_999,
            10_000,
            99_999,
            100_000,
            999_999,
            1_000_000,
            2_999_999,
            LARGE_BYTES,
        ] {
            // One for its size, one for whether it is large, and one for whether it is complete.
            assert_eq!(measures(Scope::Object, bytes).len(), 3, "{bytes}");
            assert_eq!(measures(Scope::Connection, bytes).len(), 4, "{bytes}");
        }
    }

    #[test]
    fn a_connection_and_its_objects_share_the_measures() {
        assert_eq!(
            measures(Scope::Carrier, LARGE_BYTES),
            [Measure::Resent, Measure::Rtt]
        );
        let sizes = [Measure::Throughput, Measure::Large, Measure::Unfinished];
        assert_eq!(measures(Scope::Object, LARGE_BYTES), sizes);
        assert_eq!(measures(Scope::Part, LARGE_BYTES), sizes);
        assert_eq!(measures(Scope::Part, LARGE_BYTES - 1), sizes[1..]);
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
