//! One direction of a path.

use units::{Bytes, ConfigError, Duration, Time};

use crate::change::Change;
use crate::config::LinkConfig;
use crate::counters::{Count, Counters};
use crate::extras::{Extras, Fate};
use crate::flight::Flight;
use crate::line::Line;
use crate::mtu::Mtu;
use crate::pace::Pace;
use crate::parcel::{Ecn, Parcel};
use crate::queue::{Queue, Taken};
use crate::random::Streams;
use crate::store::Store;

/// One direction of a path: packets of type `P` enter at one end and arrive at the other, or are lost.
///
/// ```text
///                                         ┌──── bottleneck ────┐             ┌─────────────── on the way ──────────────┐
///  send ─► MTU ─► (loss) ─► policer ─► queue ─► rate or trace ─► (loss) ─► damage ─► copies ─► delay, jitter, reordering ─► aggregation ─► receive
///           │        │         │         │                          │
///      too_big  random_losses policer_  drops                 random_losses
///                              drops
/// ```
///
/// Random loss happens at the entry or behind the bottleneck ([`LossAt`](crate::LossAt)). A copy is made behind the bottleneck, and
/// uses none of its rate. A damaged packet ([`Arrival::corrupted`]) arrives as any other, so it uses this link and
/// those behind it in full. Its receiver at the destination must discard it.
///
/// # Time
/// The link has no clock: each call has the time. The link then does everything that was due since the last call, in
/// order and at its exact times. So a late call only delays the caller's knowledge. Time never goes back: an earlier
/// `now` counts as the latest one. Events that are due at a time come before the caller's action at that time: the
/// packet that finishes at `now` makes room for the one that enters at `now`.
#[derive(Debug, Clone)]
pub struct Link<P> {
    now: Time,
    delay: Duration,
    bottleneck: Bottleneck,
    /// The time since which the bottleneck has been busy without a break.
    busy_since: Time,
    /// The time for which it was busy before that.
    busy: Duration,
    entered: Count,
    transmitted: Count,
    delivered: Count,
    /// State that few links have. It is on the heap, so that a link is small: in a large network, most packets enter a
    /// link that is not in the processor's cache.
    extras: Option<Box<Extras>>,
    flight: Flight,
    queue: Queue,
    store: Store<P>,
    pace: Pace,
}

/// The state of the bottleneck.
#[derive(Debug, Clone, Copy)]
enum Bottleneck {
    /// Nothing is in transmission, and nothing waits.
    Idle,
    /// The bottleneck waits for its next opportunity, at which it takes a packet out of the queue.
    Waiting(Time),
    /// A packet is in transmission, which was queued for a while.
    Busy {
        packet: Taken,
        queued: Duration,
        until: Time,
    },
}

impl Bottleneck {
    /// The time of its next action.
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
    /// The exact time of arrival, even if it is read later.
    pub at: Time,
    /// Its size on the link.
    pub size: Bytes,
    /// The ECN field, as sent or as marked by the queue.
    pub ecn: Ecn,
    /// True if it was damaged on this link: its receiver computes another checksum than it carries.
    pub corrupted: bool,
    /// The time in the queue, from entry to the start of its transmission.
    pub queued: Duration,
    /// The packet itself.
    pub packet: P,
}

/// The waiting packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Queued {
    /// The waiting bytes, without the packet in transmission.
    pub bytes: Bytes,
    /// The number of waiting packets.
    pub packets: u64,
    /// The wait of a packet that enters now, behind all that wait, until its own transmission, at the present rate; in
    /// an outage, at the rate that ends it, or else the one before it. Under a discipline other than drop-tail, it may
    /// be shorter, because of drops before the packet, or because its flow goes first.
    pub delay: Duration,
}

impl<P: Clone> Link<P> {
    /// Makes an empty link. The same configuration and seed treat every packet the same on any machine.
    ///
    /// # Errors
    /// The first invalid value.
    pub fn new(config: LinkConfig, seed: u64) -> Result<Link<P>, ConfigError> {
        Link::with_streams(config, Streams::new(seed))
    }

