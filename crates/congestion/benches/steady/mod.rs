//! A sender whose window is always full: 100 Mbit/s and 40 ms, one packet and one ACK every 120 µs, and a recovery
//! every ten thousand packets.

use std::collections::VecDeque;

use congestion::sampling::{Outstanding, Sampler};
use congestion::{
    Ack, AnyController, Bytes, Cause, Connection, Controller, ControllerKind, Duration,
    PacketState, Recovery, RttSample, Sent, Time,
};

const MSS: Bytes = Bytes::new(1_500);
const RTT: Duration = Duration::from_millis(40);
const SPACING: Duration = Duration::from_micros(120);
const WINDOW: u64 = 333;
const PACKETS_PER_RECOVERY: u64 = 10_000;

/// A sender whose window is always full.
pub struct Flow<C> {
    now: Time,
    sampler: Sampler,
    inflight: VecDeque<PacketState>,
    controller: C,
    acks: u64,
}

impl Flow<AnyController> {
    /// A sender in steady state, with a controller of this kind.
    pub fn of(kind: ControllerKind) -> Flow<AnyController> {
        let mut connection = Connection::new(Time::ZERO, MSS, MSS * 10);
        connection.seed = 1;
        Flow::new(AnyController::new(kind, connection))
    }
}

impl<C: Controller> Flow<C> {
    fn new(controller: C) -> Flow<C> {
        let mut flow = Flow {
            now: Time::ZERO,
            sampler: Sampler::new(Time::ZERO),
            inflight: VecDeque::with_capacity(WINDOW as usize + 1),
            controller,
            acks: 0,
        };
        for _ in 0..WINDOW {
            flow.send();
        }
        // Past slow start or Startup, and the first seconds after it.
        for _ in 0..5 * PACKETS_PER_RECOVERY {
            flow.ack();
            flow.send();
        }
        flow
    }

    fn send(&mut self) {
        self.now += SPACING;
        let before = MSS * self.inflight.len() as u64;
        let packet = self
            .sampler
            .on_packet_sent(self.now, MSS, Outstanding::without_lost(before));
        self.inflight.push_back(packet);
        self.controller
            .on_packet_sent(&Sent::new(self.now, MSS, before + MSS));
    }

    fn ack(&mut self) {
        let Some(packet) = self.inflight.pop_front() else {
            return;
        };
        self.acks += 1;
        let inflight = MSS * self.inflight.len() as u64;
        match self.acks % PACKETS_PER_RECOVERY {
            0 => {
                let entered = Recovery::Entered(Cause::Loss);
                self.controller.on_recovery(self.now, entered, inflight);
            }
            WINDOW => self
                .controller
                .on_recovery(self.now, Recovery::Left, inflight),
            _ => {}
        }
        self.sampler.on_packet_acked(self.now, &packet);
        let rate = self.sampler.sample(self.now, RTT);
        let mut ack = Ack::new(self.now, MSS, inflight + MSS, inflight, rate);
        ack.rtt = Some(RttSample {
            rtt: RTT,
            is_ack_delayed: false,
        });
        ack.is_cwnd_limited = true;
        self.controller.on_ack(&ack);
    }

    /// Sends one packet and processes its ACK. Returns the values that the transport would read.
    pub fn step(&mut self) -> (Bytes, Bytes, u64) {
        self.ack();
        self.send();
        (
            self.controller.cwnd(),
            self.controller.send_quantum(),
            self.controller.pacing_rate().bytes_per_sec(),
        )
    }
}
