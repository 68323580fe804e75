//! Two axes, and the layers between them.

use super::axis::Axis;
use super::canvas::{Anchor, Canvas, Stroke};
use super::colours::{AXIS, BLACK, FINE_GRID, GREY, GRID, WHITE};
use super::curve::Curve;
use super::font::Letters;
use super::layer::Layer;
use super::names::Taken;
use super::place::Rect;
use super::plot::Plot;

/// Two axes, and the layers between them.
#[derive(Debug, Clone)]
pub struct Chart {
    /// The title above it, if it is one of several.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The layers, the lowest first.
    pub layers: Vec<Layer>,
    /// A smaller chart within it.
    pub inset: Option<Box<Chart>>,
}

/// The room for the labels and titles of the axes in pixels, and their size.
#[derive(Debug, Clone, Copy)]
struct Frame {
    left: f64,
    below: f64,
    above: f64,
    right: f64,
    /// The room for the title, if names of vertical lines are between it and the chart.
    title: f64,
    letters: f64,
    /// The maximum width of a label of the vertical axis before it is broken into lines.
    label: f64,
}

const WHOLE: Frame = Frame {
    left: 62.0,
    below: 40.0,
    above: 34.0,
    right: 22.0,
    title: 24.0,
    letters: 1.0,
    label: f64::INFINITY,
};

const INSET: Frame = Frame {
    left: 50.0,
    below: 34.0,
    above: 8.0,
    right: 14.0,
    title: 4.0,
    letters: 0.86,
    label: f64::INFINITY,
};

/// The room on the left for ticks, gaps and the title of the axis, beside its labels.
const AXIS_ROOM: f64 = 34.0;

/// The frame of a drawing, which needs no room for axes.
const DRAWING: Frame = Frame {
    left: 0.0,
    below: 0.0,
    right: 0.0,
    ..WHOLE
};

/// The size of an inset as shares of its chart's width and height, and its distance from the edges in pixels.
const INSET_SHARE: (f64, f64) = (0.42, 0.5);
const INSET_GAP: f64 = 8.0;

/// The length of a tick, and the distance between the axis and its labels, in pixels.
const TICK: f64 = 4.0;
const LABEL_GAP: f64 = 8.0;

/// The least distance between the labels of two values above each other, in pixels.
const MIN_LABEL_GAP: f64 = 4.0;

/// The distance between lines of a label, in sizes of its letters.
const LINE_SPACING: f64 = 1.1;

impl Chart {
    /// Creates an empty chart.
    pub fn new(x: Axis, y: Axis) -> Chart {
        Chart {
            title: String::new(),
            x,
            y,
            layers: Vec::new(),
            inset: None,
        }
    }

    /// Adds a smaller chart, placed where it covers the least.
    pub fn with_inset(mut self, inset: Chart) -> Chart {
        self.inset = Some(Box::new(inset));
        self
    }

    /// Sets the title.
    pub fn titled(mut self, title: impl Into<String>) -> Chart {
        self.title = title.into();
        self
    }

    /// Adds a layer on top.
    pub fn with(mut self, layer: impl Into<Layer>) -> Chart {
        self.layers.push(layer.into());
        self
    }

    /// Adds layers on top.
    pub fn with_all(mut self, layers: impl IntoIterator<Item = impl Into<Layer>>) -> Chart {
        self.layers.extend(layers.into_iter().map(Into::into));
        self
    }

    /// The curves with points above or below the chart.
    pub(super) fn cut_off(&self) -> impl Iterator<Item = &Curve> {
        self.layers.iter().filter_map(|layer| match layer {
            Layer::Curve(curve) => {
                let mut points = curve.points.iter();
                let is_out = |(x, y): &(f64, f64)| {
                    let is_within = |place: f64| (-1e-9..=1.0 + 1e-9).contains(&place);
                    is_within(self.x.place(*x)) && !is_within(self.y.place(*y))
                };
                (!curve.is_open && points.any(is_out)).then_some(curve)
            }
            _ => None,
        })
    }

    /// The room on its left for the labels and title of its axis, in pixels. Labels are broken into lines of the
    /// width `label`.
    pub(super) fn left(&self, label: f64) -> f64 {
        self.left_of(&Frame { label, ..WHOLE })
    }

