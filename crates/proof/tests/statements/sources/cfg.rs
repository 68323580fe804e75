//! Evaluates the predicate of `#[cfg(…)]` for a build of the tests.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The kind of build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Build {
    Test,
    Product,
}

/// `None` if it depends on more, such as features.
pub fn holds(predicate: TokenStream, build: Build) -> Option<bool> {
    let tokens: Vec<TokenTree> = predicate.into_iter().collect();
    let text: String = tokens.iter().map(ToString::to_string).collect();
    if let [TokenTree::Ident(name), TokenTree::Group(of)] = &tokens[..]
        && of.delimiter() == Delimiter::Parenthesis
    {
        let all = parts(of.stream())
            .into_iter()
            .map(|part| holds(part, build));
        let all: Vec<Option<bool>> = all.collect();
        return match name.to_string().as_str() {
            "not" => all.first().copied().flatten().map(|is| !is),
            "any" => of_many(&all, true),
            "all" => of_many(&all, false),
            _ => None,
        };
    }
    match text.as_str() {
        "test" => Some(build == Build::Test),
        "unix" | "target_os=\"linux\"" => Some(true),
        "windows" | "fuzzing" | "miri" => Some(false),
        _ => None,
    }
}

/// `decisive` if one is that, the contrary if all are the contrary.
fn of_many(all: &[Option<bool>], decisive: bool) -> Option<bool> {
    if all.contains(&Some(decisive)) {
        Some(decisive)
    } else if all.contains(&None) {
        None
    } else {
        Some(!decisive)
    }
}

/// The parts between commas.
pub fn parts(tokens: TokenStream) -> Vec<TokenStream> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is_comma = |token: &TokenTree| matches!(token, TokenTree::Punct(p) if p.as_char() == ',');
    let parts = tokens.split(is_comma).filter(|part| !part.is_empty());
    parts.map(|part| part.iter().cloned().collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_decided() {
        for (text, in_tests) in [
            ("test", Some(true)),
            ("not(test)", Some(false)),
            ("target_os = \"linux\"", Some(true)),
            ("any(test, fuzzing)", Some(true)),
            ("all(test, target_os = \"linux\")", Some(true)),
            ("all(test, fuzzing)", Some(false)),
            ("any()", Some(false)),
            ("feature = \"x\"", None),
            ("all(test, feature = \"x\")", None),
            ("all(fuzzing, feature = \"x\")", Some(false)),
            ("not(feature = \"x\")", None),
        ] {
            let predicate = || text.parse().expect("tokens");
            assert_eq!(holds(predicate(), Build::Test), in_tests, "{text}");
        }
        assert_eq!(
            holds("test".parse().expect("tokens"), Build::Product),
            Some(false)
        );
    }
}
