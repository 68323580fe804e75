//! The results of a study as tables.

use experiment::comparison::{Comparison, GroupRow, Rival, Row};
use experiment::findings::{ArmLevels, Observed};
use experiment::heat::{HeatRow, SHARES};
use experiment::plan::KeptAddress;
use experiment::verdict::{Reach, change, probability, range};
use experiment::{Findings, Group, Measure};
use report::Table;
use tables::numbers::{bits_per_sec, count, known, utc};

use super::super::data::Read;
use super::super::join::Joined;
use super::share::{percent, shown};

/// The maximum number of groups in a table. JSON has all.
const MAX_GROUPS: usize = 20;

/// Notes that readers of the tables need.
pub fn notes(read: &Read, findings: &Findings) -> Vec<String> {
    let is_one = findings.comparisons.len() < 2;
    let mut notes = vec![
        format!(
            "Intervals are 95 % confidence intervals{}. Each unit is one observation. The p-values are corrected by Holm's method over the rows of the \
             table{}. {}",
            if is_one { "" } else { " for all arms together" },
            if is_one { "" } else { " and the arms" },
            match findings.reach {
                Reach::Over => "They are for one look, at the end.",
                Reach::EndedEarly => "They hold at any time, because the study ended early.",
                Reach::Interrupted => "They hold at any time, because the study was interrupted.",
                Reach::Running => "They hold at any time, because the study is still running.",
            }
        ),
        of_what(findings),
    ];
    notes.extend(of_strata(findings));
    notes.extend(hints(read, findings));
    notes.extend(super::course::notes(read, findings));
    notes.extend(read.in_regions.map(|some| of_regions(some, findings)));
    notes.extend(read.joined.iter().flat_map(of_logs));
    notes.extend(read.left_out.iter().map(|of| format!("{of}.")));
    notes
}

/// A summary of the study in one line: what it is, and how far it is.
pub fn about(read: &Read) -> String {
    let (plan, about) = (&read.place.plan, &read.place.about);
    let believe = "only the intervals at any time are valid";
    let state = match &about.ended {
        Some(why) if read.place.is_over() => why.clone(),
        Some(why) => format!("ended early: {why}; {believe}"),
        None => {
            let since = about.last_unix_s.map_or_else(String::new, |at| {
                let at = std::time::Duration::try_from_secs_f64(at).unwrap_or_default();
                format!(" at {} UTC", utc(at.as_secs()))
            });
            match read.reach() {
                Reach::Interrupted => {
                    format!("interrupted{since}, and no process runs it here: {believe}")
                }
                _ => format!("not over yet: {believe}"),
            }
        }
    };
    let ran = match &about.ended {
        Some(_) => format!("ran for {:.0} s", about.ran_s),
        None => format!("{:.0} s so far", about.ran_s),
    };
    format!("by {}, {ran}; {state}", plan.unit)
}

/// `bbr against cubic`
pub fn title(comparison: &Comparison) -> String {
    format!(
        "{} against {}",
        comparison.rival.controller, comparison.rival.over
    )
}

/// Changes of completion times, from the fast ones to the slow ones.
pub fn heat(comparison: &Comparison) -> Table {
    let row = |row: &HeatRow| {
        let cells = row.changes.iter().map(|cell| known(*cell, change));
        std::iter::once(size(row).to_owned()).chain(cells).collect()
    };
    let shares = SHARES
        .iter()
        .map(|share| format!("{:.0} % done", share * 100.0));
    let first = format!("time of {}", title(comparison));
    let mut table = Table::new(
        std::iter::once(first).chain(shares),
        comparison.heat.iter().map(row),
    );
    table.spare = vec![2, 4];
    table
}

/// The size class of a row.
pub fn size(row: &HeatRow) -> &'static str {
    match row.measure {
        Measure::Throughput => "over 3 MB, a byte",
        measure => measure.title().trim_start_matches("time "),
    }
}

