//! What must hold for any bytes that are given as text: a fuzz target, which `fuzz/fuzz_targets` and the test below call.

use crate::{Lines, decode};

/// The longest line here.
const MAX_LINE_BYTES: usize = 64;

/// A text as a whole and line by line is the same text; what is not text is told in one line.
pub fn texts(bytes: &[u8]) {
    let whole = decode(bytes);
    if let Err(error) = &whole {
        assert_eq!(error.to_string().lines().count(), 1, "{error}");
    }
    let mut lines = Lines::new(bytes, MAX_LINE_BYTES);
    let (mut all, mut is_whole) = (Vec::new(), true);
    loop {
        match lines.next_line() {
            Ok(Some(Ok(line))) => {
                assert!(line.len() <= MAX_LINE_BYTES);
                all.push(line.to_owned());
            }
            Ok(Some(Err(_))) => is_whole = false,
            Ok(None) => break,
            Err(error) => {
                assert!(whole.is_err(), "{error}");
                return;
            }
        }
    }
    if let (Ok(whole), true) = (whole, is_whole) {
        let parts: Vec<&str> = whole
            .split_terminator('\n')
            .map(|line| line.strip_suffix('\r').unwrap_or(line))
            .collect();
        // A mark alone is an empty line.
        assert!(parts == all || (whole.is_empty() && all.len() <= 1));
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn any_texts() {
        let corpus = [
            &b"\xef\xbb\xbfone\r\ntwo\n"[..],
            b"\xff\xfea\0\n\0",
            b"caf\xe9\n\n",
        ];
        let corpus = corpus.map(<[u8]>::to_vec);
        fuzzing::run("texts", &corpus, super::texts);
    }
}
