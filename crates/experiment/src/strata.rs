//! Strata: groups of clients within which the arms are compared, so that differences between networks do not hide the
//! difference between controllers.
//!
//! A group is known before a client's unit gets its arm: its network, its operator, its region, the RTT of its first
//! handshake. So the groups are the same with each arm, and each stratum is an experiment of its own. What is known
//! only afterwards, such as losses, is an effect of the arm. A comparison within classes of it would be biased, however
//! large the study is (Rosenbaum, 1984), so no stratum is made of it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The cell of observations without groups.
pub(crate) const NO_CELL: u32 = 0;

/// The minimum number of units in each arm for an interval. With fewer, the distribution of their means is uncertain.
pub const MIN_UNITS: usize = 20;

/// The maximum number of cells. A client whose combination of groups would be one more counts as one without groups.
const MAX_CELLS: usize = 4096;

/// The combinations of groups that observations have, from the smallest group to the largest.
#[derive(Debug, Clone)]
pub struct Cells {
    numbers: HashMap<Vec<String>, u32>,
    /// The groups of each cell, by their numbers.
    groups: Vec<Vec<u32>>,
    names: HashMap<String, u32>,
}

impl Cells {
    /// Only the cell without groups.
    pub fn new() -> Cells {
        Cells {
            numbers: HashMap::from([(Vec::new(), NO_CELL)]),
            groups: vec![Vec::new()],
            names: HashMap::new(),
        }
    }

    /// The cell of an observation with these groups.
    #[expect(clippy::cast_possible_truncation, reason = "there are few cells")]
    pub fn of(&mut self, groups: &[String]) -> u32 {
        if let Some(known) = self.numbers.get(groups) {
            return *known;
        }
        if self.groups.len() >= MAX_CELLS {
            return NO_CELL;
        }
        let number = self.groups.len() as u32;
        let names = groups.iter().map(|name| {
            let next = self.names.len() as u32;
            *self.names.entry(name.clone()).or_insert(next)
        });
        self.groups.push(names.collect());
        self.numbers.insert(groups.to_vec(), number);
        number
    }

    /// The strata for the comparison of two arms in a measure, given the cells of each unit of both arms.
    ///
    /// Each cell belongs to the smallest of its groups that has [`MIN_UNITS`] units of both arms, without the units
    /// that already belong to a smaller group. The cells without such a group are one stratum. If this one is too
    /// small, it joins the smallest of the others. So the numbers of units decide, and no result.
    pub(crate) fn strata(&self, arms: [impl Iterator<Item = (u32, u32)> + Clone; 2]) -> Strata {
        let mut of = vec![None; self.groups.len()];
        let mut sizes = Vec::new();
        let deepest = self.groups.iter().map(Vec::len).max().unwrap_or(0);
        for depth in 0..deepest {
            let group = |cell: u32| {
                let cell = cell as usize;
                let is_free = of.get(cell).is_some_and(Option::is_none);
                is_free.then(|| self.groups[cell].get(depth).copied())?
            };
            let counts = arms.each_ref().map(|cells| units(cells.clone(), group));
            let mut numbers = BTreeMap::new();
            for (group, count) in &counts[0] {
                let both = [*count, counts[1].get(group).copied().unwrap_or(0)];
                if both.iter().all(|count| *count >= MIN_UNITS) {
                    numbers.insert(*group, sizes.len());
                    sizes.push(both.iter().sum::<usize>());
                }
            }
            for (stratum, groups) in of.iter_mut().zip(&self.groups) {
                if stratum.is_none() {
                    *stratum = groups
                        .get(depth)
                        .and_then(|group| numbers.get(group).copied());
                }
            }
        }
        let rest = |cell: u32| {
            of.get(cell as usize)
                .is_some_and(Option::is_none)
                .then_some(0)
        };
        let rest = arms.map(|cells| units(cells, rest).get(&0).copied().unwrap_or(0));
        let is_small = rest.iter().any(|units| *units < MIN_UNITS);
        let smallest = (0..sizes.len()).min_by_key(|stratum| sizes[*stratum]);
        let place = match smallest {
            Some(smallest) if is_small => smallest,
            _ => sizes.len(),
        };
        let count = sizes.len().max(place + 1);
        Strata {
            of: of
                .into_iter()
                .map(|stratum| stratum.unwrap_or(place))
                .collect(),
            count,
        }
    }
}

/// The number of units in each group, given the cells of each unit.
fn units(
    cells: impl Iterator<Item = (u32, u32)>,
    group: impl Fn(u32) -> Option<u32>,
) -> BTreeMap<u32, usize> {
    let mut counts = BTreeMap::new();
    let (mut last, mut counted) = (None, BTreeSet::new());
    for (unit, cell) in cells {
        if last.replace(unit) != Some(unit) {
            counted.clear();
        }
        if let Some(group) = group(cell)
            && counted.insert(group)
        {
            *counts.entry(group).or_insert(0) += 1;
        }
    }
    counts
}

/// The stratum of each cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Strata {
    of: Vec<usize>,
    count: usize,
}

impl Strata {
    /// A single stratum.
    pub const ONE: Strata = Strata {
        of: Vec::new(),
        count: 1,
    };

    /// The stratum of a cell.
    pub fn of(&self, cell: u32) -> usize {
        self.of.get(cell as usize).copied().unwrap_or(0)
    }

    /// The number of strata.
    pub fn count(&self) -> usize {
        self.count
    }
}

#[cfg(test)]
mod tests;
