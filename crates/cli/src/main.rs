//! The `fullpipe` command.

fn main() {}
