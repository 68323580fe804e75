//! The contents of a source file, by its tokens, without comments and strings.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, LexError, Spacing, TokenStream, TokenTree};

use super::cfg::{Build, holds, parts};

/// A module with a file of its own.
#[derive(Debug, PartialEq, Eq)]
pub struct Module {
    pub name: String,
    /// The modules in this file that contain it.
    pub within: Vec<String>,
    /// The file in `#[path = "…"]`.
    pub path: Option<String>,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Scanned {
    pub modules: Vec<Module>,
    /// Test functions that are run.
    pub tests: BTreeSet<String>,
    /// The definitions outside of tests.
    pub definitions: BTreeSet<String>,
}

impl Scanned {
    /// Adds the contents of the same file under another root.
    pub fn add(&mut self, other: Scanned) {
        self.modules.extend(other.modules);
        self.tests.extend(other.tests);
        self.definitions.extend(other.definitions);
    }
}

pub fn scan(text: &str) -> Result<Scanned, LexError> {
    let mut scanned = Scanned::default();
    let tokens: TokenStream = text.parse()?;
    items(tokens.clone(), &mut Vec::new(), &mut scanned);
    definitions(tokens, false, &mut scanned.definitions);
    Ok(scanned)
}

/// The attributes of an item.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Attributes {
    is_test: bool,
    /// It is not compiled, or not run, or that is unknown.
    is_off: bool,
    path: Option<String>,
}

impl Attributes {
    fn read(&mut self, attribute: TokenStream, build: Build) {
        let tokens: Vec<TokenTree> = attribute.into_iter().collect();
        let name = tokens.iter().take_while(|token| !is_value(token)).last();
        let name = name.map(ToString::to_string).unwrap_or_default();
        let arguments = tokens.iter().find_map(|token| match token {
            TokenTree::Group(group) => Some(group.stream()),
            _ => None,
        });
        match (name.as_str(), arguments) {
            ("test", _) => self.is_test = true,
            ("ignore", _) => self.is_off = true,
            ("cfg", Some(predicate)) => self.is_off |= holds(predicate, build) != Some(true),
            ("cfg_attr", Some(arguments)) => {
                let mut parts = parts(arguments).into_iter();
                let does_hold = parts.next().and_then(|predicate| holds(predicate, build));
                // The unknown case counts as the more harmful one.
                let mut then = Attributes::default();
                parts.for_each(|attribute| then.read(attribute, build));
                if does_hold != Some(false) {
                    self.is_off |= then.is_off;
                    self.is_test |= then.is_test && does_hold == Some(true);
                    self.path = then.path.or(self.path.take());
                }
            }
            ("path", None) => {
                let value = tokens.last().map(ToString::to_string);
                self.path = value.map(|value| value.trim_matches('"').to_owned());
            }
            _ => {}
        }
    }
}

/// True if the name of an attribute ends here.
fn is_value(token: &TokenTree) -> bool {
    match token {
        TokenTree::Group(_) => true,
        TokenTree::Punct(punct) => punct.as_char() == '=',
        _ => false,
    }
}

/// Modules and tests among the items of a file or of a module.
fn items(tokens: TokenStream, within: &mut Vec<String>, scanned: &mut Scanned) {
    let mut tokens = tokens.into_iter().peekable();
    let mut attributes = Attributes::default();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '#' => {
                let is_inner = is_punct(tokens.peek(), '!');
                if is_inner {
                    tokens.next();
                }
                let Some(TokenTree::Group(group)) = tokens.next() else {
                    continue;
                };
                if is_inner {
                    let mut of_all = Attributes::default();
                    of_all.read(group.stream(), Build::Test);
                    if of_all.is_off {
                        return;
                    }
                } else {
                    attributes.read(group.stream(), Build::Test);
                }
            }
            TokenTree::Ident(word) if word == "fn" => {
                let name = tokens.next().map(|name| name.to_string());
                if attributes.is_test && !attributes.is_off {
                    scanned.tests.extend(name);
                }
            }
            TokenTree::Ident(word) if word == "mod" => {
                let of_module = std::mem::take(&mut attributes);
                let (Some(name), Some(next)) = (tokens.next(), tokens.next()) else {
                    break;
                };
                let name = name.to_string();
                if of_module.is_off {
                    continue;
                }
                if let TokenTree::Group(body) = next {
                    within.push(name);
                    items(body.stream(), within, scanned);
                    within.pop();
                } else {
                    let (within, path) = (within.clone(), of_module.path);
                    scanned.modules.push(Module { name, within, path });
                }
            }
            // Of all macros, only this one leaves functions with their attributes as they are.
            TokenTree::Ident(word) if word == "proptest" && is_punct(tokens.peek(), '!') => {
                let body = tokens.nth(1);
                if let (Some(TokenTree::Group(body)), false) = (body, attributes.is_off) {
                    items(body.stream(), within, scanned);
                }
            }
            TokenTree::Group(body) if body.delimiter() == Delimiter::Brace => {
                attributes = Attributes::default();
            }
            TokenTree::Punct(punct) if punct.as_char() == ';' => {
                attributes = Attributes::default();
            }
            _ => {}
        }
    }
}

