//! Advice as an HTML page.

use askama::Template;
use draw::{Axis, Chart, Curve, Dash, Look, Mark, Picture, Rule, Unit, cdf};

use ::advise::{Advice, Case, Choice, Company, Goal, Outcome, Range, amounts, short, words};

use super::table;
use record::Dimension;
use report::Table;
use report::page::{Origin, PLAIN, Page};

/// The part of the page between header and footer.
#[derive(Template)]
#[template(path = "advise.html")]
struct Body {
    goals: Vec<OfGoal>,
    candidates: Table,
    columns: String,
    pictures: Vec<String>,
}

/// The part of the page about one goal.
struct OfGoal {
    headline: String,
    sentences: Vec<String>,
    rivals: Option<Table>,
}

/// The advice as one self-contained page, with this goal first. `runs` is the number of runs; `facts` are further
/// remarks on them.
pub fn page(
    advice: &Advice<'_>,
    goal: Goal,
    runs: usize,
    facts: &[String],
    origin: &Origin,
) -> String {
    let mut choices: Vec<_> = advice.choices.iter().collect();
    choices.sort_by_key(|choice| choice.goal != goal);
    let of_goal = |choice: &Choice| OfGoal {
        headline: words::headline(advice, choice),
        sentences: words::sentences(advice, choice),
        rivals: table::rivals(choice),
    };
    let choice = advice.of(goal);
    let source = first_run(advice, choice.place);
    let named = format!(
        "The first of the paths, {} beside CUBIC: saved as path.toml, it runs again by fullpipe run path.toml",
        choice.choice
    );
    let about = format!(
        "{}; {}",
        advice.sampling.path,
        words::runs(advice.sampling, runs)
    );
    let page = Page {
        title: "Which controller",
        about: &about,
        body: Body {
            goals: choices.into_iter().map(of_goal).collect(),
            candidates: table::candidates(advice),
            columns: words::sentence(words::COLUMNS),
            pictures: pictures(advice).iter().map(Picture::html).collect(),
        },
        facts,
        source: Some((&named, &source)),
        style: include_str!("../../assets/advise.css"),
        script: PLAIN,
        data: &(),
        origin,
    };
    page.html()
}

/// The scenario of the candidate beside CUBIC on the first path with outcomes.
fn first_run(advice: &Advice<'_>, candidate: usize) -> String {
    let paths = 0..advice.outcomes.paths();
    let mut known = paths.filter(|path| advice.outcomes.of(*path, candidate).is_some());
    let case = Case {
        path: known.next().unwrap_or_default(),
        controller: advice.outcomes.controllers()[candidate],
        company: Company::Cubic,
    };
    advice.sampling.scenario(&case).to_string()
}

