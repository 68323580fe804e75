//! Several captures as one: their packets in the order of their times, in whatever order the files are given. Pieces of one capture are
//! read one after the other, and captures of several interfaces or hosts side by side.

use std::cmp::Reverse;
use std::io::{self, Read};

use units::Time;

use super::{End, Frame, Frames, ReadError};

/// A file that was opened.
pub struct Opened<'s> {
    /// What it has, from its start.
    pub source: Box<dyn Read + 's>,
    /// Whether it has the same when it is opened again: a pipe has not.
    pub is_lasting: bool,
}

/// A stream that ends when nobody wants more of it. Whoever reads it asks for some hundred kilobytes at once.
pub(crate) struct Wanted<'s, R> {
    pub source: R,
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

/// A capture that is not being read yet.
struct Waiting<'s> {
    first: Time,
    place: usize,
    frames: Option<Frames<'s>>,
}

/// The captures, by their places among the files.
#[derive(Default)]
pub(crate) struct Pieces<'s> {
    /// The one that begins last is the first.
    waiting: Vec<Waiting<'s>>,
    open: Vec<(usize, Frames<'s>)>,
    /// How those ended that are read.
    pub ends: Vec<End>,
    /// How many packets without a time they had.
    pub untimed: u64,
}

impl<'s> Pieces<'s> {
    /// A capture whose first packet passed then; without `frames`, it is to be opened again.
    pub fn add(&mut self, place: usize, first: Time, frames: Option<Frames<'s>>) {
        self.waiting.push(Waiting {
            first,
            place,
            frames,
        });
        self.waiting
            .sort_by_key(|one| Reverse((one.first, one.place)));
    }

    /// A capture has no more packets.
    pub fn end(&mut self, frames: &Frames<'_>) {
        self.ends.push(frames.end());
        self.untimed += frames.untimed();
    }

    /// The next packet of all.
    ///
    /// # Errors
    /// A capture cannot be opened or read: which.
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

    /// Which of the open ones has the next packet.
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