/// The numbers of objects and connections that the sizes and times describe.
fn of_what(findings: &Findings) -> String {
    let Observed {
        objects,
        connections,
    } = findings.observed;
    let objects = count(objects, "object");
    match connections {
        0 => format!("Sizes and times are of {objects}."),
        _ => format!(
            "Sizes and times are of {objects}, and of {} as a whole, whose objects are not known.",
            count(connections, "connection")
        ),
    }
}

/// The effects over all groups, with and without strata.
fn of_strata(findings: &Findings) -> Option<String> {
    let mut parts = Vec::new();
    for comparison in &findings.comparisons {
        let mut rows = comparison.measures.iter();
        let row = rows.find(|row| row.measure == Measure::Throughput)?;
        if row.strata > 1
            && let Some(without) = row.unadjusted
        {
            parts.push(format!(
                "{} groups for {} (without them, throughput over 3 MB would be {}, {})",
                row.strata,
                title(comparison),
                change(without.change),
                range(without.interval(findings.is_over))
            ));
        }
    }
    (!parts.is_empty()).then(|| {
        format!(
            "Changes compare the arms within groups of clients that were known before: {}. So they are not the ratios of the values in \
             the table of arms.",
            parts.join(", ")
        )
    })
}

/// Advice on how to show differences between networks, if nothing shows them.
pub fn hints(read: &Read, findings: &Findings) -> Option<String> {
    let mut rivals = findings
        .comparisons
        .iter()
        .map(|comparison| &comparison.rival);
    let is_named = |name: &str| {
        matches!(
            Group::parse(name),
            Some(Group::System(_) | Group::Region(_))
        )
    };
    if rivals.any(|rival| rival.groups.iter().any(|row| is_named(&row.group))) {
        return None;
    }
    Some(match read.place.plan.address {
        KeptAddress::Full | KeptAddress::Prefix => "No group of clients has a name. `fullpipe study report` and `fullpipe steer learn` name ASs with --as FILE, and regions \
                                      with --region FILE, from what is stored of clients' addresses."
            .to_owned(),
        KeptAddress::Hashed | KeptAddress::None => "No group of clients has a name, and no address is stored. Only `fullpipe study` itself can name ASs with --as FILE, and \
                                      regions with --region FILE."
            .to_owned(),
    })
}

/// The number of connections in regions.
fn of_regions(some: u64, findings: &Findings) -> String {
    let all: u64 = findings.arms.iter().map(|arm| arm.connections).sum();
    let others = match all.saturating_sub(some) {
        0 => "",
        _ => " The networks of the others are not in the file, or only in part.",
    };
    format!(
        "{some} of {} are in a region.{others}",
        count(all, "connection")
    )
}

/// The numbers of requests in the logs by their outcome.
fn of_logs(joined: &Joined) -> Vec<String> {
    let mut notes = vec![format!(
        "Of the logs, {} are of connections of the study ({} with the kernel's time); not joined: {} of no such connection, {} that may \
         be of several, {} without room.",
        count(joined.joined, "request"),
        joined.timed_by_kernel,
        joined.of_others,
        joined.ambiguous,
        joined.too_many
    )];
    if joined.repeated > 0 {
        notes.push(format!(
            "{} of the logs stand in an earlier log, too, and do not count again: was a log given twice?",
            count(joined.repeated, "line")
        ));
    }
    for (name, counts) in &joined.logs {
        let mut note = format!(
            "{name}: {}, {} damaged",
            count(counts.lines, "line"),
            counts.damaged
        );
        if let Some((line, why)) = &counts.first_damaged {
            note += &format!("; the first is line {line}: {why}");
        }
        if counts.is_unfinished {
            note += "; its last line has no end, and is not used";
        }
        if let Some(why) = &counts.broken_off {
            note += &format!("; it breaks off: {why}");
        }
        notes.push(note + ".");
    }
    notes
}