    pub(crate) fn with_streams(
        config: LinkConfig,
        mut streams: Streams,
    ) -> Result<Link<P>, ConfigError> {
        config.validate()?;
        let rate = config.capacity.mean_rate();
        // The order of the streams is part of the meaning of a seed.
        let (extras, stream) = Extras::new(&config, &mut streams);
        Ok(Link {
            now: Time::ZERO,
            delay: config.delay,
            bottleneck: Bottleneck::Idle,
            busy_since: Time::ZERO,
            busy: Duration::ZERO,
            entered: Count::default(),
            transmitted: Count::default(),
            delivered: Count::default(),
            extras,
            flight: Flight::new(),
            queue: Queue::new(config.effects.queue, config.buffer, rate, stream),
            store: Store::new(),
            pace: Pace::new(config.capacity, config.effects.demand),
        })
    }

    /// Lets a packet enter at `now`.
    // Inlined, so that the packet is written once, directly to its slot.
    #[inline(always)]
    pub fn send(&mut self, now: Time, parcel: impl Into<Parcel>, packet: P) {
        let parcel = parcel.into();
        self.advance(now);
        self.entered.add(parcel.size);
        if let Some(extras) = &mut self.extras
            && !extras.admit(self.now, parcel.size)
        {
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

    /// Advances the link to `now`, so that [`queued`](Self::queued) and [`counters`](Self::counters) refer to that
    /// time. [`send`](Self::send) and [`receive`](Self::receive) include this.
    pub fn advance(&mut self, now: Time) {
        self.now = self.now.max(now);
        if self.is_due(self.now) {
            self.run(self.now);
        }
    }

    /// Returns the next packet that has arrived by `now`, in the order of arrival. Call it until there is none.
    pub fn receive(&mut self, now: Time) -> Option<Arrival<P>> {
        self.advance(now);
        let at = self.release(self.flight.next_at()?);
        if at > self.now {
            return None;
        }
        let place = self.flight.pop(&self.store)?;
        let held = *self.store.get(place)?;
        let packet = self.store.remove(place)?;
        self.delivered.add(held.size);
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

    /// The packet that probably arrives next. Jitter or reordering may let another come before it. For callers that
    /// prefetch.
    #[inline]
    pub fn upcoming(&self) -> Option<&P> {
        self.flight.first(&self.store)
    }

    /// The time at which [`receive`](Self::receive) should next be called: nothing arrives before. `None` if the link
    /// is empty.
    ///
    /// A packet does arrive then, unless it is lost, delayed by jitter, or affected by a change. In that case the call
    /// advances the link, and the next time is a later one.
    pub fn next_event(&self) -> Option<Time> {
        let arrival = self.flight.next_at();
        // An earlier change may shorten the delay of later departures; a higher rate shortens the wait until departure.
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

    /// True if the bottleneck is free for the next packet, as of the latest `now`. A bottleneck that follows a trace
    /// never is: its next opportunity has its own time. Nor is one in an outage.
    #[inline]
    pub fn is_idle(&self) -> bool {
        matches!(self.bottleneck, Bottleneck::Idle) && self.pace.is_free_when_idle()
    }

    /// The waiting packets, as of the latest `now`.
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

    /// The start of a packet behind this many bytes that wait in an outage.
    fn end_of_outage(&self, line: &Line, waiting: Bytes) -> Time {
        let rates = self.changes().iter();
        let mut rates = rates.filter_map(|change| Some((change.at, change.rate?)));
        let mut line = match rates.find(|(_, rate)| !rate.is_zero()) {
            Some((at, rate)) => line.changed(at, rate),
            None => line.resumed(self.now),
        };
        line.carry(waiting)
    }

    /// The counters, as of the latest `now`.
    pub fn counters(&self) -> Counters {
        let extras = self.extras.as_ref();
        let mut counters = Counters {
            entered: self.entered,
            drops: self.queue.dropped(),
            marks: self.queue.marked(),
            transmitted: self.transmitted,
            delivered: self.delivered,
            inside: self.store.count(),
            busy: self.busy,
            ..extras.map_or_else(Counters::default, |extras| extras.counters)
        };
        if self.bottleneck.due().is_some() {
            counters.busy = counters.busy + self.now.since(self.busy_since);
        }
        counters
    }

    /// The present propagation delay: the minimum delay of a packet without its serialization.
    pub fn delay(&self) -> Duration {
        self.delay
    }

    /// The present MTU, as of the latest `now`; `None` if packets of any size enter.
    pub fn mtu(&self) -> Option<Mtu> {
        self.extras.as_ref()?.mtu
    }

    /// Does what is due by `now`, in the order of the times. A packet that is through at the time of a change is
    /// through before it.
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

    /// True if the bottleneck, the changes or the rate's dependencies have something to do by `now`.
    #[inline]
    fn is_due(&self, now: Time) -> bool {
        let by_now = |at: Option<Time>| at.is_some_and(|at| at <= now);
        by_now(self.bottleneck.due()) || by_now(self.next_change()) || by_now(self.pace.next_look())
    }

    /// Does the bottleneck's next step, which is due at `at`.
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

    /// Starts the next packet at `at`, if one waits.
    fn turn_to_queue(&mut self, at: Time) {
        self.bottleneck = if self.queue.waiting().packets > 0 {
            Bottleneck::Waiting(self.pace.start())
        } else {
            self.busy = self.busy + at.since(self.busy_since);
            Bottleneck::Idle
        };
    }

    /// Lets a packet leave the bottleneck at `at`. It is in flight then, or lost.
    fn depart(&mut self, at: Time, queued: Duration, packet: Taken) {
        let Taken {
            place,
            entered,
            size,
        } = packet;
        debug_assert!(at >= entered + queued, "left before its turn");
        self.transmitted.add(size);
        let extras = self.extras.as_mut();
        let fate = extras.map_or_else(Fate::default, |extras| extras.fate(size));
        if fate.is_lost {
            self.store.remove(place);
            return;
        }
        if fate.is_damaged
            && let Some(held) = self.store.get_mut(place)
        {
            held.corrupted = true;
        }
        let (at, stray) = (at + self.delay + fate.late, fate.is_stray);
        if fate.is_doubled
            && let Some(copy) = self.store.copy(place)
        {
            self.flight.push(&mut self.store, copy, queued, at, stray);
        }
        self.flight.push(&mut self.store, place, queued, at, stray);
    }

    /// The changes to come.
    #[inline]
    fn changes(&self) -> &[Change] {
        let extras = self.extras.as_ref();
        extras.map_or(&[], |extras| extras.changes.as_slice())
    }

    /// The time of the next change.
    #[inline]
    fn next_change(&self) -> Option<Time> {
        self.changes().first().map(|change| change.at)
    }

    /// Applies the next change.
    fn change(&mut self) {
        let Some(extras) = &mut self.extras else {
            return;
        };
        let Some(change) = extras.changes.next() else {
            return;
        };
        extras.mtu = change.mtu.or(extras.mtu);
        if let Some(rate) = change.rate {
            self.pace.change_rate(change.at, rate);
            // The queue's estimates of idle time do not apply to an outage.
            if !rate.is_zero() {
                self.queue.change_rate(rate);
            }
            self.repace();
        }
        self.delay = change.delay.unwrap_or(self.delay);
    }

    /// Adapts the rate to the backlog.
    fn look(&mut self) {
        let under_way = match self.bottleneck {
            Bottleneck::Busy { packet, .. } => packet.size,
            Bottleneck::Idle | Bottleneck::Waiting(_) => Bytes::ZERO,
        };
        self.pace.look(self.queue.waiting().bytes + under_way);
        self.repace();
    }

    /// Gives the packet in transmission another rate for its rest. A packet that waits for the end of an outage starts
    /// when that time is known.
    fn repace(&mut self) {
        match &mut self.bottleneck {
            Bottleneck::Busy { until: at, .. } | Bottleneck::Waiting(at) => *at = self.pace.start(),
            Bottleneck::Idle => {}
        }
    }

    #[inline]
    fn release(&self, at: Time) -> Time {
        let extras = self.extras.as_ref();
        let aggregation = extras.and_then(|extras| extras.aggregation.as_ref());
        aggregation.map_or(at, |aggregation| aggregation.release(at))
    }
}
