//! A sender, complete but for its wire: `cargo run -p fullpipe-congestion --example sender`

use std::collections::BTreeMap;

use congestion::{
    AnyController, Bytes, Connection, ControllerKind, Duration, Flow, PacketState, Time,
};

const MSS: Bytes = Bytes::new(1_200);
/// The number of packets sent later whose acknowledgement shows a loss (RFC 9002, "Packet Threshold").
const THRESHOLD: u64 = 3;

struct Sender {
    flow: Flow<AnyController>,
    in_flight: BTreeMap<u64, PacketState>,
    next_number: u64,
    /// The packets waiting to be sent.
    waiting: u64,
}

impl Sender {
    fn new(now: Time, kind: ControllerKind, waiting: u64) -> Sender {
        let controller = AnyController::new(kind, Connection::new(now, MSS, MSS * 10));
        let flow = Flow::new(controller, now, MSS, Duration::from_millis(1));
        Sender {
            flow,
            in_flight: BTreeMap::new(),
            next_number: 0,
            waiting,
        }
    }

    /// The number of the packet to send now. If there is none, ask again after an ACK, or at `flow.next_departure`.
    fn poll_transmit(&mut self, now: Time) -> Option<u64> {
        if self.waiting == 0 {
            self.flow.on_no_data(now);
            return None;
        }
        if !self.flow.may_send(now, MSS) {
            return None;
        }
        self.waiting -= 1;
        self.next_number += 1;
        let packet = self.flow.on_sent(now, MSS);
        self.in_flight.insert(self.next_number, packet);
        Some(self.next_number)
    }

    /// Processes an ACK of these packets, the newest last.
    fn on_ack(&mut self, now: Time, numbers: &[u64]) {
        for number in numbers {
            if let Some(packet) = self.in_flight.remove(number) {
                self.flow.on_acked(now, &packet);
            }
        }
        let newest = numbers.last().copied().unwrap_or(0);
        let alive = self
            .in_flight
            .split_off(&(newest + 1).saturating_sub(THRESHOLD));
        self.declare_lost(now, alive);
        self.flow.settle(now);
    }

    /// The retransmission timer expires: all packets in flight count as lost (RFC 6298; in QUIC, persistent
    /// congestion).
    fn on_timeout(&mut self, now: Time) {
        self.declare_lost(now, BTreeMap::new());
        self.flow.on_timeout(now);
    }

    fn declare_lost(&mut self, now: Time, alive: BTreeMap<u64, PacketState>) {
        for packet in std::mem::replace(&mut self.in_flight, alive).values() {
            self.flow.on_lost(now, packet);
            self.waiting += 1;
        }
    }
}

/// A megabyte over 40 ms, with every hundredth packet lost and an ACK for each of the others.
fn main() {
    for &kind in ControllerKind::ALL {
        let (mut now, rtt) = (Time::ZERO, Duration::from_millis(40));
        let mut sender = Sender::new(now, kind, 1_000);
        let (mut acks, mut last_ack) = (std::collections::VecDeque::new(), now);
        while sender.waiting > 0 || !sender.in_flight.is_empty() {
            now += Duration::from_micros(100);
            while let Some(number) = sender.poll_transmit(now) {
                if number % 100 != 0 {
                    acks.push_back((now + rtt, number));
                }
            }
            while let Some((_, number)) = acks.pop_front_if(|(at, _)| *at <= now) {
                sender.on_ack(now, &[number]);
                last_ack = now;
            }
            if now.since(last_ack) > Duration::from_secs(1) {
                sender.on_timeout(now);
                last_ack = now;
            }
        }
        assert_eq!(sender.flow.sampler().delivered(), MSS * 1_000);
        println!(
            "{kind}: {} delivered in {}, {} lost on the way and sent again",
            sender.flow.sampler().delivered(),
            now.since(Time::ZERO),
            sender.flow.sampler().lost()
        );
    }
}
