//! Which acknowledgement a sender had seen when it sent: the timestamp that it echoes tells (RFC 7323). This is how a
//! capture far from the sender knows what the sender knew.

use std::collections::VecDeque;

use super::Room;
use units::{Bytes, Time};

/// No more acknowledgements are remembered; so many have different timestamps in a second at most.
const MOST: usize = 1024;

/// And so many if there is little memory.
const FEW: usize = 16;

/// An acknowledgement that passed.
#[derive(Debug, Clone, Copy)]
pub struct Passed {
    /// Its TSval.
    value: u32,
    /// When the first one with this TSval passed.
    pub at: Time,
    /// What had been delivered then.
    pub delivered: Bytes,
    /// How far the window reached that the last one with this TSval offered.
    pub edge: Option<u64>,
}

/// The acknowledgements that a sender may still echo, the oldest first.
#[derive(Debug, Clone, Default)]
pub struct Echoes {
    passed: VecDeque<Passed>,
    /// The latest TSecr.
    latest: Option<u32>,
}

impl Echoes {
    /// An acknowledgement passes.
    #[inline]
    pub fn on_ack(
        &mut self,
        at: Time,
        value: u32,
        delivered: Bytes,
        edge: Option<u64>,
        room: Room,
    ) {
        if let Some(last) = self.passed.back_mut() {
            if last.value == value {
                last.edge = edge;
                return;
            }
            // One that was overtaken is echoed by nobody.
            if value.wrapping_sub(last.value).cast_signed() < 0 {
                return;
            }
        }
        let most = match room {
            Room::Plenty => MOST,
            Room::Little => FEW,
        };
        if self.passed.len() >= most {
            self.passed.pop_front();
        }
        self.passed.push_back(Passed {
            value,
            at,
            delivered,
            edge,
        });
    }

    /// How many bytes they take.
    #[inline]
    pub fn held(&self) -> usize {
        self.passed.capacity() * size_of::<Passed>()
    }

    /// Keeps the latest ones.
    pub fn thin(&mut self) {
        let gone = self.passed.len().saturating_sub(FEW);
        self.passed.drain(..gone);
        self.passed.shrink_to_fit();
    }

    /// What a segment echoes, and whether it is the first that does.
    #[inline]
    pub fn on_data(&mut self, echo: u32) -> Option<(Passed, bool)> {
        let is_first = self
            .latest
            .is_none_or(|latest| echo.wrapping_sub(latest).cast_signed() > 0);
        if is_first {
            self.latest = Some(echo);
        }
        while let Some(first) = self.passed.front()
            && echo.wrapping_sub(first.value).cast_signed() > 0
        {
            self.passed.pop_front();
        }
        let first = self.passed.front().filter(|first| first.value == echo)?;
        Some((*first, is_first))
    }
}
