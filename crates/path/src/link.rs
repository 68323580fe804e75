//! One direction of a path.

use std::vec;

use units::{Bytes, ConfigError, Duration, Ratio, Time};

use crate::aggregation::Aggregation;
use crate::change::Change;
use crate::config::LinkConfig;
use crate::corruption::CorruptionProcess;
use crate::counters::Counters;
use crate::flight::Flight;
use crate::jitter::JitterProcess;
use crate::line::Line;
use crate::loss::{LossAt, LossProcess};
use crate::mtu::Mtu;
use crate::pace::Pace;
use crate::parcel::{Ecn, Parcel};
use crate::policer::TokenBucket;
use crate::queue::{Queue, Taken};
use crate::random::{Stream, Streams};
use crate::reorder::ReorderProcess;
use crate::store::Store;

/// One direction of a path: packets of type `P` go in at one end and come out at the other, later or never.
///
/// ```text
///                                         ┌──── bottleneck ────┐             ┌─────────────── on the way ──────────────┐
///  send ─► MTU ─► (loss) ─► policer ─► queue ─► rate or trace ─► (loss) ─► damage ─► copies ─► delay, jitter, reordering ─► aggregation ─► receive
///           │        │         │         │                          │
///      too_big  random_losses policer_  drops                 random_losses
///                              drops
/// ```
///
/// Random loss stands at the entry or behind the bottleneck ([`LossAt`]). A copy is made behind the bottleneck, and takes
/// nothing of its rate. A packet that is damaged ([`Arrival::corrupted`]) arrives like any other, so that it takes all that it
/// would have taken of this link and of those behind it; whoever receives it at its destination is to discard it.
///
/// # Time
/// The link has no clock. Each call tells it the time. It then does whatever was due since the last call, in order, each
/// thing at its own exact instant. A late call therefore only changes when the caller learns of it. Time never
/// runs backwards: an earlier `now` is read as the latest one given. What is due at an instant happens before what the
/// caller does at that instant: the packet that finishes at `now` makes room for the one that enters at `now`.
#[derive(Debug, Clone)]
pub struct Link<P> {
    now: Time,
    store: Store<P>,
    policer: Option<TokenBucket>,
    queue: Queue,
    pace: Pace,
    bottleneck: Bottleneck,
    /// Since when the bottleneck has had something to send without a break.
    busy_since: Time,
    changes: vec::IntoIter<Change>,
    loss: LossProcess,
    loss_at: LossAt,
    mtu: Option<Mtu>,
    corruption: CorruptionProcess,
    duplicate: Ratio,
    duplicates: Stream,
    delay: Duration,
    jitter: JitterProcess,
    reorder: ReorderProcess,
    flight: Flight,
    aggregation: Option<Aggregation>,
    /// All that is not counted elsewhere: `drops` and `marks` are the queue's.
    counters: Counters,
}

/// What the bottleneck is doing.
#[derive(Debug, Clone, Copy)]
enum Bottleneck {
    /// Nothing, and nothing waits.
    Idle,
    /// Waiting for its next opportunity, at which it takes a packet out of the queue.
    Waiting(Time),
    /// Transmitting a packet that was queued for a while.
    Busy {
        packet: Taken,
        queued: Duration,
        until: Time,
    },
}

impl Bottleneck {
    /// When it has something to do.
    #[inline]
    fn due(&self) -> Option<Time> {
        match self {
            Bottleneck::Idle => None,
            Bottleneck::Waiting(at) | Bottleneck::Busy { until: at, .. } => Some(*at),
        }
    }
}

/// A packet at the far end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival<P> {
    /// The exact time of arrival, however late it is asked for.
    pub at: Time,
    /// Its size on the link.
    pub size: Bytes,
    /// As it was sent, or marked by the queue.
    pub ecn: Ecn,
    /// True if it was damaged on this link: the checksum that its receiver computes is not the one that it carries.
    pub corrupted: bool,
    /// How long it waited in the queue, from entry to the start of its transmission.
    pub queued: Duration,
    /// The packet itself.
    pub packet: P,
}

