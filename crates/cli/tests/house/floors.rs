//! Each room is on a floor of docs/ARCHITECTURE.md, and arrows up have a reason there.

use std::collections::BTreeSet;

use crate::rooms::{Arrows, built_with};
use crate::{root, text};

/// The rooms of each floor, from the highest floor to the ground.
fn floors(rooms: &Arrows) -> Vec<(String, Vec<String>)> {
    let document = text(&root().join("docs/ARCHITECTURE.md"));
    let part = document.split("### Floors").nth(1).expect("floors");
    let picture = part.split("```").nth(1).expect("a picture");
    let lines = picture
        .lines()
        .skip(1)
        .filter(|line| !line.starts_with(' '));
    let floor = |line: &str| {
        let mut words = line.split_whitespace();
        let name = words.next().expect("a floor").to_owned();
        // The rest of the line is a description.
        let within = words.take_while(|word| rooms.contains_key(*word));
        (name, within.map(str::to_owned).collect())
    };
    lines.map(floor).collect()
}

/// The arrows up that have a reason in the document.
fn known() -> BTreeSet<(String, String)> {
    let document = text(&root().join("docs/ARCHITECTURE.md"));
    let table = document.split("| arrow | reason |").nth(1);
    let rows = table.expect("a table of arrows").lines().skip(2);
    let rows = rows.map_while(|line| line.strip_prefix("| "));
    let arrow = |row: &str| {
        let mut names = row.split('`').skip(1).step_by(2).map(str::to_owned);
        (names.next().expect("a room"), names.next().expect("a room"))
    };
    rows.map(arrow).collect()
}

#[test]
fn every_room_is_on_a_floor_and_arrows_up_have_a_reason() {
    let arrows = built_with();
    let floors = floors(&arrows);
    let mut placed: Vec<&String> = floors.iter().flat_map(|(_, rooms)| rooms).collect();
    placed.sort();
    assert_eq!(
        placed,
        arrows.keys().collect::<Vec<_>>(),
        "left: the picture, right: crates"
    );
    let height = |room: &String| {
        floors
            .iter()
            .rev()
            .position(|(_, rooms)| rooms.contains(room))
    };
    let all = arrows
        .iter()
        .flat_map(|(name, uses)| uses.iter().map(move |used| (name, used)));
    println!(
        "{} rooms, {} arrows between them",
        arrows.len(),
        all.clone().count()
    );
    let up = all.filter(|(name, used)| height(name) < height(used));
    let up: BTreeSet<_> = up
        .map(|(name, used)| (name.clone(), used.clone()))
        .collect();
    assert_eq!(up, known(), "left: arrows up, right: those with a reason");
}

#[test]
fn production_stands_on_no_simulator() {
    let arrows = built_with();
    let floors = floors(&arrows);
    let production = floors.iter().find(|(name, _)| name == "production");
    let mut open = production.expect("a floor").1.clone();
    let mut seen = BTreeSet::new();
    while let Some(room) = open.pop() {
        assert!(
            !["sim", "lab"].contains(&&*room),
            "production stands on {room}"
        );
        if seen.insert(room.clone()) {
            open.extend(arrows[&room].iter().cloned());
        }
    }
}
