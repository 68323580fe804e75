//! The purpose of BBR's packet conservation after a loss.

use congestion::bbr1::{self, Bbr1};
use congestion::{Ack, Bytes, Controller, Duration, Lost, Rate, Recovery, Sent, Snapshot, Time};
use path::Policer;
use sim::{FlowConfig, MakeController, dumbbell};

use crate::support::{at_millis, mbit, millis, path, run};

/// BBR that is not notified of recoveries: its window stays as the model sets it.
#[derive(Debug)]
struct Careless(Bbr1);

impl Controller for Careless {
    fn on_recovery(&mut self, _: Time, _: Recovery, _: Bytes) {}

    fn on_idle_restart(&mut self, now: Time) {
        self.0.on_idle_restart(now);
    }
    fn on_packet_sent(&mut self, sent: &Sent) {
        self.0.on_packet_sent(sent);
    }
    fn on_packet_lost(&mut self, lost: &Lost) {
        self.0.on_packet_lost(lost);
    }
    fn on_ack(&mut self, ack: &Ack) {
        self.0.on_ack(ack);
    }
    fn on_timeout(&mut self, now: Time, inflight: Bytes) {
        self.0.on_timeout(now, inflight);
    }
    fn on_handshake(&mut self, now: Time, rtt: Duration) {
        self.0.on_handshake(now, rtt);
    }
    fn on_mtu_change(&mut self, mss: Bytes) {
        self.0.on_mtu_change(mss);
    }
    fn cwnd(&self) -> Bytes {
        self.0.cwnd()
    }
    fn pacing_rate(&self) -> Rate {
        self.0.pacing_rate()
    }
    fn send_quantum(&self) -> Bytes {
        self.0.send_quantum()
    }
    fn needs_pacing(&self) -> bool {
        self.0.needs_pacing()
    }
    fn snapshot(&self) -> Snapshot {
        self.0.snapshot()
    }
}

/// Packets that a flow loses in twenty seconds from its start, with the conservation and without it.
fn lost(policer: Option<Policer>, bdps: u64) -> (u64, u64) {
    let (rate, rtt) = (mbit(20), millis(40));
    let bbr = |connection| Bbr1::new(connection, bbr1::Config::linux_4_19());
    let mut path = path(rate, rtt, rate.bytes_in(rtt) * bdps);
    path.forward.effects.policer = policer;
    let careful = FlowConfig::with_controller(MakeController::new(bbr));
    let careless = FlowConfig::with_controller(MakeController::new(move |connection| {
        Careless(bbr(connection))
    }));
    let end = at_millis(20_000);
    let with = run(dumbbell(path.clone(), vec![careful]), Time::ZERO, end);
    let without = run(dumbbell(path, vec![careless]), Time::ZERO, end);
    (
        with.flows[0].stats.packets_lost,
        without.flows[0].stats.packets_lost,
    )
}

#[test]
fn a_third_less_is_lost_at_a_policer_and_in_a_buffer_of_a_bdp() {
    let policer = Policer {
        rate: mbit(5),
        burst: Bytes::new(100_000),
    };
    for (policer, bdps) in [(Some(policer), 4), (None, 1)] {
        let (with, without) = lost(policer, bdps);
        assert!(with > 0 && with * 3 < without * 2, "{with} and {without}");
    }
}
