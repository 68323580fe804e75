//! Summaries as JSON.

use record::Record;
use serde::Serialize;

/// Returns the records' summaries as a JSON array, one object per record, in lines for people.
pub fn json(records: &[Record]) -> String {
    let summaries: Vec<_> = records.iter().map(|record| &record.summary).collect();
    pretty(&summaries)
}

/// Returns a summary as JSON, in lines for people.
pub fn pretty(summary: &impl Serialize) -> String {
    // It has only strings, numbers and nulls in structures, which JSON can always represent.
    serde_json::to_string_pretty(summary).expect("a summary is plain data")
}
