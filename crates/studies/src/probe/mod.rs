//! Active probing, as in figure 7 of the BBR paper: over open connections to many destinations, one with each
//! controller, the same number of bytes is sent repeatedly.
//!
//! A [`Spec`] is read from TOML. Its destinations are either paths, run by an engine ([`run_paths`]), or hosts with a
//! receiver ([`run_hosts`]): [`TcpServer`] over the kernel's TCP, [`quic::probe::serve`] over our QUIC. Every probe is
//! a [`Row`]. A [`Dataset`] keeps each round's rows in a Parquet file. [`Results`] has medians by destination and
//! controller, and the distribution of their ratio over the destinations, which [`picture()`] draws.

mod dataset;
mod hosts;
mod measured;
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
