//! The results of the laboratory for people: tables, and a section of a document.

use experiment::verdict::{change, range};
use lab::EngineKind;
use report::{Marks, Table, below, markdown, sentences};
use tables::numbers::{count, known};

use crate::found::{Choice, Estimate, Found, MAX_SHORTFALL, MEASURES, OfNetwork, Real};
use crate::spec::Spec;

/// The marks around the section of an engine. A CDN whose lines share a link has a section of its own.
pub fn marks(engine: EngineKind, spec: &Spec) -> Marks {
    match engine {
        EngineKind::Linux => Marks("cdn-linux"),
        _ if !spec.shared.is_empty() => Marks("cdn-shared"),
        EngineKind::Sim | EngineKind::Quic => Marks("cdn"),
    }
}

/// All results, for a terminal of this width.
pub fn text(found: &Found, width: Option<usize>) -> String {
    if let Some(warning) = warning(found) {
        return below(
            &[format!("{}\n", about(found)), format!("{warning}\n")],
            Vec::new(),
            width,
        );
    }
    let tables = tables(found);
    let tables: Vec<String> = tables.iter().map(|(_, table)| table.lines(width)).collect();
    let mut parts = vec![
        format!("{}\n", about(found)),
        sentences([&found.verdict], width),
    ];
    parts.extend(tables);
    below(&parts, notes(found), width)
}

/// The section in Markdown. `origin` says how it was made.
pub fn section(found: &Found, origin: &str) -> String {
    if let Some(warning) = warning(found) {
        return format!(
            "{origin}\n\n{}\n\n> {warning}\n",
            markdown::line(&about(found))
        );
    }
    let tables = tables(found).into_iter();
    let tables: Vec<String> = tables
        .map(|(title, table)| format!("### {title}\n\n{}\n", table.markdown()))
        .collect();
    format!(
        "{origin}\n\n{}\n\n> {}\n\n{}{}\n",
        markdown::line(&about(found)),
        markdown::line(&found.verdict),
        tables.concat(),
        notes(found).join("\n\n")
    )
}

/// All tables with their titles.
fn tables(found: &Found) -> Vec<(&'static str, Table)> {
    let mut tables = vec![
        ("Throughput in each network", networks(found)),
        ("Small objects in each network", small(found)),
        ("All networks together", measures(found)),
    ];
    if shares(found) {
        tables.push((
            "Where lines share a link: the interference of the arms",
            shared(found),
        ));
    }
    tables.extend([
        ("The policy in each network", policy(found)),
        (
            "The policy and each single controller, everywhere",
            choices(&found.choices, "in force everywhere"),
        ),
    ]);
    let has_background = |network: &OfNetwork| network.background.iter().flatten().next().is_some();
    if found.networks.iter().any(has_background) {
        tables.push((
            "What the background traffic on the same lines delivers",
            background(found),
        ));
    }
    if found.real.is_none() {
        let title = "The policy on each draw of lines that were not in the study";
        let draws = (1..).zip(&found.draws).map(|(number, of)| Choice {
            name: format!("{}, draw {number}", of.name),
            ..of.clone()
        });
        tables.push((title, choices(&draws.collect::<Vec<_>>(), "draw")));
    }
    tables
}

/// The reason why no results are shown: in real time, the machine may not have kept up.
fn warning(found: &Found) -> Option<String> {
    found.real.as_ref()?.machine.warning()
}

fn about(found: &Found) -> String {
    format!(
        "{}, seed {}: a study of {} over {}; {} give the true effects",
        found.name,
        found.seed,
        count(found.connections, "connection"),
        count(found.lines as u64, "line"),
        count(found.runs_connections, "connection"),
    )
}

/// The throughput in each network: the truth and the study's estimate.
fn networks(found: &Found) -> Table {
    in_networks(found, "throughput over 3 MB in", |network| {
        &network.throughput
    })
}

/// The same for small objects.
fn small(found: &Found) -> Table {
    in_networks(found, "time below 10 kB in", |network| &network.small)
}

fn in_networks(found: &Found, heading: &str, told: fn(&OfNetwork) -> &[Estimate]) -> Table {
    let rows = found.networks.iter().flat_map(|network| {
        told(network).iter().map(|told| {
            let mut row = vec![
                network.name.clone(),
                network.kind.clone(),
                network.lines.to_string(),
            ];
            row.extend(beside(told));
            row
        })
    });
    let headings = [heading, "kind", "lines"];
    let mut table = Table::new(headings.into_iter().chain(BESIDE), rows);
    table.text = vec![0, 1, 3];
    table
}

