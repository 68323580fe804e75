//! Hosts without SACK: duplicate ACKs show losses, and no delivery rate exceeds the path's.

use congestion::{Ack, Controller, ControllerKind, Rate, Ratio, Time};
use path::Loss;
use sim::{Config, FlowConfig, Id, Observer, Simulation, dumbbell};
use transport::sender::{Sender, Stats};

use crate::support::{at_millis, limit, mbit, millis, path};

/// Keeps the highest delivery rate.
#[derive(Default)]
struct Highest(Option<Rate>);

impl<C: Controller> Observer<C> for Highest {
    fn on_ack(&mut self, _: Time, _: Id, ack: &Ack, _: &Sender<C>) {
        self.0 = self.0.max(ack.rate.delivery_rate);
    }
}

/// Twenty seconds without SACK at this rate, 50 ms and `bdps` BDP, with random loss: the sender's counters, the packets
/// that the network has dropped, and the highest delivery rate as a share of the path's.
fn without_sack(kind: ControllerKind, rate: Rate, bdps: u64, loss: Ratio) -> (Stats, u64, f64) {
    let rtt = millis(50);
    let mut path = path(rate, rtt, rate.bytes_in(rtt) * bdps);
    path.forward.effects.loss = Loss::Independent(loss);
    let mut flow = FlowConfig::new(kind);
    flow.receiver.max_sack_blocks = 0;
    let config = Config {
        seed: 1,
        end: Some(at_millis(20_000)),
        ..dumbbell(path, vec![flow])
    };
    let mut simulation = Simulation::new(config, Highest::default()).unwrap();
    simulation.run();
    let (_, sender, receiver) = simulation.connections().next().unwrap();
    let stats = sender.stats();
    assert!(stats.delivered <= stats.sent);
    assert!(stats.delivered.get() <= receiver.arrived());
    let counters = simulation.link(0).unwrap().counters();
    let dropped = counters.drops.packets + counters.random_losses.packets;
    let highest = simulation.observer().0.unwrap();
    let share = highest.bits_per_sec() as f64 / limit(rate, 0);
    (stats, dropped, share)
}

#[test]
fn each_random_loss_costs_one_retransmission_and_no_timeout() {
    let loss = Ratio::new(2, 10_000);
    let (stats, dropped, _) = without_sack(ControllerKind::Reno, mbit(20), 8, loss);
    assert!((4..20).contains(&dropped), "{dropped}");
    assert_eq!(stats.timeouts, 0);
    assert_eq!(stats.packets_lost, dropped);
    assert_eq!(stats.packets_retransmitted, dropped);
}

#[test]
fn no_filled_hole_makes_the_path_seem_faster() {
    for kind in ControllerKind::ALL {
        let (_, dropped, highest) = without_sack(*kind, mbit(48), 2, Ratio::new(1, 1_000));
        assert!(dropped > 0);
        assert!(highest < 1.01, "{kind:?}: {highest}");
    }
}
