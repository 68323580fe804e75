//! No operation of a controller or of the sampler allocates; only their construction may.

use std::collections::VecDeque;

use congestion::sampling::{Outstanding, Sampler};
use congestion::{
    Ack, AnyController, Bytes, Cause, Connection, Controller, ControllerKind, Duration, Lost,
    PacketState, Recovery, RttSample, Sent, Time,
};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

const STEPS: u64 = 200_000;
const MAX_INFLIGHT_PACKETS: usize = 1_000;

/// A sender that experiences every kind of event.
struct Flow {
    random: Xoshiro256PlusPlus,
    now: Time,
    mss: Bytes,
    sampler: Sampler,
    controller: AnyController,
    inflight: VecDeque<PacketState>,
    inflight_bytes: Bytes,
}

impl Flow {
    fn new(kind: ControllerKind, seed: u64) -> Flow {
        let mss = Bytes::new(1_500);
        let mut connection = Connection::new(Time::ZERO, mss, mss * 10);
        connection.seed = seed;
        Flow {
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            now: Time::ZERO,
            mss,
            sampler: Sampler::new(Time::ZERO),
            controller: AnyController::new(kind, connection),
            inflight: VecDeque::with_capacity(MAX_INFLIGHT_PACKETS),
            inflight_bytes: Bytes::ZERO,
        }
    }

    /// A number below `bound`.
    fn below(&mut self, bound: u64) -> u64 {
        self.random.next_u64() % bound
    }

    fn step(&mut self) {
        let pause = Duration::from_micros(self.below(300));
        self.now += pause;
        match self.below(1_000) {
            0..480 => self.send(),
            480..900 => self.ack(),
            900..980 => self.lose(),
            980..985 => self.recover(Recovery::Entered(Cause::Loss)),
            985..987 => self.recover(Recovery::Entered(Cause::Ecn)),
            987..992 => self.recover(Recovery::Left),
            992..994 => self.recover(Recovery::Undone),
            994 => self.controller.on_timeout(self.now, self.inflight_bytes),
            995 => {
                self.mss = Bytes::new(1_200 + self.below(8_000));
                self.controller.on_mtu_change(self.mss);
            }
            996 => {
                let idle = Duration::from_secs(self.below(15));
                self.now += idle;
                self.controller.on_idle_restart(self.now);
            }
            _ => self.sampler.mark_app_limited(self.inflight_bytes),
        }
        let snapshot = self.controller.snapshot();
        assert_eq!(snapshot.cwnd, self.controller.cwnd());
    }

    fn send(&mut self) {
        if self.inflight.len() == MAX_INFLIGHT_PACKETS {
            return;
        }
        let packet = self.sampler.on_packet_sent(
            self.now,
            self.mss,
            Outstanding::without_lost(self.inflight_bytes),
        );
        self.inflight.push_back(packet);
        self.inflight_bytes += self.mss;
        self.controller
            .on_packet_sent(&Sent::new(self.now, self.mss, self.inflight_bytes));
    }

    fn ack(&mut self) {
        let prior_inflight = self.inflight_bytes;
        let mut newly_acked = Bytes::ZERO;
        let mut rtt = None;
        for _ in 0..=self.below(4) {
            if let Some(packet) = self.inflight.pop_front() {
                newly_acked += packet.bytes;
                self.inflight_bytes -= packet.bytes;
                self.sampler.on_packet_acked(self.now, &packet);
                rtt = Some(RttSample {
                    rtt: self.now.since(packet.sent_time),
                    is_ack_delayed: false,
                });
            }
        }
        if newly_acked.is_zero() {
            return;
        }
        let mut ack = Ack::new(
            self.now,
            newly_acked,
            prior_inflight,
            self.inflight_bytes,
            self.sampler.sample(self.now, Duration::from_millis(1)),
        );
        ack.rtt = rtt;
        ack.ce_marked = Bytes::new(self.below(2));
        ack.is_cwnd_limited = self.below(4) > 0;
        ack.is_window_full = ack.is_cwnd_limited && self.below(2) > 0;
        ack.is_progress = self.below(8) > 0;
        self.controller.on_ack(&ack);
    }

    fn lose(&mut self) {
        if let Some(packet) = self.inflight.pop_front() {
            self.inflight_bytes -= packet.bytes;
            self.sampler.on_packet_lost(&packet);
            let lost = Lost::new(self.now, packet, self.inflight_bytes, &self.sampler);
            self.controller.on_packet_lost(&lost);
        }
    }

    fn recover(&mut self, recovery: Recovery) {
        self.controller
            .on_recovery(self.now, recovery, self.inflight_bytes);
    }
}

#[test]
fn nothing_allocates_after_construction() {
    for &kind in ControllerKind::ALL {
        let mut flow = Flow::new(kind, 7);
        let allocations = allocation_counter::measure(|| {
            for _ in 0..STEPS {
                flow.step();
            }
        });
        assert!(flow.sampler.delivered() > Bytes::new(1_000_000));
        assert!(flow.sampler.lost() > Bytes::new(1_000_000));
        assert_eq!(allocations.count_total, 0, "{kind}");
    }
}

/// The test above detects an allocation.
#[test]
fn an_allocation_is_counted() {
    let allocations = allocation_counter::measure(|| {
        std::hint::black_box(vec![1, 2, 3]);
    });
    assert_eq!(allocations.count_total, 1);
}
