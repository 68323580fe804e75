//! A line through points.

use std::collections::BTreeMap;

use super::axis::Axis;
use super::clip;
use super::look::{Dash, Look};
use super::mark;
use super::names::Taken;
use super::paint::{Area, Painted, Place, fine, stroke};
use plotters::element::{DashedPathElement, PathElement};

/// A curve has at most so many columns of points: more than are seen apart, few enough for a picture that opens at once.
const COLUMNS: f64 = 360.0;

/// A curve with more points than this has marks at some of them only, so far apart in pixels: in between its line is seen.
const MARKS: usize = 30;
const BETWEEN_MARKS: f64 = 70.0;

/// A line through points.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// What the legend calls it; curves of the same name have one entry.
    pub name: String,
    /// Which of the curves of this name it is, if there are several. The legend has an entry for what all of that name
    /// have in common, and one for what all of this variant have: six curves of two controllers and three loss rates are
    /// five entries.
    pub variant: String,
    /// x and y, in the order in which they are joined.
    pub points: Vec<(f64, f64)>,
    /// What it looks like.
    pub look: Look,
}

impl Curve {
    /// A curve through these points, as far as they are numbers.
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
        }
    }

    /// As one of several of its name.
    pub fn variant(mut self, variant: impl Into<String>) -> Curve {
        self.variant = variant.into();
        self
    }

    /// What tells it from all others: its name, and its variant.
    pub fn full_name(&self) -> String {
        match self.variant.as_str() {
            "" => self.name.clone(),
            variant => format!("{}, {variant}", self.name),
        }
    }

    /// As steps: each value lasts until the next one.
    pub fn stepped(mut self) -> Curve {
        let mut before: Option<f64> = None;
        let steps = self.points.iter().flat_map(|(x, y)| {
            let corner = before.replace(*y).map(|before| (*x, before));
            corner.into_iter().chain([(*x, *y)])
        });
        self.points = steps.collect();
        self
    }

    pub(super) fn paint(&self, area: &Area<'_>, x: &Axis, y: &Axis) -> Painted {
        let places = self.places(x, y);
        if self.look.dash != Dash::None {
            for line in clip::within(&thin(&places)) {
                let style = stroke(self.look.colour, self.look.width);
                let (on, off) = match self.look.dash {
                    Dash::Dashed => (9.0, 5.0),
                    Dash::Dotted => (2.0, 4.0),
                    Dash::Solid | Dash::None => {
                        area.draw(&PathElement::new(line, style))?;
                        continue;
                    }
                };
                let line = line.into_iter();
                area.draw(&DashedPathElement::new(line, fine(on), fine(off), style))?;
            }
        }
        let Some(shape) = self.look.mark else {
            return Ok(());
        };
        let mut inside = places;
        inside.retain(|place| clip::is_within(*place));
        if inside.len() > MARKS {
            inside = apart(&inside, area.dim_in_pixel());
        }
        inside
            .iter()
            .try_for_each(|place| mark::paint(area, *place, shape, self.look.colour))
    }

    pub(super) fn take(&self, taken: &mut Taken, x: &Axis, y: &Axis) {
        for line in clip::within(&thin(&self.places(x, y))) {
            taken.line(&line, 1.0);
        }
    }

    fn places(&self, x: &Axis, y: &Axis) -> Vec<Place> {
        let points = self.points.iter();
        points
            .map(|(at, value)| (x.place(*at), y.place(*value)))
            .collect()
    }
}

/// The places that can be seen apart: of each narrow column of a long curve, the first and the last, the lowest and the
/// highest.
fn thin(places: &[Place]) -> Vec<Place> {
    if (places.len() as f64) < 3.0 * COLUMNS {
        return places.to_vec();
    }
    let mut thinned = Vec::new();
    let column = |place: &Place| (place.0 * COLUMNS).floor();
    for column in places.chunk_by(|one, other| column(one) == column(other)) {
        let heights = || {
            column
                .iter()
                .enumerate()
                .map(|(index, place)| (index, place.1))
        };
        let lowest = heights().min_by(|one, other| one.1.total_cmp(&other.1));
        let highest = heights().max_by(|one, other| one.1.total_cmp(&other.1));
        let kept: BTreeMap<usize, ()> = [Some((0, 0.0)), lowest, highest]
            .into_iter()
            .flatten()
            .map(|(index, _)| (index, ()))
            .chain([(column.len() - 1, ())])
            .collect();
        thinned.extend(kept.keys().filter_map(|index| column.get(*index)));
    }
    thinned
}

/// Those of the places that are far enough from each other, in a chart of this size in fine pixels.
fn apart(places: &[Place], (wide, high): (u32, u32)) -> Vec<Place> {
    let pixels = |place: &Place| (place.0 * f64::from(wide), place.1 * f64::from(high));
    let mut chosen: Vec<Place> = Vec::new();
    for place in places {
        let (x, y) = pixels(place);
        let is_far = |last: &Place| {
            let (last_x, last_y) = pixels(last);
            (x - last_x).hypot(y - last_y) >= f64::from(fine(BETWEEN_MARKS))
        };
        if chosen.last().is_none_or(is_far) {
            chosen.push(*place);
        }
    }
    chosen
}

/// The points of the distribution of `values`: which share of them is at most x.
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
    use super::*;

    #[test]
    fn a_long_curve_keeps_its_ends_and_peaks() {
        let height = |index: u32| if index == 54_321 { 0.9 } else { 0.1 };
        let places: Vec<Place> = (0..=100_000)
            .map(|index| (f64::from(index) / 1e5, height(index)))
            .collect();
        let thinned = thin(&places);
        assert!(thinned.len() < 4 * COLUMNS as usize, "{}", thinned.len());
        assert_eq!(thinned.first(), places.first());
        assert_eq!(thinned.last(), places.last());
        assert!(thinned.contains(&places[54_321]));
        assert_eq!(thin(&places[..100]), &places[..100]);
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
        let places: Vec<Place> = (0..=1_000).map(|x| (f64::from(x) / 1e3, 0.5)).collect();
        let apart = apart(&places, (fine(710.0).unsigned_abs(), 400));
        assert_eq!(apart.len(), 11);
    }

    #[test]
    fn steps_have_corners() {
        let look = Look::of_place(0);
        let curve = Curve::new("x", look, [(0.0, 1.0), (2.0, 5.0)]).stepped();
        assert_eq!(curve.points, [(0.0, 1.0), (2.0, 1.0), (2.0, 5.0)]);
    }
}
