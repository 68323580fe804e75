//! The same configuration gives the identical run.

use crate::support::{at_millis, mbit, millis, path};
use congestion::{Ack, AnyController, Bytes, ControllerKind, Ratio, Time};
use path::{Aggregation, Jitter, Loss};
use sim::{Config, FlowConfig, Id, Observer, Simulation, dumbbell};
use transport::app::{self, Sizes, Transfer};
use transport::burst::Burst;
use transport::sender::Sender;

/// A fingerprint of all observations (FNV-1a).
#[derive(Debug, PartialEq, Eq)]
struct Fingerprint(u64);

impl Fingerprint {
    fn add(&mut self, values: impl IntoIterator<Item = u64>) {
        for value in values {
            for byte in value.to_le_bytes() {
                self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
            }
        }
    }
}

impl Observer for Fingerprint {
    fn on_start(&mut self, now: Time, id: Id) {
        self.add([now.as_nanos(), id.flow as u64, u64::from(id.connection)]);
    }

    fn on_sent(&mut self, now: Time, id: Id, burst: &Burst, _: &Sender<AnyController>) {
        let connection = u64::from(id.connection);
        let departure = burst.departure.as_nanos();
        self.add([now.as_nanos(), connection, burst.seq, departure]);
    }

    fn on_ack(&mut self, now: Time, id: Id, ack: &Ack, _: &Sender<AnyController>) {
        let connection = u64::from(id.connection);
        let inflight = ack.inflight.get();
        self.add([now.as_nanos(), connection, ack.newly_acked.get(), inflight]);
    }

    fn on_transfer(&mut self, id: Id, transfer: &Transfer) {
        let size = transfer.size.get();
        self.add([id.flow as u64, transfer.id, size, transfer.end.as_nanos()]);
    }
}

/// A configuration with a little of everything.
fn config(seed: u64) -> Config {
    let rate = mbit(50);
    let mut path = path(rate, millis(30), rate.bytes_in(millis(60)));
    path.forward.effects.loss = Loss::Independent(Ratio::new(1, 200));
    path.forward.effects.jitter = Some(Jitter {
        reorders: true,
        ..Jitter::from(millis(2))
    });
    path.reverse.effects.aggregation = Some(Aggregation {
        interval: millis(3),
    });
    let mut mice = FlowConfig::new(ControllerKind::Cubic);
    mice.app = app::Config::Poisson(app::Poisson {
        interval: millis(50),
        sizes: Sizes::Pareto {
            min: Bytes::new(2_000),
            shape: Ratio::new(12, 10),
            max: Bytes::new(1_000_000),
        },
        connections: app::Connections::New,
        count: None,
    });
    let mut pages = FlowConfig::new(ControllerKind::Reno);
    pages.app = app::Config::Requests(app::Requests::default());
    let flows = vec![
        FlowConfig::new(ControllerKind::Bbr1),
        FlowConfig::new(ControllerKind::Cubic)
            .with_access(millis(20))
            .starting(at_millis(500)),
        FlowConfig::new(ControllerKind::Bbr1).reversed(),
        mice,
        pages,
    ];
    Config {
        seed,
        end: Some(at_millis(5_000)),
        ..dumbbell(path, flows)
    }
}

fn fingerprint(seed: u64) -> u64 {
    let mut simulation = Simulation::new(config(seed), Fingerprint(0xcbf2_9ce4_8422_2325)).unwrap();
    simulation.run();
    simulation.into_observer().0
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let first = fingerprint(1);
    assert_eq!(first, fingerprint(1));
    assert_ne!(first, fingerprint(2));
}

/// The run of seed 1, as any machine must produce it. After an intended change of behaviour, the new value replaces it.
#[test]
fn the_run_is_the_same_on_any_machine() {
    let fingerprint = fingerprint(1);
    assert_eq!(
        fingerprint, 0x8416_8afe_5a6d_18b6,
        "the new one is {fingerprint:#018x}"
    );
}

#[test]
fn to_stop_on_the_way_changes_nothing() {
    let mut simulation = Simulation::new(config(1), Fingerprint(0xcbf2_9ce4_8422_2325)).unwrap();
    for stop in (0..50).map(|step| at_millis(step * 97)) {
        simulation.run_until(stop);
        assert_eq!(simulation.now(), stop);
    }
    simulation.run();
    assert_eq!(simulation.into_observer().0, fingerprint(1));
}
