//! The results as a table for terminals.

use super::results::Results;
use record::LimitShares;
use report::Table;
use tables::numbers::bits_per_sec;

/// The shares of destinations at which ratios are printed.
const SHARES: [f64; 7] = [0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95];

/// The most reasons of failures that are printed.
const MAX_REASONS: usize = 10;

/// One row for each destination: the median goodput of each controller over the rounds, the ratio of the first two,
/// each controller's main limit, and the numbers of probes and failures. Then the distribution of the ratio over the
/// destinations. Has all columns, or those that fit into `width` columns. Ends with a newline.
pub fn table(results: &Results, width: Option<usize>) -> String {
    let mut headings = vec!["destination".to_string()];
    headings.extend(results.controllers().iter().cloned());
    let ratio = match results.controllers() {
        [first, second, ..] => Some(format!("{first} / {second}")),
        _ => None,
    };
    headings.extend(ratio.clone());
    headings.extend(["limited by", "probes", "failed"].map(String::from));
    let mut rows = Vec::new();
    let none = || "–".to_string();
    for destination in results.destinations() {
        let mut row = vec![destination.name];
        let goodputs = destination.goodput_bps.iter();
        row.extend(goodputs.map(|goodput| goodput.map_or_else(none, bits_per_sec)));
        if ratio.is_some() {
            row.push(
                destination
                    .ratio
                    .map_or_else(none, |ratio| format!("{ratio:.2}")),
            );
        }
        let limits = destination.limited_by.iter();
        let limits = limits.map(|limits| limits.map_or_else(none, most));
        row.push(limits.collect::<Vec<_>>().join(", "));
        let sum = |counts: &[u64]| counts.iter().sum::<u64>().to_string();
        row.extend([sum(&destination.probes), sum(&destination.failed)]);
        rows.push(row);
    }
    let table = Table {
        spare: vec![headings.len() - 2, headings.len() - 3],
        ..Table::new(headings, rows)
    };
    let mut text = table.lines(width);
    if let Some(ratio) = ratio {
        let ratios = results.ratios();
        let at = |share: f64| {
            let found = ratios.quantile(share)?;
            Some(format!("p{:.0} {found:.2}", share * 100.0))
        };
        let told: Vec<String> = SHARES.into_iter().filter_map(at).collect();
        // A single destination has no distribution.
        if ratios.values().len() > 1 {
            text += &format!(
                "{ratio} by percentile of the destinations: {}\n",
                told.join(", ")
            );
        }
    }
    text
}

/// The main limit of a sender: `congestion 97 %`.
fn most(limits: LimitShares) -> String {
    let (what, share) = limits.largest();
    format!("{what} {:.0} %", share * 100.0)
}

/// The first reasons of failures, one line each, with the number of probes. Each line ends with a newline.
pub fn failures(results: &Results) -> String {
    let mut lines = Vec::new();
    for destination in results.destinations() {
        let name = destination.name;
        lines.extend(destination.failures.into_iter().map(|failed| {
            let (controller, reason) = (failed.controller, failed.reason);
            match failed.count {
                1 => format!("failed: {name} {controller}: {reason}\n"),
                count => format!("failed {count} times: {name} {controller}: {reason}\n"),
            }
        }));
    }
    let more = lines.len().saturating_sub(MAX_REASONS);
    lines.truncate(MAX_REASONS);
    match more {
        0 => {}
        1 => lines.push("and 1 more reason\n".to_owned()),
        more => lines.push(format!("and {more} more reasons\n")),
    }
    lines.concat()
}
