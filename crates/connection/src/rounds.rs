//! A flow's rounds, for the guess at its controller.

use congestion::{Bytes, Time};

use crate::memory::{Room, reserve};

/// The most rounds that a flow keeps. Later rounds do not count for the guess.
const MAX_ROUNDS: usize = 4096;

/// The number of rounds that stay when memory is short: fewer would show nothing.
const MIN_ROUNDS: usize = 32;

/// A packet-timed round.
#[derive(Debug, Clone, Copy)]
pub struct Round {
    /// When the round began.
    pub at: Time,
    /// The most bytes in flight, up to 4 GB.
    most: u32,
    /// The number of retransmissions, and of reductions of the window because of ECN marks.
    pub repeats: u16,
    /// True if the application or the receiver limited the flow.
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

    /// The most bytes in flight.
    pub fn most(&self) -> Bytes {
        Bytes::new(self.most.into())
    }
}

/// The rounds of a flow: the complete ones, up to a maximum, and the present one.
#[derive(Debug, Clone)]
pub struct Rounds {
    done: Vec<Round>,
    present: Round,
    /// The number of rounds to keep.
    kept: usize,
}

impl Rounds {
    /// The rounds of a flow that begins at `at`.
    pub fn new(at: Time) -> Rounds {
        Rounds {
            done: Vec::new(),
            present: Round::new(at),
            kept: MAX_ROUNDS,
        }
    }

    /// The most bytes in flight in the present round, up to 4 GB.
    pub fn most(&self) -> Bytes {
        self.present.most()
    }

    /// The most bytes in flight in any round.
    pub fn most_ever(&self) -> Bytes {
        let done = self.done.iter().map(Round::most);
        done.fold(self.most(), Bytes::max)
    }

    /// This many bytes are in flight.
    #[inline]
    pub fn on_flight(&mut self, flight: Bytes) {
        let flight = u32::try_from(flight.get()).unwrap_or(u32::MAX);
        self.present.most = self.present.most.max(flight);
    }

    /// A packet is retransmitted, or tells that the sender has reduced its window.
    pub fn on_repeat(&mut self) {
        self.present.repeats = self.present.repeats.saturating_add(1);
    }

    /// The application or the receiver limits the flow.
    #[inline]
    pub fn on_hold(&mut self) {
        self.present.is_held = true;
    }

    /// The next round begins at `at`.
    pub fn begin(&mut self, at: Time, room: Room) {
        let done = std::mem::replace(&mut self.present, Round::new(at));
        if self.done.len() < self.kept && room == Room::Plenty {
            reserve(&mut self.done);
            self.done.push(done);
        }
    }

    /// The number of bytes that they hold.
    #[inline]
    pub fn held(&self) -> usize {
        self.done.capacity() * size_of::<Round>()
    }

    /// Keeps the first half of them, and no later ones. Returns whether that freed any.
    pub fn thin(&mut self) -> bool {
        let is_more = self.done.len() > MIN_ROUNDS;
        if is_more {
            self.kept = (self.done.len() / 2).max(MIN_ROUNDS);
            self.done.truncate(self.kept);
        }
        self.done.shrink_to_fit();
        is_more
    }

    /// The complete rounds.
    pub fn done(&self) -> &[Round] {
        &self.done
    }
}
