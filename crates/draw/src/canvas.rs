//! What a picture is made of: shapes on top of each other, in pixels.

use super::colours::Colour;
use super::font::Letters;
use super::look::{Dash, Look};
use super::place::{Point, Rect};

/// A sheet, and what is on it, the lowest first.
#[derive(Debug, Clone, Default)]
pub struct Canvas {
    /// What those are told who do not see it.
    pub label: String,
    /// How wide and how high it is.
    pub size: (f64, f64),
    pub shapes: Vec<Shape>,
}

#[derive(Debug, Clone)]
pub enum Shape {
    Lines(Vec<Vec<Point>>, Stroke),
    /// What is between these corners; 1 is opaque.
    Area(Vec<Point>, Colour, f64),
    /// Its middle and its radius.
    Circle(Point, f64, Colour),
    Text(Text),
}

/// How lines are drawn.
#[derive(Debug, Clone, Copy)]
pub struct Stroke {
    pub colour: Colour,
    pub width: f64,
    /// Lengths of strokes and of the gaps between them, if it is no unbroken line.
    pub dashes: Option<[f64; 2]>,
}

#[derive(Debug, Clone)]
pub struct Text {
    pub text: String,
    pub letters: Letters,
    /// The place that it is anchored at, and which side of it is there: of its width, and of its height.
    pub at: Point,
    pub anchor: [Anchor; 2],
    /// Whether it is turned to the left about its place, to be read from below.
    pub is_upright: bool,
}

/// Which end of something is at its place: its beginning is at the left, or above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

impl Stroke {
    /// An unbroken line.
    pub fn new(colour: Colour, width: f64) -> Stroke {
        Stroke {
            colour,
            width,
            dashes: None,
        }
    }

    /// An unbroken line that is as fine as can be.
    pub fn hairline(colour: Colour) -> Stroke {
        Stroke::new(colour, 0.25)
    }

    /// The line of such a curve, if it has any.
    pub fn of(look: Look) -> Option<Stroke> {
        let dashes = match look.dash {
            Dash::Solid => None,
            Dash::Dashed => Some([9.0, 5.0]),
            Dash::Dotted => Some([2.0, 4.0]),
            Dash::None => return None,
        };
        let line = Stroke::new(look.colour, look.width);
        Some(Stroke { dashes, ..line })
    }
}

impl Text {
    /// Where its baseline begins, or where its middle or its end is on it, before it is turned.
    pub fn baseline(&self) -> Point {
        let down = match self.anchor[1] {
            Anchor::Start => 0.76,
            Anchor::Middle => 0.25,
            Anchor::End => -0.25,
        };
        (self.at.0, self.at.1 + down * self.letters.size)
    }
}

impl Canvas {
    pub fn line(&mut self, points: impl Into<Vec<Point>>, stroke: Stroke) {
        self.lines(vec![points.into()], stroke);
    }

    /// Lines that look the same.
    pub fn lines(&mut self, lines: Vec<Vec<Point>>, stroke: Stroke) {
        if !lines.is_empty() {
            self.shapes.push(Shape::Lines(lines, stroke));
        }
    }

    pub fn fill(&mut self, corners: impl Into<Vec<Point>>, colour: Colour) {
        self.shapes.push(Shape::Area(corners.into(), colour, 1.0));
    }

    /// A rectangle with an outline.
    pub fn framed(&mut self, rect: &Rect, ground: Colour, outline: Stroke) {
        let [first, rest @ ..] = rect.corners();
        self.fill(rect.corners(), ground);
        self.line([&[first], &rest[..], &[first]].concat(), outline);
    }

    pub fn circle(&mut self, middle: Point, radius: f64, colour: Colour) {
        self.shapes.push(Shape::Circle(middle, radius, colour));
    }

    /// Lines of text below each other, so far apart, about this place.
    pub fn stack(
        &mut self,
        lines: &[String],
        (x, y): Point,
        anchor: [Anchor; 2],
        (letters, apart): (Letters, f64),
    ) {
        let above = match anchor[1] {
            Anchor::Start => 0.0,
            Anchor::Middle => 0.5,
            Anchor::End => 1.0,
        };
        let mut y = y - above * apart * (lines.len() as f64 - 1.0);
        for line in lines {
            self.text(line, (x, y), anchor, letters);
            y += apart;
        }
    }

    pub fn text(&mut self, text: &str, at: Point, anchor: [Anchor; 2], letters: Letters) {
        self.shapes.push(Shape::Text(Text {
            text: text.to_owned(),
            letters,
            at,
            anchor,
            is_upright: false,
        }));
    }

    pub fn upright_text(&mut self, text: &str, at: Point, anchor: [Anchor; 2], letters: Letters) {
        self.text(text, at, anchor, letters);
        if let Some(Shape::Text(text)) = self.shapes.last_mut() {
            text.is_upright = true;
        }
    }
}
