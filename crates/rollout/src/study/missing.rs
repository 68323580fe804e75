//! The rows that a study lacks.

use serde::{Deserialize, Serialize};
use tables::numbers::count;

/// Rows that are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Missing {
    /// Rows of connections in the oldest files, which were removed to stay within the limit.
    pub dropped_connections: u64,
    /// Rows of objects in the oldest files, which were removed to stay within the limit.
    pub dropped_objects: u64,
    /// Rows of connections and objects that could not be written.
    pub unwritten: u64,
    /// Connections that ended faster than their ends could be read.
    pub unread_connections: u64,
    /// Objects that were over faster than they could be read.
    pub unread_objects: u64,
}

impl Missing {
    /// Adds the missing rows of another machine or another sitting.
    pub fn and(self, other: Missing) -> Missing {
        Missing {
            dropped_connections: self
                .dropped_connections
                .saturating_add(other.dropped_connections),
            dropped_objects: self.dropped_objects.saturating_add(other.dropped_objects),
            unwritten: self.unwritten.saturating_add(other.unwritten),
            unread_connections: self
                .unread_connections
                .saturating_add(other.unread_connections),
            unread_objects: self.unread_objects.saturating_add(other.unread_objects),
        }
    }

    /// A sentence about the missing rows. `None` if there are none.
    pub fn words(self) -> Option<String> {
        if self == Missing::default() {
            return None;
        }
        let Missing {
            dropped_connections: connections,
            dropped_objects: objects,
            unwritten,
            unread_connections,
            unread_objects,
        } = self;
        let mut parts = Vec::new();
        if connections > 0 || objects > 0 {
            parts.push(format!(
                "the oldest {} of connections and {} of objects were removed, because --keep was too small",
                count(connections, "row"),
                count(objects, "row")
            ));
        }
        if unwritten > 0 {
            parts.push(format!("{} could not be written", count(unwritten, "row")));
        }
        if unread_connections > 0 || unread_objects > 0 {
            parts.push(format!(
                "{} and {} ended faster than they could be read",
                count(unread_connections, "connection"),
                count(unread_objects, "object")
            ));
        }
        Some(format!(
            "Data is missing: {}. The verdict uses the rest.",
            parts.join(", and ")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_has_no_end() {
        let most = Missing {
            dropped_connections: u64::MAX,
            dropped_objects: u64::MAX,
            unwritten: u64::MAX,
            unread_connections: u64::MAX,
            unread_objects: u64::MAX,
        };
        assert_eq!(most.and(most), most);
        assert!(most.words().is_some());
    }

    #[test]
    fn what_was_not_read_is_missing_and_an_earlier_version_did_not_count_it() {
        let earlier = r#"{"dropped_connections":0,"dropped_objects":0,"unwritten":0}"#;
        let mut missing: Missing = serde_json::from_str(earlier).unwrap();
        assert_eq!(missing.words(), None);
        missing.unread_objects = 7;
        let words = missing.words().unwrap();
        assert!(
            words.contains("0 connections and 7 objects ended faster"),
            "{words}"
        );
    }
}
