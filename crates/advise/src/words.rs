//! Advice in sentences.

use super::advice::{Advice, Choice, MIN_UNHURT_SHARE, Rival};
use super::goal::Goal;
use super::outcome::Outcomes;
use super::plan::Sampling;
use super::ranges::short;
use path::Loss;
use tables::numbers;
use tables::numbers::count;
use tables::statistics::Spread;
use units::Duration;

/// Describes the runs.
pub fn runs(sampling: &Sampling, runs: usize) -> String {
    let paths = sampling.sampled.len();
    let (one, of) = if sampling.ranges.is_empty() {
        ("seed", "of this path")
    } else {
        ("path", "from these ranges")
    };
    let paths = count(paths as u64, one);
    let (length, warmup) = (rounded(sampling.duration), rounded(sampling.warmup));
    let long = if sampling.is_much() {
        format!(
            "; about {:.0} million packets take longer than usual",
            sampling.packets / 1e6
        )
    } else {
        String::new()
    };
    format!(
        "{paths} {of}, {} of {length} (the first {warmup} do not count) in the simulator{long}",
        count(runs as u64, "run"),
    )
}

fn rounded(span: Duration) -> String {
    numbers::span(span.as_millis_f64())
}

/// `choose bbr1 for throughput: the most goodput, …`, and what a CUBIC neighbour keeps. [`harm`] explains the numbers.
pub fn headline(advice: &Advice<'_>, of: &Choice) -> String {
    let Choice { goal, choice, .. } = of;
    let unmet = if of.is_met {
        ""
    } else {
        "no candidate meets the requirement: "
    };
    format!(
        "choose {choice} for {goal}: {unmet}{}{}",
        goal.meaning(),
        cost(advice, of)
    )
}

/// What a CUBIC neighbour of the choice keeps, if that is not all.
fn cost(advice: &Advice<'_>, choice: &Choice) -> String {
    let (goodput, is_late) = hurt(advice, choice);
    let kept = goodput.map(|kept| {
        let share = if kept.median < MIN_UNHURT_SHARE {
            format!("{:.2}", kept.median)
        } else {
            format!("as little as {:.2}", kept.min)
        };
        format!("keeps {share} of the goodput that it has beside another CUBIC flow")
    });
    let late = is_late.then(|| "has longer round-trip times".to_owned());
    let parts: Vec<String> = late.into_iter().chain(kept).collect();
    if parts.is_empty() {
        return String::new();
    }
    format!("; beside it, a CUBIC neighbour {}", parts.join(", and "))
}

/// A CUBIC neighbour whose RTT grows no more than this is not delayed. One that keeps less than this share of its
/// goodput on any path is hurt.
const MAX_UNDELAYED_RATIO: f64 = 1.05;
const MIN_GOODPUT_SHARE: f64 = 0.7;

/// The shares of its goodput that a CUBIC neighbour keeps, if it loses goodput, and whether its round-trip times are longer.
fn hurt(advice: &Advice<'_>, choice: &Choice) -> (Option<Spread>, bool) {
    let (goodput, delay) = harmed(advice, choice);
    let is_hurt = |kept: &Spread| kept.median < MIN_UNHURT_SHARE || kept.min < MIN_GOODPUT_SHARE;
    (
        goodput.filter(is_hurt),
        delay.is_some_and(|of| of.median > MAX_UNDELAYED_RATIO),
    )
}

/// The words with a capital first letter.
pub fn capital(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(|first| first.to_uppercase());
    let first = first.into_iter().flatten();
    first.chain(letters).collect()
}

/// The words as a sentence.
pub fn sentence(words: &str) -> String {
    capital(words) + "."
}

/// The explanation of the columns of the candidates' table.
pub const COLUMNS: &str = "medians over the sampled paths. of limit: share of what the path allows. beside CUBIC: share of a fair share \
     beside a CUBIC flow. CUBIC keeps, CUBIC's RTT: what this CUBIC flow has, over what it has beside another CUBIC flow. Jain: how \
     evenly two flows of the candidate share (1 is evenly). requests p95: time of a request for 30 kB beside these two flows, 95th \
     percentile";

/// The goodput and the round-trip time of a CUBIC neighbour, over those beside another CUBIC flow.
fn harmed(advice: &Advice<'_>, choice: &Choice) -> (Option<Spread>, Option<Spread>) {
    let goodput = advice.spread(choice.place, |of| of.beside_cubic.neighbour_goodput);
    let delay = advice.spread(choice.place, |of| of.beside_cubic.neighbour_rtt_p95);
    (goodput, delay)
}

/// Further sentences about the choice.
pub fn sentences(advice: &Advice<'_>, choice: &Choice) -> Vec<String> {
    let mut sentences = vec![sure(advice, choice)];
    if is_of_one_path(advice) {
        sentences[0] += "; give --paths 8 or more";
    }
    let (dead, paths) = (advice.outcomes.dead(), advice.outcomes.paths());
    if dead > 0 {
        sentences.push(format!(
            "no data arrives on {dead} of {paths} paths, with any candidate: they are left out"
        ));
    }
    if choice.goal != Goal::Throughput {
        sentences.push(met(advice, choice));
    }
    sentences.push(format!("harm: {}", harm(advice, choice)));
    if let (Goal::Throughput, (Some(_), _)) = (choice.goal, hurt(advice, choice)) {
        sentences.push(format!(
            "goodput beside CUBIC is a part of this goal, so that what {} takes from CUBIC counts as a gain",
            choice.choice
        ));
    }
    sentences.extend(measures(choice));
    sentences
}

