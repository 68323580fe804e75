//! The colours of a picture on a dark background.

use std::fmt::Write;

use super::look::{BLACK, BLUE, Colour, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILLION};
use super::paint::{AXIS, EDGE, FAINT, FINE_GRID, GRID, NAME, SHADE, WHITE};

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

/// The SVG with a style for dark backgrounds: those of the system, if it is a picture alone, and those of the page that it
/// is a part of, if that has a theme of its own (`data-theme`).
pub fn with_style(svg: &str) -> String {
    let mut rules = [String::new(), String::new()];
    for (light, dark) in DARK {
        let (light, dark) = (hex(light), hex(dark));
        for property in ["fill", "stroke"] {
            let part = format!("[{property}=\"{light}\"]");
            if !svg.contains(part.trim_matches(['[', ']'])) {
                continue;
            }
            for (rules, theme) in rules
                .iter_mut()
                .zip([":not([data-theme])", "[data-theme=dark]"])
            {
                // Text goes nowhere that could refuse it.
                let _ = write!(rules, ":root{theme} {part}{{{property}:{dark}}}");
            }
        }
    }
    let [of_system, of_page] = rules;
    let style =
        format!("<style>@media (prefers-color-scheme:dark){{{of_system}}}{of_page}</style>");
    match svg.split_once('\n') {
        Some((open, rest)) => format!("{open}\n{style}\n{rest}"),
        None => svg.into(),
    }
}

/// The SVG as it was: what makes pixels of it needs no style for the dark, and does not know such rules.
pub fn without_style(svg: &str) -> String {
    match (svg.find("<style>"), svg.find("</style>\n")) {
        (Some(from), Some(to)) if from < to => {
            let rest = svg.get(to + "</style>\n".len()..).unwrap_or_default();
            svg.get(..from).unwrap_or_default().to_owned() + rest
        }
        _ => svg.to_owned(),
    }
}

fn hex((red, green, blue): Colour) -> String {
    format!("#{red:02X}{green:02X}{blue:02X}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SVG: &str =
        "<svg xmlns=\"x\">\n<rect fill=\"#FFFFFF\"/>\n<path stroke=\"#141414\"/>\n</svg>\n";

    #[test]
    fn colours_that_are_used_change_in_the_dark_and_nothing_else() {
        let styled = with_style(SVG);
        assert!(styled.contains(":root[data-theme=dark] [fill=\"#FFFFFF\"]{fill:#14171B}"));
        assert!(styled.contains(":root:not([data-theme]) [stroke=\"#141414\"]{stroke:#E4E8EC}"));
        assert!(!styled.contains("[fill=\"#141414\"]"));
        assert_eq!(without_style(&styled), SVG);
    }

    #[test]
    fn no_two_colours_are_the_same_in_the_dark() {
        for (place, (light, dark)) in DARK.iter().enumerate() {
            for (other, in_the_dark) in DARK.iter().skip(place + 1) {
                assert!(light != other && dark != in_the_dark, "{light:?} {other:?}");
            }
        }
    }
}
