//! DualPI2, RFC 9332: two queues whose signals are coupled, so that flows of both share the rate as if there were one.
//!
//! ```text
//!               ┌─ ECT(1), CE ───► L ── step: 1 ms ──────┐ or
//!    arrivals ──┤                        ▲ k · p'         ├──► weighted turns ──► bottleneck
//!               └─ Not-ECT, ECT(0) ► C ──┴ p' · p' ──────┘
//!                                    PI: p' by the delay
//! ```
//!
//! A PI controller moves the base probability p' by the distance of the delay from the target, and by its trend. A packet
//! of the classic queue C is dropped, or marked if it is ECN-capable, with the probability p'²; one of the low-latency
//! queue L is marked with the probability k p'. The rate of a classic flow is as 1/√p, and that of a scalable flow as 1/p:
//! so the ratio of their shares does not depend on p'.

use serde::{Deserialize, Serialize};
use units::{Bytes, ConfigError, Duration, Ratio, Time};

use super::room::Room;
use crate::bounds::{MTU, share};
use crate::parcel::Ecn;
use crate::random::Stream;
use crate::store::{List, SlotId, Store};

/// DualPI2's parameters, with the names of Linux's `tc`.
///
/// Its limit is the link's [`Buffer`](crate::Buffer), which both queues share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DualPi2 {
    /// The delay that the classic queue is to have.
    pub target: Duration,
    /// The time between two updates of the probability.
    pub tupdate: Duration,
    /// The integral gain in Hz: how much the probability moves at an update, for each second between delay and target.
    #[serde(with = "units::bounds::number")]
    pub alpha: Ratio,
    /// The proportional gain in Hz: how much the probability moves at an update, for each second by which the delay has
    /// changed since the last one.
    #[serde(with = "units::bounds::number")]
    pub beta: Ratio,
    /// The probability of a mark in the low-latency queue, in p': RFC 9332's k.
    #[serde(with = "units::bounds::number")]
    pub coupling_factor: Ratio,
    /// The delay above which each packet of the low-latency queue is marked.
    pub step_thresh: Duration,
    /// The share of the rate that the classic queue always has if it needs it.
    #[serde(deserialize_with = "units::bounds::share")]
    pub classic_protection: Ratio,
}

impl Default for DualPi2 {
    /// Those of Linux (`dualpi2_reset_default`).
    fn default() -> DualPi2 {
        DualPi2 {
            target: Duration::from_millis(15),
            tupdate: Duration::from_millis(16),
            alpha: Ratio::new(16, 100),
            beta: Ratio::new(32, 10),
            coupling_factor: Ratio::new(2, 1),
            step_thresh: Duration::from_millis(1),
            classic_protection: Ratio::new(1, 10),
        }
    }
}

/// More frequent updates would cost time and gain nothing: this is below the delay of any queue on the internet.
const MIN_UPDATE: Duration = Duration::from_millis(1);

impl DualPi2 {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        if self.target.is_zero() {
            return Err(ConfigError::new(
                "queue.target",
                "is zero, which no queue can keep; give a delay such as 15ms",
            ));
        }
        if self.tupdate < MIN_UPDATE {
            return Err(ConfigError::new(
                "queue.tupdate",
                format!(
                    "of {} is too short; give at least {MIN_UPDATE}",
                    self.tupdate
                ),
            ));
        }
        if self.coupling_factor == Ratio::ZERO {
            return Err(ConfigError::new(
                "queue.coupling_factor",
                "is zero, so the two queues would not share the rate; give a number such as 2",
            ));
        }
        share("queue.classic_protection", self.classic_protection)
    }
}

/// Probabilities are counted in units of 2⁻³².
const ONE: u64 = 1 << 32;

/// The longest delay that counts, some 13 days, so that no product overflows.
const MAX_DELAY_NANOS: u64 = 1 << 50;

/// The backlog below which nothing is dropped (Linux `must_drop`).
const MIN_BACKLOG: Bytes = Bytes::new(2 * MTU.get());

