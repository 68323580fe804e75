//! Reference lines.

use super::canvas::{Anchor, Canvas, Shape, Stroke};
use super::colours::{GREY, NAME, WHITE};
use super::font::Letters;
use super::names::Taken;
use super::place::{Point, Rect};
use super::plot::{Paint, Plot};

/// The height of a name, its distance from the line, and the most that it may extend beyond the chart, in pixels.
const NAME_HEIGHT: f64 = 15.0;
const GAP: f64 = 4.0;
const MAX_OVERHANG: f64 = 20.0;
/// The distance between rows of positions for a name that are not beside its line, in pixels.
const ROW_HEIGHT: f64 = 14.0;
/// The weight of a reference line: it may be covered rather than a curve.
const LINE_WEIGHT: f64 = 0.02;

/// A line across the chart, with its name beside it.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// The value of x for a vertical line, else that of y.
    pub at: f64,
    /// Whether it is vertical.
    pub is_vertical: bool,
    /// Its name.
    pub name: String,
}

impl Rule {
    /// Creates a vertical line at a value of x.
    pub fn vertical(at: f64, name: impl Into<String>) -> Rule {
        Rule {
            at,
            is_vertical: true,
            name: name.into(),
        }
    }

    /// Creates a horizontal line at a value of y.
    pub fn horizontal(at: f64, name: impl Into<String>) -> Rule {
        Rule {
            is_vertical: false,
            ..Rule::vertical(at, name)
        }
    }

    /// Its ends, if it is within the chart.
    fn ends(&self, plot: &Plot<'_>) -> Option<[Point; 2]> {
        let ends = if self.is_vertical {
            let place = plot.x.place(self.at);
            [(place, 0.0), (place, 1.0)]
        } else {
            let place = plot.y.place(self.at);
            [(0.0, place), (1.0, place)]
        };
        let [from, to] = ends.map(|end| plot.area.at(end));
        plot.area.holds(from).then_some([from, to])
    }
}

impl Paint for Rule {
    fn paint(&self, canvas: &mut Canvas, plot: &Plot<'_>, taken: &mut Taken) {
        if let Some(ends) = self.ends(plot) {
            let line = Stroke::new(GREY, 1.2);
            let dashes = Some([3.0, 3.0]);
            canvas.line(ends, Stroke { dashes, ..line });
            taken.line(&ends, LINE_WEIGHT);
        }
    }

    /// Draws its name, on a background of its own, where it covers the least.
    fn name(&self, canvas: &mut Canvas, plot: &Plot<'_>, taken: &mut Taken) {
        let Some([(x, y), _]) = self.ends(plot) else {
            return;
        };
        let letters = Letters::new(11.0, NAME);
        let wide = letters.room(&self.name);
        let spots = if self.is_vertical {
            beside_upright(x, wide, &plot.area)
        } else {
            beside_level(y, wide, &plot.area)
        };
        let Some(spot) = taken.take(spots) else {
            return;
        };
        if !self.is_vertical {
            paint_leader(canvas, y, &spot);
        }
        let ground = spot.without([-2.0, 0.0, -2.0, 0.0]);
        let ground = Shape::Area(ground.corners().into(), WHITE, 0.6);
        canvas.shapes.push(ground);
        let at = (spot.left, spot.top + 1.5);
        canvas.text(&self.name, at, [Anchor::Start, Anchor::Start], letters);
    }
}

/// Draws a line from a name to its horizontal line, if there was no room beside it.
fn paint_leader(canvas: &mut Canvas, y: f64, spot: &Rect) {
    let edge = if spot.top > y {
        spot.top
    } else {
        spot.bottom()
    };
    if (edge - y).abs() > GAP {
        let (x, _) = spot.at((0.5, 0.5));
        canvas.line([(x, edge), (x, y)], Stroke::new(NAME, 0.8));
    }
}

/// The candidate positions for the name of a vertical line: above the chart, else along the line.
fn beside_upright(x: f64, wide: f64, area: &Rect) -> Vec<Rect> {
    let spot = |left, top| Rect {
        left,
        top,
        wide,
        high: NAME_HEIGHT,
    };
    let above = [x - GAP, x - wide / 2.0, x + GAP - wide];
    let above = above.map(|left| spot(left, area.top - NAME_HEIGHT - GAP / 2.0));
    let around = area.without([-MAX_OVERHANG, -MAX_OVERHANG, -MAX_OVERHANG, 0.0]);
    let mut spots: Vec<Rect> = above.into();
    spots.retain(|spot| around.surrounds(spot));
    let along = (0..8).flat_map(|row| {
        let top = area.top + GAP + f64::from(row) * (area.high - NAME_HEIGHT - 2.0 * GAP) / 7.0;
        [x + 2.0 * GAP, x - wide - 2.0 * GAP].map(|left| spot(left, top))
    });
    spots.extend(along.filter(|spot| area.surrounds(spot)));
    spots
}

/// The candidate positions for the name of a horizontal line: at its right end, else at its left one or in between,
/// below it or above; else farther away.
fn beside_level(y: f64, wide: f64, area: &Rect) -> Vec<Rect> {
    let room = area.wide - wide - 2.0 * GAP;
    let near = [y + GAP / 2.0, y - NAME_HEIGHT - GAP / 2.0];
    let far = (1..=6).flat_map(|step| {
        let off = ROW_HEIGHT * f64::from(step);
        [near[0] + off, near[1] - off]
    });
    let columns = [1.0, 0.0, 0.8, 0.2, 0.6, 0.4, 0.9, 0.1, 0.7, 0.3, 0.5];
    let spot = |column: f64, top| Rect {
        left: area.left + GAP + column * room,
        top,
        wide,
        high: NAME_HEIGHT,
    };
    let beside = columns
        .into_iter()
        .flat_map(|column| near.map(|top| spot(column, top)));
    let apart = far.flat_map(|top| columns.map(|column| spot(column, top)));
    let spots = beside.chain(apart);
    spots.filter(|spot| area.surrounds(spot)).collect()
}
