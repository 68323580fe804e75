//! Charts as pictures, from numbers: SVG for papers and pages, PNG for slides.
//!
//! A [`Picture`] has a title, a legend, one or more [`Chart`]s and a caption. A chart has two axes ([`Axis`]) and
//! stacked [`Layer`]s: curves, bars, cells of a heat map, reference lines and bands. Every [`Look`] is from a palette
//! that people with any colour vision can read, and never differs by colour alone. Names within a chart, and insets,
//! are placed where they cover no curve.
//!
//! On a dark background the colours follow the theme of the system, or that of the page.
//!
//! The same picture gives the same SVG, byte for byte: it depends on nothing in the system, not even its fonts.
//!
//! ```
//! use draw::{Axis, Chart, Curve, Look, Picture, Unit};
//!
//! let rates = [(0.0, 9.4), (1.0, 9.3), (2.0, 8.9)];
//! let x = Axis::linear("random loss", Unit::PERCENT, 0.0, 2.0);
//! let y = Axis::from_zero("goodput", Unit::MEGABITS_PER_SECOND, [9.4]);
//! let curve = Curve::new("bbr1", Look::of_place(0), rates);
//! let picture = Picture::new("Goodput under loss", Chart::new(x, y).with(curve));
//! assert!(picture.svg().starts_with("<svg"));
//! ```

mod area;
mod axis;
mod band;
mod bars;
mod canvas;
mod cells;
mod chart;
mod colours;
mod curve;
mod drawing;
mod font;
mod layer;
mod legend;
mod look;
mod mark;
mod names;
mod picture;
mod place;
mod plot;
mod png;
mod rule;
mod svg;
mod table;
mod unit;

pub use area::Area;
pub use axis::Axis;
pub use band::Band;
pub use bars::Bars;
pub use cells::{Cell, Cells};
pub use chart::Chart;
pub use colours::{BLACK, BLUE, Colour, GREEN, GREY, ORANGE, PURPLE, VERMILLION, palette};
pub use curve::{Curve, cdf};
pub use drawing::{Drawing, Node};
pub use layer::Layer;
pub use legend::Key;
pub use look::{Dash, Look, Mark};
pub use picture::{Picture, html};
pub use png::PngError;
pub use rule::Rule;
pub use svg::MARK;
pub use unit::Unit;
