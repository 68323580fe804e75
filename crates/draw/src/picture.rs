//! Charts with a title above, and what they come from below.

use plotters::prelude::{IntoDrawingArea, SVGBackend};
use plotters::style::TextStyle;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::chart::Chart;
use super::compact::compact;
use super::curve::Curve;
use super::dark;
use super::font::{Weight, letters};
use super::legend::{self, Key, Legend};
use super::look::BLACK;
use super::paint::{FAINT, FINE, PaintError, Sheet, fine};
use super::table;

/// The width of a picture, and the margin around everything, in pixels.
const WIDTH: f64 = 860.0;
const MARGIN: f64 = 14.0;
const TITLE: f64 = 32.0;
const TITLE_LINE: f64 = 22.0;
const LINE: f64 = 16.0;
/// Between the charts and the caption.
const GAP: f64 = 12.0;

/// Charts with a title above, and what they come from below.
#[derive(Debug, Clone)]
pub struct Picture {
    /// What is seen.
    pub title: String,
    /// The charts, row by row.
    pub charts: Vec<Chart>,
    /// How many of them are side by side.
    pub columns: usize,
    /// The height of each row in pixels.
    pub height: f64,
    /// Lines below: what is shown, where it is from, how it is made again. Long lines are broken.
    pub caption: Vec<String>,
}

impl Picture {
    /// One chart.
    pub fn new(title: impl Into<String>, chart: Chart) -> Picture {
        Picture::of(title, 1, 420.0, [chart])
    }

    /// Several charts, so many side by side, in rows of this height in pixels.
    pub fn of(
        title: impl Into<String>,
        columns: usize,
        height: f64,
        charts: impl IntoIterator<Item = Chart>,
    ) -> Picture {
        Picture {
            title: title.into(),
            charts: charts.into_iter().collect(),
            columns: columns.max(1),
            height,
            caption: Vec::new(),
        }
    }

    /// With a line below that says what is shown.
    pub fn explained(mut self, text: impl Into<String>) -> Picture {
        self.caption.push(text.into());
        self
    }

    /// The picture as SVG: text, so that it can be searched and copied.
    pub fn svg(&self) -> String {
        self.paint().expect(
            "a picture in memory, with letters that are part of the program, has nothing to fail",
        )
    }

    /// The numbers of its curves, bars and cells as CSV. Columns are named after the axes, with their units:
    /// `chart,curve,time_s,rtt_ms`.
    pub fn csv(&self) -> String {
        table::csv(&self.charts)
    }

    /// The names of curves that leave their chart above or below.
    pub fn cut_off(&self) -> Vec<String> {
        let curves = self.charts.iter().flat_map(Chart::cut_off);
        curves.map(Curve::full_name).collect()
    }

    /// What its legend tells apart.
    pub fn keys(&self) -> Vec<Key> {
        legend::keys(&self.charts)
    }

    fn paint(&self) -> Result<String, PaintError> {
        let Measured {
            title,
            legend,
            left,
            caption,
        } = self.measure()?;
        let above = TITLE + TITLE_LINE * title.len().saturating_sub(1) as f64;
        let rows = self.charts.len().div_ceil(self.columns) as f64;
        let height = MARGIN
            + above
            + legend.height()
            + rows * self.height
            + GAP
            + caption.len() as f64 * LINE
            + MARGIN;
        let mut text = String::new();
        let size = [WIDTH, height].map(|side| fine(side).unsigned_abs());
        {
            let sheet = SVGBackend::with_string(&mut text, (size[0], size[1])).into_drawing_area();
            sheet.fill(&plotters::style::WHITE)?;
            let inner = sheet.margin(fine(MARGIN), fine(MARGIN), fine(MARGIN), fine(MARGIN));
            let (top, rest) = inner.split_vertically(fine(above));
            let style = title_letters().pos(Pos::new(HPos::Left, VPos::Top));
            for (line, index) in title.iter().zip(0..) {
                top.draw_text(line, &style, (0, fine(f64::from(index) * TITLE_LINE)))?;
            }
            let (above, rest) = rest.split_vertically(fine(legend.height()));
            legend.paint(&above)?;
            let (charts, below) = rest.split_vertically(fine(rows * self.height));
            let places = charts.split_evenly((rows as usize, self.columns));
            for (chart, place) in self.charts.iter().zip(&places) {
                chart.paint(place, left)?;
            }
            let style = caption_letters().pos(Pos::new(HPos::Left, VPos::Top));
            for (line, index) in caption.iter().zip(0..) {
                below.draw_text(line, &style, (0, fine(GAP + f64::from(index) * LINE)))?;
            }
            sheet.present()?;
        }
        Ok(dark::with_style(&compact(&in_pixels(&text, size))))
    }