/// The size of the largest possible packet (IPv4's total length), and so the maximum cost of a packet in a queue's turn.
const MAX_PACKET_BYTES: u64 = 65_535;

#[derive(Debug, Clone)]
pub(super) struct DualQueue {
    config: DualPi2,
    low_latency: List,
    classic: List,
    pi: Pi,
    turns: Turns,
    stream: Stream,
}

/// The PI controller, with the state between two updates.
#[derive(Debug, Clone, Copy)]
struct Pi {
    /// p'.
    probability: u64,
    /// The delay at the last update.
    delay: Duration,
    /// The next update.
    next: Time,
}

/// Whose turn it is: weighted round robin by bytes (Linux `c_protection_credit`).
#[derive(Debug, Clone, Copy)]
struct Turns {
    /// The weights of the two queues.
    low_latency: i64,
    classic: i64,
    /// The classic queue's credit. It is the classic queue's turn if that is above zero.
    credit: i64,
}

/// What happens to a packet that leaves its queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Signal {
    None,
    Mark,
    Drop,
}

impl DualQueue {
    pub(super) fn new(config: DualPi2, stream: Stream) -> DualQueue {
        DualQueue {
            config,
            low_latency: List::EMPTY,
            classic: List::EMPTY,
            pi: Pi {
                probability: 0,
                delay: Duration::ZERO,
                next: Time::ZERO + config.tupdate,
            },
            turns: Turns::new(config.classic_protection),
            stream,
        }
    }

    pub(super) fn enqueue<P>(
        &mut self,
        room: &mut Room,
        store: &mut Store<P>,
        now: Time,
        size: Bytes,
        place: SlotId,
    ) {
        self.catch_up(store, now);
        if !room.has_room(size) {
            return room.refuse(store, place, size);
        }
        room.waiting.add(size);
        // CE was ECT(0) or ECT(1) before another queue marked it, and is taken for ECT(1) (RFC 9331, section 5.1).
        match store.get(place).map_or(Ecn::NotCapable, |held| held.ecn) {
            Ecn::L4s | Ecn::Marked => self.low_latency.push(store, place),
            Ecn::NotCapable | Ecn::Capable => self.classic.push(store, place),
        }
    }

    pub(super) fn dequeue<P>(
        &mut self,
        room: &mut Room,
        store: &mut Store<P>,
        now: Time,
    ) -> Option<SlotId> {
        self.catch_up(store, now);
        loop {
            let has = [&self.low_latency, &self.classic].map(|list| !list.is_empty());
            let is_low_latency = self.turns.is_low_latencys(has);
            let list = if is_low_latency {
                &mut self.low_latency
            } else {
                &mut self.classic
            };
            let place = list.pop(store)?;
            let (size, sojourn) = store
                .get(place)
                .map_or((Bytes::ZERO, Duration::ZERO), |held| {
                    (held.size, now.since(held.at))
                });
            let may_drop = room.waiting.bytes - size >= MIN_BACKLOG;
            let signal = if is_low_latency {
                self.signal_low_latency(sojourn, may_drop)
            } else {
                self.signal_classic(may_drop)
            };
            let is_dropped = match signal {
                Signal::None => false,
                Signal::Drop => true,
                Signal::Mark => !store.get_mut(place).is_some_and(|held| room.mark(held)),
            };
            if is_dropped {
                room.drop_waiting(store, place);
                continue;
            }
            self.turns.count(is_low_latency, has, size);
            if self.low_latency.is_empty() && self.classic.is_empty() {
                self.turns.credit = self.turns.start();
            }
            return Some(place);
        }
    }

    /// The coupled probability of a mark in the low-latency queue: k p'.
    fn coupled(&self) -> u64 {
        self.config.coupling_factor.of(self.pi.probability)
    }

    /// True if more than each packet of the low-latency queue would have to be marked.
    fn is_overloaded(&self) -> bool {
        self.coupled() > ONE
    }

