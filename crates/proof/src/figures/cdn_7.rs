//! CDN, figure 7: a drawing of its testbed.

use super::runs::{self, StudyRun};
use super::testbed::FOREGROUND;
use super::{After, CDN, Figure, transfers};
use draw::{Axis, BLUE, Chart, Colour, Drawing, GREEN, Node, PURPLE, Picture, VERMILLION};
use scenario::NamedLink;
use studies::runs::Findings;

pub const FIGURE: Figure = Figure::new(
    "cdn-7-testbed",
    "The testbed: three patterns of traffic from one machine over a shared link",
    After::Figure(CDN, 7),
    draw,
);

/// The middle and the width of each column: the machine, the shared link, the link of a pattern, its receiver.
const COLUMNS: [(f64, f64); 4] = [(0.1, 0.17), (0.35, 0.2), (0.61, 0.2), (0.87, 0.24)];

/// The machine and the shared link, then a row for each link behind it with its receiver.
fn draw(findings: &[Findings]) -> Picture {
    let seen: Vec<StudyRun<'_>> = runs::all(runs::of_first(findings)).collect();
    let links = seen.first().map(|seen| &seen.record().scenario.links[..]);
    let Some((shared, lines)) = links.and_then(<[NamedLink]>::split_first) else {
        return Picture::of("", 1, 0.0, []);
    };
    let controllers = runs::values(runs::of_first(findings), FOREGROUND);
    let rows = lines.len().max(1) as f64;
    let node = |column: usize, (y, high): (f64, f64), lines: Vec<String>, colour: Colour| {
        let (x, wide) = COLUMNS[column];
        let (at, size) = ((x, y), (wide, high));
        Node {
            at,
            size,
            lines,
            colour,
        }
    };
    let arrow = |from: usize, (y, to_y): (f64, f64)| {
        let ((left, left_wide), (right, right_wide)) = (COLUMNS[from], COLUMNS[from + 1]);
        let ends = (left + left_wide / 2.0, right - right_wide / 2.0);
        ((ends.0, y), (ends.1, to_y))
    };
    let machine = vec!["Cache".into(), "paced by FQ".into()];
    let mut drawing = Drawing::default();
    drawing.nodes.extend([
        node(0, (0.5, 0.3), machine, GREEN),
        node(1, (0.5, 0.3), settings("Shared link", shared), BLUE),
    ]);
    drawing.arrows.push(arrow(0, (0.5, 0.5)));
    for (row, link) in (0..).zip(lines) {
        let y = 1.0 - (f64::from(row) + 0.5) / rows;
        let high = 0.78 / rows;
        let mut gets = vec![title(&link.to.to_string()), "median object:".into()];
        gets.extend(controllers.iter().map(|of| measured(&seen, of, link)));
        let colour = if row == 0 { VERMILLION } else { PURPLE };
        drawing.nodes.extend([
            node(2, (y, high), settings("Path", link), BLUE),
            node(3, (y, high), gets, colour),
        ]);
        drawing
            .arrows
            .extend([arrow(1, (0.5, y)), arrow(2, (y, y))]);
    }
    let chart = Chart::new(Axis::blank(), Axis::blank()).with(drawing);
    Picture::of("", 1, 130.0 * rows, [chart])
}

/// The settings of a link, one a line.
fn settings(name: &str, link: &NamedLink) -> Vec<String> {
    let settings = report::describe(&link.path);
    let lines = settings.split(", ").map(str::to_owned);
    std::iter::once(name.to_owned()).chain(lines).collect()
}

/// The throughput of the median object behind a link, in the median run: `bbr1 91 Mbit/s`.
fn measured(seen: &[StudyRun<'_>], controller: &str, link: &NamedLink) -> String {
    let of_it = seen
        .iter()
        .filter(|seen| seen.value(FOREGROUND) == controller);
    let medians = of_it.map(|seen| {
        let groups = &seen.record().scenario.flows;
        let is_behind = |group: usize| {
            let to = groups.get(group).and_then(|flow| flow.to.as_ref());
            to == Some(&link.to)
        };
        let objects = transfers::of_groups(seen, is_behind);
        runs::median(objects.iter().map(transfers::Arrived::throughput))
    });
    format!("{controller} {:.0} Mbit/s", runs::median(medians))
}

/// The name of a site as a title: `Other sites`.
fn title(site: &str) -> String {
    let words = site.replace('-', " ");
    let (first, rest) = words.split_at(words.chars().next().map_or(0, char::len_utf8));
    first.to_uppercase() + rest
}