    /// What is to be known before anything is drawn.
    fn measure(&self) -> Result<Measured, PaintError> {
        let mut nowhere = String::new();
        let sheet = SVGBackend::with_string(&mut nowhere, (1, 1)).into_drawing_area();
        let width = fine(WIDTH - 2.0 * MARGIN);
        let title = broken(&self.title, &title_letters(), &sheet, width)?;
        let legend = Legend::new(&self.charts, &sheet, width)?;
        let mut left = 0.0f64;
        for chart in &self.charts {
            left = left.max(chart.left(&sheet)?);
        }
        let mut caption = Vec::new();
        for line in &self.caption {
            caption.extend(broken(line, &caption_letters(), &sheet, width)?);
        }
        Ok(Measured {
            title,
            legend,
            left,
            caption,
        })
    }
}

/// Title, legend and caption, broken into lines that are no wider than the picture, and the room that all charts have on
/// their left, in pixels.
struct Measured {
    title: Vec<String>,
    legend: Legend,
    left: f64,
    caption: Vec<String>,
}

fn title_letters() -> TextStyle<'static> {
    letters(16.0, Weight::Bold, BLACK)
}

fn caption_letters() -> TextStyle<'static> {
    letters(10.5, Weight::Regular, FAINT)
}

/// The line in parts that are no wider than `width`, in fine pixels.
fn broken(
    line: &str,
    style: &TextStyle<'_>,
    sheet: &Sheet<'_>,
    width: i32,
) -> Result<Vec<String>, PaintError> {
    let mut lines: Vec<String> = Vec::new();
    for word in line.split(' ') {
        let longer = lines.last().map(|last| format!("{last} {word}"));
        let fits = |longer: &String| -> Result<bool, PaintError> {
            let (wide, _) = sheet.estimate_text_size(longer, style)?;
            Ok(i32::try_from(wide).is_ok_and(|wide| wide <= width))
        };
        match longer {
            Some(longer) if fits(&longer)? => {
                lines.pop();
                lines.push(longer);
            }
            _ => lines.push(word.to_string()),
        }
    }
    Ok(lines)
}

