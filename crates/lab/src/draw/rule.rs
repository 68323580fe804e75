//! Lines for reference.

use plotters::element::{DashedPathElement, EmptyElement, Rectangle, Text};
use plotters::style::{Color as _, ShapeStyle};

use super::axis::Axis;
use super::clip;
use super::font::{Weight, letters};
use super::look::{Colour, GREY};
use super::paint::{Area, Painted, filled, fine, rgb, stroke};

const NAME: Colour = (85, 90, 98);
const WHITE: Colour = (255, 255, 255);

/// A line across the chart, with its name at its end.
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

    /// Its name, on a ground of its own.
    pub(super) fn paint_name(&self, area: &Area<'_>, x: &Axis, y: &Axis) -> Painted {
        let Some(place) = self.place(x, y) else {
            return Ok(());
        };
        let letters = letters(11.0, Weight::Regular, NAME);
        let (wide, _) = area.estimate_text_size(&self.name, &letters)?;
        let (wide, high, gap) = (i32::try_from(wide).unwrap_or(0), fine(15.0), fine(4.0));
        // Above the chart, where nothing crosses it, or at the right end below the line, where curves above it are seen.
        let (end, left, top) = match self.is_vertical {
            true if place > 0.85 => ((place, 1.0), -wide, -high - fine(1.0)),
            true => ((place, 1.0), -fine(3.0), -high - fine(1.0)),
            false if place < 0.1 => ((1.0, place), -gap - wide, -high - fine(1.0)),
            false => ((1.0, place), -gap - wide, fine(2.0)),
        };
        let ground = ShapeStyle {
            color: rgb(WHITE).mix(0.6),
            ..filled(WHITE)
        };
        let corners = [(left - fine(2.0), top), (left + wide, top + high)];
        let text = Text::new(self.name.clone(), (left, top + fine(1.5)), letters);
        area.draw(&(EmptyElement::at(end) + Rectangle::new(corners, ground) + text))
    }
}
