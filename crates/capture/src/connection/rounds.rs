//! A flow round by round, for the guess at its controller.

use super::Room;
use crate::memory::reserve;
use congestion::{Bytes, Time};

/// No flow keeps more rounds: what comes later is not looked at for the guess.
const MOST: usize = 4096;

/// Fewer rounds show nothing: a flow keeps so many, however little memory there is.
const LEAST: usize = 32;

/// A packet-timed round.
#[derive(Debug, Clone, Copy)]
pub struct Round {
    /// When it began.
    pub at: Time,
    /// The most in flight, up to 4 GB.
    most: u32,
    /// Times at which packets were sent again.
    pub repeats: u16,
    /// Whether the application or the receiver limited it.
    pub is_held: bool,
}

impl Round {
    fn new(at: Time) -> Round {
        Round {
            at,
            most: 0,
            repeats: 0,
            is_held: false,
        }
    }

    /// The most in flight.
    pub fn most(&self) -> Bytes {
        Bytes::new(self.most.into())
    }
}

/// The rounds.
#[derive(Debug, Clone)]
pub struct Rounds {
    done: Vec<Round>,
    present: Round,
    /// So many are kept.
    kept: usize,
}

impl Rounds {
    pub fn new(at: Time) -> Rounds {
        Rounds {
            done: Vec::new(),
            present: Round::new(at),
            kept: MOST,
        }
    }

    /// The most in flight of the round that is going on, up to 4 GB.
    pub fn most(&self) -> Bytes {
        self.present.most()
    }

    /// So much is in flight.
    #[inline]
    pub fn on_flight(&mut self, flight: Bytes) {
        let flight = u32::try_from(flight.get()).unwrap_or(u32::MAX);
        self.present.most = self.present.most.max(flight);
    }

    /// Packets are sent again.
    pub fn on_repeat(&mut self) {
        self.present.repeats = self.present.repeats.saturating_add(1);
    }

    /// The application or the receiver limits the flow.
    #[inline]
    pub fn on_hold(&mut self) {
        self.present.is_held = true;
    }

    /// A new round begins.
    pub fn begin(&mut self, at: Time, room: Room) {
        let done = std::mem::replace(&mut self.present, Round::new(at));
        if self.done.len() < self.kept && room == Room::Plenty {
            reserve(&mut self.done);
            self.done.push(done);
        }
    }

    /// How many bytes they take.
    #[inline]
    pub fn held(&self) -> usize {
        self.done.capacity() * size_of::<Round>()
    }

    /// Keeps half of them, the first ones, and no more later; whether that is less.
    pub fn thin(&mut self) -> bool {
        let is_more = self.done.len() > LEAST;
        if is_more {
            self.kept = (self.done.len() / 2).max(LEAST);
            self.done.truncate(self.kept);
        }
        self.done.shrink_to_fit();
        is_more
    }

    /// Those that are over.
    pub fn done(&self) -> &[Round] {
        &self.done
    }
}
