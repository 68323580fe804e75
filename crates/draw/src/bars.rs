//! Bars from zero.

use super::canvas::{Anchor, Canvas, Stroke};
use super::colours::BLACK;
use super::font::Letters;
use super::look::Look;
use super::names::Taken;
use super::place::Rect;
use super::plot::{Paint, Plot};

/// Bars of one kind: filled if the look's line is solid, else light inside.
#[derive(Debug, Clone)]
pub struct Bars {
    /// Its name in the legend.
    pub name: String,
    /// Its look.
    pub look: Look,
    /// The width of each bar, in units of x.
    pub width: f64,
    /// Their middles and heights.
    pub bars: Vec<(f64, f64)>,
    /// The formatter of the label at a bar's end, if there is one.
    pub label: Option<fn(f64) -> String>,
}

/// The distance between a bar's end and its label, as a share of the chart's height.
const LABEL_GAP_SHARE: f64 = 0.008;

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
            let away = LABEL_GAP_SHARE * plot.area.high;
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