/// What waits in the buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Queued {
    /// Bytes that wait, without the packet being transmitted.
    pub bytes: Bytes,
    /// Packets that wait.
    pub packets: u64,
    /// How long a packet that entered now, behind all that waits, would wait until its own transmission, at the present
    /// rate; in an outage, at the one that ends it, or else the one before it. Under another discipline than drop-tail it may wait shorter: for drops before it, or because its flow goes
    /// first.
    pub delay: Duration,
}

impl<P: Clone> Link<P> {
    /// A link with nothing on it. The same configuration and seed give every packet the same fate on any machine.
    ///
    /// # Errors
    /// The first value that makes no sense.
    pub fn new(config: LinkConfig, seed: u64) -> Result<Link<P>, ConfigError> {
        Link::with_streams(config, Streams::new(seed))
    }

    pub(crate) fn with_streams(
        config: LinkConfig,
        mut streams: Streams,
    ) -> Result<Link<P>, ConfigError> {
        config.validate()?;
        // The order in which streams are dealt is part of what a seed means.
        let loss = LossProcess::new(config.effects.loss, &mut streams);
        let duplicates = streams.deal();
        let jitter = JitterProcess::new(config.effects.jitter, &mut streams);
        let reorder = ReorderProcess::new(config.effects.reorder, &mut streams);
        let rate = config.capacity.mean_rate();
        let queue = Queue::new(config.effects.queue, config.buffer, rate, streams.deal());
        let corruption = CorruptionProcess::new(config.effects.corruption, &mut streams);
        Ok(Link {
            now: Time::ZERO,
            store: Store::new(),
            policer: config.effects.policer.map(TokenBucket::new),
            queue,
            pace: Pace::new(config.capacity, config.effects.demand),
            bottleneck: Bottleneck::Idle,
            busy_since: Time::ZERO,
            changes: config.changes.into_iter(),
            loss,
            loss_at: config.effects.loss_at,
            mtu: config.effects.mtu,
            corruption,
            duplicate: config.effects.duplicate,
            duplicates,
            delay: config.delay,
            jitter,
            reorder,
            flight: Flight::new(),
            aggregation: config.effects.aggregation,
            counters: Counters::default(),
        })
    }

    /// A packet enters at `now`.
    // Inlined, so that the packet is written once, directly to its place.
    #[inline(always)]
    pub fn send(&mut self, now: Time, parcel: impl Into<Parcel>, packet: P) {
        let parcel = parcel.into();
        self.advance(now);
        self.counters.entered.add(parcel.size);
        if self.mtu.is_some_and(|mtu| parcel.size > mtu.bytes()) {
            self.counters.too_big.add(parcel.size);
            return;
        }
        if self.is_lost_at(LossAt::Entry) {
            self.counters.random_losses.add(parcel.size);
            return;
        }
        if let Some(policer) = &mut self.policer
            && !policer.admits(self.now, parcel.size)
        {
            self.counters.policer_drops.add(parcel.size);
            return;
        }
        let place = self.store.insert(self.now, parcel, packet);
        self.queue.enqueue(&mut self.store, self.now, parcel, place);
        self.pace.backlog_changes(self.now);
        if matches!(self.bottleneck, Bottleneck::Idle) {
            self.pace.wake(self.now);
            self.busy_since = self.now;
            self.turn_to_queue(self.now);
            self.run(self.now);
        }
        debug_assert!(self.counters().add_up(), "{:?}", self.counters());
    }

    /// Brings the link up to `now`, so that [`queued`](Self::queued) and [`counters`](Self::counters) tell of that
    /// time. [`send`](Self::send) and [`receive`](Self::receive) do so by themselves.
    pub fn advance(&mut self, now: Time) {
        self.now = self.now.max(now);
        if self.is_due(self.now) {
            self.run(self.now);
        }
    }

    /// The next packet that has arrived by `now`, in the order of arrival; to be called until there is none.
    pub fn receive(&mut self, now: Time) -> Option<Arrival<P>> {
        self.advance(now);
        let at = self.release(self.flight.next_at()?);
        if at > self.now {
            return None;
        }
        let place = self.flight.pop(&self.store)?;
        let held = *self.store.get(place)?;
        let packet = self.store.remove(place)?;
        self.counters.delivered.add(held.size);
        debug_assert!(self.counters().add_up(), "{:?}", self.counters());
        Some(Arrival {
            at,
            size: held.size,
            ecn: held.ecn,
            corrupted: held.corrupted,
            queued: held.queued,
            packet,
        })
    }

