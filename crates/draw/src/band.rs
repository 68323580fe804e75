//! Named parts of a chart.

use super::canvas::{Anchor, Canvas};
use super::colours::BLACK;
use super::font::Letters;
use super::names::Taken;
use super::place::Rect;
use super::plot::{Paint, Plot};

/// A part of a chart between two values of x.
#[derive(Debug, Clone, PartialEq)]
pub struct Band {
    /// Its start.
    pub from: f64,
    /// Its end.
    pub to: f64,
    /// Its name.
    pub name: String,
}

/// The height of the name, and its distance from the frame, in pixels.
const NAME_HEIGHT: f64 = 15.0;
const GAP: f64 = 5.0;

impl Band {
    fn rect(&self, plot: &Plot<'_>) -> Rect {
        let [left, right] = [self.from, self.to].map(|at| plot.area.nearest(plot.at((at, 0.0))).0);
        let wide = right - left;
        Rect {
            left,
            wide,
            ..plot.area
        }
    }
}

impl Paint for Band {
    /// Draws its name in the middle of its width, as high as it covers nothing.
    fn name(&self, canvas: &mut Canvas, plot: &Plot<'_>, taken: &mut Taken) {
        let letters = Letters::new(11.0, BLACK).bold();
        let (wide, middle) = (letters.room(&self.name), self.rect(plot).at((0.5, 0.5)).0);
        let spots = [0.0, 1.0, 0.2, 0.4, 0.6, 0.8].map(|row| Rect {
            left: middle - wide / 2.0,
            top: plot.area.top + GAP + row * (plot.area.high - NAME_HEIGHT - 2.0 * GAP),
            wide,
            high: NAME_HEIGHT,
        });
        if let Some(spot) = taken.take(spots) {
            let at = (spot.left, spot.top + 1.5);
            canvas.text(&self.name, at, [Anchor::Start, Anchor::Start], letters);
        }
    }
}
