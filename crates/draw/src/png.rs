//! A picture as pixels.

use tiny_skia::{
    Color, FillRule, Paint, PathBuilder, Pixmap, Stroke as Line, StrokeDash, Transform,
};
use ttf_parser::OutlineBuilder;

use super::canvas::{Anchor, Canvas, Shape, Stroke, Text};
use super::look::Colour;

/// Pixels of the PNG for each of the picture: sharp on slides and on screens of twice the density.
const SCALE: f64 = 2.0;

/// Why there is no PNG.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// It is too large, or empty.
    #[error("a picture of this size cannot be drawn")]
    Size,
    /// The encoder gave up.
    #[error("cannot encode the picture: {0}")]
    Encoding(String),
}

/// The canvas as PNG, twice as large, on white.
pub fn png(canvas: &Canvas) -> Result<Vec<u8>, PngError> {
    let side = |pixels: f64| (pixels * SCALE).ceil() as u32;
    let (wide, high) = canvas.size;
    let mut pixels = Pixmap::new(side(wide), side(high)).ok_or(PngError::Size)?;
    pixels.fill(Color::WHITE);
    for shape in &canvas.shapes {
        draw(&mut pixels, shape);
    }
    let encoded = pixels.encode_png();
    encoded.map_err(|error| PngError::Encoding(error.to_string()))
}

fn draw(pixels: &mut Pixmap, shape: &Shape) {
    let scaled = Transform::from_scale(SCALE as f32, SCALE as f32);
    let mut path = PathBuilder::new();
    let (colour, opacity, placed) = match shape {
        Shape::Lines(lines, stroke) => {
            for line in lines {
                trace(&mut path, line);
            }
            if let Some(path) = path.finish() {
                let paint = paint(stroke.colour, 1.0);
                pixels.stroke_path(&path, &paint, &line(stroke), scaled, None);
            }
            return;
        }
        Shape::Area(corners, colour, opacity) => {
            trace(&mut path, corners);
            path.close();
            (*colour, *opacity, scaled)
        }
        Shape::Circle((x, y), radius, colour) => {
            path.push_circle(*x as f32, *y as f32, *radius as f32);
            (*colour, 1.0, scaled)
        }
        Shape::Text(text) => {
            write(&mut path, text);
            let placed = if text.is_upright {
                let (x, y) = (text.at.0 as f32, text.at.1 as f32);
                scaled.pre_concat(Transform::from_rotate_at(-90.0, x, y))
            } else {
                scaled
            };
            (text.letters.colour, 1.0, placed)
        }
    };
    if let Some(path) = path.finish() {
        let paint = paint(colour, opacity);
        pixels.fill_path(&path, &paint, FillRule::Winding, placed, None);
    }
}

fn trace(path: &mut PathBuilder, points: &[(f64, f64)]) {
    for (place, (x, y)) in points.iter().enumerate() {
        let (x, y) = (*x as f32, *y as f32);
        if place == 0 {
            path.move_to(x, y);
        } else {
            path.line_to(x, y);
        }
    }
}

fn paint((red, green, blue): Colour, opacity: f64) -> Paint<'static> {
    let mut paint = Paint::default();
    let alpha = (opacity * 255.0).round() as u8;
    paint.set_color_rgba8(red, green, blue, alpha);
    paint.anti_alias = true;
    paint
}

fn line(stroke: &Stroke) -> Line {
    let dashes = stroke.dashes.iter().map(|length| *length as f32);
    Line {
        width: stroke.width as f32,
        dash: StrokeDash::new(dashes.collect(), 0.0),
        ..Line::default()
    }
}

/// Adds the outlines of the letters.
fn write(path: &mut PathBuilder, text: &Text) {
    let (glyphs, width) = text.letters.set(&text.text);
    let (x, y) = text.baseline();
    let left = match text.anchor[0] {
        Anchor::Start => x,
        Anchor::Middle => x - width / 2.0,
        Anchor::End => x - width,
    };
    for (glyph, at) in glyphs {
        let mut outline = Outline {
            path,
            origin: ((left + at) as f32, y as f32),
            scale: text.letters.scale() as f32,
        };
        // A space has no outline.
        let _ = text.letters.face().outline_glyph(glyph, &mut outline);
    }
}

/// Puts a glyph, whose y goes up, where it belongs.
struct Outline<'p> {
    path: &'p mut PathBuilder,
    origin: (f32, f32),
    scale: f32,
}

impl Outline<'_> {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        (
            self.origin.0 + x * self.scale,
            self.origin.1 - y * self.scale,
        )
    }
}

impl OutlineBuilder for Outline<'_> {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2)) = (self.at(x1, y1), self.at(x2, y2));
        let (x, y) = self.at(x, y);
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}
