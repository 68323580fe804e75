//! Notes for each connection of a running study whether it has its arm's controller.

use std::collections::HashMap;

use experiment::force::InForce;

use super::row::Row;

/// For each open connection with a known controller: true if it was its arm's at the last look. It may change.
#[derive(Debug, Default)]
pub(super) struct ArmChecks(HashMap<u64, bool>);

impl ArmChecks {
    /// Updates the counts with all open connections.
    pub fn open<'r>(&mut self, rows: impl Iterator<Item = &'r Row>, arms: &mut [InForce]) {
        // Connections that are gone are forgotten.
        let before = std::mem::take(&mut self.0);
        for row in rows {
            let before = before.get(&row.connection).copied();
            let now = note(row, before, arms);
            self.0.extend(now.map(|now| (row.connection, now)));
        }
    }

    /// Updates the counts with a connection that has ended.
    pub fn ended(&mut self, row: &Row, arms: &mut [InForce]) {
        let before = self.0.remove(&row.connection);
        note(row, before, arms);
    }
}

/// Counts a connection that is new or has changed. Returns whether it has its arm's controller, if known.
fn note(row: &Row, before: Option<bool>, arms: &mut [InForce]) -> Option<bool> {
    let now = row.is_in_force();
    if let (Some(force), Some(now)) = (arms.get_mut(row.arm), now) {
        match before {
            None => force.note(now),
            Some(before) if before != now => force.change(now),
            Some(_) => {}
        }
    }
    now.or(before)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::row::tests::row;

    #[test]
    fn a_connection_counts_once_and_what_changes_later_is_seen() {
        let (mut noted, mut arms) = (ArmChecks::default(), [InForce::default()]);
        let rows = |controller| [1, 2, 3].map(|connection| row(connection, controller));
        for (controller, others) in [
            (Some("bbr"), 0),
            (Some("bbr"), 0),
            // A connection that is being taken down has none.
            (None, 0),
            (Some("cubic"), 3),
            (Some("cubic"), 3),
            (Some("bbr"), 0),
        ] {
            noted.open(rows(controller).iter(), &mut arms);
            assert_eq!((arms[0].known, arms[0].others), (3, others));
        }
        noted.ended(&row(1, Some("cubic")), &mut arms);
        noted.ended(&row(2, None), &mut arms);
        // One that no look has seen.
        noted.ended(&row(9, Some("cubic")), &mut arms);
        assert_eq!((arms[0].known, arms[0].others), (4, 2));
        noted.open(rows(Some("bbr"))[2..].iter(), &mut arms);
        assert_eq!(noted.0.len(), 1);
    }
}
