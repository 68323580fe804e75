//! The results of a study over time: its calendar time, and the time since a switch of slots.

use experiment::carryover::{ArmSince, Since, SinceBin};
use experiment::effect::DOUBT;
use experiment::timeline::{ArmInBin, Bins};
use experiment::verdict::range;
use experiment::{Findings, Measure};
use report::Table;
use tables::numbers::{bits_per_sec, known, span, utc};

use super::super::data::Read;
use super::share::percent;

/// The maximum number of rows of the table over calendar time. JSON has all bins.
const MAX_ROWS: usize = 12;

/// The measures that are shown since a switch. JSON has all.
pub const SHOWN: [Measure; 2] = [Measure::Throughput, Measure::Rtt];

/// The study over the time since a switch. `None` if its unit is no slot.
pub fn since(read: &Read, findings: &Findings) -> Option<Since> {
    let carryover = read.carryover.as_ref()?;
    Some(carryover.since(&read.place.plan.names(), findings.is_over))
}

/// The tables over time.
pub fn tables(read: &Read, findings: &Findings) -> Vec<Table> {
    let names = read.place.plan.names();
    let since = since(read, findings);
    let since = since.iter().flat_map(|since| {
        let shown = SHOWN.iter();
        shown.map(|measure| since_switch(since, *measure, findings.is_over))
    });
    let mut tables = vec![timeline(&read.timeline.bins(MAX_ROWS), &names)];
    tables.extend(since);
    tables.retain(|table| !table.rows.is_empty());
    tables
}

/// Throughput and RTT over calendar time.
fn timeline(bins: &Bins, names: &[&str]) -> Table {
    let arms = |cell: fn(&ArmInBin) -> String| {
        move |arms: &[ArmInBin]| arms.iter().map(cell).collect::<Vec<_>>()
    };
    let kinds = [
        (
            "over 3 MB",
            arms(|arm| known(arm.throughput_bps, bits_per_sec)),
        ),
        (
            "5th percentile",
            arms(|arm| known(arm.throughput_p5_bps, bits_per_sec)),
        ),
        ("RTT", arms(|arm| known(arm.rtt_ms, span))),
    ];
    let headings = kinds
        .iter()
        .flat_map(|(kind, _)| names.iter().map(move |name| format!("{name} {kind}")));
    let first = format!("from (UTC), for {}", time(bins.width_s as f64));
    let rows = bins.bins.iter().map(|bin| {
        let cells = kinds.iter().flat_map(|(_, cells)| cells(&bin.arms));
        [utc(bin.from_unix_s)].into_iter().chain(cells).collect()
    });
    let mut table = Table::new([first].into_iter().chain(headings), rows);
    // The percentiles go first, and then the RTTs.
    table.spare = (names.len() + 1..=3 * names.len()).collect();
    table
}

/// A measure over the time since a switch.
fn since_switch(since: &Since, measure: Measure, is_over: bool) -> Table {
    let names = since.bins.first().map_or(&[][..], |bin| &bin.arms[..]);
    let headings = names.iter().flat_map(|arm| {
        let name = &arm.controller;
        [name.clone(), format!("{name} after another arm")]
    });
    let first = format!("{} since the switch", measure.title());
    // It is the same for all measures.
    let others = (measure == SHOWN[0]).then(|| "of other arms".to_owned());
    let row = |(label, bin): (String, &SinceBin)| {
        let arms = bin.arms.iter();
        let cells = arms.flat_map(|arm| cells(arm, measure, is_over));
        let others = others.as_ref().map(|_| known(bin.of_others, percent));
        [label].into_iter().chain(cells).chain(others).collect()
    };
    let behind = match since.washout_s {
        0.0 => "all".to_owned(),
        _ => "all behind the washout".to_owned(),
    };
    let bins = since.bins.iter().map(|bin| (label(bin), bin));
    let rows = bins.chain([(behind, &since.behind)]).map(row);
    let headings = [first].into_iter().chain(headings);
    let mut table = Table::new(headings.chain(others.iter().cloned()), rows);
    // The share of other arms is dropped first, and then the values: the intervals show a carryover.
    let last = others.is_some().then_some(2 * names.len() + 1);
    let values = (0..names.len()).map(|arm| 2 * arm + 1);
    table.spare = last.into_iter().chain(values).collect();
    table
}

