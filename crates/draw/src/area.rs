//! Regions of a chart.

use super::canvas::Canvas;
use super::colours::GRID;
use super::plot::{Paint, Plot};

/// A region with a grey background, such as one that no measurement can reach.
#[derive(Debug, Clone, PartialEq)]
pub struct Area {
    /// Its corners (x, y), in order. Those beyond the chart are moved to its edge.
    pub corners: Vec<(f64, f64)>,
}

impl Area {
    /// Creates the region with these corners.
    pub fn new(corners: impl IntoIterator<Item = (f64, f64)>) -> Area {
        Area {
            corners: corners.into_iter().collect(),
        }
    }
}

impl Paint for Area {
    fn ground(&self, canvas: &mut Canvas, plot: &Plot<'_>) {
        let corners = self.corners.iter();
        let corners: Vec<_> = corners
            .map(|corner| plot.area.nearest(plot.at(*corner)))
            .collect();
        canvas.fill(corners, GRID);
    }
}
