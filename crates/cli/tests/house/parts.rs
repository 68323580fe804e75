//! `bench/bbr3/run` replaces texts in BBRv3's code: these texts exist.

use toml::Table;

use crate::{root, text};

#[test]
fn parts_that_are_to_change_stand_once_in_the_code() {
    let parts: Table = text(&root().join("bench/bbr3/parts.toml"))
        .parse()
        .expect("a table");
    assert!(parts.len() > 10);
    for (name, part) in &parts {
        let value = |key: &str| part[key].as_str().expect("text");
        let file = root()
            .join("crates/congestion/src/bbr3")
            .join(value("file"));
        let count = text(&file).matches(value("find")).count();
        assert_eq!(count, 1, "{name}: {}", file.display());
        assert_ne!(value("find"), value("put"), "{name}");
    }
}
