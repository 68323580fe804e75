//! Charts with a title above and a caption below.

use super::canvas::{Anchor, Canvas};
use super::chart::Chart;
use super::colours::{BLACK, FAINT, WHITE};
use super::curve::Curve;
use super::font::Letters;
use super::legend::{self, Key, Legend};
use super::place::{Point, Rect};
use super::png::{self, PngError};
use super::svg;
use super::table;

/// The width of a picture, and the margin around everything, in pixels.
const WIDTH: f64 = 860.0;
const MARGIN: f64 = 14.0;
const TITLE: f64 = 32.0;
const TITLE_LINE_HEIGHT: f64 = 22.0;
const LINE_HEIGHT: f64 = 16.0;
/// The distance between the charts and the caption, in pixels.
const GAP: f64 = 12.0;

/// The layout for a narrow screen: charts below each other, none higher than this, in pixels.
const NARROW: Layout = Layout {
    width: 390.0,
    columns: 1,
    max_height: 300.0,
    label: 110.0,
};

/// The layout of a picture, in pixels.
#[derive(Debug, Clone, Copy)]
struct Layout {
    width: f64,
    /// The number of charts side by side.
    columns: usize,
    /// The maximum height of a chart, unless each of its values needs a row.
    max_height: f64,
    /// The maximum width of a label on the left.
    label: f64,
}

/// Charts with a title above and a caption below.
#[derive(Debug, Clone)]
pub struct Picture {
    /// The title.
    pub title: String,
    /// The charts, row by row.
    pub charts: Vec<Chart>,
    /// The number of charts side by side.
    pub columns: usize,
    /// The height of each row in pixels.
    pub height: f64,
    /// The caption: what is shown, where it is from, how to reproduce it. Long lines are broken.
    pub caption: Vec<String>,
}

impl Picture {
    /// Creates a picture of one chart.
    pub fn new(title: impl Into<String>, chart: Chart) -> Picture {
        Picture::of(title, 1, 420.0, [chart])
    }

    /// Creates a picture of several charts, with `columns` side by side, in rows of this height in pixels.
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

    /// Adds a line to the caption.
    pub fn explained(mut self, text: impl Into<String>) -> Picture {
        self.caption.push(text.into());
        self
    }

    /// The picture as SVG, with text that can be searched and copied.
    pub fn svg(&self) -> String {
        svg::svg(&self.paint(self.wide()))
    }

    /// The picture for a narrow screen as SVG, with its charts below each other; `None` if it would not be legible.
    pub fn narrow_svg(&self) -> Option<String> {
        let room = (NARROW.width - 2.0 * MARGIN, self.row_height(NARROW));
        let left = self.left(NARROW.label);
        let mut charts = self.charts.iter();
        let is_legible = charts.all(|chart| chart.is_legible_in(room, left));
        is_legible.then(|| svg::svg(&self.paint(NARROW)))
    }

    /// The picture for a page, in its full layout and for narrow screens: [`html`].
    pub fn html(&self) -> String {
        html(&self.svg(), self.narrow_svg().as_deref())
    }

    /// The picture as PNG, twice as large, on white.
    ///
    /// # Errors
    ///
    /// The picture is too large for the memory, or empty.
    pub fn png(&self) -> Result<Vec<u8>, PngError> {
        png::png(&self.paint(self.wide()))
    }

    /// The numbers of its curves, bars and cells as CSV. Columns are named after the axes, with their units:
    /// `chart,curve,time_s,rtt_ms`.
    pub fn csv(&self) -> String {
        table::csv(&self.charts)
    }

    /// The names of curves that extend above or below their chart.
    pub fn cut_off(&self) -> Vec<String> {
        let curves = self.charts.iter().flat_map(Chart::cut_off);
        curves.map(Curve::full_name).collect()
    }

    /// The entries of its legend.
    pub fn keys(&self) -> Vec<Key> {
        legend::keys(&self.charts)
    }

    fn wide(&self) -> Layout {
        Layout {
            width: WIDTH,
            columns: self.columns,
            max_height: f64::INFINITY,
            label: f64::INFINITY,
        }
    }

