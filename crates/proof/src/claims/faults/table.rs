//! Trials as a table for terminals.

use report::Table;

use super::Attempt;
use crate::claims::words;

/// One row for each expectation that a fault breaks, and one for each claim that survives it; then a line that counts the
/// claims with a fault. Ends with a newline.
pub fn table(attempts: &[Attempt<'_>], width: Option<usize>) -> String {
    let headings = ["claim", "fault", "what breaks", "published", "measured"];
    let mut rows = Vec::new();
    for attempt in attempts {
        let (id, fault) = (&attempt.claim.id, &attempt.fault.name);
        let broken = attempt.broken();
        if broken.is_empty() {
            let told = if attempt.is_missed() {
                "NOTHING, but should"
            } else {
                "nothing"
            };
            let rest = [told.to_owned(), String::new(), String::new()];
            rows.push(
                [id.clone(), fault.clone()]
                    .into_iter()
                    .chain(rest)
                    .collect(),
            );
        }
        for (place, one) in broken.into_iter().enumerate() {
            let is_first = place == 0;
            let name = |text: &String| {
                if is_first {
                    text.clone()
                } else {
                    String::new()
                }
            };
            let measured = words::measured(one);
            let what = one.expectation.what.clone();
            rows.push(vec![
                name(id),
                name(fault),
                what,
                words::band(one.expectation),
                measured,
            ]);
        }
    }
    let table = Table {
        text: vec![0, 1, 2],
        ..Table::new(headings, rows)
    };
    let missed = attempts.iter().filter(|of| of.is_missed()).count();
    let broken = attempts.iter().filter(|of| !of.is_survived()).count();
    let others = attempts.len().saturating_sub(missed).saturating_sub(broken);
    format!(
        "{}claims with a fault: {broken} break, {others} hold, {missed} hold although the fault should break them\n",
        table.lines(width)
    )
}
