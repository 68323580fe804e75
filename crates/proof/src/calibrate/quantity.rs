//! The quantities that are compared between two engines.

use std::str::FromStr;

use units::UnknownName;

use super::observation::Observation;
use record::Measure;
use record::measure::Subject;
use tables::numbers::{bits_per_sec, percent, span};

/// A number that a run yields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Quantity {
    /// The name in explanations, JSON and Parquet.
    pub name: &'static str,
    /// The title in tables.
    pub title: &'static str,
    /// The unit, and the reference of differences.
    pub scale: Scale,
}

/// The unit of a quantity, and the reference of its differences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scale {
    /// Bits per second; differences are relative to the first engine's.
    Rate,
    /// Milliseconds; differences are relative to RTprop.
    Delay,
    /// Milliseconds; differences are relative to the first engine's.
    Time,
    /// A share; differences are in percentage points.
    Share,
    /// A count; differences are counts.
    Count,
}

const fn quantity(name: &'static str, title: &'static str, scale: Scale) -> Quantity {
    Quantity { name, title, scale }
}

impl Quantity {
    /// The goodput of all flows together, over the same time.
    pub const GOODPUT: Quantity = quantity("goodput_bps", "goodput", Scale::Rate);
    /// The median of the smoothed RTT over time.
    pub const RTT: Quantity = quantity("srtt_p50_ms", "RTT p50", Scale::Delay);
    /// The goodput of the first group of flows, if there are several groups.
    pub const FIRST_GROUP: Quantity =
        quantity("first_group_bps", "first group's goodput", Scale::Rate);
    /// The 95th percentile of the smoothed RTT over time.
    pub const RTT_P95: Quantity = quantity("srtt_p95_ms", "RTT p95", Scale::Delay);
    /// The bottleneck's queue, mean over time.
    pub const QUEUE_MEAN: Quantity = quantity("queue_mean_ms", "queue mean", Scale::Delay);
    /// Retransmitted bytes as a share of sent bytes.
    pub const RESENT: Quantity = quantity("resent_share", "resent", Scale::Share);
    /// Timeouts.
    pub const TIMEOUTS: Quantity = quantity("timeouts", "timeouts", Scale::Count);
    /// The duration of the first flow's Startup.
    pub const STARTUP_TIME: Quantity = quantity("startup_exit_ms", "Startup took", Scale::Time);
    /// The median time of a transfer.
    pub const TRANSFER_P50: Quantity = quantity("transfer_p50_ms", "transfer p50", Scale::Time);
    /// The 95th percentile of the time of a transfer.
    pub const TRANSFER_P95: Quantity = quantity("transfer_p95_ms", "transfer p95", Scale::Time);

    /// The quantities with a tolerance.
    pub const JUDGED: [Quantity; 3] = [Quantity::GOODPUT, Quantity::RTT, Quantity::FIRST_GROUP];

    /// Every quantity. The first three are those with tolerances.
    pub const ALL: [Quantity; 14] = [
        Quantity::GOODPUT,
        Quantity::RTT,
        Quantity::FIRST_GROUP,
        Quantity::RTT_P95,
        Quantity::QUEUE_MEAN,
        quantity("queue_p95_ms", "queue p95", Scale::Delay),
        quantity("drops", "drops", Scale::Count),
        Quantity::RESENT,
        Quantity::TIMEOUTS,
        Quantity::STARTUP_TIME,
        quantity("startup_exit_bps", "Startup found", Scale::Rate),
        Quantity::TRANSFER_P50,
        Quantity::TRANSFER_P95,
        quantity("late_packets", "packets late by over 1 ms", Scale::Count),
    ];

    /// The quantity in a run, if the run has it. Quantities that an [`Observation`] does not add are the
    /// [measure](record::Measure) over all flows of the same column name.
    pub fn of(self, run: &Observation) -> Option<f64> {
        match self {
            Quantity::RTT => run.srtt_p50_ms,
            Quantity::RTT_P95 => run.srtt_p95_ms,
            Quantity::STARTUP_TIME => run.startup_exit_s.map(|seconds| seconds * 1e3),
            Quantity::TRANSFER_P50 => run.transfers.map(|times| times.p50_ms),
            Quantity::TRANSFER_P95 => run.transfers.map(|times| times.p95_ms),
            _ => {
                let measure = Measure::of_column(self.name).expect("every other one is a measure");
                measure.of(&Subject::of_summary(&run.summary))
            }
        }
    }

    /// The value as text with its unit.
    pub fn text(self, value: f64) -> String {
        match self.scale {
            Scale::Rate => bits_per_sec(value),
            Scale::Delay | Scale::Time => span(value),
            Scale::Share => percent(value),
            Scale::Count => format!("{value:.0}"),
        }
    }

    /// The difference as text: `+1.2 %` (of RTprop for a delay), or `−3 pp`.
    pub fn difference_text(self, difference: f64) -> String {
        let sign = if difference < 0.0 { '−' } else { '+' };
        let size = difference.abs();
        match self.scale {
            _ if size.is_infinite() => format!("{sign}∞"),
            Scale::Rate | Scale::Delay | Scale::Time => format!("{sign}{:.1} %", size * 100.0),
            Scale::Share => format!("{sign}{:.1} pp", size * 100.0),
            Scale::Count => format!("{sign}{size:.0}"),
        }
    }
}

/// Parses the name of a quantity with a tolerance.
impl FromStr for Quantity {
    type Err = UnknownName;
    fn from_str(name: &str) -> Result<Quantity, UnknownName> {
        let found = Quantity::JUDGED
            .into_iter()
            .find(|one| one.name.eq_ignore_ascii_case(name));
        found.ok_or_else(|| {
            let known = Quantity::JUDGED.map(|one| one.name);
            UnknownName::new("quantity with a tolerance", name, known)
        })
    }
}
