//! RED: Floyd and Jacobson, "Random Early Detection Gateways for Congestion Avoidance" (1993).
//!
//! The probability of a drop on arrival, by the average queue:
//!
//! ```text
//!       1 ┤              ┌──────────   hard (1993)       1 ┤                       ╭───   gentle
//!         │              │                                 │                  ╭────╯
//!    max_p┤          ╭───┘                            max_p┤          ╭───────╯
//!         │    ╭─────╯                                     │    ╭─────╯
//!       0 ┼────┴─────────┬─────────► average             0 ┼────┴─────┬───────────┬─────► average
//!             min       max                                   min    max        2 max
//! ```

use serde::{Deserialize, Serialize};
use units::{Bytes, ConfigError, Duration, Rate, Ratio, Time};

use super::room::Room;
use crate::bounds::{MTU, share};
use crate::random::Stream;
use crate::store::{List, SlotId, Store};

/// RED's parameters. The queue is measured in bytes, without the packet in transmission. Every packet has the same
/// probability, whatever its size (RFC 7141, section 2).
///
/// If [`min`](Self::min) equals [`max`](Self::max), it is a plain threshold instead. A packet that arrives while the
/// queue is at the threshold is dropped or marked, without an average and without randomness. With ECN, this is the
/// marking of DCTCP (Alizadeh et al., 2010).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Red {
    /// The average queue below which nothing is dropped: the paper's min_th.
    pub min: Bytes,
    /// The average queue at which the probability is [`probability`](Self::probability): the paper's max_th.
    pub max: Bytes,
    /// The paper's max_p.
    #[serde(
        default = "usual_probability",
        deserialize_with = "units::bounds::share"
    )]
    pub probability: Ratio,
    /// True if the probability grows on to 1 between max and twice max (Floyd, "Recommendation on using the 'gentle_'
    /// variant of RED", 2000), instead of jumping to 1 at max.
    #[serde(default = "usually_gentle")]
    pub gentle: bool,
    /// True if ECN-capable packets are marked in place of being dropped. They are still dropped when the buffer is
    /// full.
    #[serde(default)]
    pub ecn: bool,
}

impl Red {
    /// RED between two averages with the usual settings: a probability of 10 % at `max` (Floyd, "RED: Discussions of
    /// Setting Parameters", 1997), gentle above it, without ECN. The paper asks for a `max` of at least twice `min`.
    pub fn new(min: Bytes, max: Bytes) -> Red {
        Red {
            min,
            max,
            probability: usual_probability(),
            gentle: usually_gentle(),
            ecn: false,
        }
    }

    /// A threshold: a packet that arrives while the queue is at it is marked, or dropped if it is not ECN-capable.
    pub fn threshold(threshold: Bytes) -> Red {
        Red {
            probability: Ratio::ONE,
            gentle: false,
            ecn: true,
            ..Red::new(threshold, threshold)
        }
    }

    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        share("queue.probability", self.probability)?;
        if self.max.is_zero() {
            return Err(ConfigError::new(
                "queue.max",
                "is zero, so no packet would ever pass; give a size such as 90kb",
            ));
        }
        if self.min > self.max {
            return Err(ConfigError::new(
                "queue.min",
                format!(
                    "of {} is above the max of {}; give a smaller one, or the same for a plain threshold",
                    self.min, self.max
                ),
            ));
        }
        Ok(())
    }

    pub(super) fn is_threshold(&self) -> bool {
        self.min == self.max
    }
}

const fn usual_probability() -> Ratio {
    Ratio::new(1, 10)
}

const fn usually_gentle() -> bool {
    true
}

/// The weight of the present queue in the average, w_q = 2⁻⁹: the paper's 0.002, as a power of two so that the average
/// takes a shift and two additions (section "Implementation").
const WEIGHT_SHIFT: u32 = 9;

/// Probabilities are counted in units of 2⁻³².
const ONE: u64 = 1 << 32;

/// The silence, in packet times, after which no average is left: (1 − w_q)^(2¹⁵) is e⁻⁶⁴.
const MEMORY_PACKET_TIMES: u64 = 1 << 15;

#[derive(Debug, Clone)]
pub(super) struct RedQueue {
    config: Red,
    list: List,
    /// The transmission time of a full packet. While nothing waits, the average decays by one step in each.
    packet_time: Duration,
    /// The average queue in bytes × 2⁹.
    average: u64,
    /// The time since which nothing waits.
    empty_since: Time,
    /// The number of packets in the random range since the last drop or mark there: the paper's count.
    spared: u64,
    stream: Stream,
}

