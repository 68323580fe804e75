//! A flow round by round, for the guess at its controller.

use super::Room;
use congestion::{Bytes, Duration, Rate, Time};

/// No flow keeps more rounds: what comes later is not looked at for the guess.
const MOST: usize = 4096;

/// A packet-timed round.
#[derive(Debug, Clone, Copy)]
pub struct Round {
    /// When it began.
    pub at: Time,
    /// The most in flight.
    pub most: Bytes,
    /// The least in flight after something was sent.
    pub least: Bytes,
    /// The least RTT.
    pub rtt: Option<Duration>,
    /// The greatest delivery rate.
    pub rate: Rate,
    /// Payload sent, repeats included.
    pub sent: Bytes,
    /// Packets sent again.
    pub repeats: u32,
    /// Whether the application or the receiver limited it.
    pub is_held: bool,
}

impl Round {
    fn new(at: Time) -> Round {
        Round {
            at,
            most: Bytes::ZERO,
            least: Bytes::MAX,
            rtt: None,
            rate: Rate::ZERO,
            sent: Bytes::ZERO,
            repeats: 0,
            is_held: false,
        }
    }
}

/// The rounds.
#[derive(Debug, Clone)]
pub struct Rounds {
    done: Vec<Round>,
    present: Round,
}

impl Rounds {
    pub fn new(at: Time) -> Rounds {
        Rounds {
            done: Vec::new(),
            present: Round::new(at),
        }
    }

    /// The round that is going on.
    #[inline]
    pub fn present(&mut self) -> &mut Round {
        &mut self.present
    }

    /// A new round begins.
    pub fn begin(&mut self, at: Time, room: Room) {
        let done = std::mem::replace(&mut self.present, Round::new(at));
        if self.done.len() < MOST && room == Room::Plenty {
            self.done.push(done);
        }
    }

    /// How many bytes they take.
    pub fn held(&self) -> usize {
        self.done.capacity() * size_of::<Round>()
    }

    /// Those that are over.
    pub fn done(&self) -> &[Round] {
        &self.done
    }
}
