//! Diagrams: boxes, and lines between them.

use super::canvas::{Anchor, Canvas, Stroke};
use super::colours::{Colour, GREY, INK, lighter};
use super::font::Letters;
use super::names::Taken;
use super::place::Rect;
use super::plot::{Paint, Plot};

/// Boxes, and lines between them, in a chart with blank axes.
#[derive(Debug, Clone, Default)]
pub struct Drawing {
    /// The boxes.
    pub nodes: Vec<Node>,
    /// Lines with an arrowhead at their end, below the boxes, in the coordinates of the boxes.
    pub arrows: Vec<((f64, f64), (f64, f64))>,
}

/// A box with text in it.
#[derive(Debug, Clone)]
pub struct Node {
    /// Its centre: 0 is left or below, 1 right or above.
    pub at: (f64, f64),
    /// Its width and height, as shares of the chart.
    pub size: (f64, f64),
    /// Its text, line by line; the first line is its name.
    pub lines: Vec<String>,
    /// Its colour.
    pub colour: Colour,
}

/// The distance between lines, and the length and half the width of an arrowhead, in pixels.
const LINE_HEIGHT: f64 = 16.0;
const TIP: (f64, f64) = (7.0, 4.0);

impl Paint for Drawing {
    fn paint(&self, canvas: &mut Canvas, plot: &Plot<'_>, _taken: &mut Taken) {
        let area = &plot.area;
        for (from, to) in &self.arrows {
            let (from, (x, y)) = (area.at(*from), area.at(*to));
            let (dx, dy) = (x - from.0, y - from.1);
            let long = dx.hypot(dy).max(f64::MIN_POSITIVE);
            let (dx, dy) = (dx / long, dy / long);
            let barb = |side: f64| (x - TIP.0 * dx - side * dy, y - TIP.0 * dy + side * dx);
            let tip = vec![barb(TIP.1), (x, y), barb(-TIP.1)];
            canvas.lines(vec![vec![from, (x, y)], tip], Stroke::new(GREY, 1.6));
        }
        for node in &self.nodes {
            node.paint(canvas, area);
        }
    }
}

impl Node {
    fn paint(&self, canvas: &mut Canvas, area: &Rect) {
        let ((x, y), (wide, high)) = (self.at, self.size);
        let [one, other] = [-0.5, 0.5].map(|side| area.at((x + side * wide, y + side * high)));
        let (ground, outline) = (lighter(self.colour, 0.85), Stroke::hairline(self.colour));
        canvas.framed(&Rect::between(one, other), ground, outline);
        let (x, y) = area.at(self.at);
        let mut row = y - LINE_HEIGHT * (self.lines.len() as f64 - 1.0) / 2.0;
        let mut letters = Letters::new(11.5, INK).bold();
        for line in &self.lines {
            canvas.text(line, (x, row), [Anchor::Middle; 2], letters);
            row += LINE_HEIGHT;
            letters = Letters::new(11.5, INK);
        }
    }
}
