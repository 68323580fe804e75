//! FQ-CoDel, RFC 8290: each flow has its own queue under CoDel. The queues take turns, and a new one goes first.

use std::iter;

use serde::{Deserialize, Serialize};
use units::{Bytes, ConfigError, Duration, Time};

use super::codel::{CoDel, Control, Line};
use super::room::Room;
use crate::bounds::MTU;
use crate::parcel::Parcel;
use crate::random::Stream;
use crate::store::{SlotId, Store};

/// FQ-CoDel's parameters (RFC 8290, section "Parameters").
///
/// Its packet limit is the link's [`Buffer`](crate::Buffer). If a packet finds the buffer full, the queue with the most
/// bytes loses half of them from its head, at most 64 packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FqCoDel {
    /// The number of queues. Flows are assigned by a hash that depends on the link's seed, so two may share a queue.
    pub flows: u32,
    /// The number of bytes that a queue may send in its turn.
    pub quantum: Bytes,
    /// [`CoDel::target`] of each queue.
    pub target: Duration,
    /// [`CoDel::interval`] of each queue.
    pub interval: Duration,
    /// [`CoDel::ecn`] of each queue.
    pub ecn: bool,
}

/// Linux's maximum.
const MAX_FLOWS: u32 = 65_536;

/// Linux's minimum.
const MIN_QUANTUM: Bytes = Bytes::new(256);

impl Default for FqCoDel {
    /// 1024 queues; a quantum of one full packet (RFC 8290 adds Ethernet's 14 bytes, which sizes here exclude); CoDel's
    /// defaults, with ECN (section "Explicit Congestion Notification (ECN)").
    fn default() -> FqCoDel {
        let CoDel {
            target, interval, ..
        } = CoDel::default();
        FqCoDel {
            flows: 1024,
            quantum: MTU,
            target,
            interval,
            ecn: true,
        }
    }
}

impl FqCoDel {
    /// CoDel's parameters for each queue. CoDel's drops never empty a queue, however full the others are.
    pub fn codel(&self) -> CoDel {
        CoDel {
            target: self.target,
            interval: self.interval,
            ecn: self.ecn,
        }
    }

    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        if self.flows == 0 || self.flows > MAX_FLOWS {
            return Err(ConfigError::new(
                "queue.flows",
                format!(
                    "of {} is not a possible number of queues; give 1 to {MAX_FLOWS}",
                    self.flows
                ),
            ));
        }
        if self.quantum < MIN_QUANTUM {
            return Err(ConfigError::new(
                "queue.quantum",
                format!(
                    "of {} is too small for packets; give at least {MIN_QUANTUM}",
                    self.quantum
                ),
            ));
        }
        self.codel().validate()
    }
}

/// The maximum number of packets dropped at once from the longest queue (RFC 8290, section "Enqueue").
const MAX_DROP_BATCH: u32 = 64;

/// The size of the largest possible packet (IPv4's total length), and so the maximum cost of a packet to a queue's
/// credit.
const MAX_PACKET_BYTES: u64 = 65_535;

/// The index of a queue in the table.
type Index = usize;

/// No queue.
const NONE: Index = Index::MAX;

/// The queue of one flow, or of several with the same hash.
#[derive(Debug, Clone)]
struct FlowQueue {
    line: Line,
    control: Control,
    /// The bytes that it may still send in this turn; below zero if its last packet exceeded the rest.
    credits: i64,
    /// True if it is in one of the lists; then also the next queue there.
    listed: bool,
    next: Index,
}

/// Queues that take turns, by their indices in the table.
#[derive(Debug, Clone)]
struct Turns {
    first: Index,
    last: Index,
}

impl Turns {
    const EMPTY: Turns = Turns {
        first: NONE,
        last: NONE,
    };

    fn push(&mut self, flows: &mut [FlowQueue], index: Index) {
        if let Some(flow) = flows.get_mut(index) {
            flow.next = NONE;
            flow.listed = true;
        }
        match flows.get_mut(self.last) {
            Some(last) => last.next = index,
            None => self.first = index,
        }
        self.last = index;
    }

    fn pop(&mut self, flows: &mut [FlowQueue]) {
        if let Some(flow) = flows.get_mut(self.first) {
            flow.listed = false;
            self.first = flow.next;
        }
        if self.first == NONE {
            self.last = NONE;
        }
    }
}

