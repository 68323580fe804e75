//! The table of links with names, or of the hops of a chain: which of them queued, and which dropped.

use record::{PathSummary, Record};
use tables::numbers::{bits_per_sec, known, percent, span};

use super::table::Table;

/// The maximum number of links with a line each: those with the longest queues.
pub(super) const MAX_LINK_LINES: usize = 20;

/// The columns that a narrow terminal omits, the first one first.
pub(super) const SPARE_OF_LINKS: [&str; 4] = ["marked", "random losses", "packets", "queue max"];

/// The bottlenecks of a record with the longest queues, at most so many of them, in the order of the scenario.
pub(super) fn busiest(record: &Record, most: usize) -> Vec<(usize, &PathSummary)> {
    let mut links: Vec<_> = record.bottlenecks().collect();
    if links.len() > most {
        let queue = |link: &PathSummary| link.queue_ms.mean.unwrap_or(0.0);
        links.sort_by(|(_, one), (_, other)| queue(other).total_cmp(&queue(one)));
        links.truncate(most);
        links.sort_by_key(|(place, _)| *place);
    }
    links
}

/// Returns a row for each link with a name, or for each hop of a chain; `None` if there are none.
pub(super) fn links(records: &[Record]) -> Option<Table> {
    let rows = records.iter().flat_map(|record| {
        let links = busiest(record, MAX_LINK_LINES).into_iter();
        let named = links.filter_map(|(place, link)| Some((name(record, place, link)?, link)));
        named.map(|(name, link)| row(&name, link, (records.len() > 1).then_some(record)))
    });
    let rows: Vec<_> = rows.collect();
    let headings = [
        "link",
        "rate",
        "used",
        "queue mean",
        "queue max",
        "packets",
        "dropped",
        "marked",
        "random losses",
    ];
    (!rows.is_empty()).then(|| Table::new(headings, rows))
}

/// The name of a link, or the number of a hop. A single path has neither.
fn name(record: &Record, place: usize, link: &PathSummary) -> Option<String> {
    let hop = || (!record.summary.next.is_empty()).then(|| format!("hop {place}"));
    link.name.as_ref().map(ToString::to_string).or_else(hop)
}

fn row(name: &str, link: &PathSummary, of: Option<&Record>) -> Vec<String> {
    let number = |number: Option<u64>| known(number, |number| number.to_string());
    vec![
        of.map_or(name.to_string(), |record| {
            format!("{}: {name}", record.summary.scenario)
        }),
        known(link.rate_bps.map(|rate| rate as f64), bits_per_sec),
        known(link.utilization, percent),
        known(link.queue_ms.mean, span),
        known(link.queue_ms.max, span),
        number(link.packets),
        number(link.drops),
        number(link.marks),
        number(link.random_losses),
    ]
}

/// Returns a note on the links without a line.
pub(super) fn note(record: &Record) -> Option<String> {
    let all = record.summary.next.len() + 1;
    let more = all.checked_sub(MAX_LINK_LINES).filter(|more| *more > 0)?;
    Some(format!(
        "… and {} with shorter queues; --json has all links",
        tables::numbers::count(more as u64, "link")
    ))
}
