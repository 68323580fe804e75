//! The files of the page.

use include_dir::{Dir, include_dir};

/// They are linked into this crate, since an installed program has no files beside it.
static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/web");

/// The contents of the file with this path in `web`, such as `index.html`.
pub fn file(path: &str) -> Option<&'static [u8]> {
    FILES.get_file(path).map(|file| file.contents())
}
