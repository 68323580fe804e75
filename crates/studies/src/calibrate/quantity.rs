//! What is compared between two engines.

use std::fmt;
use std::str::FromStr;

use super::observation::Observation;
use record::Measure;
use record::measure::Subject;
use report::{bits_per_sec, percent, span};

/// A number of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Quantity {
    /// The goodput of all flows together, over the same time.
    Goodput,
    /// The median of the smoothed RTT over time.
    Rtt,
    /// The goodput of the first group of flows over the time of all, where there are others beside it.
    FirstGroup,
    /// Its 95th percentile.
    RttP95,
    /// The bottleneck's queue, mean over time.
    QueueMean,
    /// The bottleneck's queue, 95th percentile over time.
    QueueP95,
    /// Packets dropped at the bottleneck.
    Drops,
    /// What was sent again, as a share of what was sent.
    Resent,
    /// Timeouts.
    Timeouts,
    /// How long the first flow's Startup took.
    StartupTime,
    /// The bandwidth that it had found then.
    StartupRate,
    /// The median time of a transfer.
    TransferP50,
    /// The 95th percentile of the time of a transfer.
    TransferP95,
    /// Packets that a real-time engine's machine delivered late.
    Late,
}

/// What a quantity is measured in, and what a difference of it is a share of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Bits per second; differences are relative to the first engine's.
    Rate,
    /// Milliseconds; differences are relative to RTprop.
    Delay,
    /// Milliseconds; differences are relative to the first engine's.
    Time,
    /// A share; differences are in percentage points.
    Share,
    /// A number of things; differences are numbers.
    Count,
}

impl Quantity {
    /// Every quantity. The first three are those with tolerances.
    pub const ALL: [Quantity; 14] = [
        Quantity::Goodput,
        Quantity::Rtt,
        Quantity::FirstGroup,
        Quantity::RttP95,
        Quantity::QueueMean,
        Quantity::QueueP95,
        Quantity::Drops,
        Quantity::Resent,
        Quantity::Timeouts,
        Quantity::StartupTime,
        Quantity::StartupRate,
        Quantity::TransferP50,
        Quantity::TransferP95,
        Quantity::Late,
    ];

    /// Name, title and scale.
    const fn told(self) -> (&'static str, &'static str, Scale) {
        match self {
            Quantity::Goodput => ("goodput_bps", "goodput", Scale::Rate),
            Quantity::Rtt => ("srtt_p50_ms", "RTT p50", Scale::Delay),
            Quantity::RttP95 => ("srtt_p95_ms", "RTT p95", Scale::Delay),
            Quantity::FirstGroup => ("first_group_bps", "first group's goodput", Scale::Rate),
            Quantity::QueueMean => ("queue_mean_ms", "queue mean", Scale::Delay),
            Quantity::QueueP95 => ("queue_p95_ms", "queue p95", Scale::Delay),
            Quantity::Drops => ("drops", "drops", Scale::Count),
            Quantity::Resent => ("resent_share", "resent", Scale::Share),
            Quantity::Timeouts => ("timeouts", "timeouts", Scale::Count),
            Quantity::StartupTime => ("startup_exit_ms", "Startup took", Scale::Time),
            Quantity::StartupRate => ("startup_exit_bps", "Startup found", Scale::Rate),
            Quantity::TransferP50 => ("transfer_p50_ms", "transfer p50", Scale::Time),
            Quantity::TransferP95 => ("transfer_p95_ms", "transfer p95", Scale::Time),
            Quantity::Late => ("late_packets", "packets late by over 1 ms", Scale::Count),
        }
    }

    /// Its name: in a set's explanations, in JSON, in Parquet.
    pub const fn name(self) -> &'static str {
        self.told().0
    }

    /// What it is, for people.
    pub const fn title(self) -> &'static str {
        self.told().1
    }

    /// What it is measured in.
    pub const fn scale(self) -> Scale {
        self.told().2
    }

    /// The quantity in a run; nothing if the run does not tell. What is not of an [`Observation`] alone is the
    /// [measure](record::Measure) of all flows whose column has its name.
    pub fn of(self, run: &Observation) -> Option<f64> {
        match self {
            Quantity::Rtt => run.srtt_p50_ms,
            Quantity::RttP95 => run.srtt_p95_ms,
            Quantity::StartupTime => run.startup_exit_s.map(|seconds| seconds * 1e3),
            Quantity::TransferP50 => run.transfers.map(|times| times.p50_ms),
            Quantity::TransferP95 => run.transfers.map(|times| times.p95_ms),
            _ => {
                let measure =
                    Measure::of_column(self.name()).expect("every other one is a measure");
                measure.of(&Subject::of_summary(&run.summary))
            }
        }
    }

    /// The value for people.
    pub fn text(self, value: f64) -> String {
        match self.scale() {
            Scale::Rate => bits_per_sec(value),
            Scale::Delay | Scale::Time => span(value),
            Scale::Share => percent(value),
            Scale::Count => format!("{value:.0}"),
        }
    }

    /// A difference for people: `+1.2 %`, of RTprop if it is of a delay; `−3 pp`.
    pub fn difference_text(self, difference: f64) -> String {
        let sign = if difference < 0.0 { '−' } else { '+' };
        let size = difference.abs();
        match self.scale() {
            _ if size.is_infinite() => format!("{sign}∞"),
            Scale::Rate | Scale::Delay | Scale::Time => format!("{sign}{:.1} %", size * 100.0),
            Scale::Share => format!("{sign}{:.1} pp", size * 100.0),
            Scale::Count => format!("{sign}{size:.0}"),
        }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// No quantity with a tolerance has this name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("unknown; what has a tolerance: {}", Quantity::judged().map(Quantity::name).join(", "))]
pub struct UnknownQuantity;

impl Quantity {
    /// The quantities with a tolerance.
    pub const fn judged() -> [Quantity; 3] {
        [Quantity::Goodput, Quantity::Rtt, Quantity::FirstGroup]
    }
}

/// A quantity with a tolerance, by its name.
impl FromStr for Quantity {
    type Err = UnknownQuantity;
    fn from_str(name: &str) -> Result<Quantity, UnknownQuantity> {
        let found = Quantity::judged()
            .into_iter()
            .find(|one| one.name() == name);
        found.ok_or(UnknownQuantity)
    }
}
