//! Files with holes: unwritten ranges, which are read as zeros and take no room on the disk.

use std::fs::File;
use std::io;

use crate::ranges::Ranges;
use crate::tree;

/// The holes of a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Holes {
    /// True if there is any hole.
    pub any: bool,
    /// The blocks that are wholly within holes.
    pub blocks: Ranges,
}

/// The holes of `file`, which has `size` bytes. Without the file system's support there are none.
#[cfg(target_os = "linux")]
pub fn holes(file: &File, size: u64) -> io::Result<Holes> {
    use rustix::fs::{SeekFrom, seek};
    use rustix::io::Errno;
    let mut holes = Holes::default();
    let mut at = 0;
    while at < size {
        let data = match seek(file, SeekFrom::Data(at)) {
            Ok(data) => data,
            // There are no further data.
            Err(Errno::NXIO) => size,
            Err(Errno::INVAL | Errno::OPNOTSUPP) => return Ok(Holes::default()),
            Err(error) => return Err(error.into()),
        };
        if data > at {
            holes.any = true;
            let start = at.div_ceil(tree::BLOCK);
            let end = if data < size {
                data / tree::BLOCK
            } else {
                tree::blocks(size)
            };
            if !holes.blocks.push(start, end.saturating_sub(start)) {
                break;
            }
        }
        if data >= size {
            break;
        }
        at = seek(file, SeekFrom::Hole(data))?;
    }
    Ok(holes)
}

/// True if `file` has data between `start` and `end` (exclusive), or if the file system does not report holes.
#[cfg(target_os = "linux")]
pub fn has_data(file: &File, start: u64, end: u64) -> io::Result<bool> {
    use rustix::fs::{SeekFrom, seek};
    use rustix::io::Errno;
    match seek(file, SeekFrom::Data(start)) {
        Ok(data) => Ok(data < end),
        Err(Errno::NXIO) => Ok(false),
        Err(Errno::INVAL | Errno::OPNOTSUPP) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// Other systems report no holes.
#[cfg(not(target_os = "linux"))]
pub fn holes(_file: &File, _size: u64) -> io::Result<Holes> {
    Ok(Holes::default())
}

/// Other systems report no holes.
#[cfg(not(target_os = "linux"))]
pub fn has_data(_file: &File, _start: u64, _end: u64) -> io::Result<bool> {
    Ok(true)
}

/// The ranges of `data`, in whole pages, that are not all zeros, each with its offset.
pub fn filled(data: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    const PAGE: usize = 4096;
    let is_empty = |page: &[u8]| page.iter().all(|byte| *byte == 0);
    let pages = (0u64..).step_by(PAGE).zip(data.chunks(PAGE));
    pages.filter(move |(_, page)| !is_empty(page))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_are_left_out() {
        let mut data = vec![0; 4 * 4096 + 10];
        data[4096] = 1;
        data[4 * 4096 + 9] = 1;
        let places: Vec<(u64, usize)> = filled(&data).map(|(at, page)| (at, page.len())).collect();
        assert_eq!(places, [(4096, 4096), (4 * 4096, 10)]);
        assert_eq!(filled(&[0; 5000]).count(), 0);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn holes_of_whole_blocks() {
        use std::os::unix::fs::FileExt;
        let file = tempfile::tempfile().unwrap();
        let size = 10 * tree::BLOCK + 5;
        file.set_len(size).unwrap();
        let found = holes(&file, size).unwrap();
        if !found.any {
            skipping::skip!("this file system does not tell of holes");
            return;
        }
        assert_eq!(found.blocks, Ranges::of(0..11));
        assert!(!has_data(&file, 0, size).unwrap());
        file.write_all_at(&[1; 10_000], 4 * tree::BLOCK).unwrap();
        let found = holes(&file, size).unwrap();
        assert_eq!(found.blocks, Ranges::of((0..4).chain(5..11)));
        assert!(has_data(&file, 4 * tree::BLOCK, 5 * tree::BLOCK).unwrap());
        assert!(!has_data(&file, 5 * tree::BLOCK, size).unwrap());
    }
}
