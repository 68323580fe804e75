//! A picture as pixels.

use tiny_skia::{
    Color, FillRule, Paint, PathBuilder, Pixmap, Stroke as Line, StrokeDash, Transform,
};
use ttf_parser::OutlineBuilder;

use super::canvas::{Anchor, Canvas, Shape, Stroke, Text};
use super::colours::Colour;

/// The pixels of the PNG for each of the picture: sharp on slides and on screens of twice the density.
const SCALE: f64 = 2.0;

/// Errors of PNG output.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PngError {
    /// The picture is too large, or empty.
    #[error("a picture of this size cannot be drawn")]
    Size,
    /// The encoder failed.
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
    match shape {
        Shape::Lines(lines, stroke) => {
            lines.iter().for_each(|line| trace(&mut path, line));
            if let Some(path) = path.finish() {
                let paint = paint(stroke.colour, 1.0);
                pixels.stroke_path(&path, &paint, &line(stroke), scaled, None);
            }
        }
        Shape::Area(corners, colour, opacity) => {
            trace(&mut path, corners);
            path.close();
            fill(pixels, path, &paint(*colour, *opacity), scaled);
        }
        Shape::Circle((x, y), radius, colour) => {
            path.push_circle(*x as f32, *y as f32, *radius as f32);
            fill(pixels, path, &paint(*colour, 1.0), scaled);
        }
        Shape::Text(text) => write(pixels, text, scaled),
    }
}

fn fill(pixels: &mut Pixmap, path: PathBuilder, paint: &Paint<'_>, placed: Transform) {
    if let Some(path) = path.finish() {
        pixels.fill_path(&path, paint, FillRule::Winding, placed, None);
    }
}

fn trace(path: &mut PathBuilder, points: &[(f64, f64)]) {
    let mut points = points.iter().map(|(x, y)| (*x as f32, *y as f32));
    if let Some((x, y)) = points.next() {
        path.move_to(x, y);
    }
    points.for_each(|(x, y)| path.line_to(x, y));
}

fn paint((red, green, blue): Colour, opacity: f64) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color_rgba8(red, green, blue, (opacity * 255.0).round() as u8);
    paint
}

fn line(stroke: &Stroke) -> Line {
    let dashes = stroke
        .dashes
        .map(|lengths| lengths.map(|length| length as f32));
    Line {
        width: stroke.width as f32,
        dash: dashes.and_then(|dashes| StrokeDash::new(dashes.into(), 0.0)),
        ..Line::default()
    }
}

fn write(pixels: &mut Pixmap, text: &Text, scaled: Transform) {
    let letters = text.letters;
    let (glyphs, width) = letters.set(&text.text);
    let (x, y) = text.baseline();
    let left = match text.anchor[0] {
        Anchor::Start => x,
        Anchor::Middle => x - width / 2.0,
        Anchor::End => x - width,
    };
    let turn = if text.is_upright { -90.0 } else { 0.0 };
    let turn = Transform::from_rotate_at(turn, text.at.0 as f32, text.at.1 as f32);
    let (paint, size) = (paint(letters.colour, 1.0), letters.scale() as f32);
    for (glyph, at) in glyphs {
        let mut outline = Outline(PathBuilder::new());
        // A space has no outline. In fonts, the vertical axis points up.
        let _ = letters.face().outline_glyph(glyph, &mut outline);
        let placed = scaled.pre_concat(turn);
        let placed = placed.pre_translate((left + at) as f32, y as f32);
        fill(pixels, outline.0, &paint, placed.pre_scale(size, -size));
    }
}

struct Outline(PathBuilder);

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        self.0.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.0.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.0.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.0.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.0.close();
    }
}