/// The truth and the study's estimates over all networks.
fn measures(found: &Found) -> Table {
    let rows = found.measures.iter().map(|told| {
        let mut row = vec![told.measure.title().to_owned()];
        row.extend(beside(told));
        row
    });
    let mut table = Table::new(["in all networks"].into_iter().chain(BESIDE), rows);
    table.text = vec![0, 1];
    table
}

/// True if lines share a link.
fn shares(found: &Found) -> bool {
    found.networks.iter().any(|network| network.over.is_some())
}

/// Where lines share a link: the truth, and what studies of mixes tell instead.
fn shared(found: &Found) -> Table {
    let rows = found.networks.iter().flat_map(|network| {
        let told = network.throughput.iter().chain(&network.small);
        told.filter_map(|told| {
            Some(vec![
                network.name.clone(),
                network.over.clone()?,
                told.measure.title().to_owned(),
                told.controller.clone(),
                known(told.truth, change),
                known(told.mean, change),
                known(told.interference(), change),
            ])
        })
    });
    let headings = [
        "network",
        "shared link",
        "measure",
        "arm",
        "truth",
        "mean of the studies",
        "interference",
    ];
    let mut table = Table::new(headings, rows);
    table.text = vec![0, 1, 2, 3];
    table
}

const BESIDE: [&str; 6] = [
    "arm",
    "truth",
    "estimate",
    "interval",
    "covers truth",
    "in redraws",
];

fn beside(told: &Estimate) -> Vec<String> {
    let has = told.told.zip(told.truth);
    let has = has.map(|(effect, truth)| if effect.once.has(truth) { "yes" } else { "no" });
    let [covered, all] = told.covered;
    vec![
        told.controller.clone(),
        known(told.truth, change),
        known(told.told.map(|effect| effect.change), change),
        known(told.told.map(|effect| effect.once), range),
        has.unwrap_or("–").to_owned(),
        format!("{covered} of {all}"),
    ]
}

/// The policy's decision in each network, and its value.
fn policy(found: &Found) -> Table {
    let place = found.policy_place();
    let row = |network: &OfNetwork| {
        let [rule, controller] = &network.rule;
        let of_best = |choice: usize| known(network.of_best(choice), change);
        let small = network
            .changes
            .get(place)
            .and_then(|of| of.get(1).copied().flatten());
        let mut row = vec![network.name.clone(), rule.clone(), controller.clone()];
        row.extend((0..found.choices.len()).map(of_best));
        row.push(known(small, change));
        row
    };
    let mut headings = vec![
        "network".to_owned(),
        "rule".to_owned(),
        "controller".to_owned(),
    ];
    headings.extend(
        found
            .choices
            .iter()
            .map(|of| format!("{} against the best", of.name)),
    );
    headings.push("small objects' time".to_owned());
    let mut table = Table::new(headings, found.networks.iter().map(row));
    table.text = vec![0, 1, 2];
    table
}

/// The effect of each choice but the first on the background traffic.
fn background(found: &Found) -> Table {
    let networks = found.networks.iter();
    let rows = networks.filter_map(|network| {
        let changes = network.background.iter().skip(1);
        let row = changes.map(|of| of.map(change));
        let row: Option<Vec<_>> = row.collect();
        Some([vec![network.name.clone()], row?].concat())
    });
    let names = found.choices.iter().skip(1).map(|of| of.name.clone());
    let headings = ["bytes of the background traffic in".to_owned()].into_iter();
    let mut table = Table::new(headings.chain(names), rows);
    table.text = vec![0];
    table
}

/// The value of each choice.
fn choices(choices: &[Choice], heading: &str) -> Table {
    let row = |choice: &Choice| {
        let mut row = vec![choice.name.clone()];
        row.extend(choice.changes.iter().map(|of| known(*of, change)));
        row.push(match &choice.worst {
            Some((network, of_best)) => format!("{} ({network})", change(*of_best)),
            None => "–".to_owned(),
        });
        row
    };
    let headings = [heading.to_owned()].into_iter();
    let headings = headings.chain(MEASURES.iter().map(|measure| measure.title().to_owned()));
    let headings = headings.chain(["worst network, against its best".to_owned()]);
    Table::new(headings, choices.iter().map(row))
}

