//! Throughput and RTT over the calendar time of a study, in bounded memory. Bins describe what happened. They have no
//! intervals, and nothing is tested.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::histogram::Histogram;
use crate::mean::Mean;
use crate::measure::{Kind, Measure};
use crate::observation::Observation;

/// The maximum number of bins.
pub const MAX_BINS: usize = 48;

/// The widths of bins in seconds. Each is a multiple of the one before, so bins can be merged. Then widths double.
const WIDTHS: [u64; 13] = [
    1, 5, 15, 30, 60, 300, 900, 1800, 3600, 7200, 14_400, 43_200, 86_400,
];

/// The latest time, the end of the year 9999. A time beyond it comes from damaged data.
pub(crate) const MAX_UNIX_S: u64 = 253_402_300_799;

/// The percentile of slow objects.
const SLOW_SHARE: f64 = 0.05;

/// The observations of an arm in a bin.
#[derive(Debug, Clone, Default)]
struct Part {
    throughput: Mean,
    logs: Histogram,
    rtt: Mean,
}

impl Part {
    fn merge(&mut self, other: Part) {
        self.throughput.merge(other.throughput);
        self.logs.merge(other.logs);
        self.rtt.merge(other.rtt);
    }
}

/// A study over its calendar time.
///
/// The width of the bins grows such that there are never more than [`MAX_BINS`]. Times without observations take no
/// bin, so a clock that was wrong for a moment does no harm.
#[derive(Debug, Clone)]
pub struct Timeline {
    arms: usize,
    width_s: u64,
    bins: BTreeMap<u64, Vec<Part>>,
}

/// The bins of a study.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bins {
    /// The width of each bin.
    pub width_s: u64,
    /// The bins that have observations, in order of time.
    pub bins: Vec<Bin>,
}

/// A bin.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bin {
    /// Its beginning, in seconds since 1970: a multiple of the width.
    pub from_unix_s: u64,
    /// The values of each arm.
    pub arms: Vec<ArmInBin>,
}

/// The values of an arm in a bin.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ArmInBin {
    /// The geometric mean of the throughput of objects over 3 MB that began in the bin, in bit/s.
    pub throughput_bps: Option<f64>,
    /// The 5th percentile of the same, accurate to half a per cent. `None` with fewer than 100 objects.
    pub throughput_p5_bps: Option<f64>,
    /// The number of these objects.
    pub large: u64,
    /// The geometric mean of the RTTs of connections that began in the bin, in milliseconds.
    pub rtt_ms: Option<f64>,
    /// The number of these RTTs.
    pub rtts: u64,
}

impl Timeline {
    /// An empty timeline for this many arms.
    pub fn new(arms: usize) -> Timeline {
        Timeline {
            arms,
            width_s: WIDTHS[0],
            bins: BTreeMap::new(),
        }
    }

