//! Text of others on a terminal or a page. Names of files, policies and peers may have characters that a terminal or a
//! browser obeys instead of showing them.

/// True if a terminal or a browser obeys the character: control characters, and those that change the direction of text
/// (`Bidi_Control` of Unicode's PropList.txt, UAX #9), which make `exe.txt` out of `txt.exe` on a screen.
pub fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// True if the character is a letter or a digit that is seen. Unicode has letters that are not: the fillers of Hangul, and two
/// vowels of Khmer (`Default_Ignorable_Code_Point` of DerivedCoreProperties.txt, UAX #44).
pub fn is_letter(c: char) -> bool {
    let is_unseen = matches!(
        c,
        '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{3164}' | '\u{ffa0}'
    );
    c.is_alphanumeric() && !is_unseen
}

/// Escapes the characters that are obeyed, apart from line ends and tabs.
pub fn printable(text: &str) -> String {
    escaped(text, |c| is_obeyed(c) && !is_space(c))
}

/// Like [`printable`], and also escapes line ends and tabs: for a cell of a table.
pub fn word(text: &str) -> String {
    escaped(text, is_obeyed)
}

/// Replaces the characters that are obeyed, apart from spaces, by one that stands for what cannot be shown. For text in
/// several languages, such as a page with HTML, JSON and SVG, where one form of an escape does not mean the same everywhere.
pub fn replaced(text: &str) -> String {
    let shown = |c| match c {
        c if is_obeyed(c) && !is_space(c) => char::REPLACEMENT_CHARACTER,
        c => c,
    };
    text.chars().map(shown).collect()
}

fn is_space(c: char) -> bool {
    matches!(c, '\n' | '\t')
}

fn escaped(text: &str, is_wanted: impl Fn(char) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_wanted(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_is_seen() {
        for seen in ['a', 'ß', '7', '٣', 'ד', 'ᄀ', '文'] {
            assert!(is_letter(seen), "{seen}");
        }
        for unseen in [
            '\u{115f}', '\u{1160}', '\u{3164}', '\u{ffa0}', '\u{200b}', '-',
        ] {
            assert!(!is_letter(unseen), "{unseen:?}");
        }
    }

    #[test]
    fn nothing_is_left_that_a_terminal_obeys() {
        assert_eq!(printable("ä b\t文\n"), "ä b\t文\n");
        assert_eq!(printable("\u{1b}[2J\u{9b}m\r"), "\\u{1b}[2J\\u{9b}m\\r");
        assert_eq!(word("a\nESTAB\tb"), "a\\nESTAB\\tb");
        for turning in ['\u{202e}', '\u{2067}', '\u{200f}', '\u{61c}'] {
            let name = format!("{turning}txt.exe");
            let shown = format!("\\u{{{:x}}}txt.exe", u32::from(turning));
            assert_eq!([printable(&name), word(&name)], [shown.clone(), shown]);
            assert_eq!(replaced(&name), "\u{fffd}txt.exe");
        }
        assert_eq!(replaced("ä\n\t\u{0}文"), "ä\n\t\u{fffd}文");
    }
}
