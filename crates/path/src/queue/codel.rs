//! CoDel, RFC 8289. The time of packets in the queue distinguishes a bad queue from a good one. Drops follow each other
//! ever more closely until the bad queue is gone.
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
use crate::store::{List, SlotId, Store};

/// CoDel's parameters (RFC 8289, section "Constants").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CoDel {
    /// The acceptable delay of a standing queue.
    pub target: Duration,
    /// The time for which the delay must stay above the target before a packet is dropped: a round-trip time, at the
    /// slow end of those on the link.
    pub interval: Duration,
    /// True if ECN-capable packets are marked in place of being dropped.
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
        place: SlotId,
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
    ) -> Option<SlotId> {
        self.control
            .dequeue(&self.config, &mut self.line, room, store, now)
    }
}

/// Queued packets, with their total bytes.
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

    pub(super) fn push<P>(&mut self, store: &mut Store<P>, place: SlotId, size: Bytes) {
        self.list.push(store, place);
        self.bytes += size;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn pop<P>(&mut self, store: &Store<P>) -> Option<SlotId> {
        let place = self.list.pop(store)?;
        if let Some(held) = store.get(place) {
            self.bytes -= held.size;
        }
        Some(place)
    }
}

/// After this many intervals without drops, the old drop rate is forgotten, because it does not apply any more (RFC
/// 8289, section "Dequeue Routine").
const MEMORY_INTERVALS: u64 = 16;

/// CoDel's state of a queue (RFC 8289, section "Per-Queue State").
#[derive(Debug, Clone, Default)]
pub(super) struct Control {
    /// The time at which the delay will have been above the target for an interval; `None` if it is below.
    first_above: Option<Time>,
    /// True if packets are being dropped; then also the time of the next drop.
    dropping: bool,
    drop_next: Time,
    /// The number of drops since dropping began, and its value when dropping last began.
    count: u32,
    last_count: u32,
}

impl Control {
    /// RFC 8289, section "Dequeue Routine". Marks in place of drops follow Linux's `codel_dequeue`.
    pub(super) fn dequeue<P>(
        &mut self,
        config: &CoDel,
        line: &mut Line,
        room: &mut Room,
        store: &mut Store<P>,
        now: Time,
    ) -> Option<SlotId> {
        let (mut head, mut may_drop) = self.take(config, line, store, now);
        if self.dropping {
            self.dropping = may_drop;
            // After a long backlog, several drops may be due at once, so the loop may have several turns. Each turn
            // drops a packet, or ends with one that is sent.
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

    /// Takes the first packet. Also returns true if it may be dropped: if the delay has been above the target for an
    /// interval, and more than an MTU would be left, since the link would run dry otherwise (RFC 8289, sections "Helper
    /// Routines" and "Non-starvation").
    fn take<P>(
        &mut self,
        config: &CoDel,
        line: &mut Line,
        store: &Store<P>,
        now: Time,
    ) -> (Option<SlotId>, bool) {
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

    /// Begins a period of drops. If the last period ended recently, its final drop rate is a good start for this one.
    fn start_dropping(&mut self, config: &CoDel, now: Time) {
        let recent = now.since(self.drop_next) < config.interval * MEMORY_INTERVALS;
        let drops = self.count.saturating_sub(self.last_count);
        self.count = if recent && drops > 1 { drops } else { 1 };
        self.last_count = self.count;
        self.dropping = true;
        self.schedule(config, now);
    }

    /// Schedules the next drop interval / √count after `from` (RFC 8289, section "Control Loop"): TCP's throughput is
    /// proportional to the inverse square root of the drop rate, so it decreases in equal steps.
    fn schedule(&mut self, config: &CoDel, from: Time) {
        self.drop_next = from + over_square_root(config.interval, self.count);
    }

    /// Counts drops by the discipline for lack of room as CoDel's own (Linux, `fq_codel_drop`).
    pub(super) fn count_drops(&mut self, drops: u32) {
        self.count = self.count.saturating_add(drops);
    }
}

/// Returns interval / √count, rounded down to the nanosecond.
fn over_square_root(interval: Duration, count: u32) -> Duration {
    // ⌊√⌊interval² / count⌋⌋ is ⌊interval / √count⌋, and no larger than the interval.
    let square = u128::from(interval.as_nanos()).pow(2) / u128::from(count.max(1));
    Duration::from_nanos(square.isqrt() as u64)
}

/// Marks the packet in place of dropping it, if that is allowed.
fn mark<P>(config: &CoDel, room: &mut Room, store: &mut Store<P>, place: Option<SlotId>) -> bool {
    let held = place.and_then(|place| store.get_mut(place));
    held.is_some_and(|held| config.ecn && room.mark(held))
}

fn drop_head<P>(room: &mut Room, store: &mut Store<P>, place: Option<SlotId>) {
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
