//! The judgements as a section of a hand-written document.

use super::Claim;
use super::judge::{Judgement, Tally, Verdict};
use super::words;
use report::{Marks, markdown};
use studies::runs::distinct;
use tables::statistics::Spread;

/// The marks that enclose the section. Results in real time depend on the machine and have a section of their own.
pub fn marks(engines: &[lab::EngineKind]) -> Marks {
    if engines.iter().any(|engine| engine.is_real_time()) {
        Marks("real-time")
    } else {
        Marks("claims")
    }
}

/// The origin of results.
#[derive(Debug, Clone)]
pub struct Origin {
    /// The command that produced them.
    pub command: String,
    /// The time, in RFC 3339.
    pub at: String,
    /// The engines with their versions.
    pub versions: Vec<(lab::EngineKind, String)>,
    /// The processor model and count.
    pub machine: String,
    /// The load averages seen during the runs, if known. They matter for runs in real time.
    pub load: Option<Spread>,
    /// The elapsed time.
    pub wall: std::time::Duration,
}

/// The section in Markdown: the origin, the tally, and for each claim the published and the measured values.
pub fn section(judgements: &[Judgement<'_>], origin: &Origin) -> String {
    let versions = origin.versions.iter();
    let versions = versions.map(|(engine, version)| format!("`{engine}`: {version}"));
    let is_real_time = origin
        .versions
        .iter()
        .any(|(engine, _)| engine.is_real_time());
    let load = origin.load.filter(|_| is_real_time).map(|load| {
        format!(
            ", which others used too (load average {:.1} to {:.1})",
            load.min, load.max
        )
    });
    let mut text = format!(
        "Made with `{}` on {}, in {:.0} s on {}{}; {}.\n\n**{}**\n",
        origin.command,
        origin.at,
        origin.wall.as_secs_f64(),
        origin.machine,
        load.unwrap_or_default(),
        versions.collect::<Vec<_>>().join("; "),
        Tally::of(judgements).text()
    );
    let mut rest = judgements;
    while let Some(first) = rest.first() {
        let same = rest.iter().take_while(|one| one.claim.id == first.claim.id);
        let (of_claim, others) = rest.split_at(same.count());
        text += &claim(of_claim);
        rest = others;
    }
    text
}

fn claim(judgements: &[Judgement<'_>]) -> String {
    let Some(claim) = judgements.first().map(|one| one.claim) else {
        return String::new();
    };
    let mut text = format!("\n### {}\n\n{}\n", claim.id, introduction(claim));
    if let Some(note) = &claim.note {
        text += &format!("{note}\n");
    }
    text += &table(judgements);
    for one in judgements {
        for (points, why) in words::remarks(one) {
            let points = match points {
                none if none.is_empty() => none,
                some => format!("{some}. "),
            };
            let what = &one.expectation.what;
            text += &format!("\n*{what}*, on {}: {points}{why}\n", one.engine);
        }
    }
    let seeds = seeds(judgements);
    text + &format!("\nStudy `{}`; seeds {seeds}.\n", claim.study)
}

/// The setting of the claim, its source, and the published value.
fn introduction(claim: &Claim) -> String {
    format!(
        "{} ({}). Published: {}.",
        claim.setting, claim.source, claim.published
    )
}

/// A row for each expectation, a column for each engine. An engine that cannot show the expectation has no value; `–` is a
/// value that the runs should have had.
fn table(judgements: &[Judgement<'_>]) -> String {
    let engines = distinct(judgements.iter().map(|one| one.engine));
    let headings = ["what", "published"].map(str::to_owned).into_iter();
    let headings = headings.chain(engines.iter().map(ToString::to_string));
    let mut text = format!("\n{}", markdown::row(headings));
    text += &format!("| --- | --- |{}\n", " --- |".repeat(engines.len()));
    let claimed = judgements.first().map(|one| &one.claim.expectations);
    for expectation in claimed.into_iter().flatten() {
        let is_of_it = |one: &&Judgement<'_>| std::ptr::eq(one.expectation, expectation);
        let of_expectation: Vec<_> = judgements.iter().filter(is_of_it).collect();
        if of_expectation.is_empty() {
            continue;
        }
        let cells = engines.iter().map(|engine| {
            let found = of_expectation.iter().find(|one| one.engine == *engine);
            found.map_or("not measured".to_owned(), |one| match one.verdict {
                Verdict::Holds => words::measured(one),
                verdict => format!("{} **{}**", words::measured(one), words::verdict(verdict)),
            })
        });
        let first = [expectation.what.clone(), words::band(expectation)];
        text += &markdown::row(first.into_iter().chain(cells));
    }
    text
}

/// The first seeds, and the number of others.
fn seeds(judgements: &[Judgement<'_>]) -> String {
    let mut seeds: Vec<u64> = judgements
        .iter()
        .flat_map(|one| one.seeds.clone())
        .collect();
    seeds.sort_unstable();
    seeds.dedup();
    let shown: Vec<String> = seeds
        .iter()
        .take(MAX_NAMED_SEEDS)
        .map(u64::to_string)
        .collect();
    let more = match seeds.len().saturating_sub(MAX_NAMED_SEEDS) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", shown.join(", "))
}

/// The most seeds that are listed. All can be derived from the study's sweep.
const MAX_NAMED_SEEDS: usize = 2;

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::claims::{Claim, Table};
    use crate::study::Shelf;

    /// The parts of the section that differ from the table of claims.
    fn stale(section: &str, claims: &[Claim]) -> Vec<String> {
        let mut stale = Vec::new();
        for part in section.split("\n### ").skip(1) {
            let id = part.lines().next().unwrap_or_default();
            let Some(claim) = claims.iter().find(|claim| claim.id == id) else {
                stale.push(format!("there is no claim {id}"));
                continue;
            };
            let note = claim.note.iter().cloned();
            let texts = [introduction(claim)].into_iter().chain(note);
            let untold = texts.filter(|text| !part.contains(text.trim()));
            stale.extend(untold.map(|text| format!("{id}: it does not say “{text}”")));
            let heading = part.lines().find(|line| line.starts_with("| what |"));
            let cells = |line: &str| {
                line.trim_matches(['|', ' '])
                    .split(" | ")
                    .map(str::to_owned)
                    .collect::<Vec<_>>()
            };
            let engines = heading.map(cells).unwrap_or_default();
            for row in part
                .lines()
                .filter(|line| line.starts_with("| "))
                .skip(2)
                .map(cells)
            {
                let of_row = claim
                    .expectations
                    .iter()
                    .find(|of| Some(&of.what) == row.first());
                let Some(expectation) = of_row else {
                    stale.push(format!("{id}: there is no row {row:?}"));
                    continue;
                };
                let (what, band) = (&expectation.what, words::band(expectation));
                if row.get(1) != Some(&band) {
                    stale.push(format!(
                        "{id}, {what}: the band is {band}, and not {:?}",
                        row.get(1)
                    ));
                }
                let verdicts = engines.iter().zip(&row).skip(2);
                for (engine, _) in verdicts.filter(|(_, cell)| cell.contains("**differs**")) {
                    let mut kinds = lab::EngineKind::ALL.iter();
                    let kind = kinds.find(|kind| kind.to_string() == *engine);
                    let known = kind
                        .into_iter()
                        .flat_map(|kind| expectation.differs_on(*kind));
                    let causes: Vec<&str> = known.map(|known| known.why.as_str()).collect();
                    if !causes.iter().any(|why| part.contains(why)) {
                        stale.push(format!(
                            "{id}, {what}, on {engine}: it differs because {causes:?}"
                        ));
                    }
                }
            }
        }
        stale
    }

    #[test]
    fn the_page_has_results_of_this_table() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results/claims.md");
        let page = std::fs::read_to_string(page).expect("the results");
        let table = Table::open(&Shelf::built_in("claims")).expect("a table");
        for name in ["claims", "real-time"] {
            let section = Marks(name).section(&page).expect("a section");
            let faults = stale(section, &table.claims);
            assert!(
                faults.is_empty(),
                "{name}: run fullpipe-proof claims --document again: {faults:#?}"
            );
            // Both kinds of change are noticed.
            let is_there = |claim: &&Claim| section.contains(&format!("\n### {}\n", claim.id));
            let some = table.claims.iter().find(is_there).expect("a claim");
            let mut rows = section.lines().filter(|line| line.starts_with("| "));
            let row = rows.nth(2).expect("a row below the heading");
            for (from, to) in [
                (some.setting.as_str(), "elsewhere"),
                (row, "| something | ≥ 1 |"),
            ] {
                let other = section.replacen(from, to, 1);
                assert!(!stale(&other, &table.claims).is_empty(), "{from}");
            }
        }
    }
}
