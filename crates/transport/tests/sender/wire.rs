//! A sender and a receiver with a wire between them.

use std::collections::{BTreeMap, HashMap};

use congestion::{
    Ack, AckFrequency, Bytes, Connection, Controller, Duration, Lost, Phase, Rate, Recovery, Sent,
    Snapshot, State, Time,
};
use transport::burst::Burst;
use transport::receiver::{self, Receiver};
use transport::segment::{self, Body, Data, SackBlocks, Segment};
use transport::sender::{self, Sender};

pub const MSS: u64 = 1448;
/// The delay from one end to the other.
pub const DELAY: Duration = Duration::from_millis(50);
/// The time between two packets that leave at once.
pub const GAP: Duration = Duration::from_micros(100);

pub fn ms(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

/// An acknowledgement of all bytes before `next`, as a receiver sends it at `sent`.
pub fn ack(sent: Time, next: u64, window: u64, sacks: SackBlocks) -> Body {
    Body::Ack(segment::Ack {
        next,
        window,
        sent,
        echo: sent,
        sacks,
        ecn_echo: false,
        ce_bytes: 0,
    })
}

/// A sender whose handshake took 100 ms, and whose peer offers `window`.
pub fn established<C: Controller>(
    window: u64,
    config: &sender::Config,
    make: impl FnOnce(Connection) -> C,
) -> Sender<C> {
    let mut sender = Sender::new(ms(0), 0, config, make, 0);
    sender.open(Time::ZERO);
    let syn = sender.poll_burst(ms(0)).unwrap();
    sender.on_departed(&syn);
    let answer = Body::SynAck {
        sent: ms(50),
        echo: ms(0),
        next: 0,
        window,
    };
    assert!(sender.on_segment(ms(100), &answer).is_none());
    sender
}

/// A controller with a constant window, which records its events.
#[derive(Debug)]
pub struct Fixed {
    pub cwnd: Bytes,
    pub rate: Rate,
    pub quantum: Bytes,
    pub needs_pacing: bool,
    pub ack_frequency: AckFrequency,
    pub changes: Vec<Recovery>,
    pub timeouts: Vec<Time>,
    pub idle_restarts: u32,
    pub lost: u64,
}

impl Fixed {
    pub fn packets(connection: Connection, packets: u64) -> Fixed {
        Fixed {
            cwnd: connection.mss * packets,
            rate: Rate::MAX,
            quantum: connection.mss * 2,
            needs_pacing: true,
            ack_frequency: AckFrequency::Usual,
            changes: Vec::new(),
            timeouts: Vec::new(),
            idle_restarts: 0,
            lost: 0,
        }
    }
}

impl Controller for Fixed {
    fn on_idle_restart(&mut self, _: Time) {
        self.idle_restarts += 1;
    }
    fn on_packet_sent(&mut self, _: &Sent) {}
    fn on_packet_lost(&mut self, _: &Lost) {
        self.lost += 1;
    }
    fn on_recovery(&mut self, _: Time, recovery: Recovery, _: Bytes) {
        self.changes.push(recovery);
    }
    fn on_ack(&mut self, _: &Ack) {}
    fn on_timeout(&mut self, now: Time, _: Bytes) {
        self.timeouts.push(now);
    }
    fn on_mtu_change(&mut self, _: Bytes) {}
    fn cwnd(&self) -> Bytes {
        self.cwnd
    }
    fn pacing_rate(&self) -> Rate {
        self.rate
    }
    fn send_quantum(&self) -> Bytes {
        self.quantum
    }
    fn needs_pacing(&self) -> bool {
        self.needs_pacing
    }
    fn ack_frequency(&self) -> AckFrequency {
        self.ack_frequency
    }
    fn snapshot(&self) -> Snapshot {
        let state = State {
            name: "Fixed",
            phase: Phase::Avoidance,
        };
        Snapshot::new("fixed", state, self.cwnd, self.rate)
    }
}

/// The fate of a packet on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Pass,
    Drop,
    /// Arrives late by this time.
    Late(Duration),
    /// Arrives marked.
    Mark,
}

enum Event {
    Depart(Burst),
    ToReceiver(Body, bool),
    ToSender(Body),
}

/// A time in which no ACK arrives. The receiver's ACKs arrive at its end.
#[derive(Debug, Clone, Copy)]
pub struct Silence {
    pub from: Time,
    pub to: Time,
    /// Whether only the last of those ACKs arrives, as if a host or a link merged waiting ACKs.
    pub is_merged: bool,
}

/// Decides about a packet by its number in the stream (of full packets) and the number of earlier transmissions.
type Script = Box<dyn FnMut(u64, u32) -> Fate>;

pub struct Wire<C> {
    pub now: Time,
    pub sender: Sender<C>,
    pub receiver: Receiver,
    pub script: Script,
    /// The controller's event at each ACK.
    pub acks: Vec<Ack>,
    /// Every packet with payload that left, with its time.
    pub sent: Vec<(Time, Data)>,
    pub silence: Option<Silence>,
    /// The index of the ACK that waits for the end of a merged silence.
    merged: Option<(Time, u64)>,
    copies: HashMap<u64, u32>,
    free: Time,
    events: BTreeMap<(Time, u64), Event>,
    serial: u64,
}

