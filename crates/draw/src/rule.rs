//! Lines for reference.

use plotters::element::{DashedPathElement, EmptyElement, PathElement, Rectangle, Text};
use plotters::style::{Color as _, ShapeStyle};

use super::axis::Axis;
use super::clip;
use super::font::{Weight, letters};
use super::look::GREY;
use super::names::{Spot, Taken};
use super::paint::{Area, NAME, Painted, WHITE, filled, fine, rgb, stroke};

/// The height of a name, its distance from the line, and how far it may stand out beside the chart, in pixels.
const HIGH: f64 = 15.0;
const GAP: f64 = 4.0;
const BEYOND: f64 = 20.0;
/// A line for reference may be covered rather than a curve.
const WEIGHT: f64 = 0.02;

/// A line across the chart, with its name beside it.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// The value of x for a line upwards, else that of y.
    pub at: f64,
    /// Whether it goes upwards.
    pub is_vertical: bool,
    /// What it is.
    pub name: String,
}

impl Rule {
    /// At a value of x.
    pub fn vertical(at: f64, name: impl Into<String>) -> Rule {
        Rule {
            at,
            is_vertical: true,
            name: name.into(),
        }
    }

    /// At a value of y.
    pub fn horizontal(at: f64, name: impl Into<String>) -> Rule {
        Rule {
            is_vertical: false,
            ..Rule::vertical(at, name)
        }
    }

    /// Its place, if that is within the chart.
    fn place(&self, x: &Axis, y: &Axis) -> Option<f64> {
        let place = match self.is_vertical {
            true => x.place(self.at),
            false => y.place(self.at),
        };
        clip::is_within((place, place)).then_some(place)
    }

    pub(super) fn paint(&self, area: &Area<'_>, x: &Axis, y: &Axis) -> Painted {
        let Some(place) = self.place(x, y) else {
            return Ok(());
        };
        let line = match self.is_vertical {
            true => [(place, 0.0), (place, 1.0)],
            false => [(0.0, place), (1.0, place)],
        };
        let style = stroke(GREY, 1.2);
        area.draw(&DashedPathElement::new(line, fine(3.0), fine(3.0), style))
    }

    pub(super) fn take(&self, taken: &mut Taken, x: &Axis, y: &Axis) {
        if let Some(place) = self.place(x, y) {
            match self.is_vertical {
                true => taken.line(&[(place, 0.0), (place, 1.0)], WEIGHT),
                false => taken.line(&[(0.0, place), (1.0, place)], WEIGHT),
            }
        }
    }

    /// Its name, on a ground of its own, where it covers as little as can be.
    pub(super) fn paint_name(
        &self,
        area: &Area<'_>,
        x: &Axis,
        y: &Axis,
        taken: &mut Taken,
    ) -> Painted {
        let Some(place) = self.place(x, y) else {
            return Ok(());
        };
        let letters = letters(11.0, Weight::Regular, NAME);
        let (text, _) = area.estimate_text_size(&self.name, &letters)?;
        let size = (f64::from(text), f64::from(fine(HIGH)));
        let spots = match self.is_vertical {
            true => beside_upright(place, size, taken),
            false => beside_level(place, size, taken),
        };
        let Some(spot) = taken.take(spots) else {
            return Ok(());
        };
        if !self.is_vertical {
            self.paint_leader(area, place, spot, taken)?;
        }
        let ground = ShapeStyle {
            color: rgb(WHITE).mix(0.6),
            ..filled(WHITE)
        };
        let (left, top) = (spot.left.round() as i32, spot.top.round() as i32);
        let (right, bottom) = (left + text as i32, top + fine(HIGH));
        let ground = Rectangle::new(
            [(left - fine(2.0), top), (right + fine(2.0), bottom)],
            ground,
        );
        let text = Text::new(self.name.clone(), (left, top + fine(1.5)), letters);
        area.draw(&(EmptyElement::at((0.0, 1.0)) + ground + text))
    }
}

impl Rule {
    /// A line from the name to the level line that it belongs to, if there was no room beside it.
    fn paint_leader(&self, area: &Area<'_>, place: f64, spot: Spot, taken: &Taken) -> Painted {
        let (_, at) = taken.pixels((0.0, place));
        let from = if spot.top > at {
            spot.top
        } else {
            spot.top + spot.high
        };
        if (from - at).abs() <= f64::from(fine(GAP)) {
            return Ok(());
        }
        let x = (spot.left + spot.wide / 2.0).round() as i32;
        let ends = vec![(x, from.round() as i32), (x, at.round() as i32)];
        let leader = PathElement::new(ends, stroke(NAME, 0.8));
        area.draw(&(EmptyElement::at((0.0, 1.0)) + leader))
    }
}

/// Where the name of a line upwards may be: above the chart, else along the line.
fn beside_upright(place: f64, (wide, high): (f64, f64), taken: &Taken) -> Vec<Spot> {
    let (all, tall) = taken.size();
    let (at, _) = taken.pixels((place, 0.0));
    let [gap, beyond] = [GAP, BEYOND].map(|pixels| f64::from(fine(pixels)));
    let spot = |left, top| Spot {
        left,
        top,
        wide,
        high,
    };
    let above =
        [at - gap, at - wide / 2.0, at + gap - wide].map(|left| spot(left, -high - gap / 2.0));
    let mut spots: Vec<Spot> = above.into();
    spots.retain(|spot| spot.left >= -beyond && spot.left + wide <= all + beyond);
    for row in 0..8 {
        let top = gap + f64::from(row) * (tall - high - 2.0 * gap) / 7.0;
        spots.extend([at + 2.0 * gap, at - wide - 2.0 * gap].map(|left| spot(left, top)));
    }
    spots.retain(|spot| spot.top < 0.0 || spot.is_within((all, tall)));
    spots
}

/// Where the name of a level line may be: at its right end, else at its left one or in between, below it or above; else
/// farther off.
fn beside_level(place: f64, (wide, high): (f64, f64), taken: &Taken) -> Vec<Spot> {
    let (all, tall) = taken.size();
    let (_, at) = taken.pixels((0.0, place));
    let gap = f64::from(fine(GAP));
    let room = all - wide - 2.0 * gap;
    let near = [at + gap / 2.0, at - high - gap / 2.0];
    let far = (1..=6).flat_map(|step| {
        let off = f64::from(fine(14.0)) * f64::from(step);
        near.map(|top| if top > at { top + off } else { top - off })
    });
    let columns = [1.0, 0.0, 0.8, 0.2, 0.6, 0.4, 0.9, 0.1, 0.7, 0.3, 0.5];
    let spot = |column: f64, top| Spot {
        left: gap + column * room,
        top,
        wide,
        high,
    };
    let beside = columns
        .into_iter()
        .flat_map(|column| near.map(|top| spot(column, top)));
    let apart = far.flat_map(|top| columns.map(|column| spot(column, top)));
    let spots = beside.chain(apart);
    spots.filter(|spot| spot.is_within((all, tall))).collect()
}
