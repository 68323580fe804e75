//! What is drawn at a curve's points. Circles are full, everything else has a white heart: what lies on the same place
//! stays visible.

use super::canvas::{Canvas, Stroke};
use super::colours::{Colour, WHITE};
use super::look::Mark;
use super::place::Point;

/// Half the width of a mark in pixels.
const SIZE: f64 = 4.5;

/// Draws a mark at a place.
pub fn paint(canvas: &mut Canvas, (x, y): Point, mark: Mark, colour: Colour) {
    let around = |corners: &[Point], size: f64| -> Vec<Point> {
        let corners = corners.iter();
        corners
            .map(|(right, down)| (x + right * size, y + down * size))
            .collect()
    };
    let corners: &[Point] = match mark {
        Mark::Circle => return canvas.circle((x, y), SIZE * 0.85, colour),
        Mark::Cross => {
            let arms: [[Point; 2]; 2] = [[(-0.8, -0.8), (0.8, 0.8)], [(-0.8, 0.8), (0.8, -0.8)]];
            let arms = arms.map(|arm| around(&arm, SIZE));
            return canvas.lines(arms.into(), Stroke::new(colour, 2.0));
        }
        Mark::Square => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
        Mark::Triangle => &[(-1.0, 0.9), (1.0, 0.9), (0.0, -1.0)],
        Mark::Arrow => &[(-0.9, -1.0), (-0.9, 1.0), (1.0, 0.0)],
        Mark::Diamond => &[(0.0, -1.0), (1.0, 0.0), (0.0, 1.0), (-1.0, 0.0)],
    };
    canvas.fill(around(corners, SIZE), colour);
    canvas.fill(around(corners, SIZE * 0.5), WHITE);
}
