//! Checks that `include/fullpipe.h` is generated from this crate. `FULLPIPE_HEADER=write` generates it again.

use std::fs;
use std::path::Path;

#[test]
fn the_header_is_that_of_the_code() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_root_or_default(root);
    let mut builder = cbindgen::Builder::new().with_config(config);
    for file in ["border", "config", "flow", "snapshot"] {
        builder = builder.with_src(root.join(format!("src/{file}.rs")));
    }
    let mut made = Vec::new();
    builder.generate().expect("bindings").write(&mut made);
    let made = String::from_utf8(made).expect("text");
    let place = root.join("include/fullpipe.h");
    if std::env::var_os("FULLPIPE_HEADER").is_some_and(|value| value == "write") {
        fs::write(&place, &made).expect("the header");
    }
    let kept = fs::read_to_string(&place).unwrap_or_default();
    assert!(
        kept == made,
        "include/fullpipe.h is out of date: run FULLPIPE_HEADER=write cargo test -p fullpipe-c --features header"
    );
}