    /// Adds an observation that began at this time, in seconds since 1970.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it saturates"
    )]
    pub fn add(&mut self, of: &Observation, unix_s: f64) {
        let (large, rtt) = (Measure::Throughput.sample(of), Measure::Rtt.sample(of));
        if of.arm >= self.arms || large.is_none() && rtt.is_none() {
            return;
        }
        let unix_s = (unix_s as u64).min(MAX_UNIX_S);
        let bin = self.bins.entry(unix_s / self.width_s);
        let part = &mut bin.or_insert_with(|| vec![Part::default(); self.arms])[of.arm];
        if let Some(sample) = large {
            part.throughput.add(sample);
            part.logs.add(sample.value);
        }
        if let Some(sample) = rtt {
            part.rtt.add(sample);
        }
        self.widen(MAX_BINS);
    }

    /// Widens the bins until there are at most this many.
    fn widen(&mut self, most: usize) {
        while self.bins.len() > most.max(1) {
            let before = self.width_s;
            let wider = WIDTHS.into_iter().find(|width| *width > before);
            self.width_s = wider.unwrap_or(before.saturating_mul(2));
            for (place, parts) in std::mem::take(&mut self.bins) {
                let bin = self.bins.entry(place * before / self.width_s);
                let bin = bin.or_insert_with(|| vec![Part::default(); self.arms]);
                for (part, other) in bin.iter_mut().zip(parts) {
                    part.merge(other);
                }
            }
        }
    }

    /// The bins, merged to at most `most`.
    pub fn bins(&self, most: usize) -> Bins {
        let mut wide = self.clone();
        wide.widen(most);
        let arm = |part: &Part| ArmInBin {
            throughput_bps: part.throughput.value(Kind::Logs),
            throughput_p5_bps: part.logs.percentile(SLOW_SHARE).map(f64::exp),
            large: part.throughput.count,
            rtt_ms: part.rtt.value(Kind::Logs).map(|rtt| rtt * 1000.0),
            rtts: part.rtt.count,
        };
        let bins = wide.bins.iter().map(|(place, parts)| Bin {
            from_unix_s: place * wide.width_s,
            arms: parts.iter().map(arm).collect(),
        });
        Bins {
            width_s: wide.width_s,
            bins: bins.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use units::Duration;

    use super::*;
    use crate::observation::Scope;

    fn of(arm: usize, mbits: u64) -> Observation {
        Observation {
            scope: Scope::Connection,
            unit: 0,
            arm,
            acknowledged: mbits * 1_000_000,
            busy: Duration::from_secs(8),
            packets: 1,
            resent: 0,
            rtt: Some(Duration::from_millis(mbits)),
            groups: Vec::new(),
        }
    }

    #[test]
    fn a_week_is_bins_of_four_hours_with_the_values_of_their_time() {
        let mut timeline = Timeline::new(2);
        // 2026-01-01, and a week in steps of a minute. From the fourth day on, the second arm is slower.
        let begin = 1_767_225_600;
        for minute in 0..7 * 24 * 60 {
            let slow = if minute < 3 * 24 * 60 { 40 } else { 20 };
            for (arm, mbits) in [(0, 40), (1, slow)] {
                timeline.add(&of(arm, mbits), f64::from(begin + minute * 60));
            }
        }
        let all = timeline.bins(MAX_BINS);
        assert_eq!((all.width_s, all.bins.len()), (14_400, 42));
        for (place, bin) in all.bins.iter().enumerate() {
            assert_eq!(bin.from_unix_s, begin as u64 + 14_400 * place as u64);
            let slow = if place < 18 { 40.0 } else { 20.0 };
            for (arm, mbits) in bin.arms.iter().zip([40.0, slow]) {
                assert!((arm.throughput_bps.unwrap() / (mbits * 1e6) - 1.0).abs() < 1e-9);
                assert!((arm.throughput_p5_bps.unwrap() / (mbits * 1e6) - 1.0).abs() < 0.01);
                assert!((arm.rtt_ms.unwrap() / mbits - 1.0).abs() < 1e-9);
                assert_eq!((arm.large, arm.rtts), (240, 240));
            }
        }
        let days = timeline.bins(12);
        assert_eq!((days.width_s, days.bins.len()), (86_400, 7));
        // The geometric mean, and not that of the means.
        assert!((days.bins[3].arms[1].throughput_bps.unwrap() / 20e6 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_wrong_clock_takes_a_bin_and_not_the_whole_line() {
        let mut timeline = Timeline::new(1);
        for unix_s in [f64::NAN, -7.0, 3.0, f64::INFINITY] {
            timeline.add(&of(0, 20), unix_s);
        }
        for minute in 0..40 {
            timeline.add(&of(0, 20), 1.7e9 + 60.0 * f64::from(minute));
        }
        let all = timeline.bins(MAX_BINS);
        assert_eq!(all.width_s, 1);
        let counts = all.bins.iter().map(|bin| bin.arms[0].large);
        assert_eq!(counts.sum::<u64>(), 44);
        // A single bin is the end of widening.
        assert_eq!(timeline.bins(0).bins.len(), 1);
        assert!(
            all.bins
                .iter()
                .all(|bin| bin.arms[0].throughput_p5_bps.is_none())
        );
    }

    #[test]
    fn what_has_neither_value_takes_no_bin() {
        let mut timeline = Timeline::new(1);
        let small = Observation {
            scope: Scope::Object,
            ..of(0, 1)
        };
        timeline.add(&small, 0.0);
        timeline.add(&of(1, 20), 0.0);
        assert!(timeline.bins(MAX_BINS).bins.is_empty());
    }
}
