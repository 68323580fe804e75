//! CDN, figure 7: a drawing of its testbed.

use super::runs::{self, StudyRun};
use super::{After, CDN, Figure, testbed};
use draw::{Axis, BLUE, Chart, Colour, Drawing, GREEN, Node, PURPLE, Picture, VERMILLION};
use studies::runs::Findings;

pub const FIGURE: Figure = Figure::new(
    "cdn-7-testbed",
    "The testbed: three paths, each between its own hosts",
    After::Figure(CDN, 7),
    draw,
)
.on(lab::EngineKind::ALL);

const LOSS: &str = "path.loss";

/// A row for each path: the sender, the emulated path, the receiver.
fn draw(findings: &[Findings]) -> Picture {
    let paths: Vec<StudyRun<'_>> = runs::all(runs::of_first(findings)).collect();
    let rows = paths.len().max(1) as f64;
    let mut drawing = Drawing::default();
    for (row, path) in (0..).zip(&paths) {
        let y = 1.0 - (f64::from(row) + 0.5) / rows;
        let high = 0.78 / rows;
        let node = |x, wide, lines: Vec<String>, colour: Colour| Node {
            at: (x, y),
            size: (wide, high),
            lines,
            colour,
        };
        let class = testbed::class(path);
        let receiver = match class {
            "to clients" => "Client",
            "between sites" => "Cache at another site",
            _ => "Cache of the same site",
        };
        let sends = vec!["Cache".into(), "bbr1 or cubic, paced by FQ".into()];
        let gets = vec![receiver.into(), measured(path)];
        drawing.nodes.extend([
            node(0.15, 0.27, sends, GREEN),
            node(0.5, 0.27, emulated(class, path), BLUE),
            node(0.85, 0.27, gets, if row == 0 { VERMILLION } else { PURPLE }),
        ]);
        drawing
            .arrows
            .extend([((0.285, y), (0.362, y)), ((0.635, y), (0.712, y))]);
    }
    let chart = Chart::new(Axis::blank(), Axis::blank()).with(drawing);
    Picture::of("", 1, 130.0 * rows, [chart])
}

/// The settings of the path.
fn emulated(class: &str, seen: &StudyRun<'_>) -> Vec<String> {
    let path = seen.path();
    let buffer = path.buffer_bytes.unwrap_or_default() as f64;
    vec![
        format!("Path {class}"),
        format!(
            "{}, RTprop {} ms",
            testbed::rate(seen.rate()),
            path.rtprop_ms
        ),
        format!("{} of buffer, {} loss", size(buffer), seen.value(LOSS)),
    ]
}

fn size(bytes: f64) -> String {
    match bytes {
        bytes if bytes >= 1e6 => format!("{:.0} MB", bytes / 1e6),
        bytes => format!("{:.0} kB", bytes / 1e3),
    }
}

/// The measurements of a transfer alone on the path.
fn measured(seen: &StudyRun<'_>) -> String {
    let flow = seen.flows().first();
    let goodput = flow.map_or(0.0, |flow| flow.goodput_bps as f64);
    let rtt = flow.and_then(|flow| flow.rtt_ms.min).unwrap_or(f64::NAN);
    let goodput = match goodput {
        goodput if goodput >= 1e9 => format!("{:.2} Gbit/s", goodput / 1e9),
        goodput => format!("{:.1} Mbit/s", goodput / 1e6),
    };
    format!("measured: {goodput}, {rtt:.1} ms")
}
