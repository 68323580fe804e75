//! Trials as a section of a hand-written document.

use super::{Attempt, Fault, Faults};
use crate::claims::document::Origin;
use crate::claims::spec::Claim;
use crate::claims::words;
use report::markdown;

/// The section in Markdown: the origin, the faults, the fault that breaks each claim, the claims that no fault is to
/// break, and the claims that hold in spite of a fault that is tried on all.
pub fn section(
    faults: &Faults,
    claims: &[&Claim],
    attempts: &[Attempt<'_>],
    origin: &Origin,
) -> String {
    let mut text = format!(
        "Made with `{}` on {}, in {:.0} s on {}.\n",
        origin.command,
        origin.at,
        origin.wall.as_secs_f64(),
        origin.machine,
    );
    text += "\n### The faults\n\n| fault | of | what is faulty |\n| --- | --- | --- |\n";
    for fault in &faults.faults {
        let of = fault.controller.as_ref();
        let of = of.map_or("the hosts".to_owned(), |of| format!("`{of}`"));
        text += &markdown::row([&fault.name, &of, &fault.what]);
    }
    text += "\n### What breaks each claim\n\n| claim | fault | expectations that break | the first of them | \
             published | with the fault |\n| --- | --- | --- | --- | --- | --- |\n";
    let is_meant = |of: &&Attempt<'_>| of.fault.is_to_break(of.claim);
    for attempt in attempts.iter().filter(is_meant) {
        text += &row(attempt);
    }
    let spared = faults.spared(claims);
    if !spared.is_empty() {
        text +=
            "\n### Claims without a fault\n\n| claim | why no fault breaks it |\n| --- | --- |\n";
    }
    for (id, why) in spared {
        let why = why.unwrap_or("**no reason is given**");
        text += &markdown::row([&*link(id), why]);
    }
    for fault in faults.faults.iter().filter(|fault| fault.is_everywhere) {
        text += &in_spite_of(fault, attempts);
    }
    text
}

fn row(attempt: &Attempt<'_>) -> String {
    let broken = attempt.broken();
    let count = format!("{} of {}", broken.len(), attempt.judgements.len());
    let first = broken.first().map(|one| {
        let [band, measured] = [words::band(one.expectation), words::measured(one)];
        [one.expectation.what.clone(), band, measured]
    });
    let [what, band, measured] =
        first.unwrap_or_else(|| ["**nothing**".to_owned(), String::new(), String::new()]);
    let (id, fault) = (&attempt.claim.id, &attempt.fault.name);
    markdown::row([&link(id), fault, &count, &what, &band, &measured])
}

/// A link to the claim's results.
fn link(id: &str) -> String {
    format!("[{id}](claims.md#{id})")
}

/// The claims that hold with a fault that is tried on all claims.
fn in_spite_of(fault: &Fault, attempts: &[Attempt<'_>]) -> String {
    let of_fault = attempts.iter().filter(|of| of.fault.name == fault.name);
    let (hold, break_): (Vec<_>, Vec<_>) = of_fault.partition(|of| of.is_survived());
    let ids = hold.iter().map(|of| of.claim.id.as_str());
    let ids: Vec<&str> = ids.collect();
    format!(
        "\n### Claims that hold with the fault {}\n\nOf {} claims that it concerns, {} break. These hold: {}.\n",
        fault.name,
        hold.len() + break_.len(),
        break_.len(),
        ids.join(", ")
    )
}