    fn left_of(&self, frame: &Frame) -> f64 {
        let letters = frame.of_values();
        let lines = self.y.ticks();
        let lines = lines.flat_map(|(_, label)| letters.broken(label, frame.label));
        let beside = AXIS_ROOM * frame.letters;
        lines.fold(frame.left, |left, line| {
            left.max(letters.room(&line) + beside)
        })
    }

    /// The height at which the labels of the values on the left, in lines of the width `label`, do not touch.
    pub(super) fn high(&self, label: f64) -> f64 {
        let letters = WHOLE.of_values();
        let ticks = || self.y.ticks();
        let lines = ticks().map(|(_, text)| letters.broken(text, label).len());
        let row = LINE_SPACING * letters.size * lines.max().unwrap_or(1) as f64 + MIN_LABEL_GAP;
        WHOLE.above + WHOLE.below + row * ticks().count() as f64
    }

    /// Whether it is legible in this width and height, in pixels, with the room `left` on its left: a drawing needs its
    /// full width, and a cell enough for its label.
    pub(super) fn is_legible_in(&self, (wide, high): (f64, f64), left: f64) -> bool {
        let (wide, high) = (wide - left - WHOLE.right, high - WHOLE.above - WHOLE.below);
        let room = |axis: &Axis, (from, to): (f64, f64)| (axis.place(to) - axis.place(from)).abs();
        self.layers.iter().all(|layer| match layer {
            Layer::Drawing(_) => false,
            Layer::Cells(cells) => cells.cells.iter().all(|cell| {
                let room = (room(&self.x, cell.x) * wide, room(&self.y, cell.y) * high);
                cell.written(room).is_some()
            }),
            _ => true,
        })
    }

    /// Draws it with the room `left` on its left, in pixels, and labels in lines of the width `label`.
    pub(super) fn paint(&self, canvas: &mut Canvas, sheet: &Rect, left: f64, label: f64) {
        let mut frame = Frame {
            left,
            label,
            ..WHOLE
        };
        if self.x.is_blank() {
            frame = DRAWING;
        }
        self.paint_in(canvas, sheet, &frame);
    }

    fn paint_in(&self, canvas: &mut Canvas, sheet: &Rect, frame: &Frame) {
        let wide = sheet.wide - frame.left - frame.right;
        let written = self.x.below(wide, frame.of_values());
        let lines = written.iter().map(|(_, lines)| lines.len()).max();
        let more = lines.unwrap_or(1).saturating_sub(1) as f64;
        let frame = &Frame {
            below: frame.below + more * LINE_SPACING * frame.of_values().size,
            ..*frame
        };
        let plot = Plot {
            area: sheet.without([frame.left, frame.above, frame.right, frame.below]),
            x: &self.x,
            y: &self.y,
        };
        self.paint_title(canvas, &plot, frame);
        let layers = || self.layers.iter().map(Layer::as_paint);
        layers().for_each(|layer| layer.ground(canvas, &plot));
        if !self.x.is_blank() {
            paint_grid(canvas, &plot);
            paint_axes(canvas, &plot, frame, &written);
        }
        let mut taken = Taken::default();
        layers().for_each(|layer| layer.paint(canvas, &plot, &mut taken));
        if let Some(inset) = &self.inset {
            inset.paint_inset(canvas, &plot.area, &mut taken);
        }
        // Names are above everything that might cross them.
        layers().for_each(|layer| layer.name(canvas, &plot, &mut taken));
    }

    fn paint_title(&self, canvas: &mut Canvas, plot: &Plot<'_>, frame: &Frame) {
        if self.title.is_empty() {
            return;
        }
        let is_named = |layer: &Layer| matches!(layer, Layer::Rule(rule) if rule.is_vertical);
        let above = if self.layers.iter().any(is_named) {
            frame.title
        } else {
            frame.above / 3.0
        };
        let at = (plot.area.at((0.5, 0.0)).0, plot.area.top - above);
        let letters = Letters::new(13.0 * frame.letters, BLACK).bold();
        canvas.text(&self.title, at, [Anchor::Middle; 2], letters);
    }

