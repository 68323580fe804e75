//! Tests report skipped checks with `skip!`, so that they are visible and counted.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};

use crate::{root, text};

/// The Rust files in this directory.
fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() && !path.ends_with("target") {
            sources(&path, found);
        } else if path.extension() == Some(OsStr::new("rs")) {
            found.push(path);
        }
    }
}

/// True if a macro that prints has a literal with the word.
fn prints_skips(code: TokenStream) -> bool {
    let (mut name, mut is_call) = (String::new(), false);
    code.into_iter().any(|token| match token {
        TokenTree::Group(group) => {
            let is_print = std::mem::take(&mut is_call)
                && ["print", "println", "eprint", "eprintln"].contains(&&*name);
            is_print && has_word(group.stream()) || prints_skips(group.stream())
        }
        token => {
            is_call = token.to_string() == "!";
            if !is_call {
                name = token.to_string();
            }
            false
        }
    })
}

fn has_word(code: TokenStream) -> bool {
    code.into_iter().any(|token| match token {
        TokenTree::Group(group) => has_word(group.stream()),
        TokenTree::Literal(literal) => literal.to_string().to_lowercase().contains("skipped"),
        _ => false,
    })
}

/// Programs print their own words through their module of output, so this looks at all code.
#[test]
fn nobody_prints_them_by_hand() {
    let mut files = Vec::new();
    for directory in ["crates", "adapters"] {
        sources(&root().join(directory), &mut files);
    }
    assert!(files.len() > 1000, "{}", files.len());
    let by_hand: Vec<_> = files
        .iter()
        .filter(|file| !file.starts_with(root().join("crates/skipping")))
        .filter(|file| {
            let text = text(file);
            // Most files need no parser.
            text.to_lowercase().contains("skipped") && prints_skips(text.parse().expect("code"))
        })
        .collect();
    assert!(by_hand.is_empty(), "use `skipping::skip!`: {by_hand:?}");
}

#[test]
fn every_spelling_of_a_skip_is_found() {
    let is_found = |code: &str| prints_skips(code.parse().expect("code"));
    for code in [
        r#"fn f() { eprintln!("SKIPPED x") }"#,
        r#"if x { std::eprint!("skipped: {x}"); }"#,
        r#"println!("not checked here: SKIPPED")"#,
        r#"print!("{}", ["\nSKIPPED"])"#,
    ] {
        assert!(is_found(code), "{code}");
    }
    for code in [
        r#"skip!("skipped")"#,
        r#"line.starts_with("SKIPPED"); eprintln!("{line}")"#,
    ] {
        assert!(!is_found(code), "{code}");
    }
}