    /// The coupled mark, the step, and under overload the classic queue's drop (RFC 9332, appendix A.2). The step spares a
    /// packet that leaves the queue empty, which Linux marks (`min_qlen_step` of 0).
    fn signal_low_latency(&mut self, sojourn: Duration, may_drop: bool) -> Signal {
        let is_beyond_step = sojourn > self.config.step_thresh && !self.low_latency.is_empty();
        if may_drop && self.is_overloaded() {
            if self.happens_squared() {
                return Signal::Drop;
            }
            return Signal::Mark;
        }
        let coupled = self.coupled();
        let is_coupled = may_drop && self.stream.below(ONE) < coupled;
        if is_coupled || is_beyond_step {
            Signal::Mark
        } else {
            Signal::None
        }
    }

    /// Under overload, a mark is too little for ECN-capable packets too. A packet that cannot be marked is dropped.
    fn signal_classic(&mut self, may_drop: bool) -> Signal {
        if !may_drop || !self.happens_squared() {
            Signal::None
        } else if self.is_overloaded() {
            Signal::Drop
        } else {
            Signal::Mark
        }
    }

    /// True with the probability p'².
    fn happens_squared(&mut self) -> bool {
        let probability = self.pi.probability;
        self.stream.below(ONE) < probability && self.stream.below(ONE) < probability
    }

    /// The longer delay of the two queues: how long the first packet has waited at `at`.
    fn delay<P>(&self, store: &Store<P>, at: Time) -> Duration {
        let of = |list: &List| {
            list.first(store)
                .map_or(Duration::ZERO, |held| at.since(held.at))
        };
        of(&self.low_latency).max(of(&self.classic))
    }

    /// Does all updates that were due before `now`. The queues have not changed since the last event.
    fn catch_up<P>(&mut self, store: &Store<P>, now: Time) {
        let tupdate = self.config.tupdate;
        while self.pi.next < now {
            let delay = self.delay(store, self.pi.next);
            let before = self.pi;
            self.pi.update(&self.config, delay);
            // While nothing waits, or everything waits ever longer, the probability stays at its bound.
            let stays = self.pi.probability == before.probability
                && match before.probability {
                    0 => self.low_latency.is_empty() && self.classic.is_empty(),
                    ONE => delay >= self.config.target,
                    _ => false,
                };
            if stays {
                let more = now.since(self.pi.next).as_nanos() / tupdate.as_nanos();
                self.pi.next += tupdate * more;
                self.pi.delay = self.delay(store, self.pi.next);
            }
            self.pi.next += tupdate;
        }
    }
}

impl Pi {
    /// RFC 9332, appendix A.1, `dualpi2_update`.
    fn update(&mut self, config: &DualPi2, delay: Duration) {
        let nanos = |of: Duration| i128::from(of.as_nanos().min(MAX_DELAY_NANOS));
        let by = |gain: Ratio, nanos: i128| {
            nanos * i128::from(ONE) * i128::from(gain.numerator())
                / (i128::from(gain.denominator()) * 1_000_000_000)
        };
        let distance = nanos(delay) - nanos(config.target);
        let trend = nanos(delay) - nanos(self.delay);
        let step = by(config.alpha, distance) + by(config.beta, trend);
        let moved = i128::from(self.probability) + step;
        self.probability = moved.clamp(0, i128::from(ONE)) as u64;
        self.delay = delay;
    }
}

impl Turns {
    fn new(protection: Ratio) -> Turns {
        let classic = i64::from(protection.numerator());
        let low_latency = i64::from(protection.denominator()) - classic;
        let mut turns = Turns {
            low_latency,
            classic,
            credit: 0,
        };
        turns.credit = turns.start();
        turns
    }

    /// The credit at the start of a busy time: the queue with the larger weight begins.
    fn start(&self) -> i64 {
        (self.classic - self.low_latency) * MTU.get() as i64
    }

    /// True if the low-latency queue has its turn, if the low-latency and the classic queue have packets.
    fn is_low_latencys(&self, [low_latency, classic]: [bool; 2]) -> bool {
        low_latency && (!classic || self.credit <= 0)
    }

