//! Summaries as JSON.

use record::Record;
use serde::Serialize;

/// The records' summaries as a JSON array, one object a record, in a form for people to read too.
pub fn json(records: &[Record]) -> String {
    let summaries: Vec<_> = records.iter().map(|record| &record.summary).collect();
    pretty(&summaries)
}

/// A summary as JSON, in a form for people to read too.
pub fn pretty(summary: &impl Serialize) -> String {
    // Strings, numbers and nulls in structures of ours: there is nothing here that JSON could not say.
    serde_json::to_string_pretty(summary).expect("a summary is plain data")
}
