//! CoDel, RFC 8289. The time that packets spend in a queue tells a bad queue from a good one. Drops follow each other more
//! and more closely until the bad queue is gone.
//!
//! ```text
//!              sojourn ≥ target for a whole interval: drop
//!           ┌────────────────────────────────────────────────┐
//!           │                                                ▼
//!      not dropping                                      dropping ─┐ sojourn still ≥ target: drop again after
//!           ▲                                                │  ▲  │ interval / √count
//!           └────────────────────────────────────────────────┘  └──┘
//!              sojourn < target, or no more than an MTU waits
//! ```

use serde::{Deserialize, Serialize};
use units::{Bytes, ConfigError, Duration, Time};

use super::room::Room;
use crate::bounds::MTU;
use crate::store::{List, Place, Store};

/// CoDel's parameters (RFC 8289, section "Constants").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CoDel {
    /// The delay that a standing queue may have.
    pub target: Duration,
    /// How long the delay must stay above it before anything is dropped: a round-trip time, at the slow end of those
    /// that use the link.
    pub interval: Duration,
    /// True if packets capable of ECN are marked in place of being dropped.
    pub ecn: bool,
}

impl Default for CoDel {
    /// 5 ms, and 100 ms for the round trips of the internet (RFC 8289, sections "Setting TARGET" and "Setting
    /// INTERVAL"). No ECN, like Linux.
    fn default() -> CoDel {
        CoDel {
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
            ecn: false,
        }
    }
}

impl CoDel {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        if self.target.is_zero() {
            return Err(ConfigError::new(
                "queue.target",
                "is zero, which no queue can keep; give a delay such as 5ms",
            ));
        }
        if self.target > self.interval {
            return Err(ConfigError::new(
                "queue.interval",
                format!(
                    "of {} is shorter than the target of {}; give about a round-trip time, such as 100ms",
                    self.interval, self.target
                ),
            ));
        }
        Ok(())
    }
}

/// One queue under CoDel.
#[derive(Debug, Clone)]
pub(super) struct CoDelQueue {
    config: CoDel,
    line: Line,
    control: Control,
}

impl CoDelQueue {
    pub(super) fn new(config: CoDel) -> CoDelQueue {
        CoDelQueue {
            config,
            line: Line::EMPTY,
            control: Control::default(),
        }
    }

    /// RFC 8289, section "Enqueue Routine"; the time stamp is in the store.
    pub(super) fn enqueue<P>(
        &mut self,
        room: &mut Room,
        store: &mut Store<P>,
        size: Bytes,
        place: Place,
    ) {
        if room.has_room(size) {
            room.waiting.add(size);
            self.line.push(store, place, size);
        } else {
            room.refuse(store, place, size);
        }
    }

    pub(super) fn dequeue<P>(
        &mut self,
        room: &mut Room,
        store: &mut Store<P>,
        now: Time,
    ) -> Option<Place> {
        self.control
            .dequeue(&self.config, &mut self.line, room, store, now)
    }
}

/// Packets in line that know how many bytes they are.
#[derive(Debug, Clone)]
pub(super) struct Line {
    list: List,
    pub(super) bytes: Bytes,
}

impl Line {
    pub(super) const EMPTY: Line = Line {
        list: List::EMPTY,
        bytes: Bytes::ZERO,
    };

    pub(super) fn push<P>(&mut self, store: &mut Store<P>, place: Place, size: Bytes) {
        self.list.push(store, place);
        self.bytes += size;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn pop<P>(&mut self, store: &Store<P>) -> Option<Place> {
        let place = self.list.pop(store)?;
        if let Some(held) = store.get(place) {
            self.bytes -= held.size;
        }
        Some(place)
    }
}

/// After this many intervals without drops, the old rate of drops is forgotten: it is no longer right (RFC 8289, section
/// "Dequeue Routine").
const MEMORY_INTERVALS: u64 = 16;

/// What CoDel remembers of a queue (RFC 8289, section "Per-Queue State").
#[derive(Debug, Clone, Default)]
pub(super) struct Control {
    /// When the delay will have been above the target for an interval; none if it is not above.
    first_above: Option<Time>,
    /// True if packets are being dropped, and then when the next one is.
    dropping: bool,
    drop_next: Time,
    /// Drops since dropping began, and what that was when it last began.
    count: u32,
    last_count: u32,
}

impl Control {
    /// RFC 8289, section "Dequeue Routine"; for marks in place of drops, Linux's `codel_dequeue`.
    pub(super) fn dequeue<P>(
        &mut self,
        config: &CoDel,
        line: &mut Line,
        room: &mut Room,
        store: &mut Store<P>,
        now: Time,
    ) -> Option<Place> {
        let (mut head, mut may_drop) = self.take(config, line, store, now);
        if self.dropping {
            self.dropping = may_drop;
            // A backlog can be so long that several drops are due at once. The loop then takes more than one turn. Each
            // turn drops a packet, or ends with one that is sent.
            while self.dropping && now >= self.drop_next {
                self.count = self.count.saturating_add(1);
                if mark(config, room, store, head) {
                    self.schedule(config, self.drop_next);
                    break;
                }
                drop_head(room, store, head);
                (head, may_drop) = self.take(config, line, store, now);
                self.dropping = may_drop;
                if self.dropping {
                    self.schedule(config, self.drop_next);
                }
            }
        } else if may_drop {
            if !mark(config, room, store, head) {
                drop_head(room, store, head);
                (head, _) = self.take(config, line, store, now);
            }
            self.start_dropping(config, now);
        }
        debug_assert!(head.is_some() || line.bytes.is_zero(), "a queue starves");
        head
    }