/// The queues of all flows.
#[derive(Debug, Clone)]
pub(super) struct FlowQueues {
    codel: CoDel,
    quantum: i64,
    /// A seeded value that changes the hash (RFC 8290, section "Probability of Hash Collisions").
    perturbation: u64,
    flows: Vec<FlowQueue>,
    /// Queues that have just become active, and queues that have had a turn.
    new: Turns,
    old: Turns,
}

impl FlowQueues {
    pub(super) fn new(config: FqCoDel, mut stream: Stream) -> FlowQueues {
        let idle = FlowQueue {
            line: Line::EMPTY,
            control: Control::default(),
            credits: 0,
            listed: false,
            next: NONE,
        };
        FlowQueues {
            codel: config.codel(),
            quantum: i64::try_from(config.quantum.get()).unwrap_or(i64::MAX),
            perturbation: stream.below(u64::MAX),
            flows: iter::repeat_n(idle, config.flows as usize).collect(),
            new: Turns::EMPTY,
            old: Turns::EMPTY,
        }
    }

    /// RFC 8290, section "Enqueue".
    pub(super) fn enqueue<P>(
        &mut self,
        room: &mut Room,
        store: &mut Store<P>,
        parcel: Parcel,
        place: SlotId,
    ) {
        if parcel.size > room.max.bytes {
            // Other queues need not make room for a packet that can never fit.
            return room.refuse(store, place, parcel.size);
        }
        while !room.has_room(parcel.size) {
            self.drop_from_the_fattest(room, store);
        }
        let index = self.index(parcel.flow);
        let flow = &mut self.flows[index];
        room.waiting.add(parcel.size);
        flow.line.push(store, place, parcel.size);
        if !flow.listed {
            flow.credits = self.quantum;
            self.new.push(&mut self.flows, index);
        }
    }

    /// RFC 8290, section "Dequeue".
    pub(super) fn dequeue<P>(
        &mut self,
        room: &mut Room,
        store: &mut Store<P>,
        now: Time,
    ) -> Option<SlotId> {
        // Each turn of the loop moves a queue from new to old, gives one credit, or removes an empty one.
        loop {
            let is_new = self.new.first != NONE;
            let turns = if is_new { &mut self.new } else { &mut self.old };
            let index = turns.first;
            let flow = self.flows.get_mut(index)?;
            if flow.credits <= 0 {
                flow.credits = flow.credits.saturating_add(self.quantum);
                turns.pop(&mut self.flows);
                self.old.push(&mut self.flows, index);
                continue;
            }
            let head = flow
                .control
                .dequeue(&self.codel, &mut flow.line, room, store, now);
            if let Some(held) = head.and_then(|place| store.get(place)) {
                flow.credits -= held.size.get().min(MAX_PACKET_BYTES) as i64;
                return head;
            }
            turns.pop(&mut self.flows);
            // A queue that could be new again at once would always go first, so it waits for a turn of the old ones.
            if is_new && self.old.first != NONE {
                self.old.push(&mut self.flows, index);
            }
        }
    }

    /// Drops half of the longest queue from its head, at most a batch. The search for it is too expensive for a single
    /// packet (RFC 8290, section "Enqueue"; Linux, `fq_codel_drop`).
    fn drop_from_the_fattest<P>(&mut self, room: &mut Room, store: &mut Store<P>) {
        // A queue with an empty packet is longer than one without packets.
        let fatness = |flow: &&mut FlowQueue| (flow.line.bytes, !flow.line.is_empty());
        let fattest = self.flows.iter_mut().max_by_key(fatness);
        let flow = fattest.expect("there is a queue");
        let half = flow.line.bytes.get() / 2;
        let mut drops = 0;
        let mut bytes = 0;
        while drops < MAX_DROP_BATCH && (drops == 0 || bytes < half) {
            let Some(place) = flow.line.pop(store) else {
                break;
            };
            bytes += store.get(place).map_or(0, |held| held.size.get());
            room.drop_waiting(store, place);
            drops += 1;
        }
        flow.control.count_drops(drops);
    }

    /// The queue of a flow.
    fn index(&self, flow: u64) -> Index {
        let hash = mix(flow ^ self.perturbation);
        ((u128::from(hash) * self.flows.len() as u128) >> 64) as Index
    }
}

/// Spreads a difference of one bit over all bits: the last step of SplitMix64 (Steele, Lea and Flood, "Fast Splittable
/// Pseudorandom Number Generators", 2014).
fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}
