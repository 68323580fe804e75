//! A toy transport over `Flow`, and its check: `cargo run -p fullpipe-congestion-testkit --example toy`
//!
//! Packets are numbered and carry one chunk each. The receiver acknowledges each packet by its number. A lost chunk is sent
//! again in a new packet.

use std::collections::{BTreeMap, HashSet, VecDeque};

use congestion::{Bytes, Connection, Duration, Flow, PacketState, Time};
use testkit::{End, Knows, Probe, Transport, Witness};

const HEADERS: Bytes = Bytes::new(40);
const THRESHOLD: u64 = 3;
/// A packet is declared lost this long after the arrival of a later packet, even if fewer than three later ones have arrived.
const REORDERING: Duration = Duration::from_millis(20);
/// After this time without an ACK, all packets in flight are declared lost.
const TIMEOUT: Duration = Duration::from_secs(1);

#[derive(Clone)]
pub(crate) enum Packet {
    Data { number: u64, chunk: u64 },
    Ack { number: u64 },
}

pub(crate) struct Toy {
    mss: Bytes,
    flow: Flow<Witness>,
    in_flight: BTreeMap<u64, (PacketState, u64)>,
    /// Packets that were declared lost. They may still arrive.
    lost: BTreeMap<u64, PacketState>,
    again: VecDeque<u64>,
    next_number: u64,
    next_chunk: u64,
    chunks: u64,
    /// When the loss timer fires, the packets that left before this one are lost.
    newest_acked: u64,
    loss_timer: Option<Time>,
    last_heard: Time,
    now: Time,
    acks: VecDeque<u64>,
    arrived: HashSet<u64>,
}

impl Toy {
    /// A transport with chunks of `mss` bytes.
    pub(crate) fn new(probe: &Probe, mss: Bytes) -> Toy {
        let controller = probe.controller(Connection::new(Time::ZERO, mss, mss * 10));
        Toy {
            mss,
            flow: Flow::new(controller, Time::ZERO, mss, Duration::ZERO),
            in_flight: BTreeMap::new(),
            lost: BTreeMap::new(),
            again: VecDeque::new(),
            next_number: 0,
            next_chunk: 0,
            chunks: 0,
            newest_acked: 0,
            loss_timer: None,
            last_heard: Time::ZERO,
            now: Time::ZERO,
            acks: VecDeque::new(),
            arrived: HashSet::new(),
        }
    }

    fn has_data(&self) -> bool {
        !self.again.is_empty() || self.next_chunk < self.chunks
    }

    fn next_data(&mut self, now: Time) -> Option<Packet> {
        if !self.has_data() {
            self.flow.on_no_data(now);
            return None;
        }
        if !self.flow.may_send(now, self.mss) {
            return None;
        }
        let chunk = self.again.pop_front().unwrap_or_else(|| {
            self.next_chunk += 1;
            self.next_chunk
        });
        if self.in_flight.is_empty() {
            self.last_heard = now;
        }
        let number = self.next_number;
        self.next_number += 1;
        let state = self.flow.on_sent(now, self.mss);
        self.in_flight.insert(number, (state, chunk));
        Some(Packet::Data { number, chunk })
    }

    fn on_ack(&mut self, now: Time, number: u64) {
        self.last_heard = now;
        if let Some((state, _)) = self.in_flight.remove(&number) {
            self.flow.on_acked(now, &state);
        } else if let Some(state) = self.lost.remove(&number) {
            self.flow.on_acked_late(now, &state);
        }
        self.newest_acked = self.newest_acked.max(number);
        self.declare_lost(now, (number + 1).saturating_sub(THRESHOLD));
        self.flow.settle(now);
        self.set_loss_timer(now);
        // Forget packets that were declared lost a thousand packets ago. They will not arrive any more.
        self.lost = self.lost.split_off(&number.saturating_sub(1_000));
    }

    fn declare_lost(&mut self, now: Time, end: u64) {
        let alive = self.in_flight.split_off(&end);
        for (number, (state, chunk)) in std::mem::replace(&mut self.in_flight, alive) {
            self.flow.on_lost(now, &state);
            self.lost.insert(number, state);
            self.again.push_back(chunk);
        }
    }

    /// Sets the timer for packets that left before the newest acknowledged packet and are not acknowledged.
    fn set_loss_timer(&mut self, now: Time) {
        let waits = self.in_flight.range(..self.newest_acked).next().is_some();
        let running = self.loss_timer.filter(|_| waits);
        self.loss_timer = running.or(waits.then_some(now + REORDERING));
    }
}

impl Transport for Toy {
    type Packet = Packet;

    fn write(&mut self, now: Time, bytes: u64) {
        self.now = now;
        self.chunks = self.chunks.saturating_add(bytes.div_ceil(self.mss.get()));
    }

    fn poll_transmit(&mut self, now: Time, end: End) -> Option<(Bytes, Packet)> {
        self.now = now;
        match end {
            End::Sender => Some((self.mss + HEADERS, self.next_data(now)?)),
            End::Receiver => {
                let number = self.acks.pop_front()?;
                Some((HEADERS, Packet::Ack { number }))
            }
        }
    }

    fn receive(&mut self, now: Time, _: End, packet: Packet) {
        match packet {
            Packet::Data { number, chunk } => {
                self.arrived.insert(chunk);
                self.acks.push_back(number);
            }
            Packet::Ack { number } => self.on_ack(now, number),
        }
    }

    fn next_timer(&self) -> Option<Time> {
        let silence = (!self.in_flight.is_empty()).then_some(self.last_heard + TIMEOUT);
        let fits = self.flow.fits(self.mss);
        let pacer = (self.has_data() && fits).then(|| self.flow.next_departure(self.now));
        let timers = [silence, self.loss_timer, pacer];
        timers.into_iter().flatten().min()
    }

    fn on_timer(&mut self, now: Time) {
        if self.loss_timer.is_some_and(|at| at <= now) {
            self.declare_lost(now, self.newest_acked);
            self.flow.settle(now);
            self.set_loss_timer(now);
        }
        if !self.in_flight.is_empty() && now >= self.last_heard + TIMEOUT {
            self.last_heard = now;
            self.declare_lost(now, self.next_number);
            self.flow.on_timeout(now);
        }
    }

    fn received(&self) -> u64 {
        self.arrived.len() as u64 * self.mss.get()
    }
}

pub(crate) fn main() {
    let report = testkit::check(&Knows::everything(), |probe| {
        Toy::new(&probe, Bytes::new(1_200))
    });
    print!("{report}");
    assert!(report.findings.is_empty());
}
