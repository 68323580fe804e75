//! A line through points.

use std::collections::BTreeSet;

use super::canvas::{Canvas, Stroke};
use super::look::Look;
use super::mark;
use super::names::Taken;
use super::place::{Point, Rect};
use super::plot::{Paint, Plot};

/// The maximum number of columns of points in a curve: more than can be distinguished, and few enough for a picture
/// that opens at once.
const MAX_COLUMNS: f64 = 360.0;

/// The maximum number of points that all have marks, and the distance between marks on longer curves, in pixels: the
/// line is visible between them.
const MAX_FULLY_MARKED: usize = 30;
const MIN_MARK_GAP: f64 = 70.0;

/// A line through points.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Its name in the legend; curves with the same name share one entry.
    pub name: String,
    /// The variant among the curves of this name, if there are several. The legend has an entry for what all curves
    /// of a name have in common, and one for what all curves of a variant have: six curves of two controllers and
    /// three loss rates have five entries.
    pub variant: String,
    /// The points (x, y), in the order in which they are joined.
    pub points: Vec<(f64, f64)>,
    /// Its look.
    pub look: Look,
    /// Whether an arrowhead shows that it continues beyond the chart, also in place of a point beyond it.
    pub is_open: bool,
}

impl Curve {
    /// Creates a curve through these points; those that are not finite are left out.
    pub fn new(
        name: impl Into<String>,
        look: Look,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) -> Curve {
        let points = points.into_iter();
        Curve {
            name: name.into(),
            variant: String::new(),
            points: points
                .filter(|(x, y)| x.is_finite() && y.is_finite())
                .collect(),
            look,
            is_open: false,
        }
    }

    /// Marks it as one that may extend beyond the chart, such as an interval: an arrowhead shows where.
    pub fn open(self) -> Curve {
        let is_open = true;
        Curve { is_open, ..self }
    }

    /// Makes it one of several curves of its name.
    pub fn variant(mut self, variant: impl Into<String>) -> Curve {
        self.variant = variant.into();
        self
    }

    /// Its name and its variant, which identify it.
    pub fn full_name(&self) -> String {
        match self.variant.as_str() {
            "" => self.name.clone(),
            variant => format!("{}, {variant}", self.name),
        }
    }

    /// Makes it a step curve: each value lasts until the next one.
    pub fn stepped(mut self) -> Curve {
        let mut before: Option<f64> = None;
        let steps = self.points.iter().flat_map(|(x, y)| {
            let corner = before.replace(*y).map(|before| (*x, before));
            corner.into_iter().chain([(*x, *y)])
        });
        self.points = steps.collect();
        self
    }
}

impl Paint for Curve {
    fn paint(&self, canvas: &mut Canvas, plot: &Plot<'_>, taken: &mut Taken) {
        let points: Vec<Point> = self.points.iter().map(|point| plot.at(*point)).collect();
        let lines = plot.area.clip(&thin(&points, &plot.area));
        lines.iter().for_each(|line| taken.line(line, 1.0));
        let tips = if self.is_open {
            tips(&points, &lines, &plot.area)
        } else {
            Vec::new()
        };
        let look = self.look;
        if let Some(stroke) = Stroke::of(look) {
            canvas.lines(lines, stroke);
            let size = mark::tip_size(look.width);
            let draw = |(at, beyond)| mark::tip(canvas, at, beyond, (look.colour, size));
            tips.into_iter().for_each(draw);
            // A single point has no line.
            if let ([one], None) = (&points[..], look.mark)
                && plot.area.holds(*one)
            {
                canvas.circle(*one, look.width.max(1.5), look.colour);
            }
        }
        let Some(mark) = look.mark else { return };
        for beyond in points.iter().filter(|_| self.is_open) {
            let edge = plot.area.nearest(*beyond);
            if !plot.area.holds(*beyond) {
                mark::tip(canvas, edge, *beyond, (look.colour, mark::tip_size(5.0)));
            }
        }
        let mut marked = points;
        marked.retain(|point| plot.area.holds(*point));
        if marked.len() > MAX_FULLY_MARKED {
            marked = apart(&marked);
        }
        for point in marked {
            mark::paint(canvas, point, mark, look.colour);
        }
    }
}

/// The points where the chart's edge cuts a line, and the directions in which it continues.
fn tips(points: &[Point], lines: &[Vec<Point>], area: &Rect) -> Vec<(Point, Point)> {
    let inside = lines.first().and_then(|line| line.first());
    let inside = [inside, lines.last().and_then(|line| line.last())];
    let ends = inside.into_iter().zip([points.first(), points.last()]);
    let ends = ends.filter_map(|(inside, end)| Some((*inside?, *end?)));
    ends.filter(|(_, end)| !area.holds(*end)).collect()
}

