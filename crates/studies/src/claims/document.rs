//! The judgements as a section of a document that people write around it.

use super::judge::{Judgement, Tally, Verdict};
use super::words;
use crate::runs::distinct;
use record::statistics::Spread;
use report::Marks;

/// What the section stands between: results in real time, which depend on the machine, have a place of their own.
pub fn marks(engines: &[lab::EngineKind]) -> Marks {
    if engines.iter().any(|engine| engine.is_real_time()) {
        Marks("real-time")
    } else {
        Marks("claims")
    }
}

/// Where results come from.
#[derive(Debug, Clone)]
pub struct Origin {
    /// The command that made them.
    pub command: String,
    /// When, as RFC 3339 has it.
    pub at: String,
    /// The engines, with the version of what each ran.
    pub versions: Vec<(lab::EngineKind, String)>,
    /// The processor, and how many of them.
    pub machine: String,
    /// The load averages that were seen while results came, where it tells: what runs in real time shares the machine.
    pub load: Option<Spread>,
    /// How long it took.
    pub wall: std::time::Duration,
}

/// The section in Markdown: where it comes from, what it comes to, and for each claim what was published and what was
/// measured.
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
    let mut text = format!(
        "\n### {}\n\n{} ({}). Published: {}.\n",
        claim.id, claim.setting, claim.source, claim.published
    );
    if let Some(note) = &claim.note {
        text += &format!("{note}\n");
    }
    text += &table(judgements);
    for one in judgements {
        if one.verdict != Verdict::Holds {
            let why = words::why(one).unwrap_or("the cause is not found");
            let outliers = match words::outliers(one) {
                none if none.is_empty() => none,
                some => format!("{some}. "),
            };
            let what = &one.expectation.what;
            text += &format!("\n*{what}*, on {}: {outliers}{why}\n", one.engine);
        }
    }
    let seeds = seeds(judgements);
    text + &format!("\nStudy `{}`; seeds {seeds}.\n", claim.study)
}

/// A row for each expectation, a column for each engine.
fn table(judgements: &[Judgement<'_>]) -> String {
    let engines = distinct(judgements.iter().map(|one| one.engine));
    let mut text = "\n| what | published |".to_owned();
    engines
        .iter()
        .for_each(|engine| text += &format!(" {engine} |"));
    text += &format!("\n| --- | --- |{}\n", " --- |".repeat(engines.len()));
    let claimed = judgements.first().map(|one| &one.claim.expectations);
    for expectation in claimed.into_iter().flatten() {
        let is_of_it = |one: &&Judgement<'_>| std::ptr::eq(one.expectation, expectation);
        let of_expectation: Vec<_> = judgements.iter().filter(is_of_it).collect();
        if of_expectation.is_empty() {
            continue;
        }
        text += &format!("| {} | {} |", expectation.what, words::band(expectation));
        for engine in &engines {
            let found = of_expectation.iter().find(|one| one.engine == *engine);
            let cell = found.map_or("–".to_owned(), |one| match one.verdict {
                Verdict::Holds => words::measured(one),
                verdict => format!("{} **{}**", words::measured(one), words::verdict(verdict)),
            });
            text += &format!(" {cell} |");
        }
        text += "\n";
    }
    text
}

/// The first ones, and how many more there are.
fn seeds(judgements: &[Judgement<'_>]) -> String {
    let mut seeds: Vec<u64> = judgements
        .iter()
        .flat_map(|one| one.seeds.clone())
        .collect();
    seeds.sort_unstable();
    seeds.dedup();
    let shown: Vec<String> = seeds.iter().take(SEEDS).map(u64::to_string).collect();
    let more = match seeds.len().saturating_sub(SEEDS) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", shown.join(", "))
}

/// So many seeds are named: all of them are those of the study's sweep.
const SEEDS: usize = 2;