    /// The packet that probably arrives next; jitter or reordering may let another come before it. For callers that
    /// prefetch.
    #[inline]
    pub fn upcoming(&self) -> Option<&P> {
        self.flight.first(&self.store)
    }

    /// When [`receive`](Self::receive) should next be called: nothing arrives before. `None` if nothing is on the link.
    ///
    /// A packet does arrive then, unless one that was to arrive is lost, delayed by jitter, or affected by a change on
    /// its way; then the call moves the link on, and the next time is a later one.
    pub fn next_event(&self) -> Option<Time> {
        let arrival = self.flight.next_at();
        // A change before then may shorten the delay of whatever leaves after it; a higher rate, the wait until it leaves.
        let earliest = self.bottleneck.due().map(|due| {
            let due = self.pace.next_look().map_or(due, |look| due.min(look));
            let arrival = due + self.delay;
            self.next_change().map_or(arrival, |at| arrival.min(at))
        });
        let event = match (arrival, earliest) {
            (Some(arrival), Some(earliest)) => arrival.min(earliest),
            (arrival, earliest) => arrival.or(earliest)?,
        };
        Some(self.release(event))
    }

    /// True if the bottleneck is free for whatever comes next, as of the latest `now`. One that follows a trace never is: its
    /// next opportunity has a time of its own. Nor is one in an outage.
    #[inline]
    pub fn is_idle(&self) -> bool {
        matches!(self.bottleneck, Bottleneck::Idle) && self.pace.is_free_when_idle()
    }

    /// What waits in the buffer, as of the latest `now`.
    pub fn queued(&self) -> Queued {
        let waiting = self.queue.waiting();
        let start = match self.bottleneck {
            _ if let Some(line) = self.pace.stalled() => self.end_of_outage(line, waiting.bytes),
            Bottleneck::Idle => self.pace.start_after_idle(self.now),
            _ if waiting.packets == 0 => self.pace.start(),
            _ => self.pace.start_behind(waiting.bytes),
        };
        Queued {
            bytes: waiting.bytes,
            packets: waiting.packets,
            delay: start.since(self.now),
        }
    }

    /// When a packet would start behind so much that waits in an outage.
    fn end_of_outage(&self, line: &Line, waiting: Bytes) -> Time {
        let rates = self.changes.as_slice().iter();
        let mut rates = rates.filter_map(|change| Some((change.at, change.rate?)));
        let mut line = match rates.find(|(_, rate)| !rate.is_zero()) {
            Some((at, rate)) => line.changed(at, rate),
            None => line.resumed(self.now),
        };
        line.carry(waiting)
    }

    /// What happened so far, as of the latest `now`.
    pub fn counters(&self) -> Counters {
        let mut counters = self.counters;
        counters.drops = self.queue.dropped();
        counters.marks = self.queue.marked();
        counters.inside = self.store.count();
        if self.bottleneck.due().is_some() {
            counters.busy = counters.busy + self.now.since(self.busy_since);
        }
        counters
    }

    /// The present propagation delay: what a packet takes at least, beside its serialization.
    pub fn delay(&self) -> Duration {
        self.delay
    }

    /// The present MTU, as of the latest `now`; none if packets of any size enter.
    pub fn mtu(&self) -> Option<Mtu> {
        self.mtu
    }

    /// Does what is due by `now`, in the order of its times; a packet that is through at the time of a change is through
    /// before it.
    fn run(&mut self, now: Time) {
        while self.is_due(now) {
            let (change, look) = (self.next_change(), self.pace.next_look());
            let is_first = |at: Time, other: Option<Time>| other.is_none_or(|other| at <= other);
            match self.bottleneck.due() {
                Some(due) if is_first(due, change) && is_first(due, look) => self.work(due),
                _ if look.is_some_and(|look| is_first(look, change)) => self.look(),
                _ => self.change(),
            }
        }
    }

    /// True if bottleneck, changes or what the rate depends on have something to do by `now`.
    #[inline]
    fn is_due(&self, now: Time) -> bool {
        let by_now = |at: Option<Time>| at.is_some_and(|at| at <= now);
        by_now(self.bottleneck.due()) || by_now(self.next_change()) || by_now(self.pace.next_look())
    }