/// The value of an arm, and the interval of its change after another arm.
fn cells(arm: &ArmSince, measure: Measure, is_over: bool) -> [String; 2] {
    let mut values = arm.measures.iter();
    let Some(value) = values.find(|value| value.measure == measure) else {
        return Default::default();
    };
    let shown = match measure {
        Measure::Throughput => known(value.value, bits_per_sec),
        _ => known(value.value.map(|seconds| seconds * 1000.0), span),
    };
    let carryover = value.carryover.map(|effect| effect.interval(is_over));
    [shown, known(carryover, range)]
}

fn label(bin: &SinceBin) -> String {
    let washout = if bin.is_evaluated { "" } else { ", washout" };
    format!("{} to {}{washout}", time(bin.from_s), time(bin.to_s))
}

/// Notes that readers of these tables need.
pub fn notes(read: &Read, findings: &Findings) -> Vec<String> {
    let mut notes = Vec::new();
    if !read.timeline.bins(1).bins.is_empty() {
        notes.push(
            "Over calendar time, an object counts where it began, and a connection's RTT where the connection began. These bins have \
             no intervals, and nothing is tested."
                .to_owned(),
        );
    }
    if let Some(since) = since(read, findings) {
        notes.push(of_since(&since, findings.is_over));
    }
    notes
}

fn of_since(since: &Since, is_over: bool) -> String {
    let believed = match since.intervals {
        0 => "There are too few slots for intervals.".to_owned(),
        all => format!(
            "Behind the washout, {} of {all} intervals do not contain 0 (--json has all measures). Chance alone gives {}. More of \
             them, most of all in the first bins, mean that the washout is too short.",
            since.beyond,
            by_chance(all, is_over)
        ),
    };
    format!(
        "Since the switch, a connection and its objects count where the connection began. After another arm: the change if the slot \
         before had another arm and not the same, as a 95 % interval of this bin alone. Of other arms: their share of the time of \
         objects, after a slot of another arm. {believed}"
    )
}

/// The number of these intervals that do not contain 0 by chance, if the arm before has left nothing.
fn by_chance(intervals: usize, is_over: bool) -> String {
    if !is_over {
        return "hardly any, because these intervals hold at any time".to_owned();
    }
    match intervals as f64 * DOUBT {
        ..1.0 => "less than one".to_owned(),
        some => format!("about {some:.0}"),
    }
}

/// A time in the unit that suits it: `45 s`, `2.5 min`, `4 h`.
pub fn time(seconds: f64) -> String {
    let (value, unit) = if seconds < 120.0 {
        (seconds, "s")
    } else if seconds < 7200.0 {
        (seconds / 60.0, "min")
    } else if seconds < 172_800.0 {
        (seconds / 3600.0, "h")
    } else {
        (seconds / 86_400.0, "days")
    };
    let text = format!("{value:.2}");
    format!(
        "{} {unit}",
        text.trim_end_matches('0').trim_end_matches('.')
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_the_unit_that_suits_it() {
        let times = [0.0, 2.5, 45.0, 150.0, 7200.0, 14_400.0, 604_800.0].map(time);
        assert_eq!(
            times,
            ["0 s", "2.5 s", "45 s", "2.5 min", "2 h", "4 h", "7 days"]
        );
    }

    #[test]
    fn chance_alone_gives_one_interval_in_twenty_only_at_the_end() {
        let few = [1, 19].map(|intervals| by_chance(intervals, true));
        assert_eq!(few, ["less than one"; 2]);
        let many = [20, 48].map(|intervals| by_chance(intervals, true));
        assert_eq!(many, ["about 1", "about 2"]);
        for intervals in [1, 48] {
            let early = by_chance(intervals, false);
            assert!(early.starts_with("hardly any"), "{early}");
        }
    }
}