impl<C: Controller> Wire<C> {
    pub fn new(
        config: &sender::Config,
        make: impl FnOnce(Connection) -> C,
        script: impl FnMut(u64, u32) -> Fate + 'static,
    ) -> Wire<C> {
        let mut sender = Sender::new(Time::ZERO, 7, config, make, 1);
        sender.open(Time::ZERO);
        let usual = receiver::Config {
            accurate_ecn: config.accurate_ecn,
            ..receiver::Config::default()
        };
        let receiver = if config.has_selective_acks {
            usual
        } else {
            receiver::Config {
                max_sack_blocks: 0,
                ..usual
            }
        };
        Wire {
            now: Time::ZERO,
            sender,
            receiver: Receiver::new(7, &receiver),
            script: Box::new(script),
            acks: Vec::new(),
            sent: Vec::new(),
            silence: None,
            merged: None,
            copies: HashMap::new(),
            free: Time::ZERO,
            events: BTreeMap::new(),
            serial: 0,
        }
    }

    /// Writes this many packets.
    pub fn write(&mut self, packets: u64) {
        let bytes = Bytes::new(MSS * packets);
        assert_eq!(self.sender.write(bytes), bytes);
        self.pump();
    }

    pub fn run_until(&mut self, end: Time) {
        self.pump();
        while let Some(next) = self.next_event().filter(|next| *next <= end) {
            self.now = next;
            if let Some(entry) = self
                .events
                .first_entry()
                .filter(|entry| entry.key().0 <= next)
            {
                let event = entry.remove();
                self.dispatch(event);
            }
            self.sender.on_timer(next);
            if let Some(ack) = self.receiver.on_timer(next) {
                self.back(ack);
            }
            self.pump();
        }
        self.now = end;
        self.pump();
    }

    /// Runs until everything written is acknowledged; returns the time.
    pub fn finish(&mut self) -> Time {
        self.sender.finish();
        while !self.sender.is_done() {
            let next = self.next_event().expect("something happens");
            assert!(next < ms(1_000_000), "{:?}", self.sender);
            self.run_until(next);
        }
        self.now
    }

    fn next_event(&self) -> Option<Time> {
        let event = self.events.keys().next().map(|(time, _)| *time);
        [event, self.sender.next_timer(), self.receiver.next_timer()]
            .into_iter()
            .flatten()
            .map(|time| time.max(self.now))
            .min()
    }

    fn dispatch(&mut self, event: Event) {
        match event {
            Event::Depart(burst) => {
                self.sender.on_departed(&burst);
                for segment in burst.segments() {
                    self.forward(segment);
                }
            }
            Event::ToReceiver(body, ce) => {
                if let Some(answer) = self.receiver.on_segment(self.now, &body, ce) {
                    self.back(answer);
                }
            }
            Event::ToSender(body) => self.acks.extend(self.sender.on_segment(self.now, &body)),
        }
    }

    fn pump(&mut self) {
        while let Some(burst) = self.sender.poll_burst(self.now) {
            self.push(burst.departure, Event::Depart(burst));
        }
    }

    fn forward(&mut self, segment: Segment) {
        let fate = match segment.body {
            Body::Data(data) if data.len > 0 => {
                self.sent.push((self.now, data));
                let copy = self.copies.entry(data.seq).or_default();
                *copy += 1;
                (self.script)(data.seq / MSS, *copy - 1)
            }
            _ => Fate::Pass,
        };
        self.free = self.free.max(self.now) + GAP;
        let late = match fate {
            Fate::Drop => return,
            Fate::Late(late) => late,
            Fate::Pass | Fate::Mark => Duration::ZERO,
        };
        let arrival = self.free + DELAY + late;
        self.push(arrival, Event::ToReceiver(segment.body, fate == Fate::Mark));
    }

    fn back(&mut self, segment: Segment) {
        let mut at = self.now + DELAY;
        if let Some(silence) = self.silence.filter(|s| s.from <= at && at < s.to) {
            at = silence.to;
            if silence.is_merged {
                self.merged
                    .take()
                    .and_then(|place| self.events.remove(&place));
                self.merged = Some((at, self.serial + 1));
            }
        }
        self.push(at, Event::ToSender(segment.body));
    }

    fn push(&mut self, time: Time, event: Event) {
        self.serial += 1;
        self.events.insert((time, self.serial), event);
    }
}

/// A wire for a window of `packets`, without pacing.
pub fn fixed(
    packets: u64,
    detection: sender::LossDetection,
    script: impl FnMut(u64, u32) -> Fate + 'static,
) -> Wire<Fixed> {
    let config = sender::Config {
        loss_detection: detection,
        ..unpaced()
    };
    Wire::new(&config, |c| Fixed::packets(c, packets), script)
}

/// A wire as [`fixed`], to a peer without SACK.
pub fn without_sack(packets: u64, script: impl FnMut(u64, u32) -> Fate + 'static) -> Wire<Fixed> {
    let config = sender::Config {
        has_selective_acks: false,
        ..unpaced()
    };
    Wire::new(&config, |c| Fixed::packets(c, packets), script)
}

fn unpaced() -> sender::Config {
    sender::Config {
        pacing: transport::scheduler::Pacing::None,
        ..sender::Config::default()
    }
}

/// Drops the first `copies` transmissions of packet `number`.
pub fn drops(number: u64, copies: u32) -> impl FnMut(u64, u32) -> Fate {
    move |packet, copy| {
        if packet == number && copy < copies {
            Fate::Drop
        } else {
            Fate::Pass
        }
    }
}