    /// The bottleneck's next step, due at `at`.
    fn work(&mut self, at: Time) {
        self.pace.backlog_changes(at);
        match self.bottleneck {
            Bottleneck::Idle => {}
            Bottleneck::Waiting(_) => match self.queue.dequeue(&mut self.store, at) {
                None => self.turn_to_queue(at),
                Some(packet) => {
                    self.bottleneck = Bottleneck::Busy {
                        queued: at.since(packet.entered),
                        until: self.pace.carry(packet.size),
                        packet,
                    }
                }
            },
            Bottleneck::Busy { packet, queued, .. } => {
                self.depart(at, queued, packet);
                self.turn_to_queue(at);
            }
        }
    }

    /// At `at`, the bottleneck is free for the next packet, if one waits.
    fn turn_to_queue(&mut self, at: Time) {
        self.bottleneck = if self.queue.waiting().packets > 0 {
            Bottleneck::Waiting(self.pace.start())
        } else {
            self.counters.busy = self.counters.busy + at.since(self.busy_since);
            Bottleneck::Idle
        };
    }

    /// A packet leaves the bottleneck at `at` and sets out, or is lost.
    ///
    /// Every impairment draws for every packet, lost or not, so that the fates that one deals do not depend on another.
    fn depart(&mut self, at: Time, queued: Duration, packet: Taken) {
        let Taken {
            place,
            entered,
            size,
        } = packet;
        debug_assert!(at >= entered + queued, "left before its turn");
        self.counters.transmitted.add(size);
        let lost = self.is_lost_at(LossAt::Exit);
        let damaged = self.corruption.strikes();
        let twice = self.duplicate.numerator() > 0 && self.duplicates.happens(self.duplicate);
        let jitter = self.jitter.draw();
        let held = self.reorder.draw();
        if lost {
            self.counters.random_losses.add(size);
            self.store.remove(place);
            return;
        }
        if damaged && let Some(held) = self.store.get_mut(place) {
            held.corrupted = true;
            self.counters.corrupted.add(size);
        }
        let at = at + self.delay + jitter + held.unwrap_or_default();
        let stray = held.is_some() || self.jitter.reorders();
        if twice && let Some(copy) = self.store.copy(place) {
            self.counters.duplicates.add(size);
            if damaged {
                self.counters.corrupted.add(size);
            }
            self.flight.push(&mut self.store, copy, queued, at, stray);
        }
        self.flight.push(&mut self.store, place, queued, at, stray);
    }

    /// True if the packet that has come to `place` is lost there.
    fn is_lost_at(&mut self, place: LossAt) -> bool {
        self.loss_at == place && self.loss.strikes()
    }

    /// When the next change is.
    fn next_change(&self) -> Option<Time> {
        self.changes.as_slice().first().map(|change| change.at)
    }

    /// Makes the next change.
    fn change(&mut self) {
        let Some(change) = self.changes.next() else {
            return;
        };
        if let Some(rate) = change.rate {
            self.pace.change_rate(change.at, rate);
            // The queue's estimates of idle time have no use for an outage.
            if !rate.is_zero() {
                self.queue.change_rate(rate);
            }
            self.repace();
        }
        self.delay = change.delay.unwrap_or(self.delay);
        self.mtu = change.mtu.or(self.mtu);
    }

    /// Adapts the rate to what waits or is under way.
    fn look(&mut self) {
        let under_way = match self.bottleneck {
            Bottleneck::Busy { packet, .. } => packet.size,
            Bottleneck::Idle | Bottleneck::Waiting(_) => Bytes::ZERO,
        };
        self.pace.look(self.queue.waiting().bytes + under_way);
        self.repace();
    }

    /// The rest of the packet under way goes at another rate. What waits for the end of an outage starts when that is known.
    fn repace(&mut self) {
        match &mut self.bottleneck {
            Bottleneck::Busy { until: at, .. } | Bottleneck::Waiting(at) => *at = self.pace.start(),
            Bottleneck::Idle => {}
        }
    }

    fn release(&self, at: Time) -> Time {
        match &self.aggregation {
            None => at,
            Some(aggregation) => aggregation.release(at),
        }
    }
}
