//! A scenario at every point of a grid.
//!
//! A [`Sweep`] is read from TOML: a scenario, fields of it that vary, and how often each point is run. Its [`Plan`] has
//! every run with its scenario and its own seed, all of them checked. [`execute`] runs what a [`Store`] does not have
//! yet, so that a sweep that was ended goes on where it was.

mod axis;
mod columns;
mod execute;
mod metric;
mod page;
mod plan;
mod quantity;
mod results;
mod seed;
mod spec;
mod spread;
mod store;
mod table;
mod work;

pub use axis::Axis;
pub(crate) use axis::label as axis_label;
pub use columns::{Cells, Column, Lists, columns, write_parquet};
pub use execute::{Event, Failed, execute, missing};
pub(crate) use execute::{execute_all, execute_each};
pub use metric::{Metric, UnknownMetric};
pub use page::page;
pub use plan::{MAX_RUNS, Plan, Point, Run};
pub use quantity::{Quantity, Unit};
pub use results::{Group, Results};
pub use seed::derive as derive_seed;
pub use spec::{PlotSpec, Scale, Sweep, SweepError};
pub use spread::Spread;
pub(crate) use spread::{median, quantile};
pub use store::{Store, StoreError};
pub use table::{ROWS, table};
pub use work::Work;
