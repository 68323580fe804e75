//! An ideal sender over an emulated path, in virtual time: what any controller's conformance tests run on.
//!
//! The sender honours cwnd, pacing rate and send quantum, and finds losses as QUIC does (RFC 9002: packet threshold,
//! time threshold, probe timeout, recovery of one round trip). The receiver acknowledges every packet at once; ACKs that
//! arrive together are processed as one.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use congestion::sampling::{Outstanding, Sampler};
use congestion::{
    Ack, Bytes, Cause, Connection, Controller, Duration, Lost, PacketState, Rate, Ratio, Recovery,
    RttSample, Sent, Snapshot, Time,
};
use path::{Buffer, Capacity, Effects, LinkConfig, Loss, Path, PathConfig};

pub const MSS: Bytes = Bytes::new(1_500);
const ACK_SIZE: Bytes = Bytes::new(40);

/// RFC 9002, "Packet Threshold".
const PACKET_THRESHOLD: u64 = 3;

pub fn at_ms(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

pub fn kbit(rate: u64) -> Rate {
    Rate::from_bits_per_sec(rate * 1_000)
}

pub fn mbit(rate: u64) -> Rate {
    Rate::from_bits_per_sec(rate * 1_000_000)
}

/// A path of one bottleneck, its buffer as a multiple of the BDP.
pub fn path(rate: Rate, rtprop: Duration, buffer_bdp: Ratio, loss: Ratio) -> PathConfig {
    let buffer = buffer_bdp.of_bytes(rate.bytes_in(rtprop)).max(MSS);
    PathConfig {
        forward: LinkConfig {
            capacity: Capacity::Rate(rate),
            delay: rtprop / 2,
            buffer: Buffer::Bytes(buffer),
            effects: Effects {
                loss: Loss::Independent(loss),
                ..Effects::default()
            },
            ..LinkConfig::default()
        },
        reverse: LinkConfig {
            delay: rtprop / 2,
            ..LinkConfig::default()
        },
    }
}

/// A connection that starts at time zero.
pub fn connection(seed: u64) -> Connection {
    let mut connection = Connection::new(Time::ZERO, MSS, MSS * 10);
    connection.seed = seed;
    connection
}

/// An observation at an ACK.
#[derive(Debug, Clone, Copy)]
pub struct Point {
    pub now: Time,
    pub rtt: Duration,
    pub delivered: Bytes,
    pub lost: Bytes,
    pub sent: Bytes,
    pub inflight: Bytes,
    pub delivery_rate: Option<Rate>,
    /// The bytes delivered when the newest packet of the ACK left.
    pub prior_delivered: Bytes,
    /// Whether the sample is of a packet that the application held back.
    pub is_app_limited: bool,
    /// Whether the window was fully used since the previous ACK.
    pub is_window_full: bool,
    /// The bytes waiting in the bottleneck's buffer.
    pub queued: Bytes,
    pub snapshot: Snapshot,
}

#[derive(Debug, Clone, Copy)]
struct InFlight {
    state: PacketState,
}

/// From `from` to `to`, each `every`th packet is lost, or delayed by this time.
#[derive(Debug, Clone, Copy)]
pub struct Mishap {
    pub from: Time,
    pub to: Time,
    pub every: u64,
    pub late_by: Option<Duration>,
}

/// A flow and its path.
pub struct Flow<C> {
    pub controller: C,
    pub path: Path<u64>,
    /// One observation per ACK, in order.
    pub points: Vec<Point>,
    now: Time,
    sampler: Sampler,
    outstanding: BTreeMap<u64, InFlight>,
    inflight: Bytes,
    sent: Bytes,
    next_number: u64,
    largest_acked: Option<u64>,
    smoothed_rtt: Option<Duration>,
    min_rtt: Duration,
    last_rtt: Duration,
    /// The first packet number sent after the latest recovery began.
    recovery_start: u64,
    is_recovering: bool,
    last_send: Time,
    is_window_full: bool,
    probes_in_a_row: u32,
    /// The time at which the pacer lets the next burst leave.
    next_burst: Time,
    /// The data waiting to be sent, and future writes.
    backlog: Bytes,
    writes: VecDeque<(Time, Bytes)>,
    /// The effects on departing packets, in addition to the path's.
    pub mishaps: Vec<Mishap>,
    /// Packets that will be lost, by their numbers.
    pub doomed: BTreeSet<u64>,
    /// Packets that will enter the path late, by their numbers.
    pub delayed: BTreeMap<u64, Duration>,
    /// Packets that enter the path late.
    held: VecDeque<(Time, u64)>,
    /// The size of its packets.
    mss: Bytes,
    /// Whether the network marks each packet (ECN).
    pub is_marked: bool,
    /// The losses of the present recovery, if the flow should detect that all of them arrive after all.
    pub suspects: Option<BTreeMap<u64, PacketState>>,
}

impl<C: Controller> Flow<C> {
    /// A flow with all the data in the world.
    pub fn bulk(controller: C, path: PathConfig) -> Flow<C> {
        Flow::with_writes(controller, path, [(Time::ZERO, Bytes::MAX)])
    }

    /// A flow of an application that writes so many bytes at such times.
    pub fn with_writes(
        controller: C,
        path: PathConfig,
        writes: impl IntoIterator<Item = (Time, Bytes)>,
    ) -> Flow<C> {
        Flow {
            controller,
            path: Path::new(path, 1).expect("a path that makes sense"),
            points: Vec::new(),
            now: Time::ZERO,
            sampler: Sampler::new(Time::ZERO),
            outstanding: BTreeMap::new(),
            inflight: Bytes::ZERO,
            sent: Bytes::ZERO,
            next_number: 0,
            largest_acked: None,
            smoothed_rtt: None,
            min_rtt: Duration::MAX,
            last_rtt: Duration::ZERO,
            recovery_start: 0,
            is_recovering: false,
            last_send: Time::ZERO,
            is_window_full: false,
            probes_in_a_row: 0,
            next_burst: Time::ZERO,
            backlog: Bytes::ZERO,
            writes: writes.into_iter().collect(),
            mishaps: Vec::new(),
            doomed: BTreeSet::new(),
            delayed: BTreeMap::new(),
            held: VecDeque::new(),
            mss: MSS,
            is_marked: false,
            suspects: None,
        }
    }

    /// The same with packets of another size.
    pub fn with_mss(self, mss: Bytes) -> Flow<C> {
        Flow { mss, ..self }
    }

    /// Lets everything happen that happens until `end`.
    pub fn run_until(&mut self, end: Time) {
        loop {
            self.send();
            let Some(next) = self.next_event().filter(|next| *next <= end) else {
                self.now = end;
                return;
            };
            self.now = self.now.max(next);
            while self.writes.front().is_some_and(|(at, _)| *at <= self.now) {
                let (_, bytes) = self.writes.pop_front().expect("just seen");
                self.backlog += bytes;
            }
            while self.held.front().is_some_and(|(at, _)| *at <= self.now) {
                let (_, number) = self.held.pop_front().expect("just seen");
                self.path.forward.send(self.now, self.mss, number);
            }
            while let Some(arrival) = self.path.forward.receive(self.now) {
                self.path.reverse.send(arrival.at, ACK_SIZE, arrival.packet);
            }
            self.receive_acks();
            self.fire_timers();
        }
    }

    fn next_event(&self) -> Option<Time> {
        let burst = (!self.backlog.is_zero() && self.has_window()).then_some(self.next_burst);
        let write = self.writes.front().map(|(at, _)| *at);
        let held = self.held.front().map(|(at, _)| *at);
        [
            self.path.forward.next_event(),
            self.path.reverse.next_event(),
            self.loss_time(),
            self.probe_time(),
            burst,
            write,
            held,
        ]
        .into_iter()
        .flatten()
        .min()
    }

    fn has_window(&self) -> bool {
        self.inflight + self.mss <= self.controller.cwnd()
    }

    /// Sends a burst, if the pacer and the window let one go.
    fn send(&mut self) {
        if !self.has_window() {
            self.is_window_full = !self.backlog.is_zero();
            return;
        }
        if self.backlog.is_zero() {
            self.sampler.mark_app_limited(self.inflight);
            return;
        }
        if self.now < self.next_burst {
            return;
        }
        if self.inflight.is_zero() && self.sampler.is_app_limited() {
            self.controller.on_idle_restart(self.now);
        }
        let mut burst = Bytes::ZERO;
        let quantum = self.controller.send_quantum();
        while burst + self.mss <= quantum.max(self.mss)
            && self.has_window()
            && !self.backlog.is_zero()
        {
            self.send_packet();
            burst += self.mss;
        }
        self.next_burst = self.now + self.controller.pacing_rate().time_for(burst);
    }

    fn send_packet(&mut self) {
        if self.backlog != Bytes::MAX {
            self.backlog -= self.mss;
        }
        let state = self.sampler.on_packet_sent(
            self.now,
            self.mss,
            Outstanding::without_lost(self.inflight),
        );
        self.inflight += self.mss;
        self.sent += self.mss;
        self.outstanding
            .insert(self.next_number, InFlight { state });
        let mishap = self.mishaps.iter().find(|mishap| {
            (mishap.from..mishap.to).contains(&self.now)
                && self.next_number.is_multiple_of(mishap.every)
        });
        match mishap {
            _ if self.doomed.remove(&self.next_number) => {}
            _ if self.delayed.contains_key(&self.next_number) => {
                let late = self.delayed.remove(&self.next_number);
                self.held
                    .extend(late.map(|late| (self.now + late, self.next_number)));
            }
            None => self.path.forward.send(self.now, self.mss, self.next_number),
            Some(mishap) => self.held.extend(
                mishap
                    .late_by
                    .map(|late| (self.now + late, self.next_number)),
            ),
        }
        self.next_number += 1;
        self.last_send = self.now;
        self.controller
            .on_packet_sent(&Sent::new(self.now, self.mss, self.inflight));
    }

    /// Processes what has arrived by now as one ACK.
    fn receive_acks(&mut self) {
        let prior_inflight = self.inflight;
        let mut newly_acked = Bytes::ZERO;
        let mut newest: Option<u64> = None;
        while let Some(arrival) = self.path.reverse.receive(self.now) {
            let number = arrival.packet;
            let Some(packet) = self.outstanding.remove(&number) else {
                self.clear_suspect(number);
                continue;
            };
            self.sampler.on_packet_acked(self.now, &packet.state);
            if self.is_marked {
                self.sampler.on_ce_marked(packet.state.bytes);
            }
            newly_acked += packet.state.bytes;
            self.inflight -= packet.state.bytes;
            if newest.is_none_or(|newest| number > newest) {
                newest = Some(number);
                self.last_rtt = self.now.since(packet.state.sent_time);
            }
        }
        let Some(newest) = newest else { return };
        self.probes_in_a_row = 0;
        self.min_rtt = self.min_rtt.min(self.last_rtt);
        self.smoothed_rtt = Some(match self.smoothed_rtt {
            Some(srtt) => (srtt * 7 + self.last_rtt) / 8,
            None => self.last_rtt,
        });
        self.largest_acked = self.largest_acked.max(Some(newest));
        self.detect_losses();
        if self.is_recovering && newest >= self.recovery_start {
            self.is_recovering = false;
            self.controller
                .on_recovery(self.now, Recovery::Left, self.inflight);
        }
        let rate = self.sampler.sample(self.now, self.min_rtt);
        let mut ack = Ack::new(self.now, newly_acked, prior_inflight, self.inflight, rate);
        ack.rtt = Some(RttSample {
            rtt: self.last_rtt,
            is_ack_delayed: false,
        });
        if self.is_marked {
            ack.ce_marked = newly_acked;
        }
        // With data, it is but the window and its pacer that it waits for.
        ack.is_cwnd_limited = !self.sampler.is_app_limited();
        ack.is_window_full = std::mem::take(&mut self.is_window_full);
        self.controller.on_ack(&ack);
        assert_eq!(
            self.inflight,
            self.mss * self.outstanding.len() as u64,
            "inflight = sent − delivered − lost"
        );
        self.points.push(Point {
            now: self.now,
            rtt: self.last_rtt,
            delivered: self.sampler.delivered(),
            lost: self.sampler.lost(),
            sent: self.sent,
            inflight: self.inflight,
            delivery_rate: rate.delivery_rate,
            prior_delivered: rate.prior_delivered,
            is_app_limited: rate.is_app_limited,
            is_window_full: ack.is_window_full,
            queued: self.path.forward.queued().bytes,
            snapshot: self.controller.snapshot(),
        });
    }

    /// A packet that was declared lost has arrived. If it is the last of them, nothing was lost.
    fn clear_suspect(&mut self, number: u64) {
        let Some(suspects) = &mut self.suspects else {
            return;
        };
        if suspects.remove(&number).is_some() && suspects.is_empty() {
            self.is_recovering = false;
            self.controller
                .on_recovery(self.now, Recovery::Undone, self.inflight);
        }
    }

    /// A retransmission timeout: everything that is out counts as lost.
    pub fn time_out(&mut self) {
        if let Some(suspects) = &mut self.suspects {
            suspects.clear();
        }
        let numbers: Vec<u64> = self.outstanding.keys().copied().collect();
        for number in numbers {
            self.declare_lost(number);
        }
        self.recovery_start = self.next_number;
        self.is_recovering = true;
        self.controller.on_timeout(self.now, self.inflight);
    }

    /// Nothing more is waiting; what the application writes from now on.
    pub fn set_writes(&mut self, writes: impl IntoIterator<Item = (Time, Bytes)>) {
        self.backlog = Bytes::ZERO;
        self.writes = writes.into_iter().collect();
    }

    /// The controller's state.
    pub fn snapshot(&self) -> Snapshot {
        self.controller.snapshot()
    }

    /// Its name.
    pub fn controller_state(&self) -> &'static str {
        self.snapshot().state.name
    }

    /// The number of the packet that leaves next.
    pub fn next_number(&self) -> u64 {
        self.next_number
    }

    /// The present.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Runs until the controller is in `state`, and gives its snapshot of then. At the latest it is `end`.
    #[track_caller]
    pub fn run_until_in(&mut self, state: &str, end: Time) -> Snapshot {
        let step = (self.min_rtt / 20).clamp(Duration::from_micros(5), Duration::from_millis(5));
        while self.controller.snapshot().state.name != state {
            assert!(self.now < end, "not in {state} by {end:?}");
            self.run_until(self.now + step);
        }
        self.controller.snapshot()
    }

    /// RFC 9002, "Acknowledgment-Based Detection".
    fn detect_losses(&mut self) {
        let Some(largest) = self.largest_acked else {
            return;
        };
        let mut lost = Vec::new();
        while let Some((&number, packet)) = self.outstanding.first_key_value() {
            let is_late = self.loss_delay(packet).is_some_and(|at| at <= self.now);
            if number >= largest || !(is_late || number + PACKET_THRESHOLD <= largest) {
                break;
            }
            self.declare_lost(number);
            lost.push(number);
        }
        // RFC 9002, `InCongestionRecovery`: also when that recovery is over.
        if lost.last().is_none_or(|last| *last < self.recovery_start) {
            return;
        }
        if let Some(suspects) = &mut self.suspects {
            suspects.retain(|number, _| lost.contains(number));
        }
        if self.is_recovering {
            self.controller
                .on_recovery(self.now, Recovery::Left, self.inflight);
        }
        self.recovery_start = self.next_number;
        self.is_recovering = true;
        self.controller
            .on_recovery(self.now, Recovery::Entered(Cause::Loss), self.inflight);
    }

    fn declare_lost(&mut self, number: u64) {
        let Some(InFlight { state: packet }) = self.outstanding.remove(&number) else {
            return;
        };
        self.inflight -= packet.bytes;
        if self.backlog != Bytes::MAX {
            self.backlog += packet.bytes;
        }
        if let Some(suspects) = &mut self.suspects {
            suspects.insert(number, packet);
        }
        self.sampler.on_packet_lost(&packet);
        let lost = Lost::new(self.now, packet, self.inflight, &self.sampler);
        self.controller.on_packet_lost(&lost);
    }

    /// RFC 9002, "Time Threshold".
    fn loss_delay(&self, packet: &InFlight) -> Option<Time> {
        let rtt = self.smoothed_rtt?.max(self.last_rtt);
        Some(packet.state.sent_time + rtt * 9 / 8)
    }

    /// When the oldest packet becomes late, if a later one was acknowledged.
    fn loss_time(&self) -> Option<Time> {
        let (&number, packet) = self.outstanding.first_key_value()?;
        (Some(number) < self.largest_acked).then(|| self.loss_delay(packet))?
    }

    /// RFC 9002, "Probe Timeout".
    fn probe_time(&self) -> Option<Time> {
        let rtt = self.smoothed_rtt.unwrap_or(Duration::from_millis(333));
        let timeout = rtt * 2 * (1 << self.probes_in_a_row.min(16));
        (!self.outstanding.is_empty()).then(|| self.last_send + timeout)
    }

    fn fire_timers(&mut self) {
        if self.loss_time().is_some_and(|at| at <= self.now) {
            self.detect_losses();
        }
        if self.probe_time().is_some_and(|at| at <= self.now) {
            self.probes_in_a_row += 1;
            self.send_packet();
        }
    }

    /// The points of a stretch of time.
    pub fn between(&self, from: Time, to: Time) -> &[Point] {
        let start = self.points.partition_point(|point| point.now < from);
        let end = self.points.partition_point(|point| point.now < to);
        &self.points[start..end]
    }

    /// The delivery rate in a stretch of time.
    pub fn goodput(&self, from: Time, to: Time) -> Rate {
        let delivered = |at| {
            let count = self.points.partition_point(|point: &Point| point.now < at);
            count
                .checked_sub(1)
                .map_or(Bytes::ZERO, |last| self.points[last].delivered)
        };
        Rate::from_transfer(delivered(to) - delivered(from), to.since(from))
    }

    /// The median RTT of a stretch of time.
    pub fn median_rtt(&self, from: Time, to: Time) -> Duration {
        let mut rtts: Vec<_> = self
            .between(from, to)
            .iter()
            .map(|point| point.rtt)
            .collect();
        rtts.sort();
        rtts[rtts.len() / 2]
    }

    /// The first time in a state.
    pub fn first_in(&self, state: &str) -> Option<&Point> {
        self.points
            .iter()
            .find(|point| point.snapshot.state.name == state)
    }
}
