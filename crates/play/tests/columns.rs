//! The page's views read columns that records have, it offers every controller, and its advice has the program's goals.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use advise::Goal;
use congestion::ControllerKind;
use play::Play;
use serde_json::Value;

const SCENARIO: &str = "name='one'\nduration='1s'\npath={rate='1mbit',rtt='40ms'}\nflow=[{controller='bbr1',bytes='9kb'}]";

const UNITS: [&str; 4] = ["_bps", "_bytes", "_ms", "_s"];

/// The names of the columns of a record's tables.
fn columns() -> BTreeSet<String> {
    let mut play = Play::begin(SCENARIO, None).expect("a scenario");
    play.step(1).expect("a step");
    let record = play.record();
    let (length, rest) = record.split_first_chunk().expect("a length");
    let length = u32::from_le_bytes(*length) as usize;
    let head: Value = serde_json::from_slice(&rest[..length]).expect("a head");
    let tables = head["tables"].as_object().expect("tables").values();
    let columns = tables.flat_map(|table| table["columns"].as_object().expect("columns").keys());
    columns.cloned().collect()
}

#[test]
fn the_views_read_columns_that_are_there() {
    let columns = columns();
    let views = Path::new(env!("CARGO_MANIFEST_DIR")).join("web/views");
    let mut read = BTreeSet::new();
    for entry in fs::read_dir(views).expect("a directory") {
        let path = entry.expect("an entry").path();
        let text = fs::read_to_string(&path).expect("a file");
        let quoted = text.split('"').skip(1).step_by(2);
        let is_column = |name: &&str| {
            let is_name = name
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte == b'_');
            is_name && UNITS.iter().any(|unit| name.ends_with(unit))
        };
        for name in quoted.filter(is_column) {
            assert!(columns.contains(name), "{}: {name}", path.display());
            read.insert(name.to_owned());
        }
    }
    assert!(read.len() > 10, "{read:?}");
}

#[test]
fn the_page_has_each_goal() {
    let goals = Goal::ALL.iter().map(|goal| format!("\"{goal}\""));
    let list = format!("const GOALS = [{}];", goals.collect::<Vec<_>>().join(", "));
    assert!(
        include_str!("../web/state/state.js").contains(&list),
        "{list}"
    );
}

#[test]
fn the_page_has_each_controller_and_its_colours() {
    let flows = include_str!("../web/flows.js");
    for kind in ControllerKind::ALL {
        assert!(flows.contains(&format!("[\"{kind}\", \"")), "{kind}");
        let colours = flows.matches(&format!(" {kind}: \"#")).count();
        assert_eq!(colours, 2, "{kind}: in the light, and in the dark");
    }
}
