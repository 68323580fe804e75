//! Text of others in a document in Markdown: names from files must not change what is around them.

use text::word;

/// A line of text, such as a cell of a table: without line ends, HTML, marks of sections, or characters that a terminal obeys.
/// Emphasis, code and links stay.
pub fn line(text: &str) -> String {
    let one = text.lines().collect::<Vec<_>>().join(" ");
    let safe = word(&one).replace('<', "&lt;");
    // A backslash before the one of `\|` would escape that instead.
    safe.replace("\\|", "\\&#124;").replace('|', "\\|")
}

/// A row of a table, with a newline at the end.
pub fn row<C: AsRef<str>>(cells: impl IntoIterator<Item = C>) -> String {
    let cells = cells.into_iter().map(|cell| line(cell.as_ref()));
    format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_a_cell_whatever_its_text() {
        let cells = ["a\r\nb", "<!-- x: end -->", "c|d", "\u{1b}[2J\t**e**", ""];
        let wanted = "| a b | &lt;!-- x: end --> | c\\|d | \\u{1b}[2J\\t**e** |  |\n";
        assert_eq!(row(cells), wanted);
        assert_eq!(row(["a\n\nb\rc"]), "| a  b\\rc |\n");
        assert_eq!(row(["\\|", "\\\\||"]), "| \\&#124; | \\\\&#124;\\| |\n");
    }
}
