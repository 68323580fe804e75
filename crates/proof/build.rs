//! The scenarios that are built in are read while the macro that embeds them runs, of which cargo knows nothing.

fn main() {
    println!("cargo:rerun-if-changed=../../scenarios");
    println!("cargo:rerun-if-changed=build.rs");
}
