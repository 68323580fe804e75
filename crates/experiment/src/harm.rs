//! The harm that an arm does in a group of clients.

use crate::comparison::{GroupRow, Rival};
use crate::effect::DOUBT;
use crate::measure::Measure;
use crate::verdict::{change, range};

/// The other effects in a group.
pub(crate) struct Harm {
    /// The greatest significant harm, to be compared with the gain in throughput over 3 MB: the increase of the time of
    /// smaller objects, or of the share of retransmitted packets, in shares of all packets.
    ///
    /// The scales agree. Twice the time compares with twice the throughput, which is half the time. One per cent more
    /// of the packets is one per cent of the path that others cannot use, and may not cost more than the arm gains.
    pub(crate) most: f64,
    /// All effects, in words.
    pub(crate) told: Vec<String>,
}

impl Harm {
    pub(crate) fn of(rival: &Rival, group: &str, is_over: bool) -> Harm {
        let rows = rival.small.iter().chain(&rival.resent);
        let mut rows: Vec<&GroupRow> = rows.filter(|row| row.group == group).collect();
        rows.sort_by_key(|row| row.measure);
        let is_sure = |row: &GroupRow| row.p_corrected < DOUBT && row.effect.change > 0.0;
        let harm = rows
            .iter()
            .filter(|row| is_sure(row))
            .map(|row| match row.measure {
                Measure::Resent => row.values[1] - row.values[0],
                _ => row.effect.change,
            });
        let told = rows.iter().map(|row| {
            let worse = if is_sure(row) {
                ": significantly worse"
            } else {
                ""
            };
            let title = row.measure.title();
            match row.measure {
                Measure::Resent => {
                    let [over, this] = row.values.map(|share| format!("{:.1} %", share * 100.0));
                    format!("{title} {this} for {over}{worse}")
                }
                _ => format!(
                    "{title} {} ({}{worse})",
                    change(row.effect.change),
                    range(row.effect.interval(is_over))
                ),
            }
        });
        Harm {
            most: harm.fold(0.0, f64::max),
            told: told.collect(),
        }
    }
}
