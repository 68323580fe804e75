//! Memory for the windows of compressed files, and for long records, of all files that are open at once.

use std::cell::Cell;
use std::io;
use std::rc::Rc;

/// The bytes that are read at once.
pub const CHUNK_BYTES: usize = 1 << 18;

/// The longest record.
pub const MAX_RECORD_BYTES: usize = 1 << 24;

/// The longest buffer: a record, and what was read with its end.
const MAX_BUFFER_BYTES: usize = MAX_RECORD_BYTES + CHUNK_BYTES;

/// The largest window of a file: that of `zstd --long=27`.
pub const MAX_WINDOW_BYTES: u64 = 128 << 20;

/// The most memory for the windows of all files that are open at once, and for their long records. One file has room for
/// both.
pub const MAX_OPEN_BYTES: u64 = MAX_WINDOW_BYTES + MAX_BUFFER_BYTES as u64;

/// The memory for the windows and the long records of the open files.
#[derive(Debug, Clone, Default)]
pub struct Windows(Rc<Cell<u64>>);

impl Windows {
    /// The memory for one more file. An error calls it so.
    pub fn one(&self, name: &'static str) -> Window {
        Window {
            all: self.clone(),
            own: 0,
            name,
        }
    }
}

/// The memory for the window or the long record of one file.
pub struct Window {
    all: Windows,
    own: u64,
    name: &'static str,
}

impl Window {
    /// The window has this many bytes.
    pub fn set(&mut self, own: u64) -> io::Result<()> {
        let all = self.all.0.get() - self.own + own;
        self.all.0.set(all);
        self.own = own;
        if all > MAX_OPEN_BYTES {
            let [own, most] = [own, MAX_OPEN_BYTES].map(|bytes| bytes.div_ceil(1 << 20));
            let name = self.name;
            return Err(io::Error::other(format!(
                "its {name} takes {own} MiB or more, and those of all files of the same time more than {most} MiB; give fewer \
                 files at once, or decompress them first: zstd -d --long=31 FILE"
            )));
        }
        Ok(())
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        self.all.0.set(self.all.0.get() - self.own);
    }
}