/// The points that can be distinguished: in each narrow column of a long curve, the first and the last, the lowest
/// and the highest.
fn thin(points: &[Point], area: &Rect) -> Vec<Point> {
    if (points.len() as f64) < 3.0 * MAX_COLUMNS {
        return points.to_vec();
    }
    let column = |point: &Point| ((point.0 - area.left) / area.wide * MAX_COLUMNS).floor();
    let columns = points.chunk_by(|one, other| column(one) == column(other));
    let seen = columns.flat_map(|column| {
        let by_height = |one: &usize, other: &usize| column[*one].1.total_cmp(&column[*other].1);
        let all = 0..column.len();
        let (highest, lowest) = (all.clone().min_by(by_height), all.clone().max_by(by_height));
        let kept = BTreeSet::from([Some(0), highest, lowest, all.last()]);
        kept.into_iter().flatten().map(|place| column[place])
    });
    seen.collect()
}

/// The points that are far enough from each other.
fn apart(points: &[Point]) -> Vec<Point> {
    let mut chosen: Vec<Point> = Vec::new();
    for (x, y) in points {
        let is_far = |last: &Point| (x - last.0).hypot(y - last.1) >= MIN_MARK_GAP;
        if chosen.last().is_none_or(is_far) {
            chosen.push((*x, *y));
        }
    }
    chosen
}

/// The points of the cumulative distribution of `values`: the share of them that is at most x.
pub fn cdf(values: impl IntoIterator<Item = f64>) -> Vec<(f64, f64)> {
    let mut values: Vec<f64> = values
        .into_iter()
        .filter(|value| value.is_finite())
        .collect();
    values.sort_unstable_by(f64::total_cmp);
    let count = values.len() as f64;
    let shares = (0..).map(|index: u32| f64::from(index) / count);
    values
        .iter()
        .zip(shares)
        .flat_map(|(value, below)| [(*value, below), (*value, below + 1.0 / count)])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Chart, Dash, Mark, Picture, Unit};
    use super::*;

    #[test]
    fn a_long_curve_keeps_its_ends_and_peaks() {
        let height = |index: u32| if index == 54_321 { 0.9 } else { 0.1 };
        let points: Vec<Point> = (0..=100_000)
            .map(|index| (f64::from(index) / 1e5, height(index)))
            .collect();
        let area = Rect::between((0.0, 0.0), (1.0, 1.0));
        let thinned = thin(&points, &area);
        assert!(
            thinned.len() < 4 * MAX_COLUMNS as usize,
            "{}",
            thinned.len()
        );
        assert_eq!(thinned.first(), points.first());
        assert_eq!(thinned.last(), points.last());
        assert!(thinned.contains(&points[54_321]));
        assert_eq!(thin(&points[..100], &area), &points[..100]);
    }

    #[test]
    fn shares_of_values() {
        assert_eq!(
            cdf([3.0, 1.0, f64::NAN]),
            [(1.0, 0.0), (1.0, 0.5), (3.0, 0.5), (3.0, 1.0)]
        );
        assert!(cdf([]).is_empty());
    }

    #[test]
    fn marks_of_a_long_curve_are_apart() {
        let points: Vec<Point> = (0..=710).map(|x| (f64::from(x), 50.0)).collect();
        assert_eq!(apart(&points).len(), 11);
    }

    #[test]
    fn what_reaches_beyond_the_chart_has_a_tip_there() {
        let axis = || Axis::linear("x", Unit::NONE, 0.0, 10.0);
        let drawn = |points: &[(f64, f64)], look: Look| {
            let curve = Curve::new("x", look, points.to_vec()).open();
            let chart = Chart::new(axis(), axis()).with(curve);
            let picture = Picture::new("", chart);
            let areas = picture.svg().matches("Z\"/>").count();
            (areas, picture.cut_off().len())
        };
        let line = Look::of_place(0);
        let (inside, _) = drawn(&[(2.0, 5.0), (8.0, 5.0)], line);
        assert_eq!(drawn(&[(2.0, 5.0), (80.0, 5.0)], line), (inside + 1, 0));
        assert_eq!(drawn(&[(-20.0, 5.0), (80.0, 5.0)], line), (inside + 2, 0));
        // A point beyond the chart is drawn as an arrowhead, without a mark.
        let mark = Look::line(line.colour, Dash::None).marked(Mark::Circle);
        assert_eq!(drawn(&[(80.0, 5.0)], mark), (inside + 1, 0));
        assert_eq!(drawn(&[(8.0, 5.0)], mark), (inside, 0));
        let place = tips(
            &[(0.5, 0.5), (9.0, 0.5)],
            &[vec![(0.5, 0.5), (1.0, 0.5)]],
            &Rect::between((0.0, 0.0), (1.0, 1.0)),
        );
        assert_eq!(place, [((1.0, 0.5), (9.0, 0.5))]);
    }

    #[test]
    fn steps_have_corners() {
        let look = Look::of_place(0);
        let curve = Curve::new("x", look, [(0.0, 1.0), (2.0, 5.0)]).stepped();
        assert_eq!(curve.points, [(0.0, 1.0), (2.0, 1.0), (2.0, 5.0)]);
    }
}