/// How sure the choice is. It is never sure about effects that take longer than the runs.
pub fn sure(advice: &Advice<'_>, choice: &Choice) -> String {
    let (how, why) = compared(advice, choice);
    let sampling = advice.sampling;
    if !sampling.is_brief() {
        return format!("{how}{why}");
    }
    format!(
        "not sure: runs of {} do not show slower effects, such as ProbeRTT and CUBIC's recovery after a loss; runs of \
         {} do. In these runs, {why}",
        rounded(sampling.duration),
        sampling.horizon(),
    )
}

/// How sure the choice is within these runs, and why.
fn compared(advice: &Advice<'_>, choice: &Choice) -> (&'static str, String) {
    let name = choice.choice;
    let rivals = choice
        .rivals
        .iter()
        .filter(|rival| rival.is_met == choice.is_met);
    let (clear, unclear): (Vec<&Rival>, Vec<&Rival>) =
        rivals.partition(|rival| rival.gain.is_clear);
    let names = |rivals: &[&Rival]| {
        let names = rivals.iter().map(|rival| rival.controller);
        names.collect::<Vec<_>>().join(", ")
    };
    if is_of_one_path(advice) {
        let why = "one path does not show the effect of chance";
        return ("not sure: ", why.into());
    }
    let better = format!("{name} is clearly better than {}", names(&clear));
    let equal = format!("no clear difference from {}", names(&unclear));
    match (clear.len(), unclear.len()) {
        (0, 0) if advice.outcomes.controllers().len() > 1 => {
            let why = format!("{name} is the only candidate that meets the requirement");
            ("sure: ", why)
        }
        (0, 0) => ("", format!("there is no other candidate than {name}")),
        (_, 0) => ("sure: ", better),
        (0, _) => ("not sure: ", equal),
        _ => ("partly sure: ", format!("{better}; {equal}")),
    }
}

/// Whether candidates are compared on one path alone.
pub fn is_of_one_path(advice: &Advice<'_>) -> bool {
    advice.outcomes.known() == 1 && advice.outcomes.controllers().len() > 1
}

/// Explains why there is no advice.
pub fn nothing(outcomes: &Outcomes, sampling: &Sampling) -> String {
    if outcomes.dead() == 0 {
        return "there is no path on which all runs ended".into();
    }
    let links = sampling.sampled.iter();
    let mut links = links.flat_map(|of| {
        let path = &of.scenario.path;
        [&path.data.effects.loss, &path.uplink.effects.loss]
    });
    let less = if links.any(|loss| *loss != Loss::NONE) {
        ", or less loss"
    } else {
        ""
    };
    format!(
        "no data arrived, with any candidate, so there is no advice; give longer runs than {}{less}",
        sampling.duration
    )
}

fn met(advice: &Advice<'_>, choice: &Choice) -> String {
    let (name, on, of) = (choice.choice, choice.met_on, advice.outcomes.known());
    let nobody = if choice.is_met {
        ""
    } else {
        "no candidate meets the requirement; "
    };
    format!("{nobody}{name} meets the requirement on {on} of {of} paths")
}

/// The harm that the choice does to a CUBIC neighbour, with an explanation of the numbers.
pub fn harm(advice: &Advice<'_>, choice: &Choice) -> String {
    let name = choice.choice;
    if name == "cubic" {
        return "none, because harm is the loss of a CUBIC flow compared with another CUBIC flow as its neighbour"
            .into();
    }
    let (goodput, delay) = harmed(advice, choice);
    let (less, later) = (spread(goodput), spread(delay));
    let little = match hurt(advice, choice) {
        (None, false) => "little; ",
        _ => "",
    };
    let range = if advice.outcomes.known() > 1 {
        "; in parentheses, the least and the most of the paths"
    } else {
        ""
    };
    format!(
        "{little}beside {name}, a CUBIC flow has {less} times the goodput, and {later} times the round-trip time (95th \
         percentile), that it has beside another CUBIC flow (medians over the paths{range})",
    )
}

/// The median with the least and the greatest value: `0.55 (0.21 to 0.83)`.
pub fn spread(of: Option<Spread>) -> String {
    of.map_or("–".into(), |Spread { median, min, max }| {
        format!("{median:.2} ({min:.2} to {max:.2})")
    })
}

/// The ranges that decide the choice. Measuring them improves the advice. A sentence for each range says what it
/// changes for each candidate that it decides about.
pub fn measures(choice: &Choice) -> Vec<String> {
    let mut ranges: Vec<(&str, Vec<String>)> = Vec::new();
    for rival in &choice.rivals {
        let Some(of) = &rival.gain.decides else {
            continue;
        };
        let change = format!(
            "up to {} {:.2} times {}'s, above it {:.2} times",
            of.at, of.below, rival.controller, of.above
        );
        let field = short(&of.field);
        match ranges.iter_mut().find(|(known, _)| *known == field) {
            Some((_, changes)) => changes.push(change),
            None => ranges.push((field, vec![change])),
        }
    }
    let (name, measured) = (choice.choice, choice.goal.measured());
    let told = ranges.iter().map(|(field, changes)| {
        let changes = changes.join("; ");
        format!("measure {field}: the {measured} of {name} is {changes}")
    });
    told.collect()
}

/// The choices for the other goals: `latency: bbr3; fair: cubic`.
pub fn others(advice: &Advice<'_>, goal: Goal) -> String {
    let others = advice.choices.iter().filter(|choice| choice.goal != goal);
    let others = others.map(|choice| format!("for {}, {}", choice.goal, choice.choice));
    format!(
        "with other goals: {}",
        others.collect::<Vec<_>>().join("; ")
    )
}
