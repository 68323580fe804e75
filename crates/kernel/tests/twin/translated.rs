//! Compares BBRv3 on the kernel's reports with BBRv3 on everything that the simulator knows.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use congestion::{
    Ack, AnyController, Bytes, Controller, ControllerKind, Duration, Lost, Rate, Ratio, Recovery,
    Sent, Settings, Time,
};
use path::{Buffer, Capacity, Effects, LinkConfig, Loss, PathConfig};
use sim::{Config, FlowConfig, MakeController, Simulation, dumbbell};

use crate::forward::as_the_controller_says;

/// BBRv3 with all information, or only with what `bpf/kernel/translate.h` derives from the kernel's counters.
///
/// In contrast to that file, it remembers every loss, and not only those of 64 moments.
#[derive(Debug)]
struct Translated {
    controller: AnyController,
    /// The lost data at each amount of delivered data, by ACK.
    moments: Vec<(Bytes, Bytes)>,
    /// The losses since the last report, and their size.
    untold: Option<(Lost, Bytes)>,
    losses: u64,
    sampled_at: Bytes,
    was_app_limited: bool,
    delivered: Bytes,
    lost: Bytes,
    told: Information,
    /// The goodput at the end.
    total: Arc<AtomicU64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Information {
    All,
    AsByKernel,
}

impl Translated {
    fn new(controller: AnyController, told: Information, total: Arc<AtomicU64>) -> Translated {
        Translated {
            controller,
            moments: vec![(Bytes::ZERO, Bytes::ZERO)],
            untold: None,
            losses: 0,
            sampled_at: Bytes::ZERO,
            was_app_limited: false,
            delivered: Bytes::ZERO,
            lost: Bytes::ZERO,
            told,
            total,
        }
    }

    fn lost_at(&self, delivered: Bytes) -> Bytes {
        let after = self.moments.partition_point(|(at, _)| *at <= delivered);
        self.moments[after.saturating_sub(1)].1
    }

    fn tell_losses(&mut self) {
        let Some((mut lost, bytes)) = self.untold.take() else {
            return;
        };
        self.losses += 2;
        let prior_lost = self.lost_at(self.sampled_at);
        lost.packet.bytes = bytes;
        lost.packet.sequence = self.losses;
        lost.packet.delivered = self.sampled_at;
        lost.packet.lost = prior_lost;
        lost.packet.inflight =
            lost.total_delivered - self.sampled_at + (lost.total_lost - prior_lost);
        lost.packet.is_app_limited = self.was_app_limited;
        self.controller.on_packet_lost(&lost);
    }
}

impl Controller for Translated {
    fn on_idle_restart(&mut self, now: Time) {
        self.controller.on_idle_restart(now);
    }

    fn on_packet_sent(&mut self, sent: &Sent) {
        self.controller.on_packet_sent(sent);
    }

    fn on_packet_lost(&mut self, lost: &Lost) {
        if self.told == Information::All {
            return self.controller.on_packet_lost(lost);
        }
        let before = self.untold.map_or(Bytes::ZERO, |(_, bytes)| bytes);
        self.untold = Some((*lost, before + lost.packet.bytes));
    }

    fn on_recovery(&mut self, now: Time, recovery: Recovery, inflight: Bytes) {
        self.tell_losses();
        self.controller.on_recovery(now, recovery, inflight);
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.total
            .store(ack.rate.total_delivered.get(), Ordering::Relaxed);
        if self.told == Information::All {
            return self.controller.on_ack(ack);
        }
        let mut ack = *ack;
        if self
            .moments
            .last()
            .is_some_and(|(_, lost)| *lost != self.lost)
        {
            self.moments.push((self.delivered, self.lost));
        }
        self.sampled_at = ack.rate.prior_delivered;
        self.was_app_limited = ack.rate.is_app_limited;
        self.tell_losses();
        let lost_since = ack.rate.total_lost - self.lost_at(self.sampled_at);
        ack.rate.lost_since_send = lost_since;
        ack.rate.inflight_at_send = ack.rate.total_delivered - self.sampled_at + lost_since;
        self.delivered = ack.rate.total_delivered;
        self.lost = ack.rate.total_lost;
        self.controller.on_ack(&ack);
    }

    fn on_timeout(&mut self, now: Time, inflight: Bytes) {
        self.tell_losses();
        self.controller.on_timeout(now, inflight);
    }

    fn on_handshake(&mut self, now: Time, rtt: Duration) {
        self.controller.on_handshake(now, rtt);
    }

    fn on_mtu_change(&mut self, mss: Bytes) {
        self.controller.on_mtu_change(mss);
    }

    as_the_controller_says!();
}

/// With a BDP of 33 packets, each loss ends a probe, and chance determines a flow's goodput.
const SEEDS: u64 = 15;

/// The median share of a link of this many Mbit/s that is delivered in 30 s, with an RTprop of this many ms.
fn share(told: Information, mbit: u64, rtt: u64, loss: Ratio) -> f64 {
    let length = Duration::from_secs(30);
    let rate = Rate::from_bits_per_sec(mbit * 1_000_000);
    let rtt = Duration::from_millis(rtt);
    let shares = (0..SEEDS).map(|seed| {
        let path = PathConfig {
            forward: LinkConfig {
                capacity: Capacity::Rate(rate),
                delay: rtt / 2,
                buffer: Buffer::Bytes(rate.bytes_in(rtt) * 2),
                effects: Effects {
                    loss: Loss::Independent(loss),
                    ..Effects::default()
                },
                ..LinkConfig::default()
            },
            reverse: LinkConfig {
                delay: rtt / 2,
                ..LinkConfig::default()
            },
        };
        let total = Arc::new(AtomicU64::new(0));
        let delivered = Arc::clone(&total);
        let make = MakeController::new(move |connection| {
            let controller =
                AnyController::on_host(Settings::from(ControllerKind::Bbr3), connection);
            Translated::new(controller, told, Arc::clone(&total))
        });
        let config = Config {
            seed,
            end: Some(Time::ZERO + length),
            ..dumbbell(path, vec![FlowConfig::with_controller(make)])
        };
        Simulation::new(config, ()).expect("a simulation").run();
        delivered.load(Ordering::Relaxed) as f64 / rate.bytes_in(length).get() as f64
    });
    let mut shares: Vec<f64> = shares.collect();
    shares.sort_unstable_by(f64::total_cmp);
    shares[shares.len() / 2]
}

#[test]
fn what_the_kernel_does_not_tell_costs_no_goodput() {
    for (mbit, rtt) in [(10, 40), (20, 100), (50, 10)] {
        // At the threshold of 2 %, one seed has up to a fifth more than another.
        for (permille, least, most) in [(0, 0.999, 1.001), (10, 0.97, 1.03), (20, 0.9, 1.15)] {
            let loss = Ratio::new(permille, 1_000);
            let [all, by_kernel] = [Information::All, Information::AsByKernel]
                .map(|told| share(told, mbit, rtt, loss));
            let ratio = by_kernel / all;
            println!("{mbit} Mbit/s, {rtt} ms, {permille} ‰: {all:.3} by {by_kernel:.3}");
            assert!(
                (least..=most).contains(&ratio),
                "{mbit} Mbit/s, {rtt} ms, {permille} ‰: {ratio:.3}"
            );
        }
    }
}
