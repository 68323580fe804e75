//! Compiles the programs for the kernel, with the feature `load`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=bpf");
    println!("cargo::rerun-if-env-changed=CLANG");
    if env::var_os("CARGO_FEATURE_LOAD").is_none() {
        return;
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    for entry in fs::read_dir("bpf").expect("the directory is there") {
        let path = entry.expect("an entry").path();
        if path.to_string_lossy().ends_with(".bpf.c") {
            let object = out
                .join(path.file_name().expect("a name"))
                .with_extension("o");
            compile(&path, &object);
        }
    }
}

fn compile(source: &Path, object: &Path) {
    let clang = env::var_os("CLANG").unwrap_or_else(|| "clang".into());
    let done = Command::new(&clang)
        .args("-target bpf -mcpu=v3 -std=gnu11 -O2 -g -Wall -Wextra -Werror -c".split(' '))
        .arg(source)
        .arg("-o")
        .arg(object)
        .status();
    let failure = match done {
        Ok(status) if status.success() => return,
        Ok(status) => format!("it ended with {status}"),
        Err(error) => {
            format!("it cannot be run ({error}); install it, or name it in the variable CLANG")
        }
    };
    println!(
        "cargo::error=the feature `load` compiles {} with {}: {failure}",
        source.display(),
        clang.display()
    );
}
