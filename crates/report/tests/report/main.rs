//! Tests of reports.

mod files;
mod page;
mod qlog;
mod records;
mod text;
