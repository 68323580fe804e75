//! The inside of a chart, and how something is drawn in it.

use super::axis::Axis;
use super::canvas::Canvas;
use super::names::Taken;
use super::place::{Point, Rect};

/// The inside of a chart: where the values of its axes lie on the sheet.
#[derive(Debug, Clone, Copy)]
pub struct Plot<'c> {
    pub area: Rect,
    pub x: &'c Axis,
    pub y: &'c Axis,
}

impl Plot<'_> {
    /// The place of a value of x and one of y.
    pub fn at(&self, (x, y): (f64, f64)) -> Point {
        self.area.at((self.x.place(x), self.y.place(y)))
    }
}

/// How something is drawn in a chart.
pub trait Paint {
    /// Draws what is below the grid.
    fn ground(&self, _canvas: &mut Canvas, _plot: &Plot<'_>) {}

    /// Draws it, and notes what it takes.
    fn paint(&self, _canvas: &mut Canvas, _plot: &Plot<'_>, _taken: &mut Taken) {}

    /// Draws its name where nothing is taken.
    fn name(&self, _canvas: &mut Canvas, _plot: &Plot<'_>, _taken: &mut Taken) {}
}
