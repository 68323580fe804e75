//! Whether items and tests are in the text of a source file.

/// Whether `name` stands in `text` as a whole word.
pub fn has_word(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

/// Whether `text` has a test function `name`: one with an attribute such as `#[test]` or `#[tokio::test]` that is run.
pub fn has_test(text: &str, name: &str) -> bool {
    let signature = format!("fn {name}(");
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let mut places = (0..lines.len()).filter(|&at| {
        let line = lines[at].strip_prefix("async ").unwrap_or(lines[at]);
        line.starts_with(&signature)
    });
    places.any(|at| {
        let above = lines[..at].iter().rev();
        let attributes = above.take_while(|line| line.starts_with("#[") || line.starts_with("//"));
        let attributes: Vec<_> = attributes.filter(|line| line.starts_with("#[")).collect();
        let is_test = |line: &str| line.starts_with("#[test]") || line.starts_with("#[tokio::test");
        let is_ignored = attributes.iter().any(|line| line.starts_with("#[ignore"));
        attributes.iter().any(|line| is_test(line)) && !is_ignored
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_whole() {
        assert!(has_word("fn enter_drain(&mut self)", "enter_drain"));
        assert!(!has_word("fn re_enter_drain(", "enter_drain"));
        assert!(!has_word("fn enter_drains(", "enter_drain"));
        assert!(has_word("enter_drains, enter_drain", "enter_drain"));
    }

    #[test]
    fn tests_are_functions_that_are_run() {
        assert!(has_test("#[test]\nfn a() {", "a"));
        assert!(has_test("    #[test]\n    /// Why.\n    fn a() {", "a"));
        assert!(has_test(
            "#[tokio::test(flavor = \"x\")]\nasync fn a() {",
            "a"
        ));
        assert!(!has_test("fn a() {", "a"));
        assert!(!has_test("#[test]\nfn b() {\n}\nfn a() {", "a"));
        assert!(!has_test("#[test]\n#[ignore = \"slow\"]\nfn a() {", "a"));
        assert!(!has_test("#[test]\nfn ab() {", "a"));
        assert!(!has_test("// #[test]\n// fn a() {", "a"));
    }
}
