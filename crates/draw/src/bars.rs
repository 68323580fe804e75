//! Bars from zero.

use super::canvas::{Anchor, Canvas, Stroke};
use super::font::Letters;
use super::look::{BLACK, Look};
use super::names::Taken;
use super::plot::Plot;

/// Bars of one kind: full if the look's line is solid, else with a light heart.
#[derive(Debug, Clone)]
pub struct Bars {
    /// What the legend calls them.
    pub name: String,
    /// What they look like.
    pub look: Look,
    /// How wide each of them is, in units of x.
    pub width: f64,
    /// Their middles and heights.
    pub bars: Vec<(f64, f64)>,
    /// How a bar's height is written at its end, if it is.
    pub label: Option<fn(f64) -> String>,
}

/// From a bar's end to its label, as a share of the chart's height.
const AWAY: f64 = 0.008;

impl Bars {
    /// The corners of those that have a height: where a bar begins, and where it ends.
    fn corners(&self) -> impl Iterator<Item = [(f64, f64); 2]> {
        let known = self.bars.iter().filter(|(_, value)| value.is_finite());
        let half = self.width / 2.0;
        known.map(move |(at, value)| [(at - half, 0.0), (at + half, *value)])
    }

    pub(super) fn paint(&self, canvas: &mut Canvas, plot: &Plot<'_>) {
        for [from, to] in self.corners() {
            let [(left, base), (right, end)] =
                [from, to].map(|corner| plot.area.nearest(plot.at(corner)));
            let outline = [(left, base), (left, end), (right, end), (right, base)];
            canvas.fill(outline, self.look.ground());
            canvas.line(outline, Stroke::new(self.look.colour, 1.2));
            if let Some(label) = self.label {
                let away = AWAY * plot.area.high;
                let (side, y) = if end <= base {
                    (Anchor::End, end - away)
                } else {
                    (Anchor::Start, end + away)
                };
                let at = ((left + right) / 2.0, y);
                let letters = Letters::new(10.5, BLACK);
                canvas.text(&label(to.1), at, [Anchor::Middle, side], letters);
            }
        }
    }

    pub(super) fn take(&self, taken: &mut Taken, plot: &Plot<'_>) {
        for [from, to] in self.corners() {
            taken.rect(plot.rect(from, to));
        }
    }
}
