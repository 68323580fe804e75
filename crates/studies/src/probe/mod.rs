//! Active probing, as behind figure 7 of the BBR paper: over connections that are kept open to many destinations, one with
//! each controller, the same number of bytes is sent again and again.
//!
//! A [`Spec`] is read from TOML. Its destinations are paths, which an engine runs ([`run_paths`]), or hosts, where somebody
//! receives ([`run_hosts`]): [`TcpServer`] over the kernel's TCP, [`quic::probe::serve`] over our QUIC. Every probe is a
//! [`Row`]; a [`Dataset`] keeps the rows of each round in a Parquet file of its own; [`Results`] are medians by destination
//! and controller, and the distribution of their ratio over the destinations, which [`picture()`] draws.

mod dataset;
mod hosts;
mod paths;
mod picture;
mod quic_line;
mod results;
mod row;
mod spec;
mod table;
mod tcp;

pub use dataset::Dataset;
pub use hosts::run_hosts;
pub use paths::{paths, run_paths};
pub use picture::{MARK, picture};
pub use results::{Destination, FailedProbes, Results};
pub use row::Row;
pub use spec::{Host, Over, Spec, Target};
pub use table::{failures, table};
pub use tcp::TcpServer;
