//! Sweeps: a scenario at every point of a grid.
//!
//! A [`Sweep`] is read from TOML: a scenario, its varying fields, and the number of repeats. It makes a
//! [plan](Sweep::plan) of [`runs`](crate::runs). [`Results`] summarize the stored runs of a plan.

mod axis;
mod columns;
mod metric;
mod page;
mod plan;
mod results;
mod spec;
mod table;

pub use axis::Axis;
pub use axis::label as axis_label;
pub use columns::{Flows, write_parquet};
pub use metric::Metric;
pub use page::page;
pub use results::{Group, Results};
pub use spec::{PlotSpec, Scale, Sweep, SweepError};
pub use table::{ROWS, table};
