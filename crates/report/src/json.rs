//! Summaries as JSON.

use serde::Serialize;

/// Returns a summary as JSON, in lines for people.
pub fn pretty(summary: &impl Serialize) -> String {
    // It has only strings, numbers and nulls in structures, which JSON can always represent.
    serde_json::to_string_pretty(summary).expect("a summary is plain data")
}