/// The levels of each arm.
pub fn arms(findings: &Findings) -> Table {
    let controllers: Vec<&str> = findings.arms.iter().map(|arm| &*arm.controller).collect();
    let row = |arm: &ArmLevels| {
        vec![
            arm.controller.clone(),
            arm.units.to_string(),
            arm.connections.to_string(),
            known(arm.throughput_bps, bits_per_sec),
            known(arm.throughput_p5_bps, bits_per_sec),
            known(arm.resent, percent),
            known(arm.unfinished, percent),
        ]
    };
    Table::new(
        [
            "arm",
            "units",
            "connections",
            "over 3 MB",
            "5th percentile",
            "resent",
            "cut short",
        ],
        findings.arms.iter().map(row),
    )
    .coloured(report::places(&controllers))
}

/// The connections of each arm by their share of retransmissions.
pub fn classes(findings: &Findings) -> Table {
    let row = |arm: &ArmLevels| {
        let shares = arm.resent_classes.iter();
        let shares = shares.map(|share| format!("{} %", shown(*share, 0)));
        [arm.controller.clone()].into_iter().chain(shares).collect()
    };
    Table::new(
        [
            "connections that resent",
            "nothing",
            "up to 1 % of packets",
            "up to 5 %",
            "more",
        ],
        findings.arms.iter().map(row),
    )
}

/// The effects of an arm, measure by measure.
pub fn effects(comparison: &Comparison) -> Table {
    let none = || vec!["–".to_owned(); 5];
    let row = |row: &Row| {
        let mut cells = vec![row.measure.title().to_owned()];
        cells.extend(match &row.effect {
            Some(effect) => vec![
                change(effect.change),
                range(effect.once),
                range(effect.always),
                row.p_corrected.map_or_else(String::new, probability),
                effect.connections.iter().sum::<u64>().to_string(),
            ],
            None => none(),
        });
        cells
    };
    let mut rows: Vec<Vec<String>> = comparison.measures.iter().map(row).collect();
    if let Some(slow) = comparison.throughput_p5 {
        let title = "5th percentile of it".to_owned();
        let mut cells = vec![title, change(slow.change), range(slow.once)];
        cells.resize(6, "–".to_owned());
        rows.insert(1, cells);
    }
    let mut table = Table::new(
        [
            title(comparison),
            "change".to_owned(),
            "interval".to_owned(),
            "at any time".to_owned(),
            "p corrected".to_owned(),
            "observations".to_owned(),
        ],
        rows,
    );
    table.spare = vec![5, 4];
    table
}

/// The tables of groups, for large objects, smaller ones, and retransmissions. Tables without groups are left out.
pub fn of_groups(comparison: &Comparison, is_over: bool) -> Vec<Table> {
    let Rival {
        groups,
        small: smaller,
        resent,
        ..
    } = &comparison.rival;
    let tables = [
        of_one("throughput over 3 MB in", groups, is_over),
        small(smaller, is_over),
        of_one("retransmitted packets in", resent, is_over),
    ];
    tables
        .into_iter()
        .filter(|table| !table.rows.is_empty())
        .collect()
}

/// One measure in groups.
fn of_one(heading: &str, rows: &[GroupRow], is_over: bool) -> Table {
    let row = |row: &GroupRow| [vec![row.group.clone()], in_group(row, is_over)].concat();
    let first = [heading].into_iter();
    Table::new(first.chain(IN_GROUP), rows.iter().take(MAX_GROUPS).map(row))
}

/// The times of objects below 3 MB in groups.
fn small(rows: &[GroupRow], is_over: bool) -> Table {
    let row = |row: &GroupRow| {
        let name = vec![row.group.clone(), row.measure.title().to_owned()];
        [name, in_group(row, is_over)].concat()
    };
    let first = ["smaller objects in", "what"].into_iter();
    let mut table = Table::new(first.chain(IN_GROUP), rows.iter().take(MAX_GROUPS).map(row));
    table.text = vec![0, 1];
    table
}

const IN_GROUP: [&str; 4] = ["change", "interval", "p corrected", "observations"];

fn in_group(row: &GroupRow, is_over: bool) -> Vec<String> {
    vec![
        change(row.effect.change),
        range(row.effect.interval(is_over)),
        probability(row.p_corrected),
        row.effect.connections.iter().sum::<u64>().to_string(),
    ]
}
