//! Summaries as JSON.

use record::Record;

/// The records' summaries as a JSON array, one object a record, in a form for people to read too.
pub fn json(records: &[Record]) -> String {
    let summaries: Vec<_> = records.iter().map(|record| &record.summary).collect();
    // Strings, numbers and nulls in structures of ours: there is nothing here that JSON could not say.
    serde_json::to_string_pretty(&summaries).expect("a summary is plain data")
}
