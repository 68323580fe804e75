//! The marks at a curve's points. Circles are filled, and all others are white inside, so that marks at the same
//! position stay visible.

use super::canvas::{Canvas, Stroke};
use super::colours::{Colour, WHITE};
use super::look::Mark;
use super::place::Point;

/// Half the width of a mark in pixels.
const HALF_WIDTH: f64 = 4.5;

/// Draws an arrowhead at a point on the chart's edge, in the direction of `beyond`.
pub fn tip(canvas: &mut Canvas, (x, y): Point, beyond: Point, (colour, size): (Colour, f64)) {
    let (right, down) = (beyond.0 - x, beyond.1 - y);
    let far = right.hypot(down);
    let (right, down) = (size * right / far, size * down / far);
    let sides = [1.0, -1.0].map(|side| (x - side * down, y + side * right));
    let end = (x + 1.6 * right, y + 1.6 * down);
    canvas.fill([end, sides[0], sides[1]], colour);
}

/// Half the width of a line's arrowhead, in pixels.
pub fn tip_size(width: f64) -> f64 {
    HALF_WIDTH * 0.8 + width / 2.0
}

/// Draws a mark at a point.
pub fn paint(canvas: &mut Canvas, (x, y): Point, mark: Mark, colour: Colour) {
    let around = |corners: &[Point], size: f64| -> Vec<Point> {
        let corners = corners.iter();
        corners
            .map(|(right, down)| (x + right * size, y + down * size))
            .collect()
    };
    let corners: &[Point] = match mark {
        Mark::Circle => return canvas.circle((x, y), HALF_WIDTH * 0.85, colour),
        Mark::Cross => {
            let arms: [[Point; 2]; 2] = [[(-0.8, -0.8), (0.8, 0.8)], [(-0.8, 0.8), (0.8, -0.8)]];
            let arms = arms.map(|arm| around(&arm, HALF_WIDTH));
            return canvas.lines(arms.into(), Stroke::new(colour, 2.0));
        }
        Mark::Square => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
        Mark::Triangle => &[(-1.0, 0.9), (1.0, 0.9), (0.0, -1.0)],
        Mark::Diamond => &[(0.0, -1.0), (1.0, 0.0), (0.0, 1.0), (-1.0, 0.0)],
    };
    canvas.fill(around(corners, HALF_WIDTH), colour);
    canvas.fill(around(corners, HALF_WIDTH * 0.5), WHITE);
}