/// Notes for reading the tables.
fn notes(found: &Found) -> Vec<String> {
    let first = found.choices.first().map_or("", |choice| &choice.name);
    let redraws = &found.redraws;
    let worst = redraws.worst.map_or_else(String::new, |[median, worst]| {
        format!(
            " In its worst network, the median policy's throughput differs from the best controller's by {}, and the worst policy's by {}.",
            change(median),
            change(worst)
        )
    });
    let near = if redraws.worst.is_some() || !shares(found) {
        let some = if shares(found) {
            " whose lines share nothing"
        } else {
            ""
        };
        format!(
            " With {} of these policies, the throughput is within {:.0} % of the best controller's in each network{some}.{worst}",
            redraws.near_best,
            MAX_SHORTFALL * 100.0
        )
    } else {
        String::new()
    };
    let mut notes = vec![
        format!(
            "All effects are relative to {first}. Truth: each line ran with each arm, over the same path and with the same objects. \
             In the study, each line has only the arm that was drawn for it. Intervals are 95 % confidence intervals."
        ),
        format!(
            "In redraws: the arms of the same lines were drawn {} more times, and this many of the intervals contain the truth. {} of \
             these studies give a policy.{near}",
            redraws.studies,
            redraws.policies,
        ),
        match found.real {
            Some(_) => {
                "The policy was in force on the same lines, and clients fetched the same objects once more. The results include the client \
                 networks on which the policy explores. Small objects are those below 10 kB."
            }
            None => {
                "The policy was in force on lines of the same networks that were not in the study. They were drawn several times, with other paths, \
                 and other objects at other times. The results include the client networks on which the policy explores. Small objects are \
                 those below 10 kB."
            }
        }
        .to_owned(),
    ];
    if shares(found) {
        notes.push(format!(
            "Lines that share a link share its queue, so what one line sends changes the results of the others. For the truth, all of them have \
             the same arm. In a study by client network they have a mix of arms, and it compares lines that have the queue of the mix. \
             Interference is the relative difference between the mean of {} studies and the truth: what the arms do to each other. More \
             lines or more time do not reduce it. The truth is one run, so its own chance is in the difference, too. If all lines over \
             the link have the same arm in turns, with unit = \"slot\", a study compares nearly what the truth compares.",
            redraws.studies
        ));
    }
    notes.extend(found.real.as_ref().map(of_real));
    notes
}

/// The circumstances of a measurement in real time.
fn of_real(real: &Real) -> String {
    let Real {
        downloads,
        whole,
        looks,
        others,
        assigned: [assigned, refused],
        ..
    } = real;
    let mut note = format!(
        "In real time: {whole} of {} were complete according to curl, whose reports give the truth. The program in the kernel gave {} a \
         controller, and the kernel refused it {refused} times. The server's connections had the controller that was in force for \
         their client in {}, and another one in {others}",
        count(*downloads, "download"),
        count(*assigned, "connection"),
        count(looks - others, "inspection"),
    );
    if let Some(first) = &real.first_other {
        note += &format!(" ({first})");
    }
    format!("{note}. {}", real.machine.words())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::found::Redraws;
    use crate::machine::Machine;

    fn found(load: f64) -> Found {
        Found {
            name: "small".to_owned(),
            seed: 1,
            lines: 120,
            connections: 700,
            runs_connections: 2800,
            verdict: "Take bbr. +23.9 %".to_owned(),
            measures: Vec::new(),
            networks: Vec::new(),
            choices: Vec::new(),
            draws: Vec::new(),
            redraws: Redraws {
                studies: 100,
                policies: 100,
                near_best: 89,
                worst: None,
            },
            policy: String::new(),
            real: Some(Real {
                downloads: 2800,
                whole: 2800,
                looks: 5000,
                others: 0,
                first_other: None,
                assigned: [2800, 0],
                machine: Machine::of(Vec::new(), Some(load)),
            }),
        }
    }

    #[test]
    fn what_is_not_to_be_trusted_says_so_and_shows_no_number() {
        let (fine, late) = (found(0.1), found(1.5));
        for shown in [text(&fine, None), section(&fine, "Made by a test.")] {
            assert!(
                shown.contains("+23.9 %") && shown.contains("89 of these policies"),
                "{shown}"
            );
            assert!(shown.contains("was 0.10 before"), "{shown}");
        }
        for shown in [text(&late, None), section(&late, "Made by a test.")] {
            assert!(
                !shown.contains("+23.9 %") && !shown.contains("89 of these policies"),
                "{shown}"
            );
            let lines = shown
                .lines()
                .filter(|line| line.contains("Not to be trusted"));
            assert_eq!(lines.count(), 1, "{shown}");
        }
    }
}
