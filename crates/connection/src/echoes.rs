//! The acknowledgements that a sender had seen when it sent a segment, known from the timestamp that it echoes (RFC 7323).
//! So a capture away from the sender knows what the sender knew.

use std::collections::VecDeque;

use units::{Bytes, Time};

use crate::memory::Room;

/// The most acknowledgements that are remembered. A clock of milliseconds makes no more timestamps than this in a second.
const MAX_ACKS: usize = 1024;

/// The same when memory is short.
const MAX_ACKS_WHEN_SHORT: usize = 16;

/// An acknowledgement that passed the capture.
#[derive(Debug, Clone, Copy)]
pub struct Passed {
    /// Its TSval.
    value: u32,
    /// When the first one with this TSval passed.
    pub at: Time,
    /// The bytes delivered by then.
    pub delivered: Bytes,
    /// The end of the receive window that the last acknowledgement with this TSval offered.
    pub edge: Option<u64>,
}

/// The acknowledgements that a sender may still echo, oldest first.
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
            // An acknowledgement that was overtaken is never echoed.
            if value.wrapping_sub(last.value).cast_signed() < 0 {
                return;
            }
        }
        let most = match room {
            Room::Plenty => MAX_ACKS,
            Room::Little => MAX_ACKS_WHEN_SHORT,
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

    /// The number of bytes that they hold.
    #[inline]
    pub fn held(&self) -> usize {
        self.passed.capacity() * size_of::<Passed>()
    }

    /// Keeps the latest few.
    pub fn thin(&mut self) {
        let gone = self.passed.len().saturating_sub(MAX_ACKS_WHEN_SHORT);
        self.passed.drain(..gone);
        self.passed.shrink_to_fit();
    }

    /// The acknowledgement that a segment echoes, and whether the segment is the first to echo it.
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

    /// TSval of the acknowledgement that passed after the one with this TSval.
    #[inline]
    pub fn after(&self, echo: u32) -> Option<u32> {
        let first = self.passed.front().filter(|first| first.value == echo);
        first.and(self.passed.get(1)).map(|next| next.value)
    }
}
