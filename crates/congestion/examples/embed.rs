//! A QUIC-like sender under each of the controllers, without a wire format: the caller carries packet numbers to the
//! receiver and back. `cargo run -p fullpipe-congestion --example embed`

use std::collections::BTreeMap;

use congestion::sampling::{Outstanding, Sampler};
use congestion::{
    Ack, AnyController, Bytes, Cause, Connection, Controller, ControllerKind, Duration, Lost,
    PacketState, Recovery, RttSample, Sent, Time,
};

const MSS: Bytes = Bytes::new(1_200);
/// The number of packets sent later whose acknowledgement shows a loss (RFC 9002, "Packet Threshold").
const PACKET_THRESHOLD: u64 = 3;

struct Sender {
    controller: AnyController,
    sampler: Sampler,
    in_flight: BTreeMap<u64, PacketState>,
    bytes_in_flight: Bytes,
    /// The packets waiting to be sent.
    waiting: u64,
    next_number: u64,
    next_burst: Time,
    min_rtt: Duration,
    /// The first packet sent after the start of the latest recovery, or after the timeout.
    recovery_start: u64,
    is_recovering: bool,
    /// Whether data has run out since the last ACK.
    is_app_limited: bool,
    /// Whether the window has held data back since the last ACK.
    is_window_full: bool,
}

impl Sender {
    fn new(kind: ControllerKind, now: Time, waiting: u64) -> Sender {
        let mut connection = Connection::new(now, MSS, MSS * 10);
        connection.seed = 1;
        Sender {
            controller: AnyController::new(kind, connection),
            sampler: Sampler::new(now),
            in_flight: BTreeMap::new(),
            bytes_in_flight: Bytes::ZERO,
            waiting,
            next_number: 0,
            next_burst: now,
            min_rtt: Duration::MAX,
            recovery_start: 0,
            is_recovering: false,
            is_app_limited: false,
            is_window_full: false,
        }
    }

    /// Sends a burst, if window and pacer allow one. Returns the numbers of its packets.
    fn poll_transmit(&mut self, now: Time) -> Vec<u64> {
        let mut burst = Vec::new();
        if now < self.next_burst {
            return burst;
        }
        let packets = self.controller.send_quantum().get() / MSS.get();
        while burst.len() < packets as usize && self.bytes_in_flight + MSS <= self.controller.cwnd()
        {
            if self.waiting == 0 {
                self.is_app_limited = true;
                self.sampler.mark_app_limited(self.bytes_in_flight);
                break;
            }
            if self.bytes_in_flight.is_zero() && self.sampler.is_app_limited() {
                self.controller.on_idle_restart(now);
            }
            let packet = self.sampler.on_packet_sent(
                now,
                MSS,
                Outstanding::without_lost(self.bytes_in_flight),
            );
            self.bytes_in_flight += MSS;
            self.controller
                .on_packet_sent(&Sent::new(now, MSS, self.bytes_in_flight));
            self.in_flight.insert(self.next_number, packet);
            burst.push(self.next_number);
            self.next_number += 1;
            self.waiting -= 1;
        }
        self.is_window_full |=
            self.waiting > 0 && self.bytes_in_flight + MSS > self.controller.cwnd();
        let bytes = MSS * burst.len() as u64;
        self.next_burst = now + self.controller.pacing_rate().time_for(bytes);
        burst
    }

    /// An ACK arrives for these packets, the newest last.
    fn on_ack(&mut self, now: Time, numbers: &[u64]) {
        let prior_inflight = self.bytes_in_flight;
        let mut newly_acked = Bytes::ZERO;
        let mut newest = None;
        for &number in numbers {
            if let Some(packet) = self.in_flight.remove(&number) {
                self.sampler.on_packet_acked(now, &packet);
                self.bytes_in_flight -= packet.bytes;
                newly_acked += packet.bytes;
                newest = Some((number, now.since(packet.sent_time)));
            }
        }
        let Some((newest, rtt)) = newest else { return };
        self.min_rtt = self.min_rtt.min(rtt);

        // First the losses, then the recovery that they start or the ACK ends, then the ACK itself.
        let lost = self.declare_lost(now, newest.saturating_sub(PACKET_THRESHOLD - 1));
        if lost.is_some_and(|lost| lost >= self.recovery_start) {
            self.recovery_start = self.next_number;
            self.is_recovering = true;
            let entered = Recovery::Entered(Cause::Loss);
            self.controller
                .on_recovery(now, entered, self.bytes_in_flight);
        } else if self.is_recovering && newest >= self.recovery_start {
            self.is_recovering = false;
            self.controller
                .on_recovery(now, Recovery::Left, self.bytes_in_flight);
        }
        let rate = self.sampler.sample(now, self.min_rtt);
        let mut ack = Ack::new(now, newly_acked, prior_inflight, self.bytes_in_flight, rate);
        ack.rtt = Some(RttSample {
            rtt,
            is_ack_delayed: false,
        });
        ack.is_window_full = std::mem::take(&mut self.is_window_full);
        self.controller.on_ack(&ack);
        self.is_app_limited = false;
    }

    /// The retransmission timer expires: all packets in flight count as lost.
    fn on_timeout(&mut self, now: Time) {
        self.declare_lost(now, self.next_number);
        self.recovery_start = self.next_number;
        self.is_recovering = true;
        self.controller.on_timeout(now, self.bytes_in_flight);
    }

    /// Declares lost all packets in flight below number `end`, to be sent again. Returns the newest.
    fn declare_lost(&mut self, now: Time, end: u64) -> Option<u64> {
        let mut newest = None;
        while let Some(entry) = self
            .in_flight
            .first_entry()
            .filter(|entry| *entry.key() < end)
        {
            newest = Some(*entry.key());
            let packet = entry.remove();
            self.bytes_in_flight -= packet.bytes;
            self.waiting += 1;
            self.sampler.on_packet_lost(&packet);
            let lost = Lost::new(now, packet, self.bytes_in_flight, &self.sampler);
            self.controller.on_packet_lost(&lost);
        }
        newest
    }
}

/// A megabyte over 40 ms, with every hundredth packet lost and an ACK for each of the others.
fn main() {
    for &kind in ControllerKind::ALL {
        let tick = Duration::from_micros(100);
        let rtt = Duration::from_millis(40);
        let mut now = Time::ZERO;
        let mut sender = Sender::new(kind, now, 1_000);
        let mut acks: Vec<(Time, u64)> = Vec::new();
        let mut last_ack = now;
        while sender.waiting > 0 || !sender.in_flight.is_empty() {
            now += tick;
            assert!(now < Time::ZERO + Duration::from_secs(60), "{kind}");
            for number in sender.poll_transmit(now) {
                if number % 100 != 99 {
                    acks.push((now + rtt, number));
                }
            }
            while acks.first().is_some_and(|(at, _)| *at <= now) {
                let (_, number) = acks.remove(0);
                sender.on_ack(now, &[number]);
                last_ack = now;
            }
            if now.since(last_ack) > Duration::from_secs(1) {
                sender.on_timeout(now);
                last_ack = now;
            }
        }
        assert_eq!(sender.sampler.delivered(), MSS * 1_000);
        assert!(!sender.sampler.lost().is_zero());
        let (took, lost) = (now.since(Time::ZERO), sender.sampler.lost());
        let delivered = sender.sampler.delivered();
        println!("{kind}: {delivered} delivered in {took}, {lost} lost on the way and sent again");
    }
}