/// A quantity of an outcome, as it is drawn.
struct Drawn {
    title: &'static str,
    axis: &'static str,
    unit: Unit,
    rule: Option<(f64, &'static str)>,
    of: fn(&Outcome) -> Option<f64>,
}

const DRAWN: [Drawn; 4] = [
    Drawn {
        title: "Goodput with the path to itself",
        axis: "Share of what the path allows",
        unit: Unit::NONE,
        rule: None,
        of: |of| of.alone.limit_share,
    },
    Drawn {
        title: "Goodput beside a CUBIC flow",
        axis: "Share of the fair share",
        unit: Unit::NONE,
        rule: Some((1.0, "fair")),
        of: |of| of.beside_cubic.fair_share,
    },
    Drawn {
        title: "What the CUBIC flow keeps",
        axis: "Of its goodput beside another CUBIC flow",
        unit: Unit::NONE,
        rule: Some((1.0, "as beside CUBIC")),
        of: |of| of.beside_cubic.neighbour_goodput,
    },
    Drawn {
        title: "Small requests beside two flows of one's own",
        axis: "Time of a request, 95th percentile",
        unit: Unit::MILLISECONDS,
        rule: None,
        of: |of| Some(of.beside_itself.request_p95_ms).filter(|time| time.is_finite()),
    },
];

/// One picture for each range, with the quantities over its values. Without ranges, the distributions over the seeds.
fn pictures(advice: &Advice<'_>) -> Vec<Picture> {
    let ranges = &advice.sampling.ranges;
    if ranges.is_empty() {
        return vec![picture(
            "Over the seeds",
            DRAWN.iter().map(|drawn| distribution(advice, drawn)),
        )];
    }
    let over = |(place, range): (usize, &Range)| {
        let field = short(&range.field);
        let charts = DRAWN
            .iter()
            .filter_map(|drawn| along(advice, drawn, place, field));
        picture(
            &format!("Over {field}: {} to {}", range.from, range.to),
            charts,
        )
    };
    ranges.iter().enumerate().map(over).collect()
}

fn picture(title: &str, charts: impl Iterator<Item = Chart>) -> Picture {
    let picture = Picture::of(title, 2, 300.0, charts);
    picture.explained("Each mark is one sampled path. On each of them, all candidates have the same path and the same seed.")
}

/// The candidates' indices, names and looks. Each has marks of its own.
fn looks(advice: &Advice<'_>) -> Vec<(usize, &'static str, Look)> {
    let names: Vec<&str> = advice
        .outcomes
        .controllers()
        .iter()
        .map(|of| of.name())
        .collect();
    let looks = report::places(&names).into_iter().map(|place| {
        let Look { colour, .. } = Look::of_place(place);
        Look::line(colour, Dash::None).marked(Mark::of_place(place))
    });
    let named = names.into_iter().zip(looks).enumerate();
    named
        .map(|(place, (name, look))| (place, name, look))
        .collect()
}

/// The quantity of each candidate over the values of a range.
fn along(advice: &Advice<'_>, drawn: &Drawn, range: usize, field: &str) -> Option<Chart> {
    let sampled = &advice.sampling.sampled;
    let texts = sampled.iter().filter_map(|of| of.values.get(range));
    let (unit, values) = amounts(texts.map(String::as_str))?;
    let (unit, scale) = scaled(unit);
    let values: Vec<f64> = values.iter().map(|value| value * scale).collect();
    let mut heights = Vec::new();
    let mut curves = Vec::new();
    for (candidate, name, look) in looks(advice) {
        let point = |(path, x): (usize, &f64)| {
            Some((*x, (drawn.of)(advice.outcomes.of(path, candidate)?)?))
        };
        let points: Vec<(f64, f64)> = values.iter().enumerate().filter_map(point).collect();
        heights.extend(points.iter().map(|(_, y)| *y));
        curves.push(Curve::new(name, look, points));
    }
    let chart = Chart::new(
        across(field, unit, &values),
        Axis::from_zero(drawn.axis, drawn.unit, heights),
    );
    Some(ruled(chart, drawn).with_all(curves))
}

/// The distribution of the quantity of each candidate.
fn distribution(advice: &Advice<'_>, drawn: &Drawn) -> Chart {
    let mut all = Vec::new();
    let mut curves = Vec::new();
    for (candidate, name, look) in looks(advice) {
        let values: Vec<f64> = advice
            .outcomes
            .all_of(candidate)
            .filter_map(drawn.of)
            .collect();
        all.extend(values.iter().copied());
        let look = Look {
            mark: None,
            dash: Dash::Solid,
            ..look
        };
        curves.push(Curve::new(name, look, cdf(values)));
    }
    let chart = Chart::new(
        Axis::from_zero(drawn.axis, drawn.unit, all),
        Axis::linear("Share of the runs", Unit::NONE, 0.0, 1.0),
    );
    chart.titled(drawn.title).with_all(curves)
}

fn ruled(chart: Chart, drawn: &Drawn) -> Chart {
    let chart = chart.titled(drawn.title);
    match drawn.rule {
        Some((at, name)) => chart.with(Rule::horizontal(at, name)),
        None => chart,
    }
}

/// The unit of a drawn axis, and the factor that converts values to it.
fn scaled(dimension: Dimension) -> (Unit, f64) {
    match dimension {
        Dimension::Rate => (Unit::MEGABITS_PER_SECOND, 1e-6),
        Dimension::Time => (Unit::MILLISECONDS, 1.0),
        Dimension::Size => (Unit::BYTES, 1.0),
        Dimension::Bdp => (Unit::BDP, 1.0),
        Dimension::Share => (Unit::PERCENT, 100.0),
        _ => (Unit::NONE, 1.0),
    }
}

/// The axis of a range's values: logarithmic if all are positive, otherwise linear from zero.
fn across(field: &str, unit: Unit, values: &[f64]) -> Axis {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(0.0, f64::max);
    if low > 0.0 {
        Axis::log(field, unit, low / 1.1, high * 1.1)
    } else {
        Axis::linear(field, unit, 0.0, high * 1.05)
    }
}
