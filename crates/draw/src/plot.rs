//! The inside of a chart.

use super::axis::Axis;
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