fn is_punct(token: Option<&TokenTree>, wanted: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == wanted)
}

/// The names of functions, types, constants and, in the body of a type, fields.
fn definitions(tokens: TokenStream, is_in_type: bool, found: &mut BTreeSet<String>) {
    const KEYWORDS: [&str; 9] = [
        "fn", "struct", "enum", "trait", "const", "static", "type", "union", "mod",
    ];
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    const TYPES: [&str; 3] = ["struct", "enum", "union"];
    let mut is_off = false;
    let mut is_of_type = false;
    let mut attributed = 0;
    let mut generics = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        let next = tokens.get(at + 1);
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '#' => {
                let is_inner = is_punct(next, '!');
                attributed = at + if is_inner { 2 } else { 1 };
                if let Some(TokenTree::Group(group)) = tokens.get(attributed) {
                    let mut attributes = Attributes::default();
                    attributes.read(group.stream(), Build::Product);
                    is_off |= attributes.is_off;
                }
                if is_inner && is_off {
                    return;
                }
            }
            TokenTree::Group(group) if at != attributed || at == 0 => {
                let is_body = group.delimiter() == Delimiter::Brace;
                if !is_off {
                    let has_fields = is_body && (is_of_type || is_in_type);
                    definitions(group.stream(), has_fields, found);
                }
                is_off &= !is_body;
                is_of_type &= !is_body;
            }
            TokenTree::Punct(punct) => match punct.as_char() {
                ';' => is_off = false,
                ',' if is_in_type && generics == 0 => is_off = false,
                '<' => generics += 1,
                '>' if !is_arrow(&tokens, at) => generics = generics.saturating_sub(1),
                _ => {}
            },
            // The result of a macro belongs to the file that uses it.
            TokenTree::Ident(word) if word == "macro_rules" => is_off = true,
            TokenTree::Ident(word) if !is_off => {
                let before = at.checked_sub(1).and_then(|before| tokens.get(before));
                // `&'static Name` and `*const Name` define nothing.
                if is_punct(before, '\'') || is_punct(before, '*') {
                    continue;
                }
                if KEYWORDS.iter().any(|keyword| word == keyword) {
                    is_of_type = TYPES.iter().any(|keyword| word == keyword);
                    found.extend(next.map(ToString::to_string));
                } else if is_in_type && is_field(next, before) {
                    found.insert(word.to_string());
                }
            }
            _ => {}
        }
    }
}

/// True if the `>` at this index ends `->`.
fn is_arrow(tokens: &[TokenTree], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| tokens.get(before));
    matches!(before, Some(TokenTree::Punct(p)) if p.as_char() == '-' && p.spacing() == Spacing::Joint)
}

