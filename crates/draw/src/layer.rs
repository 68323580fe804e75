//! The layers of a chart.

use super::area::Area;
use super::band::Band;
use super::bars::Bars;
use super::cells::Cells;
use super::curve::Curve;
use super::drawing::Drawing;
use super::plot::Paint;
use super::rule::Rule;

macro_rules! layers {
    ($($layer:ident),*) => {
        /// A layer of a chart.
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

layers!(Curve, Bars, Cells, Rule, Area, Band, Drawing);
