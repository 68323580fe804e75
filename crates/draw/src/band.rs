//! Parts of a chart with a name.

use plotters::element::{EmptyElement, Rectangle, Text};

use super::axis::Axis;
use super::font::{Weight, letters};
use super::look::BLACK;
use super::names::{Spot, Taken};
use super::paint::{Area, Painted, SHADE, filled, fine};

/// A part of a chart, from one value of x to another.
#[derive(Debug, Clone, PartialEq)]
pub struct Band {
    /// Where it begins.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// What it is.
    pub name: String,
    /// Whether it has a ground of its own, to be told from its neighbours.
    pub is_shaded: bool,
}

/// The height of the name, and its distance from the frame, in pixels.
const HIGH: f64 = 15.0;
const GAP: f64 = 5.0;

impl Band {
    fn places(&self, x: &Axis) -> [f64; 2] {
        [self.from, self.to].map(|at| x.place(at).clamp(0.0, 1.0))
    }

    pub(super) fn paint(&self, area: &Area<'_>, x: &Axis) -> Painted {
        if !self.is_shaded {
            return Ok(());
        }
        let [from, to] = self.places(x);
        area.draw(&Rectangle::new([(from, 0.0), (to, 1.0)], filled(SHADE)))
    }

    /// Its name, in its middle, as high as nothing is covered.
    pub(super) fn paint_name(&self, area: &Area<'_>, x: &Axis, taken: &mut Taken) -> Painted {
        let letters = letters(11.0, Weight::Bold, BLACK);
        let (text, _) = area.estimate_text_size(&self.name, &letters)?;
        let [from, to] = self.places(x);
        let (wide, high) = (f64::from(text), f64::from(fine(HIGH)));
        let (_, tall) = taken.size();
        let (middle, _) = taken.pixels(((from + to) / 2.0, 0.0));
        let gap = f64::from(fine(GAP));
        let rows = [0.0, 1.0, 0.2, 0.4, 0.6, 0.8];
        let spots = rows.map(|row| Spot {
            left: middle - wide / 2.0,
            top: gap + row * (tall - high - 2.0 * gap),
            wide,
            high,
        });
        let Some(spot) = taken.take(spots) else {
            return Ok(());
        };
        let at = (
            spot.left.round() as i32,
            spot.top.round() as i32 + fine(1.5),
        );
        area.draw(&(EmptyElement::at((0.0, 1.0)) + Text::new(self.name.clone(), at, letters)))
    }
}
