//! Effects of an arm against another one, and which of them are worth a rule.

use serde::Serialize;

use crate::effect::{DOUBT, Effect, Interval};
use crate::heat::HeatRow;
use crate::measure::Measure;

/// The minimum change that is worth a rule.
pub(crate) const MIN_CHANGE: f64 = 0.03;

/// True if an improvement is worth a rule and statistically significant.
pub(crate) fn is_clear(change: f64, p_corrected: f64) -> bool {
    p_corrected < DOUBT && change >= MIN_CHANGE
}

/// The effects of an arm in groups, against another arm.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rival {
    /// The arm's controller.
    pub controller: String,
    /// The other arm's controller.
    pub over: String,
    /// The throughput over 3 MB in each group with enough data, by ascending p-value.
    pub groups: Vec<GroupRow>,
    /// The times of objects below 3 MB in each group with enough data, by ascending p-value.
    pub small: Vec<GroupRow>,
    /// The retransmitted packets in each group with enough data, by ascending p-value.
    pub resent: Vec<GroupRow>,
}

/// The effects of an arm against the first one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The two arms, and the effects in groups.
    #[serde(flatten)]
    pub rival: Rival,
    /// The effect on each measure.
    pub measures: Vec<Row>,
    /// The 5th percentile of throughput over 3 MB.
    pub throughput_p5: Option<Percentile>,
    /// Completion times by size, from fast to slow.
    pub heat: Vec<HeatRow>,
}

/// The effect of an arm on a measure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The measure.
    pub measure: Measure,
    /// The effect, with the arms compared within strata. `None` with too few data.
    pub effect: Option<Effect>,
    /// The number of strata.
    pub strata: usize,
    /// The effect without strata.
    pub unadjusted: Option<Effect>,
    /// The p-value of `effect`, corrected for the number of measures (Holm) and arms. Anytime-valid unless the study is
    /// over.
    pub p_corrected: Option<f64>,
}

/// The change of a percentile.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Percentile {
    /// The relative change against the first arm.
    pub change: f64,
    /// The 95 % interval for a single look.
    pub once: Interval,
}

/// The effect of an arm in a group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupRow {
    /// The group's name.
    pub group: String,
    /// The measure.
    pub measure: Measure,
    /// The value with the other arm and with this one: a geometric mean in bit/s or seconds, or a share.
    pub values: [f64; 2],
    /// The effect.
    pub effect: Effect,
    /// The p-value, corrected for the number of rows (Holm) and arms. It is anytime-valid unless the study is over.
    pub p_corrected: f64,
    /// The interval if only groups that are worth a rule are selected, from all arms: on average, 5 % of the selected
    /// intervals miss the truth (Benjamini and Yekutieli, 2005).
    pub picked: Interval,
}
