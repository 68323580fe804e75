//! What everything that is drawn has in common.

use plotters::coord::Shift;
use plotters::drawing::DrawingAreaErrorKind;
use plotters::prelude::{Cartesian2d, DrawingArea, RGBColor, SVGBackend, ShapeStyle};

use super::look::Colour;
use super::side::Side;

/// Plotters' pixels are whole numbers. A pixel of ours is so many of them wide, so that curves stay smooth however
/// closely a reader looks.
pub const FINE: i32 = 4;

pub const WHITE: Colour = (255, 255, 255);
/// Letters on a ground of their own, which stays light in the dark.
pub const INK: Colour = (21, 20, 20);
/// Captions.
pub const FAINT: Colour = (80, 86, 94);
/// Names of lines for reference.
pub const NAME: Colour = (85, 90, 98);
pub const AXIS: Colour = (90, 90, 90);
pub const GRID: Colour = (222, 224, 228);
pub const FINE_GRID: Colour = (238, 240, 242);
/// The ground of every second band.
pub const SHADE: Colour = (243, 245, 247);
/// Between cells.
pub const EDGE: Colour = (254, 255, 255);

/// A place in a chart: 0 is left or below, 1 right or above.
pub type Place = (f64, f64);

/// The inside of a chart.
pub type Area<'s> = DrawingArea<SVGBackend<'s>, Cartesian2d<Side, Side>>;

/// A part of the picture, in fine pixels.
pub type Sheet<'s> = DrawingArea<SVGBackend<'s>, Shift>;

pub type PaintError = DrawingAreaErrorKind<std::io::Error>;
pub type Painted = Result<(), PaintError>;

/// Pixels as fine pixels.
pub fn fine(pixels: f64) -> i32 {
    (pixels * f64::from(FINE)).round() as i32
}

pub fn rgb((red, green, blue): Colour) -> RGBColor {
    RGBColor(red, green, blue)
}

/// A colour, so much lighter: 0 is the colour, 1 white.
pub fn lighter(colour: Colour, by: f64) -> Colour {
    let part = |part: u8| (f64::from(part) + (255.0 - f64::from(part)) * by).round() as u8;
    (part(colour.0), part(colour.1), part(colour.2))
}

/// A line of this width in pixels.
pub fn stroke(colour: Colour, width: f64) -> ShapeStyle {
    ShapeStyle {
        color: rgb(colour).into(),
        filled: false,
        stroke_width: fine(width).unsigned_abs(),
    }
}

pub fn filled(colour: Colour) -> ShapeStyle {
    ShapeStyle {
        filled: true,
        ..stroke(colour, 1.0)
    }
}
