//! Reads several captures as one, in the order of their packets' timestamps, whatever the order of the files. The pieces of
//! one capture are read one after the other, and captures of several interfaces or hosts side by side.

use std::cmp::Reverse;
use std::io::{self, Read};

use units::Time;

use super::{End, Frame, Frames, ReadError};

/// An opened file.
pub struct Opened<'s> {
    /// Its contents, from the start.
    pub source: Box<dyn Read + 's>,
    /// True if it can be opened again with the same contents; a pipe cannot.
    pub is_lasting: bool,
}

/// A stream that ends when the caller wants no more. The reader asks for some hundred kilobytes at once.
pub struct Wanted<'s, R> {
    /// The stream.
    pub source: R,
    /// True if the caller wants more.
    pub goes_on: &'s dyn Fn() -> bool,
}

impl<R: Read> Read for Wanted<'_, R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if (self.goes_on)() {
            self.source.read(to)
        } else {
            Ok(0)
        }
    }
}

/// A capture that is not open yet.
struct Waiting<'s> {
    first: Time,
    place: usize,
    frames: Option<Frames<'s>>,
}

/// The captures, by the numbers of their files.
#[derive(Default)]
pub struct Pieces<'s> {
    /// The captures that are not open, the latest first.
    waiting: Vec<Waiting<'s>>,
    open: Vec<(usize, Frames<'s>)>,
    /// How the finished captures ended.
    pub ends: Vec<End>,
    /// Packets without a timestamp in the finished captures.
    pub untimed: u64,
}

impl<'s> Pieces<'s> {
    /// Adds a capture. `first` is the time of its first packet. Without `frames`, the capture is opened again later.
    pub fn add(&mut self, place: usize, first: Time, frames: Option<Frames<'s>>) {
        self.waiting.push(Waiting {
            first,
            place,
            frames,
        });
        self.waiting
            .sort_by_key(|one| Reverse((one.first, one.place)));
    }

    /// A capture has ended.
    pub fn end(&mut self, frames: &Frames<'_>) {
        self.ends.push(frames.end());
        self.untimed += frames.untimed();
    }

    /// The next packet of all captures.
    ///
    /// # Errors
    /// A capture cannot be opened or read. The error has the number of its file.
    #[inline]
    pub fn next_frame(
        &mut self,
        open: &mut impl FnMut(usize) -> Result<Frames<'s>, ReadError>,
    ) -> Result<Option<Frame<'_>>, (usize, ReadError)> {
        let Some(turn) = self.turn(open)? else {
            return Ok(None);
        };
        let (place, frames) = &mut self.open[turn];
        frames.next_frame().map_err(|error| (*place, error))
    }

    /// The index of the open capture with the next packet.
    #[inline]
    fn turn(
        &mut self,
        open: &mut impl FnMut(usize) -> Result<Frames<'s>, ReadError>,
    ) -> Result<Option<usize>, (usize, ReadError)> {
        loop {
            let mut next: Option<(Time, usize)> = None;
            let mut over = None;
            for (turn, (place, frames)) in self.open.iter_mut().enumerate() {
                match frames.next_at().map_err(|error| (*place, error))? {
                    Some(at) if next.is_none_or(|(least, _)| at < least) => next = Some((at, turn)),
                    Some(_) => {}
                    None => over = Some(turn),
                }
            }
            if let Some(turn) = over {
                let (_, frames) = self.open.remove(turn);
                self.end(&frames);
                continue;
            }
            let is_later = |one: &Waiting<'_>| next.is_some_and(|(at, _)| at < one.first);
            if self.waiting.last().is_none_or(is_later) {
                return Ok(next.map(|(_, turn)| turn));
            }
            if let Some(one) = self.waiting.pop() {
                let frames = one.frames.map_or_else(|| open(one.place), Ok);
                let frames = frames.map_err(|error| (one.place, error))?;
                self.open.push((one.place, frames));
            }
        }
    }
}
