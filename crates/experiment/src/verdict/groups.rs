//! The groups of clients that a verdict names.

use std::fmt::Write;

use super::words::{MIN_SHOWN_CHANGE, change, joined};
use crate::comparison::{GroupRow, MIN_CHANGE, Rival};
use crate::effect::DOUBT;
use crate::group::Group;
use crate::harm::Harm;

/// The maximum number of groups of each kind that the verdict names.
const MAX_NAMED_GROUPS: usize = 5;

/// The groups of clients by the change of an arm, each significant after the correction for all groups of the table:
/// better by enough for a rule, better by less, harmed by more than that, or worse. The rest are the others.
#[derive(Default)]
pub(super) struct Groups<'r> {
    noun: &'static str,
    pub better: Vec<&'r GroupRow>,
    slightly: Vec<&'r GroupRow>,
    harmed: Vec<&'r GroupRow>,
    worse: Vec<&'r GroupRow>,
    others: Vec<&'r GroupRow>,
}

impl<'r> Groups<'r> {
    /// The groups of one kind: the first of regions, ASs, networks and RTTs with a group worth a rule, or else the
    /// first with several groups of which one differs. Without such a kind, there are none. If the arm is better for
    /// all clients, a single group adds nothing.
    pub fn of(rival: &'r Rival, is_over: bool, is_better: bool) -> Groups<'r> {
        let known = rival.groups.iter();
        let known = known.filter_map(|row| Some((Group::parse(&row.group)?, row)));
        let mut known: Vec<(Group, &GroupRow)> = known.collect();
        known.sort_by(|one, other| one.0.cmp(&other.0));
        let kinds = known.chunk_by(|one, other| one.0.kind() == other.0.kind());
        let kinds = kinds.filter_map(|rows| {
            let groups = Groups::of_kind(rival, rows, is_over);
            let is_worth_a_rule = !groups.better.is_empty();
            let is_told = groups.others.len() < rows.len() && rows.len() > 1;
            (is_told || is_worth_a_rule && !is_better).then_some(groups)
        });
        // Of several that are equally worth it, the first one is taken.
        let told = kinds.min_by_key(|groups| groups.better.is_empty());
        told.unwrap_or_default()
    }

    fn of_kind(rival: &Rival, rows: &[(Group, &'r GroupRow)], is_over: bool) -> Groups<'r> {
        let mut groups = Groups {
            noun: rows[0].0.noun(),
            ..Groups::default()
        };
        for (_, row) in rows {
            let is_sure = row.p_corrected < DOUBT;
            match row.effect.change {
                change if is_sure && (MIN_SHOWN_CHANGE..MIN_CHANGE).contains(&change) => {
                    groups.slightly.push(row)
                }
                change if is_sure && change >= MIN_CHANGE => {
                    // The same holds for a rule.
                    let harm = Harm::of(rival, &row.group, is_over);
                    if harm.most > change {
                        groups.harmed.push(row);
                    } else {
                        groups.better.push(row);
                    }
                }
                change if is_sure && change <= -MIN_SHOWN_CHANGE => groups.worse.push(row),
                _ => groups.others.push(row),
            }
        }
        groups
    }

    /// A sentence. `None` if no group differs significantly.
    pub fn words(&self, this: &str) -> Option<String> {
        let slightly = format!(
            "faster by less than the {} % that make a rule for",
            MIN_CHANGE * 100.0
        );
        let kinds = [
            ("faster for", &self.better),
            (slightly.as_str(), &self.slightly),
            (
                "faster, but with more harm to small objects or in retransmissions, for",
                &self.harmed,
            ),
            ("slower for", &self.worse),
        ];
        let told = kinds.iter().filter(|(_, rows)| !rows.is_empty());
        let parts: Vec<String> = told
            .map(|(what, rows)| format!("{what} {}", names(rows, true)))
            .collect();
        if parts.is_empty() {
            return None;
        }
        let mut text = format!(" By {}: {this} is {}", self.noun, joined(parts.into_iter()));
        if !self.others.is_empty() {
            let _ = write!(
                text,
                "; no significant difference for {}",
                names(&self.others, false)
            );
        }
        Some(text + ".")
    }
}

/// The names of some groups, and how many more there are.
fn names(rows: &[&GroupRow], with_change: bool) -> String {
    let name = |row: &&GroupRow| {
        let name =
            Group::parse(&row.group).map_or_else(|| row.group.clone(), |group| group.short());
        if with_change {
            format!("{name} ({})", change(row.effect.change))
        } else {
            name
        }
    };
    let more = rows.len().saturating_sub(MAX_NAMED_GROUPS);
    let more = (more > 0).then(|| format!("{more} more"));
    joined(rows.iter().take(MAX_NAMED_GROUPS).map(name).chain(more))
}