/// The SVG at its size in pixels; its coordinates stay fine.
fn in_pixels(svg: &str, [width, height]: [u32; 2]) -> String {
    let given = format!("width=\"{width}\" height=\"{height}\"");
    let pixels = |side: u32| f64::from(side) / f64::from(FINE);
    let wanted = format!("width=\"{}\" height=\"{}\"", pixels(width), pixels(height));
    svg.replacen(&given, &wanted, 1)
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Cell, Cells, Look, Mark, Rule, Unit, png};
    use super::*;

    fn picture() -> Picture {
        let points = (0..5_000).map(|index| {
            let x = f64::from(index) / 50.0;
            (x, 50.0 + 70.0 * (x / 7.0).sin())
        });
        let chart = Chart::new(
            Axis::linear("Time", Unit::SECONDS, 0.0, 100.0),
            Axis::linear("RTT", Unit::MILLISECONDS, 0.0, 100.0),
        )
        .with(Curve::new("a < b & c", Look::of_place(1), points))
        .with(Rule::horizontal(40.0, "RTprop"));
        let mut picture = Picture::of("Sine", 2, 200.0, [chart.clone(), chart]);
        picture.caption = vec!["A long line, ".repeat(30)];
        picture
    }

    #[test]
    fn the_same_picture_is_the_same_text() {
        let svg = picture().svg();
        assert_eq!(svg, picture().svg());
        assert!(!svg.contains("NaN"));
        assert!(svg.contains("a &lt; b &amp; c"), "names are escaped");
        assert_eq!(
            svg.matches("a &lt; b").count(),
            1,
            "one entry in the legend"
        );
        assert_eq!(svg.matches("RTprop").count(), 2);
    }

    #[test]
    fn nothing_is_drawn_outside() {
        let svg = picture().svg();
        let width = fine(WIDTH) as f64;
        let lines = svg.split("d=\"M").skip(1);
        let points = lines
            .filter_map(|rest| rest.split('"').next())
            .flat_map(|path| path.split([' ', 'M']));
        let mut count = 0;
        for point in points {
            let (x, _) = point.split_once(',').unwrap();
            let x: f64 = x.parse().unwrap();
            assert!((0.0..=width).contains(&x), "{point}");
            count += 1;
        }
        assert!(count > 200);
    }

    #[test]
    fn numbers_have_named_columns() {
        let points = Curve::new("a", Look::of_place(0), [(1.0, 2.0)]).variant("b");
        let over_time = Chart::new(
            Axis::linear("Time", Unit::SECONDS, 0.0, 1.0),
            Axis::linear("RTT", Unit::MILLISECONDS, 0.0, 100.0),
        );
        let map = Chart::new(
            Axis::log("Size", Unit::BYTES, 1e3, 1e6),
            Axis::log("Completion time", Unit::SECONDS, 0.1, 1.0),
        );
        let cell = Cell {
            x: (1e3, 1e4),
            y: (0.1, 0.2),
            amount: 7.0,
            shade: 0.5,
            label: "7".into(),
        };
        let cells = Cells {
            name: "Requests".into(),
            unit: Unit::NONE,
            cells: vec![cell],
        };
        let charts = [over_time.with(points), map.titled("a \"map\"").with(cells)];
        assert_eq!(
            Picture::of("", 1, 200.0, charts).csv(),
            "chart,curve,time_s,rtt_ms,size_bytes_from,size_bytes_to,completion_time_s_from,completion_time_s_to,requests\n\
             \"\",\"a, b\",1,2,,,,,\n\
             \"a \"\"map\"\"\",\"Requests\",,,1000,10000,0.1,0.2,7\n"
        );
    }

    #[test]
    fn curves_of_two_kinds_have_an_entry_for_each_kind() {
        let look = Look::of_controller;
        let curve = |name, mark, variant: &str| {
            Curve::new(name, look(name).marked(mark), [(0.0, 1.0)]).variant(variant)
        };
        let axis = |name| Axis::linear(name, Unit::NONE, 0.0, 1.0);
        let chart = Chart::new(axis("x"), axis("y")).with_all([
            curve("bbr1", Mark::Circle, "sim"),
            curve("bbr1", Mark::Square, "linux"),
            curve("cubic", Mark::Circle, "sim"),
            curve("cubic", Mark::Square, "linux"),
        ]);
        let keys = Picture::new("", chart).keys();
        let names: Vec<&str> = keys.iter().map(|key| key.name.as_str()).collect();
        assert_eq!(names, ["bbr1", "cubic", "sim", "linux"]);
        assert_eq!(keys[0].colour, Some(look("bbr1").colour));
        assert_eq!(
            (keys[0].dash, keys[0].mark),
            (Some(look("bbr1").dash), None)
        );
        assert_eq!(
            (keys[2].colour, keys[2].mark),
            (None, Some(Some(Mark::Circle)))
        );
    }

    #[test]
    fn as_pixels() {
        let bytes = png(&picture().svg()).unwrap();
        assert!(bytes.starts_with(b"\x89PNG"));
    }
}
