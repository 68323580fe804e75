//! The inside of a chart, and the drawing of layers in it.

use super::axis::Axis;
use super::canvas::Canvas;
use super::names::Taken;
use super::place::{Point, Rect};

/// The inside of a chart, which maps values of its axes to points on the sheet.
#[derive(Debug, Clone, Copy)]
pub struct Plot<'c> {
    pub area: Rect,
    pub x: &'c Axis,
    pub y: &'c Axis,
}

impl Plot<'_> {
    /// The point of a value of x and one of y.
    pub fn at(&self, (x, y): (f64, f64)) -> Point {
        self.area.at((self.x.place(x), self.y.place(y)))
    }
}

/// The drawing of a layer.
pub trait Paint {
    /// Draws the part below the grid.
    fn ground(&self, _canvas: &mut Canvas, _plot: &Plot<'_>) {}

    /// Draws the layer, and marks the area that it takes.
    fn paint(&self, _canvas: &mut Canvas, _plot: &Plot<'_>, _taken: &mut Taken) {}

    /// Draws the layer's name where nothing is taken.
    fn name(&self, _canvas: &mut Canvas, _plot: &Plot<'_>, _taken: &mut Taken) {}
}
