//! What is drawn in a chart, on top of each other.

use super::band::Band;
use super::bars::Bars;
use super::canvas::Canvas;
use super::cells::Cells;
use super::curve::Curve;
use super::drawing::Drawing;
use super::names::Taken;
use super::plot::Plot;
use super::rule::Rule;

/// How something is drawn in a chart.
pub trait Paint {
    /// Draws what is below the grid.
    fn ground(&self, _canvas: &mut Canvas, _plot: &Plot<'_>) {}

    /// Draws it, and notes what it takes.
    fn paint(&self, _canvas: &mut Canvas, _plot: &Plot<'_>, _taken: &mut Taken) {}

    /// Draws its name where nothing is taken.
    fn name(&self, _canvas: &mut Canvas, _plot: &Plot<'_>, _taken: &mut Taken) {}
}

macro_rules! layers {
    ($($layer:ident),*) => {
        /// Something that is drawn in a chart.
        #[derive(Debug, Clone)]
        #[allow(missing_docs)]
        pub enum Layer {
            $($layer($layer)),*
        }

        impl Layer {
            pub(super) fn as_paint(&self) -> &dyn Paint {
                match self {
                    $(Layer::$layer(layer) => layer),*
                }
            }
        }

        $(impl From<$layer> for Layer {
            fn from(layer: $layer) -> Layer {
                Layer::$layer(layer)
            }
        })*
    };
}

layers!(Curve, Bars, Cells, Rule, Band, Drawing);