    /// The room on the left that suffices for all charts.
    fn left(&self, label: f64) -> f64 {
        let lefts = self.charts.iter().map(|chart| chart.left(label));
        lefts.fold(0.0, f64::max)
    }

    /// The height of a row of charts.
    fn row_height(&self, layout: Layout) -> f64 {
        let heights = self.charts.iter().map(|chart| {
            if chart.y.has_rows() {
                self.height.max(chart.high(layout.label))
            } else {
                self.height.min(layout.max_height)
            }
        });
        heights.fold(0.0, f64::max)
    }

    /// The description for people who cannot see it: its title, the axes of each chart, and the legend.
    fn label(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        for chart in self.charts.iter().filter(|chart| !chart.x.is_blank()) {
            let part = format!("{} over {}", chart.y.title(), chart.x.title());
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        let keys: Vec<String> = self.keys().into_iter().map(|key| key.name).collect();
        let parts = [self.title.clone(), parts.join("; "), keys.join(", ")];
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join(". ")
    }

    fn paint(&self, layout: Layout) -> Canvas {
        let inner = layout.width - 2.0 * MARGIN;
        let row_height = self.row_height(layout);
        let heading = Letters::new(16.0, BLACK).bold();
        let small = Letters::new(10.5, FAINT);
        let title = heading.broken(&self.title, inner);
        let legend = Legend::new(&self.charts, inner);
        let caption = self.caption.iter();
        let caption: Vec<String> = caption.flat_map(|line| small.broken(line, inner)).collect();
        let rows = self.charts.len().div_ceil(layout.columns) as f64;
        let legend_top = MARGIN + TITLE + TITLE_LINE_HEIGHT * (title.len() as f64 - 1.0);
        let charts_top = legend_top + legend.height();
        let caption_top = charts_top + rows * row_height + GAP;
        let height = caption_top + caption.len() as f64 * LINE_HEIGHT + MARGIN;
        let mut canvas = Canvas {
            size: (layout.width, height),
            label: self.label(),
            shapes: Vec::new(),
        };
        let sheet = Rect::between((0.0, 0.0), canvas.size);
        canvas.fill(sheet.corners(), WHITE);
        write(
            &mut canvas,
            &title,
            (MARGIN, MARGIN),
            heading,
            TITLE_LINE_HEIGHT,
        );
        legend.paint(&mut canvas, (MARGIN, legend_top));
        let left = self.left(layout.label);
        let wide = inner / layout.columns as f64;
        for (place, chart) in self.charts.iter().enumerate() {
            let (row, column) = (place / layout.columns, place % layout.columns);
            let sheet = Rect {
                left: MARGIN + column as f64 * wide,
                top: charts_top + row as f64 * row_height,
                wide,
                high: row_height,
            };
            chart.paint(&mut canvas, &sheet, left, layout.label);
        }
        write(
            &mut canvas,
            &caption,
            (MARGIN, caption_top),
            small,
            LINE_HEIGHT,
        );
        canvas
    }
}

/// A picture for a page: its SVG gets the class `wide`, and its SVG for narrow screens the class `narrow`. The style of
/// the page shows one of them.
pub fn html(wide: &str, narrow: Option<&str>) -> String {
    let class = |svg: &str, class| svg.replacen("<svg", &format!("<svg class=\"{class}\""), 1);
    let narrow = narrow.map(|narrow| class(narrow, "narrow"));
    class(wide, "wide") + &narrow.unwrap_or_default()
}

/// Writes lines at the distance `apart`, from this corner on.
fn write(canvas: &mut Canvas, lines: &[String], (x, y): Point, letters: Letters, apart: f64) {
    for (place, line) in lines.iter().enumerate() {
        let at = (x, y + place as f64 * apart);
        canvas.text(line, at, [Anchor::Start; 2], letters);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Cell, Cells, Drawing, Look, Mark, Rule, Unit};
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
            svg.matches(">a &lt; b").count(),
            1,
            "one entry in the legend"
        );
        assert_eq!(svg.matches("RTprop").count(), 2);
    }

    #[test]
    fn a_page_has_it_wide_and_narrow() {
        let html = picture().html();
        let at = |class: &str| html.find(&format!("<svg class=\"{class}\"")).unwrap();
        assert!(at("wide") < at("narrow"));
        assert_eq!(html.matches("<svg").count(), 2);
        assert!(html.contains("aria-label=\"Sine. RTT (ms) over Time (s). a &lt; b &amp; c\""));
        let testbed = Chart::new(Axis::blank(), Axis::blank()).with(Drawing::default());
        let html = Picture::new("", testbed).html();
        assert!(!html.contains("narrow"), "its boxes have no room there");
    }

    #[test]
    fn what_is_written_at_the_axes_of_a_narrow_picture_does_not_touch() {
        let kinds = ["small objects of one network", "large ones", "every object"];
        let values = || Axis::linear("RTT", Unit::MILLISECONDS, 0.0, 2_000_000.0);
        let letters = Letters::new(11.5, BLACK);
        let below = Axis::of_kinds("", kinds).below(270.0, letters);
        let lines: Vec<usize> = below.iter().map(|(_, lines)| lines.len()).collect();
        assert_eq!(lines, [3, 1, 1]);
        assert_eq!(values().below(800.0, letters).len(), 5);
        assert_eq!(values().below(150.0, letters).len(), 3);
        let log = Axis::log("Size", Unit::BYTES, 1e3, 2e5);
        let texts = |wide| -> Vec<String> {
            let below = log.below(wide, letters);
            below.into_iter().flat_map(|(_, lines)| lines).collect()
        };
        assert_eq!(texts(600.0).len(), 8);
        assert_eq!(texts(200.0), ["1 kB", "10 kB", "100 kB"]);
        // Where not all have room, some between powers of ten still do.
        let loss = Axis::log("Loss", Unit::PERCENT, 0.001, 50.0);
        let loss = loss.with_ticks([
            0.001, 0.01, 0.1, 1.0, 2.0, 3.0, 5.0, 10.0, 15.0, 20.0, 30.0, 50.0,
        ]);
        let below = loss.below(750.0, letters);
        let written: Vec<String> = below.into_iter().flat_map(|(_, lines)| lines).collect();
        let some = ["0.001", "0.01", "0.1", "1", "2", "5", "10", "50"];
        assert!(
            some.iter()
                .all(|one| written.iter().any(|text| text == one)),
            "{written:?}"
        );
        assert!(written.len() < 12, "{written:?}");
    }

    #[test]
    fn the_rows_of_a_narrow_picture_do_not_touch() {
        let kinds = [
            "retransmitted packets of both ends, +205.2 %",
            "RTT",
            "time",
        ];
        let x = Axis::linear("change", Unit::PERCENT, 0.0, 1.0);
        let chart = Chart::new(x, Axis::of_kinds("", kinds));
        let picture = Picture::of("", 1, 100.0, [chart.clone()]);
        let lines = Letters::new(11.5, BLACK).broken(kinds[0], NARROW.label);
        assert!(lines.len() > 2, "{lines:?}");
        let between = picture.row_height(NARROW) - chart.high(f64::INFINITY);
        // Each row has room for the lines of the longest name.
        assert!(
            between > 3.0 * 11.5 * (lines.len() as f64 - 1.0),
            "{between}"
        );
        assert_eq!(
            picture.row_height(picture.wide()),
            100.0_f64.max(chart.high(f64::INFINITY))
        );
    }

    #[test]
    fn nothing_is_drawn_outside() {
        for (layout, width) in [(picture().wide(), WIDTH), (NARROW, NARROW.width)] {
            is_within(&svg::svg(&picture().paint(layout)), 4.0 * width);
        }
    }

    fn is_within(svg: &str, width: f64) {
        let lines = svg.split("d=\"M").skip(1);
        let points = lines
            .filter_map(|rest| rest.split('"').next())
            .flat_map(|path| path.trim_end_matches('Z').split([' ', 'M']));
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
        let look = |name| Look::of_place(usize::from(name == "cubic"));
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
        let bytes = picture().png().unwrap();
        assert!(bytes.starts_with(b"\x89PNG"));
    }
}
