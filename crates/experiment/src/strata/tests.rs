use super::*;
use crate::measure::Sample;
use crate::tally::Tally;

fn one(value: f64) -> Sample {
    Sample { value, weight: 1.0 }
}

/// A tally with this many units of both arms in each combination of groups.
fn tally(of: &[(&[&str], [u64; 2])]) -> (Cells, Tally) {
    let (mut cells, mut tally, mut unit) = (Cells::new(), Tally::new(2), 0);
    for (groups, counts) in of {
        let groups: Vec<String> = groups.iter().map(|name| (*name).to_owned()).collect();
        let cell = cells.of(&groups);
        for (arm, count) in counts.iter().enumerate() {
            for _ in 0..*count {
                unit += 1;
                tally.add_in(arm, unit, cell, one(unit as f64));
            }
        }
    }
    (cells, tally)
}

fn strata(of: &[(&[&str], [u64; 2])]) -> (Vec<usize>, usize) {
    let (cells, tally) = tally(of);
    let strata = cells.strata([0, 1].map(|arm| tally.cells(arm)));
    // The first cell is that without groups.
    let each = (1..=of.len() as u32).map(|cell| strata.of(cell));
    (each.collect(), strata.count())
}

#[test]
fn small_groups_join_a_larger_one_or_the_rest() {
    // The first network is large enough, the other two only together.
    let networks: &[(&[&str], [u64; 2])] = &[
        (&["a", "AS1"], [20, 20]),
        (&["b", "AS1"], [12, 12]),
        (&["c", "AS1"], [12, 12]),
        (&["d", "AS2"], [30, 30]),
        (&["e", "AS3"], [25, 19]),
        (&["f", "AS4"], [5, 5]),
    ];
    // AS3 has too few units of one arm, and is one stratum with AS4.
    assert_eq!(strata(networks), (vec![0, 2, 2, 1, 3, 3], 4));
}

#[test]
fn a_rest_with_too_few_units_of_an_arm_joins_the_smallest_stratum() {
    let alone: &[(&[&str], [u64; 2])] = &[
        (&["AS1"], [50, 50]),
        (&["AS2"], [20, 21]),
        // One arm is absent.
        (&["AS3"], [30, 0]),
    ];
    assert_eq!(strata(alone), (vec![0, 1, 1], 2));
    assert_eq!(strata(&[(&["AS1"], [5, 5])]), (vec![0], 1));
}

#[test]
fn a_slot_is_one_unit_of_a_group_in_however_many_of_its_networks_it_is() {
    let (mut cells, mut tally) = (Cells::new(), Tally::new(2));
    for network in 0..30 {
        let cell = cells.of(&[format!("network {network}"), "AS1".to_owned()]);
        for slot in 0..20 {
            tally.add_in(slot as usize % 2, slot, cell, one(1.0));
        }
    }
    // Ten slots of each arm are too few for a stratum of their own, so there is only the rest.
    assert_eq!(cells.strata([0, 1].map(|arm| tally.cells(arm))).count(), 1);
    assert_eq!(tally.units(0), 10);
}

#[test]
fn cells_are_bounded() {
    let mut cells = Cells::new();
    for number in 0..2 * MAX_CELLS {
        cells.of(&[number.to_string()]);
    }
    assert_eq!(cells.of(&["one more".to_owned()]), NO_CELL);
    assert_eq!(cells.of(&["7".to_owned()]), 8);
    assert_eq!(cells.groups.len(), MAX_CELLS);
}

#[test]
fn differences_between_groups_are_no_differences_between_arms() {
    // The second arm has 2 % more in each group. By chance, it has more units in the slow one.
    let (mut cells, mut tally) = (Cells::new(), Tally::new(2));
    let mut unit = 0;
    for (group, level, counts) in [("AS1", 0.0, [40, 60]), ("AS2", 5.0, [60, 40])] {
        let cell = cells.of(&[group.to_owned()]);
        for (arm, count) in counts.into_iter().enumerate() {
            for number in 0..count {
                unit += 1;
                let noise = f64::from(number % 20) / 1000.0;
                tally.add_in(arm, unit, cell, one(level + noise + 0.02 * arm as f64));
            }
        }
    }
    let strata = cells.strata([0, 1].map(|arm| tally.cells(arm)));
    let [first, this] = tally.levels([0, 1], &strata).unwrap();
    assert!((this.mean - first.mean - 0.02).abs() < 1e-12);
    assert!(first.error < 0.001 && this.error < 0.001);
    // Each group has half of the observations.
    assert!((first.mean - 2.5 - 0.0095).abs() < 1e-9, "{first:?}");
    let without = [0, 1].map(|arm| tally.level(arm).unwrap());
    assert!(without[1].mean - without[0].mean < -0.9 && without[0].error > 0.2);
}
