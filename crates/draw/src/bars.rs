//! Bars from zero.

use plotters::element::{PathElement, Rectangle, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::axis::Axis;
use super::font::{Weight, letters};
use super::look::{BLACK, Dash, Look};
use super::names::Taken;
use super::paint::{Area, Painted, filled, lighter, stroke};

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

impl Bars {
    pub(super) fn paint(&self, area: &Area<'_>, x: &Axis, y: &Axis) -> Painted {
        let base = y.place(0.0).clamp(0.0, 1.0);
        for (at, value) in self.bars.iter().filter(|(_, value)| value.is_finite()) {
            let [left, right] =
                [-0.5, 0.5].map(|side| x.place(at + side * self.width).clamp(0.0, 1.0));
            let end = y.place(*value).clamp(0.0, 1.0);
            let corners = [(left, base), (right, end)];
            let heart = match self.look.dash {
                Dash::Solid => self.look.colour,
                _ => lighter(self.look.colour, 0.7),
            };
            area.draw(&Rectangle::new(corners, filled(heart)))?;
            let outline = [(left, base), (left, end), (right, end), (right, base)];
            area.draw(&PathElement::new(outline, stroke(self.look.colour, 1.2)))?;
            if let Some(label) = self.label {
                let vertical = if end >= base { VPos::Bottom } else { VPos::Top };
                let style =
                    letters(10.5, Weight::Regular, BLACK).pos(Pos::new(HPos::Center, vertical));
                let middle = (left + right) / 2.0;
                let away = if end >= base { 0.008 } else { -0.008 };
                area.draw(&Text::new(label(*value), (middle, end + away), style))?;
            }
        }
        Ok(())
    }

    pub(super) fn take(&self, taken: &mut Taken, x: &Axis, y: &Axis) {
        for (at, value) in self.bars.iter().filter(|(_, value)| value.is_finite()) {
            let [left, right] = [-0.5, 0.5].map(|side| x.place(at + side * self.width));
            taken.between((left, y.place(0.0)), (right, y.place(*value)));
        }
    }
}
