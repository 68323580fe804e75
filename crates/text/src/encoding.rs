//! The encoding of a text, by its first bytes.

/// U+FEFF in UTF-8, which may precede a text (RFC 3629, section 6).
pub const MARK: &[u8] = b"\xef\xbb\xbf";

/// Whether a text that begins so is UTF-16: it has the mark in UTF-16 (RFC 2781, section 3.2), or two ASCII characters
/// with their zeros. No text in UTF-8 begins so.
pub fn is_utf_16(head: &[u8]) -> bool {
    let is_ascii = |byte: u8| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~');
    match *head {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => true,
        [one, 0, other, 0, ..] | [0, one, 0, other, ..] => is_ascii(one) && is_ascii(other),
        _ => false,
    }
}

/// The bytes of a text without the mark.
pub(crate) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(MARK).unwrap_or(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf_16_is_known_with_a_mark_and_without() {
        for head in [
            &b"\xff\xfea\0"[..],
            b"\xfe\xff\0a",
            b"1\x000\0",
            b"\0n\0e",
            b"\xff\xfe\0\0",
        ] {
            assert!(is_utf_16(head), "{head:?}");
        }
        for head in [
            &b""[..],
            b"a\0",
            b"ab\0\0",
            MARK,
            b"\0\xab\xcd\xef",
            b"\x1f\x8b\x08\0",
        ] {
            assert!(!is_utf_16(head), "{head:?}");
        }
    }
}
