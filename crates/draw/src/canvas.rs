//! The elements of a picture: stacked shapes, in pixels.

use super::colours::Colour;
use super::font::Letters;
use super::look::{Dash, Look};
use super::place::{Point, Rect};

/// A sheet with its shapes, the lowest first.
#[derive(Debug, Clone, Default)]
pub struct Canvas {
    /// The description for people who cannot see it.
    pub label: String,
    /// Its width and height.
    pub size: (f64, f64),
    pub shapes: Vec<Shape>,
}

#[derive(Debug, Clone)]
pub enum Shape {
    Lines(Vec<Vec<Point>>, Stroke),
    /// The area between these corners, with this opacity; 1 is opaque.
    Area(Vec<Point>, Colour, f64),
    /// A circle with this centre and radius.
    Circle(Point, f64, Colour),
    Text(Text),
}

/// The style of lines.
#[derive(Debug, Clone, Copy)]
pub struct Stroke {
    pub colour: Colour,
    pub width: f64,
    /// The lengths of strokes and gaps; `None` for a solid line.
    pub dashes: Option<[f64; 2]>,
}

#[derive(Debug, Clone)]
pub struct Text {
    pub text: String,
    pub letters: Letters,
    /// The anchor point, and the side of the text that is there: of its width, and of its height.
    pub at: Point,
    pub anchor: [Anchor; 2],
    /// Whether it is rotated to the left about its anchor point, to be read from below.
    pub is_upright: bool,
}

/// The end of a text that is at its anchor point; the start is on the left, or above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

impl Stroke {
    /// A solid line.
    pub fn new(colour: Colour, width: f64) -> Stroke {
        Stroke {
            colour,
            width,
            dashes: None,
        }
    }

    /// The finest solid line.
    pub fn hairline(colour: Colour) -> Stroke {
        Stroke::new(colour, 0.25)
    }

    /// The stroke of a curve with this look, if it has a line.
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
    /// The anchor point on its baseline, before rotation.
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

    /// Adds lines of the same style.
    pub fn lines(&mut self, lines: Vec<Vec<Point>>, stroke: Stroke) {
        if !lines.is_empty() {
            self.shapes.push(Shape::Lines(lines, stroke));
        }
    }

    pub fn fill(&mut self, corners: impl Into<Vec<Point>>, colour: Colour) {
        self.shapes.push(Shape::Area(corners.into(), colour, 1.0));
    }

    /// Adds a rectangle with an outline.
    pub fn framed(&mut self, rect: &Rect, ground: Colour, outline: Stroke) {
        let [first, rest @ ..] = rect.corners();
        self.fill(rect.corners(), ground);
        self.line([&[first], &rest[..], &[first]].concat(), outline);
    }

    pub fn circle(&mut self, middle: Point, radius: f64, colour: Colour) {
        self.shapes.push(Shape::Circle(middle, radius, colour));
    }

    /// Adds lines of text below each other, at the distance `apart`, at this anchor point.
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