/// True if a name between these is a field's: `name: Type`, and not part of a path.
fn is_field(after: Option<&TokenTree>, before: Option<&TokenTree>) -> bool {
    let is_colon = |token: Option<&TokenTree>| matches!(token, Some(TokenTree::Punct(p)) if p.as_char() == ':' && p.spacing() == Spacing::Alone);
    is_colon(after) && !is_colon(before)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tests_of(text: &str) -> Vec<String> {
        Vec::from_iter(scan(text).expect("tokens").tests)
    }

    fn definitions_of(text: &str) -> Vec<String> {
        Vec::from_iter(scan(text).expect("tokens").definitions)
    }

    #[test]
    fn tests_that_are_run_are_found() {
        for text in [
            "#[test] fn a() {}",
            "#[test]\n/// Why.\n#[should_panic(expected = \"x\")]\nfn a() {}",
            "#[tokio::test(flavor = \"x\")] async fn a() {}",
            "#[cfg(test)] mod tests { mod inner { #[test] fn a() {} } }",
            "proptest! { #![proptest_config(c())] #[test] fn a(x in 0..1) {} }",
            "#[cfg(target_os = \"linux\")] #[test] fn a() {}",
            "#[cfg_attr(fuzzing, ignore)] #[test] fn a() {}",
        ] {
            assert_eq!(tests_of(text), ["a"], "{text}");
        }
    }

    #[test]
    fn tests_that_are_not_run_are_none() {
        for text in [
            "fn a() {}",
            "#[test] fn b() {} fn a() {}",
            "#[test] #[ignore = \"slow\"] fn a() {}",
            "#[ignore] #[test] fn a() {}",
            "#[test] #[cfg(fuzzing)] fn a() {}",
            "#[cfg(any())] #[test] fn a() {}",
            "#[cfg(feature = \"x\")] #[test] fn a() {}",
            "#[cfg_attr(test, ignore)] #[test] fn a() {}",
            "#[cfg_attr(feature = \"x\", ignore)] #[test] fn a() {}",
            "#[cfg_attr(fuzzing, test)] fn a() {}",
            "#[cfg(not(test))] mod tests { #[test] fn a() {} }",
            "#![cfg(fuzzing)] #[test] fn a() {}",
            "// #[test] fn a() {}",
            "/* #[test] fn a() {} */",
            "/// #[test] fn a() {}\nfn b() {}",
            "const S: &str = \"#[test] fn a() {}\";",
            "fn outer() { #[test] fn a() {} }",
            "macro_rules! m { () => { #[test] fn a() {} } }",
            "other! { #[test] fn a() {} }",
        ] {
            assert!(!tests_of(text).contains(&"a".to_owned()), "{text}");
        }
    }

    #[test]
    fn definitions_stand_in_code() {
        for text in [
            "fn a() {}",
            "pub const fn a() {}",
            "impl S { fn a(&self) {} }",
            "struct S { pub a: u32 }",
            "enum E { B { a: u32 } }",
            "struct S(u32); union U { b: u32, a: u32 }",
            "const a: u32 = 1;",
            "trait a {}",
            "#[derive(Debug)] struct a;",
            "#[cfg(test)] mod tests { fn b() {} } fn a() {}",
            "struct S { #[cfg(any())] b: Map<u8, u8>, a: u8 }",
            "macro_rules! m { () => {} } fn a() {}",
        ] {
            assert!(definitions_of(text).contains(&"a".to_owned()), "{text}");
        }
        for text in [
            "// fn a() {}",
            "/// fn a()\nstruct S;",
            "const S: &str = \"fn a() {}\";",
            "fn b() { a(); a::c(); x::a; }",
            "fn re_a() {} fn aa() {}",
            "fn b(a: u32) {}",
            "fn b() { let a: u32 = S { a: 1 }; }",
            "struct T; const S: S = S { a: 1 };",
            "#[cfg(test)] mod tests { fn a() {} }",
            "#[cfg(any())] fn a() {}",
            "#[cfg(any())] fn b<T, U>() { fn a() {} }",
            "struct S { #[cfg(any())] b: Map<fn() -> u8, u8> }",
            "macro_rules! m { () => { fn a() {} } }",
            "fn b(c: &'static a, d: *const a) {}",
            "#![cfg(fuzzing)] fn a() {}",
        ] {
            assert!(!definitions_of(text).contains(&"a".to_owned()), "{text}");
        }
    }

    #[test]
    fn modules_have_their_places() {
        let text = "mod a; mod b { #[path = \"x.rs\"] pub mod c; } #[cfg(fuzzing)] mod d;";
        let modules = scan(text).expect("tokens").modules;
        let told = modules.iter().map(|module| {
            (
                module.name.as_str(),
                module.within.join("/"),
                module.path.as_deref(),
            )
        });
        let told: Vec<_> = told.collect();
        assert_eq!(
            told,
            [
                ("a", String::new(), None),
                ("c", "b".to_owned(), Some("x.rs"))
            ]
        );
    }
}
