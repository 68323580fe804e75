//! What is compared between two engines.

use std::fmt;
use std::str::FromStr;

use serde_json::Value;

use super::observation::Observation;
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

    /// Its name: in a set's explanations, in JSON, in Parquet.
    pub const fn name(self) -> &'static str {
        match self {
            Quantity::Goodput => "goodput_bps",
            Quantity::Rtt => "srtt_p50_ms",
            Quantity::RttP95 => "srtt_p95_ms",
            Quantity::FirstGroup => "first_group_bps",
            Quantity::QueueMean => "queue_mean_ms",
            Quantity::QueueP95 => "queue_p95_ms",
            Quantity::Drops => "drops",
            Quantity::Resent => "resent_share",
            Quantity::Timeouts => "timeouts",
            Quantity::StartupTime => "startup_exit_ms",
            Quantity::StartupRate => "startup_exit_bps",
            Quantity::TransferP50 => "transfer_p50_ms",
            Quantity::TransferP95 => "transfer_p95_ms",
            Quantity::Late => "late_packets",
        }
    }

    /// What it is, for people.
    pub const fn title(self) -> &'static str {
        match self {
            Quantity::Goodput => "goodput",
            Quantity::Rtt => "RTT p50",
            Quantity::RttP95 => "RTT p95",
            Quantity::FirstGroup => "first group's goodput",
            Quantity::QueueMean => "queue mean",
            Quantity::QueueP95 => "queue p95",
            Quantity::Drops => "drops",
            Quantity::Resent => "resent",
            Quantity::Timeouts => "timeouts",
            Quantity::StartupTime => "Startup took",
            Quantity::StartupRate => "Startup found",
            Quantity::TransferP50 => "transfer p50",
            Quantity::TransferP95 => "transfer p95",
            Quantity::Late => "packets late by over 1 ms",
        }
    }

    /// What it is measured in.
    pub const fn scale(self) -> Scale {
        match self {
            Quantity::Goodput | Quantity::FirstGroup | Quantity::StartupRate => Scale::Rate,
            Quantity::Rtt | Quantity::RttP95 | Quantity::QueueMean | Quantity::QueueP95 => {
                Scale::Delay
            }
            Quantity::StartupTime | Quantity::TransferP50 | Quantity::TransferP95 => Scale::Time,
            Quantity::Resent => Scale::Share,
            Quantity::Drops | Quantity::Timeouts | Quantity::Late => Scale::Count,
        }
    }

    /// The quantity in a run; nothing if the run does not tell.
    pub fn of(self, run: &Observation) -> Option<f64> {
        let summary = &run.summary;
        let flows = || {
            summary
                .get("flows")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
        };
        let sum = |key: &str| {
            flows()
                .map(|flow| number(flow, key))
                .reduce(|sum, next| Some(sum? + next?))
                .flatten()
        };
        match self {
            Quantity::Goodput => number(summary, "/together/goodput_bps"),
            Quantity::Rtt => run.srtt_p50_ms,
            Quantity::RttP95 => run.srtt_p95_ms,
            Quantity::FirstGroup => {
                let of_first = |flow: &&Value| number(flow, "/group") == Some(0.0);
                let is_alone = flows().all(|flow| of_first(&flow));
                let first = flows().filter(of_first);
                let delivered = first.map(|flow| number(flow, "/delivered_bytes"));
                let share = ratio(
                    delivered.sum::<Option<f64>>()?,
                    sum("/delivered_bytes").filter(|_| !is_alone)?,
                )?;
                Some(share * number(summary, "/together/goodput_bps")?)
            }
            Quantity::QueueMean => number(summary, "/path/queue_ms/mean"),
            Quantity::QueueP95 => number(summary, "/path/queue_ms/p95"),
            Quantity::Drops => number(summary, "/path/drops"),
            Quantity::Resent => ratio(sum("/retransmitted_bytes")?, sum("/sent_bytes")?),
            Quantity::Timeouts => sum("/timeouts"),
            Quantity::StartupTime => run.startup_exit_s.map(|seconds| seconds * 1e3),
            Quantity::StartupRate => number(summary, "/flows/0/startup_exit_bps"),
            Quantity::TransferP50 => run.transfers.map(|times| times.p50_ms),
            Quantity::TransferP95 => run.transfers.map(|times| times.p95_ms),
            Quantity::Late => number(summary, "/path/late_packets"),
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
        let sign = match difference < 0.0 {
            true => '−',
            false => '+',
        };
        let size = difference.abs();
        match self.scale() {
            _ if size.is_infinite() => format!("{sign}∞"),
            Scale::Rate | Scale::Delay | Scale::Time => format!("{sign}{:.1} %", size * 100.0),
            Scale::Share => format!("{sign}{:.1} pp", size * 100.0),
            Scale::Count => format!("{sign}{size:.0}"),
        }
    }
}

fn number(value: &Value, pointer: &str) -> Option<f64> {
    value.pointer(pointer)?.as_f64()
}

fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// No quantity with a tolerance has this name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownQuantity;

impl fmt::Display for UnknownQuantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Quantity::judged().map(Quantity::name);
        write!(f, "unknown; what has a tolerance: {}", names.join(", "))
    }
}

impl std::error::Error for UnknownQuantity {}

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