    /// The first packet, and whether it may be dropped: not before the delay has been above the target for an interval,
    /// and not if no more than an MTU would be left, as then the link would run dry (RFC 8289, sections "Helper
    /// Routines" and "Non-starvation").
    fn take<P>(
        &mut self,
        config: &CoDel,
        line: &mut Line,
        store: &Store<P>,
        now: Time,
    ) -> (Option<Place>, bool) {
        let place = line.pop(store);
        let sojourn = place
            .and_then(|place| store.get(place))
            .map(|held| now.since(held.at));
        let above = sojourn.is_some_and(|sojourn| sojourn >= config.target && line.bytes > MTU);
        if !above {
            self.first_above = None;
            return (place, false);
        }
        let first_above = *self.first_above.get_or_insert(now + config.interval);
        (place, now >= first_above)
    }

    /// The first drop of a spell. If the last spell was a moment ago, the rate that controlled the queue then is a good
    /// one to start with now.
    fn start_dropping(&mut self, config: &CoDel, now: Time) {
        let recent = now.since(self.drop_next) < config.interval * MEMORY_INTERVALS;
        let drops = self.count.saturating_sub(self.last_count);
        self.count = if recent && drops > 1 { drops } else { 1 };
        self.last_count = self.count;
        self.dropping = true;
        self.schedule(config, now);
    }

    /// The next drop is due interval / √count after `from` (RFC 8289, section "Control Loop"): TCP's throughput goes
    /// with the inverse square root of the share of drops, so it falls by equal steps.
    fn schedule(&mut self, config: &CoDel, from: Time) {
        self.drop_next = from + over_square_root(config.interval, self.count);
    }

    /// Drops that the discipline made for want of room count as CoDel's own (Linux, `fq_codel_drop`).
    pub(super) fn count_drops(&mut self, drops: u32) {
        self.count = self.count.saturating_add(drops);
    }
}

/// interval / √count, rounded down to the nanosecond.
fn over_square_root(interval: Duration, count: u32) -> Duration {
    // ⌊√⌊interval² / count⌋⌋ is ⌊interval / √count⌋, and no larger than the interval.
    let square = u128::from(interval.as_nanos()).pow(2) / u128::from(count.max(1));
    Duration::from_nanos(square.isqrt() as u64)
}

/// Marks the packet in place of dropping it, if that is allowed.
fn mark<P>(config: &CoDel, room: &mut Room, store: &mut Store<P>, place: Option<Place>) -> bool {
    let held = place.and_then(|place| store.get_mut(place));
    held.is_some_and(|held| config.ecn && room.mark(held))
}

fn drop_head<P>(room: &mut Room, store: &mut Store<P>, place: Option<Place>) {
    if let Some(place) = place {
        room.drop_waiting(store, place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_come_closer_by_the_inverse_square_root() {
        let interval = Duration::from_millis(100);
        let nanos = |count| over_square_root(interval, count).as_nanos();
        assert_eq!(nanos(0), 100_000_000);
        assert_eq!(nanos(1), 100_000_000);
        assert_eq!(nanos(2), 70_710_678);
        assert_eq!(nanos(3), 57_735_026);
        assert_eq!(nanos(4), 50_000_000);
        assert_eq!(nanos(10_000), 1_000_000);
        assert_eq!(over_square_root(Duration::MAX, 1), Duration::MAX);
        assert_eq!(over_square_root(Duration::ZERO, u32::MAX), Duration::ZERO);
    }
}