impl RedQueue {
    pub(super) fn new(config: Red, rate: Option<Rate>, stream: Stream) -> RedQueue {
        RedQueue {
            config,
            list: List::EMPTY,
            packet_time: rate.map_or(Duration::ZERO, |rate| rate.time_for(MTU)),
            average: 0,
            empty_since: Time::ZERO,
            spared: 0,
            stream,
        }
    }

    pub(super) fn change_rate(&mut self, rate: Rate) {
        self.packet_time = rate.time_for(MTU);
    }

    pub(super) fn enqueue<P>(
        &mut self,
        room: &mut Room,
        store: &mut Store<P>,
        now: Time,
        size: Bytes,
        place: SlotId,
    ) {
        let chosen = self.chooses(room, now);
        if !room.has_room(size) {
            self.spared = 0;
            return room.refuse(store, place, size);
        }
        if chosen {
            let held = store.get_mut(place);
            let marked = held.is_some_and(|held| self.config.ecn && room.mark(held));
            if !marked {
                return room.refuse(store, place, size);
            }
        }
        room.waiting.add(size);
        self.list.push(store, place);
    }

    pub(super) fn dequeue<P>(
        &mut self,
        room: &Room,
        store: &Store<P>,
        now: Time,
    ) -> Option<SlotId> {
        if room.waiting.packets == 1 {
            self.empty_since = now;
        }
        self.list.pop(store)
    }

    /// True if the packet that arrives at `now` must be dropped or marked (the paper's figure 2, "Detailed algorithm
    /// for RED gateways").
    fn chooses(&mut self, room: &Room, now: Time) -> bool {
        if self.config.is_threshold() {
            return room.waiting.bytes >= self.config.max;
        }
        self.average(room, now);
        let probability = self.probability();
        if probability == 0 || probability >= ONE {
            self.spared = 0;
            return probability > 0;
        }
        // p_a = p_b / (1 − count × p_b): the distance between drops is uniform over 1 … 1/p_b, not geometric, so that
        // drops are spread out (section "Calculating the packet marking probability").
        let rest = ONE.saturating_sub(self.spared.saturating_mul(probability));
        let chosen = rest <= probability || self.stream.below(rest) < probability;
        self.spared = if chosen { 0 } else { self.spared + 1 };
        chosen
    }

    /// Updates the average at the arrival of a packet at `now`.
    fn average(&mut self, room: &Room, now: Time) {
        if room.waiting.packets > 0 {
            let weighed = self.average >> WEIGHT_SHIFT;
            self.average = (self.average - weighed).saturating_add(room.waiting.bytes.get());
        } else if self.average > 0 {
            // The average decays as if so many packets had come, each to an empty queue.
            let idle = now.since(self.empty_since).as_nanos();
            let steps = idle.checked_div(self.packet_time.as_nanos());
            self.average = decay(self.average, steps.unwrap_or(MEMORY_PACKET_TIMES));
        }
    }

    /// The paper's p_b for the average.
    fn probability(&self) -> u64 {
        let Red {
            min,
            max,
            probability,
            gentle,
            ..
        } = self.config;
        let average = Bytes::new(self.average >> WEIGHT_SHIFT);
        let at_max = probability.of(ONE);
        if average < min {
            0
        } else if average < max {
            probability.of(fraction(average - min, max - min))
        } else if gentle && average - max < max {
            let further = fraction(average - max, max);
            at_max + ((u128::from(ONE - at_max) * u128::from(further)) >> 32) as u64
        } else {
            ONE
        }
    }
}

/// `part` / `whole`, at most one, in units of 2⁻³².
fn fraction(part: Bytes, whole: Bytes) -> u64 {
    let parts = u128::from(part.get()) << 32;
    let fraction = parts.checked_div(u128::from(whole.get()));
    fraction.map_or(ONE, |fraction| fraction.min(u128::from(ONE)) as u64)
}

/// `average` × (1 − w_q)^`steps`.
fn decay(average: u64, steps: u64) -> u64 {
    if steps >= MEMORY_PACKET_TIMES {
        return 0;
    }
    let mut factor = ONE - (ONE >> WEIGHT_SHIFT);
    let mut product = ONE;
    let mut left = steps;
    while left > 0 {
        if left & 1 == 1 {
            product = (product * factor) >> 32;
        }
        factor = (factor * factor) >> 32;
        left >>= 1;
    }
    ((u128::from(average) * u128::from(product)) >> 32) as u64
}
