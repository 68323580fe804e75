//! Texts in lines for a terminal.

/// Shortens a text to `width` characters in the middle, since the ends of addresses and names distinguish them.
pub fn without_middle(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width || width < 4 {
        return text.to_owned();
    }
    let front = width / 3;
    let start: String = text.chars().take(front).collect();
    let end: String = text.chars().skip(length - (width - front - 1)).collect();
    format!("{start}…{end}")
}

/// Wraps the text to lines of at most `width` characters, as far as its words allow it, each after `indent`.
pub fn wrapped(text: &str, indent: &str, width: usize) -> String {
    let mut lines = String::new();
    let mut length = 0;
    for word in text.split_whitespace() {
        let letters = word.chars().count();
        if length == 0 || length + 1 + letters > width {
            lines += if length == 0 { "" } else { "\n" };
            lines += indent;
            length = indent.chars().count();
        } else {
            lines.push(' ');
            length += 1;
        }
        lines += word;
        length += letters;
    }
    lines + "\n"
}

/// The maximum width of explanations, in characters.
const MAX_LINE_CHARS: usize = 120;

/// Wraps the text for a terminal of `width` columns, as [`wrapped`] does; for `None`, to lines of readable length.
pub fn explained(text: &str, indent: &str, width: Option<usize>) -> String {
    wrapped(
        text,
        indent,
        width.unwrap_or(MAX_LINE_CHARS).min(MAX_LINE_CHARS),
    )
}

/// Returns sentences, each on a new line, which a terminal of `width` columns breaks between words. For programs, which
/// search for a line, each is one line. The text ends with a newline.
pub fn sentences(all: impl IntoIterator<Item = impl AsRef<str>>, width: Option<usize>) -> String {
    let told = all.into_iter().map(|one| {
        let one = one.as_ref();
        let indent = &one[..one.len() - one.trim_start().len()];
        match width {
            Some(_) => explained(one, indent, width),
            None => format!("{one}\n"),
        }
    });
    told.collect()
}

/// Returns tables below each other for a terminal of `width` columns, and notes below them. The text ends with a
/// newline.
pub fn below(tables: &[String], notes: Vec<String>, width: Option<usize>) -> String {
    tables.join("\n") + &sentences(notes, width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_wrapped() {
        assert_eq!(wrapped("a bc def g", "  ", 7), "  a bc\n  def g\n");
        assert_eq!(
            wrapped("a longer-than-that b", "", 4),
            "a\nlonger-than-that\nb\n"
        );
    }

    #[test]
    fn sentences_are_lines_for_programs_and_fit_a_terminal() {
        let long = "a sentence of some words ".repeat(9);
        let all = ["short", long.trim()];
        assert_eq!(sentences(all, None).lines().collect::<Vec<_>>(), all);
        let fitted = sentences(all, Some(40));
        assert!(fitted.lines().all(|line| line.len() <= 40), "{fitted}");
        assert!(fitted.starts_with("short\n"), "{fitted}");
        let indented = sentences([format!("  {long}")], Some(40));
        let is_indented = |line: &str| line.starts_with("  ") && !line.starts_with("   ");
        assert!(indented.lines().all(is_indented), "{indented}");
    }

    #[test]
    fn a_long_name_keeps_its_ends() {
        assert_eq!(without_middle("short.example", 13), "short.example");
        let long = format!("front.{}.example", "ä".repeat(250));
        let shown = without_middle(&long, 20);
        assert_eq!(shown, "front.…äääää.example");
    }
}
