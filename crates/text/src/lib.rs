//! Text in the files that people and other programs write.
//!
//! Editors and spreadsheets put a byte-order mark (U+FEFF) at the beginning of a file, or save it as UTF-16. All text from
//! outside is read here: the mark is skipped, UTF-16 is named, each read has a bound, and an error names its line.
//!
//! ```
//! assert_eq!(text::read(&b"\xef\xbb\xbf192.0.2.0/24\r\n"[..], 1 << 20)?, "192.0.2.0/24\r\n");
//! let mut lines = text::Lines::new(&b"\xef\xbb\xbfone\r\ntwo"[..], 80);
//! assert_eq!(lines.next_line()?, Some(Ok("one")));
//! # Ok::<(), text::TextError>(())
//! ```
//!
//! [`printable`], [`word`] and [`replaced`] make such text safe to show.

mod date;
mod encoding;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod lines;
mod shown;
mod whole;

use std::io;

pub use date::{Date, date};
pub use encoding::{MARK, is_utf_16};
pub use lines::Lines;
pub use shown::{is_letter, is_obeyed, printable, replaced, word};
pub use whole::{decode, read};

/// Why bytes are not text, or why they are not read.
#[derive(Debug, thiserror::Error)]
pub enum TextError {
    /// They cannot be read.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// They are in another encoding, which editors offer.
    #[error("this is UTF-16; save it as UTF-8")]
    Utf16,
    /// A line is not valid.
    #[error("line {0}: {1}")]
    Line(u64, LineFault),
    /// There are more bytes than the reader allows.
    #[error("is larger than {}", size(*.0))]
    Large(u64),
}

/// What is wrong with a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LineFault {
    /// It has a byte that is not UTF-8 (RFC 3629).
    #[error("the byte {0:#04x} is not UTF-8; save the file as UTF-8")]
    Byte(u8),
    /// It has more bytes than the reader allows.
    #[error("is longer than {}", size(*.0 as u64))]
    Long(usize),
}

fn size(bytes: u64) -> String {
    match bytes {
        0..0x400 => format!("{bytes} bytes"),
        0x400..0x10_0000 => format!("{} KiB", bytes >> 10),
        0x10_0000..0x4000_0000 => format!("{} MiB", bytes >> 20),
        _ => format!("{} GiB", bytes >> 30),
    }
}
