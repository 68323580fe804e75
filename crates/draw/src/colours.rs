//! The colours, and their equivalents in the dark theme.

/// A colour: red, green, blue.
pub type Colour = (u8, u8, u8);

// The first three, orange and purple are Okabe and Ito's ("Color Universal Design", 2008).
#[allow(missing_docs)]
pub const GREEN: Colour = (0, 158, 115);
#[allow(missing_docs)]
pub const VERMILLION: Colour = (213, 94, 0);
#[allow(missing_docs)]
pub const BLUE: Colour = (0, 114, 178);
#[allow(missing_docs)]
pub const ORANGE: Colour = (230, 159, 0);
#[allow(missing_docs)]
pub const PURPLE: Colour = (204, 121, 167);
/// The colour of known rather than measured values.
pub const BLACK: Colour = (20, 20, 20);
/// The colour of references for comparison.
pub const GREY: Colour = (120, 120, 120);

/// The colours of curves by index. The first two are BBR's and CUBIC's in the paper's figures. People with any colour
/// vision can distinguish them, and their contrast to the background is at least 3:1.
pub const PALETTE: [Colour; 6] = [GREEN, VERMILLION, BLUE, VIOLET, WINE, NAVY];
const VIOLET: Colour = (156, 79, 214);
const WINE: Colour = (122, 31, 61);
const NAVY: Colour = (43, 43, 107);

pub const WHITE: Colour = (255, 255, 255);
/// The colour of letters on a background that stays light in the dark theme.
pub const INK: Colour = (21, 20, 20);
/// The colour of captions.
pub const FAINT: Colour = (80, 86, 94);
/// The colour of names of reference lines.
pub const NAME: Colour = (85, 90, 98);
pub const AXIS: Colour = (90, 90, 90);
pub const GRID: Colour = (222, 224, 228);
pub const FINE_GRID: Colour = (238, 240, 242);
/// The colour between cells.
pub const EDGE: Colour = (254, 255, 255);

/// The equivalent of each colour in the dark theme. Other colours stay as they are, such as the backgrounds of dark
/// letters.
const DARK: [(Colour, Colour); 17] = [
    (WHITE, (20, 23, 27)),
    (BLACK, (228, 232, 236)),
    (FAINT, (154, 165, 177)),
    (NAME, (170, 180, 191)),
    (AXIS, (138, 147, 158)),
    (GRID, (49, 56, 64)),
    (FINE_GRID, (36, 41, 48)),
    (GREY, (140, 150, 160)),
    (GREEN, (47, 199, 154)),
    (VERMILLION, (240, 128, 60)),
    (BLUE, (74, 163, 223)),
    (ORANGE, (240, 184, 64)),
    (PURPLE, (220, 156, 192)),
    (VIOLET, (176, 108, 240)),
    (WINE, (247, 239, 138)),
    (NAVY, (138, 106, 92)),
    (EDGE, (20, 23, 28)),
];

/// The colour in the dark theme, if it differs.
pub fn in_the_dark(colour: Colour) -> Option<Colour> {
    let mut pairs = DARK.iter();
    pairs
        .find(|(light, _)| *light == colour)
        .map(|(_, dark)| *dark)
}

/// The colours of [`Look::of_place`](crate::Look::of_place), each for a light and a dark background: `#009E73`.
pub fn palette() -> impl ExactSizeIterator<Item = (String, String)> {
    let dark = |light| in_the_dark(light).unwrap_or(light);
    PALETTE
        .into_iter()
        .map(move |light| (hex(light), hex(dark(light))))
}

/// A colour in HTML's notation.
pub fn hex((red, green, blue): Colour) -> String {
    format!("#{red:02X}{green:02X}{blue:02X}")
}

/// A colour made lighter: by 0 it stays the same, by 1 it is white.
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
