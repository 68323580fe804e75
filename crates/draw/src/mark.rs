//! What is drawn at a curve's points. Circles are full, everything else has a white heart: what lies on the same place
//! stays visible.

use plotters::coord::CoordTranslate;
use plotters::element::{Circle, EmptyElement, PathElement, Polygon};
use plotters::prelude::{DrawingArea, SVGBackend};

use super::look::{Colour, Mark};
use super::paint::{Painted, WHITE, filled, fine, stroke};

/// Half the width of a mark in pixels.
const SIZE: f64 = 4.5;

/// Draws a mark at a place.
pub fn paint<C>(
    area: &DrawingArea<SVGBackend<'_>, C>,
    at: C::From,
    mark: Mark,
    colour: Colour,
) -> Painted
where
    C: CoordTranslate,
    C::From: Clone + 'static,
{
    let corners = |size: f64| -> Vec<(i32, i32)> {
        let [all, half] = [fine(size), fine(size * 0.9)];
        match mark {
            Mark::Square => vec![(-half, -half), (half, -half), (half, half), (-half, half)],
            Mark::Triangle => vec![(-all, half), (all, half), (0, -all)],
            Mark::Diamond => vec![(0, -all), (all, 0), (0, all), (-all, 0)],
            Mark::Circle | Mark::Cross => Vec::new(),
        }
    };
    match mark {
        Mark::Circle => {
            let circle = Circle::new((0, 0), fine(SIZE * 0.85), filled(colour));
            area.draw(&(EmptyElement::at(at) + circle))
        }
        Mark::Cross => {
            let arm = fine(SIZE * 0.8);
            let line =
                |rise: i32| PathElement::new(vec![(-arm, -rise), (arm, rise)], stroke(colour, 2.0));
            area.draw(&(EmptyElement::at(at) + line(arm) + line(-arm)))
        }
        Mark::Square | Mark::Triangle | Mark::Diamond => {
            let outer = Polygon::new(corners(SIZE), filled(colour));
            let heart = Polygon::new(corners(SIZE * 0.5), filled(WHITE));
            area.draw(&(EmptyElement::at(at) + outer + heart))
        }
    }
}