    /// Counts a packet that is sent. Only what one queue takes from the other counts.
    fn count(&mut self, is_low_latency: bool, has: [bool; 2], size: Bytes) {
        if has == [true, true] {
            let size = size.get().min(MAX_PACKET_BYTES) as i64;
            self.credit += if is_low_latency {
                self.classic * size
            } else {
                -self.low_latency * size
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Streams;

    const DRAWS: u64 = 400_000;

    /// A queue with this base probability.
    fn at(probability: u64) -> DualQueue {
        let mut queue = DualQueue::new(DualPi2::default(), Streams::new(1).deal());
        queue.pi.probability = probability;
        queue
    }

    /// The share of this signal.
    fn share(mut signal: impl FnMut() -> Signal, of: Signal) -> f64 {
        let count = (0..DRAWS).filter(|_| signal() == of).count();
        count as f64 / DRAWS as f64
    }

    #[test]
    fn a_scalable_flow_gets_k_times_the_root_of_a_classic_flows_probability() {
        for percent in [5, 20, 45] {
            let mut queue = at(ONE * percent / 100);
            let base = percent as f64 / 100.0;
            let classic = share(|| queue.signal_classic(true), Signal::Mark);
            let low_latency = share(
                || queue.signal_low_latency(Duration::ZERO, true),
                Signal::Mark,
            );
            // Five standard deviations of a binomial are at most 0.4 %.
            assert!((classic - base * base).abs() < 0.004, "{classic}");
            assert!((low_latency - 2.0 * base).abs() < 0.004, "{low_latency}");
        }
    }

    #[test]
    fn beyond_a_certain_mark_both_queues_drop_alike() {
        let mut queue = at(ONE * 60 / 100);
        let classic = share(|| queue.signal_classic(true), Signal::Drop);
        let mut low_latency = || queue.signal_low_latency(Duration::ZERO, true);
        let dropped = share(&mut low_latency, Signal::Drop);
        let marked = share(&mut low_latency, Signal::Mark);
        assert!((classic - 0.36).abs() < 0.004, "{classic}");
        assert!((dropped - 0.36).abs() < 0.004, "{dropped}");
        assert!((marked - 0.64).abs() < 0.004, "{marked}");
    }

    #[test]
    fn two_packets_are_no_queue() {
        let mut queue = at(ONE);
        assert_eq!(queue.signal_classic(false), Signal::None);
        let low_latency = queue.signal_low_latency(Duration::ZERO, false);
        assert_eq!(low_latency, Signal::None);
    }

    #[test]
    fn the_probability_moves_by_the_distance_and_the_trend() {
        let mut pi = at(0).pi;
        let config = DualPi2::default();
        // 0.16 × 10 ms + 3.2 × 25 ms, and then 0.16 × 10 ms.
        for expected in [0.0816, 0.0832] {
            pi.update(&config, Duration::from_millis(25));
            let actual = pi.probability as f64 / ONE as f64;
            assert!((actual - expected).abs() < 1e-8, "{actual}");
        }
        pi.update(&config, Duration::MAX);
        assert_eq!(pi.probability, ONE);
        pi.update(&config, Duration::ZERO);
        assert_eq!(pi.probability, 0);
    }

    #[test]
    fn updates_that_were_missed_are_made_up_for() {
        let store = Store::<()>::new();
        for millis in [16u64, 100, 4_000, 10_000_000] {
            let (mut often, mut once) = (at(ONE), at(ONE));
            for step in 1..=millis.min(5_000) {
                often.catch_up(&store, Time::ZERO + Duration::from_millis(step));
            }
            let end = Time::ZERO + Duration::from_millis(millis);
            often.catch_up(&store, end);
            once.catch_up(&store, end);
            assert_eq!(often.pi.probability, once.pi.probability);
            assert_eq!(often.pi.next, once.pi.next);
        }
        let mut last = at(ONE);
        last.catch_up(&store, Time::MAX);
        assert_eq!(last.pi.probability, 0);
    }
}
