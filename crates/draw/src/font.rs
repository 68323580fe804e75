//! The letters: fonts that are part of the program, so that a picture looks the same on any machine.

use std::sync::Once;

use plotters::style::{FontFamily, FontStyle, IntoFont, RGBColor, TextStyle, register_font};

use super::look::Colour;
use super::paint::FINE;

pub const REGULAR: &[u8] = include_bytes!("../assets/fonts/DejaVuSans.ttf");
pub const BOLD: &[u8] = include_bytes!("../assets/fonts/DejaVuSans-Bold.ttf");

/// What an SVG asks for. Verdana, which more machines have, is as wide.
const FAMILY: &str = "DejaVu Sans, Verdana, sans-serif";

/// Plotters' sizes are of lines, SVG's of letters.
const LINE: f64 = 1.24;

/// How heavy letters are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    Regular,
    Bold,
}

/// Letters of this size in pixels.
pub fn letters(size: f64, weight: Weight, colour: Colour) -> TextStyle<'static> {
    static FONTS: Once = Once::new();
    FONTS.call_once(|| {
        // Measured with these; a font that is part of the program can be read.
        let _ = register_font(FAMILY, FontStyle::Normal, REGULAR);
        let _ = register_font(FAMILY, FontStyle::Bold, BOLD);
    });
    let style = match weight {
        Weight::Regular => FontStyle::Normal,
        Weight::Bold => FontStyle::Bold,
    };
    let (red, green, blue) = colour;
    (FontFamily::Name(FAMILY), size * LINE * f64::from(FINE))
        .into_font()
        .style(style)
        .color(&RGBColor(red, green, blue))
}
