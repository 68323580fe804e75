//! The results in the simulator, compared with the table of claims: rows, verdicts, causes and notes.

use std::collections::{BTreeMap, BTreeSet};

use super::claims::Claims;

/// A line for each expectation that the page lacks, or has with another verdict or cause than the table.
pub fn faults(page: &str, claims: &Claims) -> Vec<String> {
    let told = told(page);
    let wanted: Vec<(String, bool)> = claims.in_the_simulator().collect();
    let missing = wanted.iter().filter(|row| !told.contains(row));
    let missing = missing.map(|(what, differs)| {
        let verdict = if *differs { "differs" } else { "holds" };
        format!("it does not say that “{what}” {verdict}")
    });
    let foreign = told.iter().filter(|row| !wanted.contains(row));
    let foreign =
        foreign.map(|(what, _)| format!("the table does not have “{what}” with this verdict"));
    let mut seen = BTreeSet::new();
    let twice = told.iter().filter(|row| !seen.insert(*row));
    let twice = twice.map(|(what, _)| format!("it says “{what}” twice"));
    let untold = claims.texts_of_the_simulator();
    let untold = untold.filter(|(_, text)| !simulated(page).contains(text.trim()));
    let untold = untold.map(|(what, text)| format!("{what}: it does not say “{text}”"));
    let in_real_time: BTreeSet<String> = claims.in_real_time().collect();
    let measured = measured(page);
    let unmeasured = in_real_time.difference(&measured);
    let unmeasured = unmeasured.map(|row| format!("it does not say what {row} is"));
    let unknown = measured.difference(&in_real_time);
    let unknown = unknown.map(|row| format!("the table does not have {row}"));
    let real_time = unmeasured.chain(unknown);
    missing
        .chain(foreign)
        .chain(twice)
        .chain(untold)
        .chain(real_time)
        .collect()
}

fn simulated(page: &str) -> &str {
    section(page, "claims")
}

fn section<'p>(page: &'p str, name: &str) -> &'p str {
    let after = page.split(&format!("<!-- {name}: begin -->")).nth(1);
    let within = after.and_then(|text| text.split(&format!("<!-- {name}: end -->")).next());
    within.unwrap_or_default()
}

/// The expectations with results in real time, as `id: what, on engine`. Another run may have other verdicts.
fn measured(page: &str) -> BTreeSet<String> {
    let cells = cells(section(page, "real-time"));
    let there = cells.iter().filter(|cell| cell.value != "not measured");
    there
        .map(|cell| format!("{}, on {}", cell.row, cell.engine))
        .collect()
}

/// The rows of the page's tables as `id: what`, each with true if it differs. A failing row never agrees with the
/// table.
fn told(page: &str) -> Vec<(String, bool)> {
    let cells = cells(simulated(page));
    let told = cells.iter().map(|cell| {
        let failed = if cell.fails() { " (fails)" } else { "" };
        (
            format!("{}{failed}", cell.row),
            cell.value.contains("**differs**"),
        )
    });
    told.collect()
}

/// The failing expectations on the page, as `id: what`, each with the engines.
pub fn failed(page: &str) -> BTreeMap<String, Vec<String>> {
    let mut failed: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for name in ["claims", "real-time"] {
        let cells = cells(section(page, name));
        for cell in cells.into_iter().filter(Cell::fails) {
            failed.entry(cell.row).or_default().push(cell.engine);
        }
    }
    failed
}

/// A cell of the page's tables: a row on an engine.
struct Cell {
    /// `id: what`.
    row: String,
    engine: String,
    value: String,
}

impl Cell {
    fn fails(&self) -> bool {
        self.value.contains("**FAILS**")
    }
}

/// All cells of a section's tables.
fn cells(section: &str) -> Vec<Cell> {
    let mut id = "";
    let mut engines: Vec<&str> = Vec::new();
    let mut all = Vec::new();
    for line in section.lines() {
        let cells = || line.trim_matches(['|', ' ']).split(" | ").map(str::trim);
        if let Some(heading) = line.strip_prefix("### ") {
            id = heading;
        } else if line.starts_with("| what |") {
            engines = cells().skip(2).collect();
        } else if line.starts_with("| ") && !line.starts_with("| ---") {
            let what = cells().next().unwrap_or_default();
            all.extend(
                engines
                    .iter()
                    .zip(cells().skip(2))
                    .map(|(engine, value)| Cell {
                        row: format!("{id}: {what}"),
                        engine: (*engine).to_owned(),
                        value: value.to_owned(),
                    }),
            );
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLAIMS: &str = r#"
        [[claim]]
        id = "a"
        engines = ["sim", "quic"]
        note = "note"
        [[claim.expect]]
        what = "good"
        [[claim.expect]]
        what = "bad"
        [[claim.expect.differs]]
        why = "why"
        [[claim.expect]]
        what = "elsewhere"
        engines = ["quic"]
    "#;

    const PAGE: &str = "
<!-- claims: begin -->
### a
note
| what | published | sim |
| --- | --- | --- |
| good | ≥ 1 | 2 |
| bad | ≥ 1 | 0 **differs** |

*bad*: why
<!-- claims: end -->
### b
| good | ≥ 1 | 2 |
<!-- real-time: begin -->
### a
| what | published | quic |
| --- | --- | --- |
| good | ≥ 1 | 2 |
| bad | ≥ 1 | – **FAILS** |
| elsewhere | ≥ 1 | 2 |
<!-- real-time: end -->
";

    #[test]
    fn a_page_of_other_rows_or_verdicts_is_told() {
        let faults = |page: &str| faults(page, &Claims::parse(CLAIMS).expect("claims"));
        assert!(faults(PAGE).is_empty(), "{:?}", faults(PAGE));
        for (from, to, count) in [
            ("| good | ≥ 1 | 2 |\n| bad", "| bad", 1),
            ("0 **differs**", "2", 2),
            ("0 **differs**", "0 **FAILS**", 2),
            ("| good", "| goods", 2),
            ("| bad", "| good | ≥ 1 | 2 |\n| bad", 1),
            ("| good", "| more | ≥ 1 | 2 |\n| good", 1),
            ("### a", "### c", 4),
            ("why", "other", 1),
            ("note", "other", 1),
            (
                "| elsewhere | ≥ 1 | 2 |",
                "| elsewhere | ≥ 1 | not measured |",
                1,
            ),
            ("| elsewhere", "| anywhere", 2),
            ("published | quic", "published | linux", 6),
        ] {
            let page = PAGE.replacen(from, to, 1);
            assert_eq!(
                faults(&page).len(),
                count,
                "{from} -> {to}: {:?}",
                faults(&page)
            );
        }
    }
    #[test]
    fn what_fails_is_told_with_its_engines() {
        let page = PAGE.replace("0 **differs**", "0 **FAILS**");
        let on = ["sim".to_owned(), "quic".to_owned()];
        assert_eq!(
            failed(&page),
            BTreeMap::from([("a: bad".to_owned(), on.to_vec())])
        );
    }
}
