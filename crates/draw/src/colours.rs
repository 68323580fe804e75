//! The colours of everything but curves, and what all colours are in the dark.

use super::look::{BLACK, BLUE, Colour, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILLION};

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

/// What each colour is in the dark. What is not here stays as it is, such as the grounds of dark letters.
const DARK: [(Colour, Colour); 16] = [
    (WHITE, (20, 23, 27)),
    (BLACK, (228, 232, 236)),
    (FAINT, (154, 165, 177)),
    (NAME, (170, 180, 191)),
    (AXIS, (138, 147, 158)),
    (GRID, (49, 56, 64)),
    (FINE_GRID, (36, 41, 48)),
    (SHADE, (28, 33, 39)),
    (GREY, (140, 150, 160)),
    (GREEN, (47, 199, 154)),
    (VERMILLION, (240, 128, 60)),
    (BLUE, (74, 163, 223)),
    (SKY, (154, 211, 245)),
    (ORANGE, (240, 184, 64)),
    (PURPLE, (220, 156, 192)),
    (EDGE, (20, 23, 28)),
];

/// The colour in the dark, if it is another one there.
pub fn in_the_dark(colour: Colour) -> Option<Colour> {
    let mut pairs = DARK.iter();
    pairs
        .find(|(light, _)| *light == colour)
        .map(|(_, dark)| *dark)
}

/// A colour, so much lighter: 0 is the colour, 1 white.
pub fn lighter(colour: Colour, by: f64) -> Colour {
    let part = |part: u8| (f64::from(part) + (255.0 - f64::from(part)) * by).round() as u8;
    (part(colour.0), part(colour.1), part(colour.2))
}

#[cfg(test)]
mod tests {
    use super::DARK;

    #[test]
    fn no_two_colours_are_the_same_in_the_dark() {
        for (place, (light, dark)) in DARK.iter().enumerate() {
            for (other, in_the_dark) in DARK.iter().skip(place + 1) {
                assert!(light != other && dark != in_the_dark, "{light:?} {other:?}");
            }
        }
    }
}
