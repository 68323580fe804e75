//! Scenarios, engines, records and reports

pub mod record;
pub mod report;
pub mod scenario;
