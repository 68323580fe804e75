//! Boxes, and lines between them: how things are connected.

use plotters::element::{EmptyElement, PathElement, Rectangle, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::font::{Weight, letters};
use super::look::{Colour, GREY};
use super::paint::{Area, INK, Painted, Place, filled, fine, lighter, stroke};

/// Boxes, and lines between them, in a chart with blank axes.
#[derive(Debug, Clone, Default)]
pub struct Drawing {
    /// The boxes.
    pub nodes: Vec<Node>,
    /// Lines with an arrow at their end, below the boxes.
    pub arrows: Vec<(Place, Place)>,
}

/// A box with text in it.
#[derive(Debug, Clone)]
pub struct Node {
    /// Its middle: 0 is left or below, 1 right or above.
    pub at: Place,
    /// How wide and how high it is, as shares of the chart.
    pub size: (f64, f64),
    /// What is in it, line by line; the first line is its name.
    pub lines: Vec<String>,
    /// Its colour.
    pub colour: Colour,
}

/// From line to line, in pixels.
const LINE: f64 = 16.0;

impl Drawing {
    pub(super) fn paint(&self, area: &Area<'_>) -> Painted {
        for (from, to) in &self.arrows {
            area.draw(&PathElement::new([*from, *to], stroke(GREY, 1.6)))?;
            let side = if to.0 >= from.0 {
                -fine(7.0)
            } else {
                fine(7.0)
            };
            let tip = [(side, -fine(4.0)), (0, 0), (side, fine(4.0))];
            let tip = PathElement::new(tip.to_vec(), stroke(GREY, 1.6));
            area.draw(&(EmptyElement::at(*to) + tip))?;
        }
        self.nodes.iter().try_for_each(|node| node.paint(area))
    }
}

impl Node {
    fn paint(&self, area: &Area<'_>) -> Painted {
        let ((x, y), (wide, high)) = (self.at, self.size);
        let corners = [
            (x - wide / 2.0, y - high / 2.0),
            (x + wide / 2.0, y + high / 2.0),
        ];
        area.draw(&Rectangle::new(corners, filled(lighter(self.colour, 0.85))))?;
        area.draw(&Rectangle::new(corners, stroke(self.colour, 1.4)))?;
        let above = fine(LINE) * (self.lines.len() as i32 - 1) / 2;
        for (row, line) in (0..).zip(&self.lines) {
            let weight = if row == 0 {
                Weight::Bold
            } else {
                Weight::Regular
            };
            let style = letters(11.5, weight, INK).pos(Pos::new(HPos::Center, VPos::Center));
            let text = Text::new(line.clone(), (0, row * fine(LINE) - above), style);
            area.draw(&(EmptyElement::at(self.at) + text))?;
        }
        Ok(())
    }
}
