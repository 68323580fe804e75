//! The events that the simulator passes to a controller, on paths of every kind.

use congestion::{Bytes, Duration, Rate, Ratio, Settings, Time};
use path::{
    Aggregation, Buffer, Capacity, Change, CoDel, Discipline, Effects, GilbertElliott, Jitter,
    LinkConfig, Loss, PathConfig, Policer, Reorder,
};
use sim::{Config, FlowConfig, MakeController, Simulation, dumbbell};
use transport::app;

use crate::event::Event;
use crate::script::{Followed, Scripts};
use crate::twins::Twins;

const LENGTH: Duration = Duration::from_secs(25);

/// Compares over at least this many events.
pub fn compare(twins: &Twins, count: usize) {
    let mut seen = 0;
    for seed in 0.. {
        for number in 0..effects().len() {
            if seen >= count {
                return;
            }
            let scripts = Scripts::default();
            run(twins, &scripts, number, seed);
            let events = scripts.take();
            seen += events.len();
            twins.compare(&events);
        }
    }
}

/// The events of each connection on each path.
pub fn scripts(twins: &Twins) -> impl Iterator<Item = Vec<Event>> {
    (0..effects().len()).flat_map(|number| {
        let scripts = Scripts::default();
        run(twins, &scripts, number, 0);
        scripts.take_each()
    })
}

/// Two flows, of which the second starts later, on the path of this number.
fn run(twins: &Twins, scripts: &Scripts, number: usize, seed: u64) {
    let settings = twins.settings;
    let answers_marks = matches!(settings, Settings::Bbr3(config) if config.ecn.is_some());
    let flow = || {
        let scripts = scripts.clone();
        let make = MakeController::new(move |connection| {
            let controller = congestion::AnyController::on_host(settings, connection);
            scripts.follow(connection, controller)
        });
        let mut flow = FlowConfig::<Followed>::with_controller(make);
        flow.sender.ecn = answers_marks;
        flow
    };
    let mut second = flow().starting(Time::ZERO + LENGTH / 3);
    if number.is_multiple_of(3) {
        second.app = app::Config::RateLimited(app::RateLimited {
            rate: Rate::from_bits_per_sec(3_000_000),
            write: Bytes::new(30_000),
            backlog: Bytes::new(1_000_000),
            deadline: None,
        });
    }
    if number % 3 == 1 {
        second.receiver.max_sack_blocks = 0;
    }
    let mut path = path(number, seed);
    if answers_marks {
        path.forward.effects.queue = Discipline::CoDel(CoDel {
            target: Duration::from_millis(1),
            interval: Duration::from_millis(20),
            ecn: true,
        });
    }
    let config = Config {
        seed,
        end: Some(Time::ZERO + LENGTH),
        ..dumbbell(path, vec![flow(), second])
    };
    Simulation::new(config, ()).expect("a simulation").run();
}

fn path(number: usize, seed: u64) -> PathConfig {
    let rate = Rate::from_bits_per_sec([2, 10, 50, 5, 20][number % 5] * 1_000_000 + seed * 1_000);
    let rtt = Duration::from_millis([40, 5, 120, 1][number % 4]);
    let buffer = Bytes::new(15_000) + rate.bytes_in(rtt) * [1, 4, 0][number % 3];
    let (forward, reverse) = effects().swap_remove(number);
    let changes = if number % 4 == 1 {
        vec![Change {
            at: Time::ZERO + LENGTH / 2,
            rate: Some(rate.scale(Ratio::new(1, 3))),
            delay: Some(rtt),
            mtu: None,
        }]
    } else {
        Vec::new()
    };
    PathConfig {
        forward: LinkConfig {
            capacity: Capacity::Rate(rate),
            delay: rtt / 2,
            buffer: Buffer::Bytes(buffer),
            effects: forward,
            changes,
        },
        reverse: LinkConfig {
            delay: rtt / 2,
            effects: reverse,
            ..LinkConfig::default()
        },
    }
}

/// The effects on data and on acknowledgements.
fn effects() -> Vec<(Effects, Effects)> {
    let none = Effects::default;
    let loss = |permille| Effects {
        loss: Loss::Independent(Ratio::new(permille, 1_000)),
        ..none()
    };
    let data = [
        none(),
        loss(1),
        loss(20),
        loss(150),
        Effects {
            loss: Loss::GilbertElliott(GilbertElliott {
                p: Ratio::new(1, 200),
                r: Ratio::new(1, 5),
                loss_good: Ratio::ZERO,
                loss_bad: Ratio::ONE,
            }),
            ..none()
        },
        Effects {
            policer: Some(Policer {
                rate: Rate::from_bits_per_sec(1_500_000),
                burst: Bytes::new(300_000),
            }),
            ..none()
        },
        Effects {
            jitter: Some(Jitter {
                reorders: true,
                ..Jitter::from(Duration::from_millis(15))
            }),
            ..none()
        },
        Effects {
            reorder: Some(Reorder {
                share: Ratio::new(2, 100),
                by: Duration::from_millis(30),
            }),
            duplicate: Ratio::new(1, 100),
            ..loss(5)
        },
    ];
    let aggregation = Effects {
        aggregation: Some(Aggregation {
            interval: Duration::from_millis(12),
        }),
        ..none()
    };
    let mut all: Vec<(Effects, Effects)> = data.map(|data| (data, none())).into();
    all.push((none(), aggregation));
    all.push((loss(10), aggregation));
    all.push((none(), loss(100)));
    all
}
