//! A picture as SVG.

use super::canvas::{Anchor, Canvas, Shape, Text};
use super::colours::{Colour, hex, in_the_dark};
use super::font::Weight;
use super::place::Point;

/// The units of coordinates in a pixel. Coordinates are whole numbers, and curves stay smooth at any zoom.
const UNITS_PER_PIXEL: f64 = 4.0;

/// The fonts that an SVG requests: Verdana, which more machines have, is as wide as ours. Its first tag contains this
/// text, by which our pictures can be recognized.
pub const MARK: &str = "font-family=\"DejaVu Sans, Verdana, sans-serif\"";

/// The canvas as SVG, with a style for dark backgrounds: by the system's theme if it stands alone, and by the page's
/// if that has one of its own (`data-theme`). Print is on white.
pub fn svg(canvas: &Canvas) -> String {
    let (wide, high) = canvas.size;
    let style = style(&canvas.shapes);
    let shapes: String = canvas.shapes.iter().map(element).collect();
    let [fine_wide, fine_high] = [wide, high].map(fine);
    let label = escaped(&canvas.label).replace('"', "&quot;");
    format!(
        "<svg width=\"{wide}\" height=\"{high}\" viewBox=\"0 0 {fine_wide} {fine_high}\" {MARK} xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"{label}\">\n{style}\n{shapes}</svg>\n"
    )
}

fn fine(pixels: f64) -> i64 {
    (pixels * UNITS_PER_PIXEL).round() as i64
}

fn element(shape: &Shape) -> String {
    match shape {
        Shape::Lines(lines, stroke) => {
            let path: String = lines.iter().map(|line| path(line)).collect();
            let (colour, width) = (hex(stroke.colour), fine(stroke.width));
            let dashes = stroke.dashes.map_or(String::new(), |[on, off]| {
                format!(" stroke-dasharray=\"{} {}\"", fine(on), fine(off))
            });
            format!(
                "<path fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"{dashes} d=\"{path}\"/>\n"
            )
        }
        Shape::Area(corners, colour, opacity) => {
            let opacity = match opacity {
                1.0 => String::new(),
                opacity => format!(" opacity=\"{opacity}\""),
            };
            let (colour, path) = (hex(*colour), path(corners));
            format!("<path fill=\"{colour}\"{opacity} d=\"{path}Z\"/>\n")
        }
        Shape::Circle((x, y), radius, colour) => {
            let [x, y, radius] = [*x, *y, *radius].map(fine);
            let colour = hex(*colour);
            format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"{colour}\"/>\n")
        }
        Shape::Text(text) => text_element(text),
    }
}

fn path(points: &[Point]) -> String {
    let points = points
        .iter()
        .map(|(x, y)| format!("{},{}", fine(*x), fine(*y)));
    let points: Vec<String> = points.collect();
    format!("M{}", points.join(" "))
}

fn text_element(text: &Text) -> String {
    let (x, y) = text.baseline();
    let [x, y, size] = [x, y, text.letters.size].map(fine);
    let colour = hex(text.letters.colour);
    let anchor = match text.anchor[0] {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    let weight = match text.letters.weight {
        Weight::Regular => "",
        Weight::Bold => " font-weight=\"bold\"",
    };
    let turn = if text.is_upright {
        let (x, y) = (fine(text.at.0), fine(text.at.1));
        format!(" transform=\"rotate(-90 {x} {y})\"")
    } else {
        String::new()
    };
    let words = escaped(&text.text);
    format!(
        "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" fill=\"{colour}\"{anchor}{weight}{turn}>{words}</text>\n"
    )
}

/// Text escaped for XML. Characters that XML 1.0 does not allow ("Characters"), or that a browser obeys, are replaced.
fn escaped(text: &str) -> String {
    let shown = text.chars().map(|c| match c {
        '\t' | '\n' => c,
        '\u{fffe}' | '\u{ffff}' => char::REPLACEMENT_CHARACTER,
        c if text::is_obeyed(c) => char::REPLACEMENT_CHARACTER,
        c => c,
    });
    let shown: String = shown.collect();
    shown
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

fn style(shapes: &[Shape]) -> String {
    let mut used: Vec<(&str, Colour)> = Vec::new();
    for shape in shapes {
        let one = match shape {
            Shape::Lines(_, stroke) => ("stroke", stroke.colour),
            Shape::Area(_, colour, _) | Shape::Circle(_, _, colour) => ("fill", *colour),
            Shape::Text(text) => ("fill", text.letters.colour),
        };
        if !used.contains(&one) {
            used.push(one);
        }
    }
    let rules = |theme: &str| {
        let rules = used.iter().filter_map(|(property, light)| {
            let [light, dark] = [*light, in_the_dark(*light)?].map(hex);
            Some(format!(
                ":root{theme} [{property}=\"{light}\"]{{{property}:{dark}}}"
            ))
        });
        rules.collect::<String>()
    };
    let (of_system, of_page) = (rules(":not([data-theme])"), rules("[data-theme=dark]"));
    format!(
        "<style>@media screen and (prefers-color-scheme:dark){{{of_system}}}@media screen{{{of_page}}}</style>"
    )
}

#[cfg(test)]
mod tests {
    use super::super::canvas::Stroke;
    use super::super::colours::{BLACK, INK, WHITE};
    use super::*;

    #[test]
    fn any_text_is_xml() {
        assert_eq!(escaped("a]]>b & <c>"), "a]]&gt;b &amp; &lt;c&gt;");
        assert_eq!(escaped("bell\u{8} \u{fffe}\t"), "bell\u{fffd} \u{fffd}\t");
        assert_eq!(escaped("\u{202e}gvs"), "\u{fffd}gvs");
    }

    #[test]
    fn colours_that_are_used_change_in_the_dark_and_nothing_else() {
        let mut canvas = Canvas {
            size: (10.0, 10.0),
            label: "1 < 2 \"bdp\"".to_owned(),
            ..Canvas::default()
        };
        canvas.fill([(0.0, 0.0), (10.0, 0.0), (10.0, 10.0)], WHITE);
        canvas.line([(0.0, 0.0), (1.0, 2.5)], Stroke::new(BLACK, 1.0));
        canvas.circle((5.0, 5.0), 1.0, INK);
        let svg = svg(&canvas);
        assert!(svg.contains("d=\"M0,0 4,10\""), "{svg}");
        assert!(svg.contains("role=\"img\" aria-label=\"1 &lt; 2 &quot;bdp&quot;\""));
        assert!(
            svg.contains("@media screen{:root[data-theme=dark]"),
            "{svg}"
        );
        assert!(svg.contains(":root[data-theme=dark] [fill=\"#FFFFFF\"]{fill:#14171B}"));
        assert!(svg.contains(":root:not([data-theme]) [stroke=\"#141414\"]{stroke:#E4E8EC}"));
        assert!(!svg.contains("[fill=\"#151414\"]") && !svg.contains("[fill=\"#141414\"]"));
    }
}
