//! A scenario at every point of a grid.
//!
//! A [`Sweep`] is read from TOML: a scenario, fields of it that vary, and how often each point is run. It makes a
//! [plan](Sweep::plan) of [`runs`](crate::runs), and [`Results`] are what a store has of that.

mod axis;
mod columns;
mod metric;
mod page;
mod plan;
mod results;
mod spec;
mod table;

pub use axis::Axis;
pub(crate) use axis::label as axis_label;
pub use columns::{Flows, write_parquet};
pub use metric::Metric;
pub use page::page;
pub use results::{Group, Results};
pub use spec::{PlotSpec, Scale, Sweep, SweepError};
pub use table::{ROWS, table};
