//! A text that is held as a whole.

use std::io::Read;

use crate::encoding::{is_utf_16, without_mark};
use crate::{LineFault, TextError};

/// The text of these bytes, without a byte-order mark.
///
/// # Errors
///
/// They are UTF-16, or not UTF-8.
pub fn decode(bytes: &[u8]) -> Result<&str, TextError> {
    if is_utf_16(bytes) {
        return Err(TextError::Utf16);
    }
    let bytes = without_mark(bytes);
    str::from_utf8(bytes).map_err(|error| {
        let (valid, rest) = bytes.split_at(error.valid_up_to());
        let line = 1 + valid.iter().filter(|&&byte| byte == b'\n').count() as u64;
        TextError::Line(line, LineFault::Byte(rest.first().copied().unwrap_or(0)))
    })
}

/// Reads a text of at most this many bytes to its end.
///
/// # Errors
///
/// It cannot be read, is larger, or is not text in UTF-8.
pub fn read(from: impl Read, most: u64) -> Result<String, TextError> {
    let mut bytes = Vec::new();
    // One byte more tells a text that is too large from one that just fits, also while it grows.
    from.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(TextError::Large(most));
    }
    decode(&bytes)?;
    if bytes.starts_with(crate::MARK) {
        bytes.drain(..crate::MARK.len());
    }
    // It was found to be UTF-8 above.
    Ok(String::from_utf8(bytes).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(bytes: &[u8]) -> String {
        match read(bytes, 100) {
            Ok(text) => text,
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_text_is_read_or_told_in_a_line() {
        let large = [b'x'; 101];
        for (bytes, expected) in [
            (&b"a\r\n\xc3\xa4"[..], "a\r\n\u{e4}"),
            (b"\xef\xbb\xbfa", "a"),
            // Only the first mark is one.
            (b"\xef\xbb\xbf\xef\xbb\xbfa", "\u{feff}a"),
            (b"", ""),
            (b"\xef\xbb\xbf", ""),
            (b"\xff\xfea\0", "this is UTF-16; save it as UTF-8"),
            (b"a\0b\0", "this is UTF-16; save it as UTF-8"),
            (
                b"a\nb\nM\xfcller",
                "line 3: the byte 0xfc is not UTF-8; save the file as UTF-8",
            ),
            (&large[..100], &"x".repeat(100)),
            (&large, "is larger than 100 bytes"),
        ] {
            assert_eq!(told(bytes), expected);
        }
    }
}
