//! Scenarios, engines, records and reports
