//! Bars from zero.

use super::canvas::{Anchor, Canvas, Shape, Stroke};
use super::colours::{BLACK, WHITE};
use super::font::Letters;
use super::look::Look;
use super::names::Taken;
use super::place::{Point, Rect};
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

/// The size of a label, in pixels.
const LABEL_SIZE: f64 = 10.5;

/// The most that a level label takes, in widths of its bar.
const MAX_LABEL_WIDTH: f64 = 1.6;

impl Bars {
    /// The value of each bar, and two corners of it: the left one of its base, and the right one of its end.
    fn corners(&self, plot: &Plot<'_>) -> impl Iterator<Item = (f64, [Point; 2])> {
        let half = self.width / 2.0;
        let bars = self.bars.iter().filter(|(_, value)| value.is_finite());
        bars.map(move |(at, value)| {
            let ends = [(at - half, 0.0), (at + half, *value)];
            (*value, ends.map(|end| plot.area.nearest(plot.at(end))))
        })
    }
}

impl Paint for Bars {
    fn paint(&self, canvas: &mut Canvas, plot: &Plot<'_>, taken: &mut Taken) {
        for (_, [(left, base), (right, end)]) in self.corners(plot) {
            let outline = [(left, base), (left, end), (right, end), (right, base)];
            canvas.fill(outline, self.look.ground());
            canvas.line(outline, Stroke::new(self.look.colour, 1.2));
            taken.rect(Rect::between((left, base), (right, end)));
        }
    }

    /// Draws the labels, on backgrounds of their own, as reference lines may cross them. They are upright if they are much
    /// wider than the bars.
    fn name(&self, canvas: &mut Canvas, plot: &Plot<'_>, taken: &mut Taken) {
        let Some(label) = self.label else { return };
        let letters = Letters::new(LABEL_SIZE, BLACK);
        let away = LABEL_GAP_SHARE * plot.area.high;
        let bars = self.corners(plot).map(|(value, corners)| {
            let label = label(value);
            (letters.room(&label), label, corners)
        });
        let bars: Vec<_> = bars.collect();
        let is_upright = bars
            .iter()
            .any(|(room, _, [(left, _), (right, _)])| *room > (right - left) * MAX_LABEL_WIDTH);
        for (room, label, [(left, base), (right, end)]) in bars {
            let (wide, high) = if is_upright {
                (LABEL_SIZE, room)
            } else {
                (room, LABEL_SIZE)
            };
            let is_above = end <= base;
            let middle = (left + right) / 2.0;
            let spot = Rect {
                left: middle - wide / 2.0,
                top: if is_above {
                    end - away - high
                } else {
                    end + away
                },
                wide,
                high,
            };
            canvas
                .shapes
                .push(Shape::Area(spot.corners().into(), WHITE, 0.9));
            taken.rect(spot);
            let at = (middle, if is_above { spot.bottom() } else { spot.top });
            match (is_upright, is_above) {
                (true, true) => {
                    canvas.upright_text(&label, at, [Anchor::Start, Anchor::Middle], letters)
                }
                (true, false) => {
                    canvas.upright_text(&label, at, [Anchor::End, Anchor::Middle], letters)
                }
                (false, true) => canvas.text(&label, at, [Anchor::Middle, Anchor::End], letters),
                (false, false) => canvas.text(&label, at, [Anchor::Middle, Anchor::Start], letters),
            }
        }
    }
}
