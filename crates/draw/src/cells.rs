//! The cells of a heat map.

use plotters::element::{Rectangle, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::axis::Axis;
use super::font::{Weight, letters};
use super::look::{BLUE, Colour, VERMILLION};
use super::names::Taken;
use super::paint::{Area, EDGE, INK, Painted, filled, lighter, stroke};
use super::unit::Unit;

/// A rectangle with a value.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// From where to where it reaches in x.
    pub x: (f64, f64),
    /// And in y.
    pub y: (f64, f64),
    /// What there is in it.
    pub amount: f64,
    /// Its colour: between vermillion (−1), white (0) and blue (1).
    pub shade: f64,
    /// What is written in it.
    pub label: String,
}

/// Cells with colours between vermillion, white and blue, which all kinds of colour vision tell apart.
#[derive(Debug, Clone, PartialEq)]
pub struct Cells {
    /// What their amounts are: `Requests`.
    pub name: String,
    /// The unit of the amounts.
    pub unit: Unit,
    /// The cells.
    pub cells: Vec<Cell>,
}

impl Cells {
    pub(super) fn paint(&self, area: &Area<'_>, x: &Axis, y: &Axis) -> Painted {
        for cell in &self.cells {
            let [left, right] = [cell.x.0, cell.x.1].map(|at| x.place(at).clamp(0.0, 1.0));
            let [low, high] = [cell.y.0, cell.y.1].map(|at| y.place(at).clamp(0.0, 1.0));
            let corners = [(left, low), (right, high)];
            area.draw(&Rectangle::new(corners, filled(colour(cell.shade))))?;
            area.draw(&Rectangle::new(corners, stroke(EDGE, 1.0)))?;
            let style =
                letters(11.0, Weight::Regular, INK).pos(Pos::new(HPos::Center, VPos::Center));
            let middle = ((left + right) / 2.0, (low + high) / 2.0);
            area.draw(&Text::new(cell.label.clone(), middle, style))?;
        }
        Ok(())
    }

    pub(super) fn take(&self, taken: &mut Taken, x: &Axis, y: &Axis) {
        for cell in &self.cells {
            let corner = |x_at, y_at| (x.place(x_at), y.place(y_at));
            taken.between(corner(cell.x.0, cell.y.0), corner(cell.x.1, cell.y.1));
        }
    }
}

/// The colour of a value between −1 and 1. The ends are light enough for dark letters.
fn colour(value: f64) -> Colour {
    let end = if value < 0.0 { VERMILLION } else { BLUE };
    lighter(end, 1.0 - 0.75 * value.abs().min(1.0))
}