    /// Draws it within another chart, on a background of its own.
    fn paint_inset(&self, canvas: &mut Canvas, chart: &Rect, taken: &mut Taken) {
        let (wide, high) = (chart.wide * INSET_SHARE.0, chart.high * INSET_SHARE.1);
        let steps = |room: f64| {
            [1.0, 0.0, 0.75, 0.25, 0.5].map(|at| INSET_GAP + at * (room - 2.0 * INSET_GAP))
        };
        let spots = steps(chart.high - high).into_iter().flat_map(|top| {
            steps(chart.wide - wide).map(|left| Rect {
                left: chart.left + left,
                top: chart.top + top,
                wide,
                high,
            })
        });
        if let Some(spot) = taken.take(spots) {
            canvas.framed(&spot, WHITE, Stroke::hairline(GREY));
            let left = self.left_of(&INSET);
            let sheet = spot.without([5.0, 5.0, 0.0, 0.0]);
            self.paint_in(canvas, &sheet, &Frame { left, ..INSET });
        }
    }
}

impl Frame {
    /// The letters of the axes' labels.
    fn of_values(&self) -> Letters {
        Letters::new(11.5 * self.letters, BLACK)
    }
}

/// Draws lines at the labelled values, and fine ones between them.
fn paint_grid(canvas: &mut Canvas, plot: &Plot<'_>) {
    let mut lines = |x: &mut dyn Iterator<Item = f64>, y: &mut dyn Iterator<Item = f64>, stroke| {
        let up = x.map(|x| [(x, 0.0), (x, 1.0)]);
        let across = y.map(|y| [(0.0, y), (1.0, y)]);
        let lines = up
            .chain(across)
            .map(|line| line.map(|end| plot.area.at(end)));
        let inside = lines.filter(|[from, _]| plot.area.holds(*from));
        canvas.lines(inside.map(Vec::from).collect(), stroke);
    };
    let (x, y) = (plot.x, plot.y);
    lines(&mut x.minor(), &mut y.minor(), Stroke::new(FINE_GRID, 0.75));
    let [mut x, mut y] = [x, y].map(|axis| axis.ticks().map(|(place, _)| place));
    lines(&mut x, &mut y, Stroke::new(GRID, 1.0));
}

/// Draws the axes with their labels and titles; `below` has the labels of the horizontal axis.
fn paint_axes(canvas: &mut Canvas, plot: &Plot<'_>, frame: &Frame, below: &[(f64, Vec<String>)]) {
    let area = &plot.area;
    let letters = frame.of_values();
    let apart = LINE_SPACING * letters.size;
    let [corner, above, _, beside] = area.corners();
    let mut lines = vec![vec![above, corner, beside]];
    for (place, _) in plot.x.ticks() {
        let (x, y) = area.at((place, 0.0));
        if area.holds((x, y)) {
            lines.push(vec![(x, y), (x, y + TICK)]);
        }
    }
    for (place, label) in below {
        let (x, y) = area.at((*place, 0.0));
        let (at, anchor) = ((x, y + LABEL_GAP), [Anchor::Middle, Anchor::Start]);
        canvas.stack(label, at, anchor, (letters, apart));
    }
    for (place, label) in plot.y.ticks() {
        let (x, y) = area.at((0.0, place));
        if area.holds((x, y)) {
            lines.push(vec![(x, y), (x - TICK, y)]);
            let label = letters.broken(label, frame.label);
            let (at, anchor) = ((x - LABEL_GAP, y), [Anchor::End, Anchor::Middle]);
            canvas.stack(&label, at, anchor, (letters, apart));
        }
    }
    canvas.lines(lines, Stroke::new(AXIS, 1.2));
    let letters = Letters::new(12.5 * frame.letters, BLACK);
    let (middle_x, middle_y) = area.at((0.5, 0.5));
    let below = (middle_x, area.bottom() + frame.below);
    canvas.text(
        &plot.x.title(),
        below,
        [Anchor::Middle, Anchor::End],
        letters,
    );
    let left = (area.left - frame.left, middle_y);
    canvas.upright_text(
        &plot.y.title(),
        left,
        [Anchor::Middle, Anchor::Start],
        letters,
    );
}
