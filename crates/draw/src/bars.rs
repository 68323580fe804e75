//! Bars from zero.

use super::canvas::{Anchor, Canvas, Stroke};
use super::colours::BLACK;
use super::font::Letters;
use super::look::Look;
use super::names::Taken;
use super::place::Rect;
use super::plot::{Paint, Plot};

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

impl Paint for Bars {
    fn paint(&self, canvas: &mut Canvas, plot: &Plot<'_>, taken: &mut Taken) {
        let half = self.width / 2.0;
        for (at, value) in self.bars.iter().filter(|(_, value)| value.is_finite()) {
            let ends = [(at - half, 0.0), (at + half, *value)];
            let [(left, base), (right, end)] = ends.map(|end| plot.area.nearest(plot.at(end)));
            let outline = [(left, base), (left, end), (right, end), (right, base)];
            canvas.fill(outline, self.look.ground());
            canvas.line(outline, Stroke::new(self.look.colour, 1.2));
            taken.rect(Rect::between((left, base), (right, end)));
            let Some(label) = self.label else { continue };
            let away = AWAY * plot.area.high;
            let (side, y) = if end <= base {
                (Anchor::End, end - away)
            } else {
                (Anchor::Start, end + away)
            };
            let at = ((left + right) / 2.0, y);
            let letters = Letters::new(10.5, BLACK);
            canvas.text(&label(*value), at, [Anchor::Middle, side], letters);
        }
    }
}
