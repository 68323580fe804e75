//! An advice in sentences.

use super::advice::{Advice, Choice, Rival};
use super::goal::Goal;
use super::plan::Sampling;
use super::ranges::short;
use record::statistics::Spread;
use report::count;
use units::Duration;

/// What was run.
pub fn runs(sampling: &Sampling, runs: usize) -> String {
    let paths = sampling.sampled.len();
    let (one, of) = if sampling.ranges.is_empty() {
        ("seed", "of this path")
    } else {
        ("path", "from these ranges")
    };
    let paths = count(paths as u64, one);
    let (length, warmup) = (rounded(sampling.duration), rounded(sampling.warmup));
    format!(
        "{paths} {of}, {} of {length} (the first {warmup} do not count) in the simulator",
        count(runs as u64, "run"),
    )
}

fn rounded(span: Duration) -> String {
    report::span(span.as_millis_f64())
}

/// `choose bbr1 for throughput: …`.
pub fn headline(choice: &Choice) -> String {
    let Choice { goal, choice, .. } = choice;
    format!("choose {choice} for {goal}: {}", goal.meaning())
}

/// What else there is to say of it, a sentence each.
pub fn sentences(advice: &Advice<'_>, choice: &Choice) -> Vec<String> {
    let mut sentences = vec![sure(advice, choice)];
    let (dead, paths) = (advice.outcomes.dead(), advice.outcomes.paths());
    if dead > 0 {
        sentences.push(format!(
            "nothing arrives on {dead} of {paths} paths, whoever sends: they are left out"
        ));
    }
    sentences.extend(brief(advice.sampling));
    if choice.goal != Goal::Throughput {
        sentences.push(met(advice, choice));
    }
    sentences.push(harm(advice, choice));
    sentences.extend(
        choice
            .rivals
            .iter()
            .filter_map(|rival| decides(choice, rival)),
    );
    sentences
}

/// Nothing is longer than the time from one ProbeRTT to the next, and from one loss of CUBIC to the next.
const LONG: Duration = Duration::from_secs(10);

fn brief(sampling: &Sampling) -> Option<String> {
    (sampling.duration < LONG).then(|| {
        format!(
            "runs of {} do not show what takes longer, such as ProbeRTT and CUBIC's return after a loss; --duration {LONG} \
             does",
            rounded(sampling.duration)
        )
    })
}

fn sure(advice: &Advice<'_>, choice: &Choice) -> String {
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
    if advice.outcomes.known() == 1 && advice.outcomes.controllers().len() > 1 {
        return "not sure: one path says nothing of chance; give --paths 8 or more".into();
    }
    match (clear.len(), unclear.len()) {
        (0, 0) if advice.outcomes.controllers().len() > 1 => {
            format!("sure: no other candidate does what is asked for than {name}")
        }
        (0, 0) => format!("there is no other candidate than {name}"),
        (_, 0) => format!("sure: {name} is clearly better than {}", names(&clear)),
        (0, _) => format!("not sure: no clear difference from {}", names(&unclear)),
        _ => format!(
            "partly sure: {name} is clearly better than {}; no clear difference from {}",
            names(&clear),
            names(&unclear)
        ),
    }
}

fn met(advice: &Advice<'_>, choice: &Choice) -> String {
    let (name, on, of) = (choice.choice, choice.met_on, advice.outcomes.known());
    let nobody = if choice.is_met {
        ""
    } else {
        "none of the candidates does what this asks for; "
    };
    format!("{nobody}{name} does on {on} of {of} paths what this asks for")
}

fn harm(advice: &Advice<'_>, choice: &Choice) -> String {
    let name = choice.choice;
    if name == "cubic" {
        return "harm: none, as harm is what a CUBIC flow has less than beside another CUBIC flow"
            .into();
    }
    let place = choice.place;
    let goodput = advice.spread(place, |of| of.beside_cubic.neighbour_goodput);
    let delay = advice.spread(place, |of| of.beside_cubic.neighbour_rtt_p95);
    format!(
        "harm: beside {name}, a CUBIC flow has {} times the goodput, and {} times the round-trip time (95th percentile), \
         that it has beside another CUBIC flow",
        spread(goodput),
        spread(delay)
    )
}

/// `0.55 (0.21 to 0.83)`.
pub fn spread(of: Option<Spread>) -> String {
    of.map_or("–".into(), |Spread { median, min, max }| {
        format!("{median:.2} ({min:.2} to {max:.2})")
    })
}

fn decides(choice: &Choice, rival: &Rival) -> Option<String> {
    let of = rival.gain.decides.as_ref()?;
    let field = short(&of.field);
    Some(format!(
        "measure {field}: up to {} {} has {:.2} times {}'s {}, above it {:.2} times",
        of.at,
        choice.choice,
        of.below,
        rival.controller,
        choice.goal.measured(),
        of.above
    ))
}

/// What to choose for the other goals: `latency: bbr3; fair: cubic`.
pub fn others(advice: &Advice<'_>, goal: Goal) -> String {
    let others = advice.choices.iter().filter(|choice| choice.goal != goal);
    let others = others.map(|choice| format!("for {}, {}", choice.goal, choice.choice));
    format!(
        "with other goals: {}",
        others.collect::<Vec<_>>().join("; ")
    )
}
