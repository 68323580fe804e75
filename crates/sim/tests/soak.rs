//! Random scenarios, with every invariant checked.
//!
//! `FULLPIPE_SOAK_COUNT` sets the number of scenarios, `FULLPIPE_SOAK_SEED` runs the one with this seed. The
//! invariants are the assertions inside of links, hosts and the event loop, and the checks of [`Suspicious`].

use std::any::Any;
use std::collections::HashMap;
use std::env;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use congestion::{
    Ack, AnyController, Bytes, Controller, ControllerKind, Duration, Rate, Ratio, Time,
};
use path::{
    Aggregation, Buffer, Capacity, Change, CoDel, Demand, Discipline, Distribution, DualPi2,
    Effects, FqCoDel, GilbertElliott, Jitter, LinkConfig, Loss, LossAt, Mtu, PathConfig, Policer,
    Red, Reorder,
};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use sim::{Config, FlowConfig, HostConfig, Id, Observer, Simulation, parking_lot};
use transport::app::{self, Pause, Sizes, Transfer};
use transport::burst::Burst;
use transport::receiver::Receiver;
use transport::scheduler::{Pacing, SchedulerConfig};
use transport::sender::{LossDetection, Sender};

const SEEDS: u64 = 600;

/// The most packets of a scenario at the rate of its slowest link, which bounds the time of a run.
const PACKETS: u64 = 30_000;

#[test]
fn random_scenarios_keep_every_invariant() {
    let number = |name| env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    if let Some(seed) = number("FULLPIPE_SOAK_SEED") {
        println!("{:#?}", scenario(seed));
        check(seed);
        return;
    }
    let seeds = number("FULLPIPE_SOAK_COUNT").unwrap_or(SEEDS);
    let next = AtomicU64::new(0);
    let work = || {
        while let seed = next.fetch_add(1, Ordering::Relaxed)
            && seed < seeds
        {
            let outcome = panic::catch_unwind(AssertUnwindSafe(|| check(seed)));
            if let Err(panic) = outcome {
                next.store(seeds, Ordering::Relaxed);
                return Some((seed, message(panic.as_ref())));
            }
        }
        None
    };
    let failures: Vec<(u64, String)> = thread::scope(|scope| {
        let workers = thread::available_parallelism().map_or(1, usize::from);
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .filter_map(|worker| worker.join().unwrap())
            .collect()
    });
    for (seed, message) in &failures {
        println!("seed {seed}: {message}");
        println!(
            "replay: FULLPIPE_SOAK_SEED={seed} cargo test -p fullpipe-sim --test soak -- --nocapture"
        );
    }
    assert!(failures.is_empty(), "{failures:?}");
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("panicked")
        .to_owned()
}

/// Runs the scenario of a seed.
fn check(seed: u64) {
    let config = scenario(seed);
    let links = config.links.len();
    let mut simulation = Simulation::new(config, Suspicious::default()).unwrap();
    simulation.run();
    let mut is_black_hole = false;
    for index in 0..links {
        let counters = simulation.link(index).unwrap().counters();
        let came = counters.entered.packets + counters.duplicates.packets;
        let went = [
            counters.delivered,
            counters.too_big,
            counters.policer_drops,
            counters.drops,
            counters.random_losses,
            counters.inside,
        ];
        assert_eq!(came, went.iter().map(|count| count.packets).sum::<u64>());
        is_black_hole |= counters.too_big.packets > 0;
    }
    for (id, sender, receiver) in simulation.connections() {
        look(id, sender);
        let seen = &simulation.observer().connections[&id];
        assert_eq!(seen.received, receiver.received(), "{id:?}");
        assert!(
            receiver.received() <= seen.sent_end,
            "{id:?}: invented payload"
        );
        assert!(!seen.has_ended, "{id:?}");
        // A timer is set while anything is in flight.
        if !sender.inflight().is_zero() {
            assert!(
                sender.next_timer().is_some(),
                "{id:?} waits for nothing: {sender:?}"
            );
        }
    }
    let seen: u64 = simulation
        .observer()
        .connections
        .values()
        .map(|seen| seen.received)
        .sum();
    // An MTU that became too small before the first segment lets nothing through.
    assert!(seen > 0 || is_black_hole, "nothing was delivered at all");
}

/// An observer that checks everything.
#[derive(Debug, Default)]
struct Suspicious {
    now: Time,
    connections: HashMap<Id, Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    /// The end of the data sent so far.
    sent_end: u64,
    received: u64,
    transfers: u64,
    has_ended: bool,
}

impl Suspicious {
    fn at(&mut self, now: Time, id: Id) -> &mut Seen {
        assert!(now >= self.now, "time runs backwards");
        self.now = now;
        let seen = self.connections.get_mut(&id).unwrap();
        assert!(!seen.has_ended, "{id:?} goes on after its end");
        seen
    }
}

/// Checks the invariants of a sender.
fn look(id: Id, sender: &Sender<AnyController>) {
    let (stats, cwnd) = (sender.stats(), sender.controller().cwnd());
    assert!(cwnd >= Bytes::new(1), "{id:?}");
    assert!(!sender.controller().pacing_rate().is_zero(), "{id:?}");
    assert!(stats.delivered <= stats.sent, "{id:?}: {stats:?}");
    assert!(stats.retransmitted <= stats.sent, "{id:?}: {stats:?}");
    assert!(sender.inflight() <= stats.sent, "{id:?}: {stats:?}");
    assert!(
        stats.packets_retransmitted <= stats.packets_sent,
        "{id:?}: {stats:?}"
    );
    assert!(
        stats.spurious_recoveries <= stats.recoveries,
        "{id:?}: {stats:?}"
    );
    assert!(
        stats.spurious_timeouts <= stats.timeouts,
        "{id:?}: {stats:?}"
    );
}

impl Observer for Suspicious {
    fn on_start(&mut self, now: Time, id: Id) {
        assert!(
            self.connections.insert(id, Seen::default()).is_none(),
            "{id:?} twice"
        );
        self.at(now, id);
    }

    fn on_sent(&mut self, now: Time, id: Id, burst: &Burst, sender: &Sender<AnyController>) {
        let seen = self.at(now, id);
        assert!(burst.departure >= now, "{id:?} departs before it was made");
        assert!(
            burst.is_retransmission || burst.seq == seen.sent_end,
            "{id:?}: a gap: {burst:?}"
        );
        assert!(
            burst.end() <= seen.sent_end || burst.seq == seen.sent_end,
            "{id:?}: {burst:?}"
        );
        seen.sent_end = seen.sent_end.max(burst.end());
        look(id, sender);
    }

    fn on_ack(&mut self, now: Time, id: Id, ack: &Ack, sender: &Sender<AnyController>) {
        self.at(now, id);
        assert!(!ack.newly_acked.is_zero(), "{id:?}: {ack:?}");
        assert!(
            ack.rate.total_delivered <= sender.stats().sent,
            "{id:?}: {ack:?}"
        );
        look(id, sender);
    }

    fn on_received(&mut self, now: Time, id: Id, received: u64) {
        let seen = self.at(now, id);
        assert!(
            received > seen.received,
            "{id:?} takes back what it delivered"
        );
        seen.received = received;
    }

    fn on_transfer(&mut self, id: Id, transfer: &Transfer) {
        assert!(transfer.start <= transfer.end, "{id:?}: {transfer:?}");
        let now = self.now;
        assert_eq!(transfer.end, now, "{id:?}: {transfer:?}");
        self.at(now, id).transfers += 1;
    }

    fn on_end(&mut self, now: Time, id: Id, sender: &Sender<AnyController>, receiver: &Receiver) {
        let seen = self.at(now, id);
        assert_eq!(seen.received, seen.sent_end, "{id:?} ends too early");
        assert_eq!(seen.received, receiver.received(), "{id:?}");
        assert_eq!(seen.received, sender.stats().delivered.get(), "{id:?}");
        assert!(sender.inflight().is_zero(), "{id:?}");
        seen.has_ended = true;
    }
}

/// Draws from a seed.
struct Dice(Xoshiro256PlusPlus);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0.next_u64() % bound
    }

    fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// A number from `low` to `high`, with all orders of magnitude equally likely.
    fn magnitude(&mut self, low: u64, high: u64) -> u64 {
        let orders = (high / low).ilog2() + 1;
        let scale = low << self.below(u64::from(orders));
        self.between(scale, (scale * 2).min(high).max(scale))
    }

    fn happens(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize].clone()
    }

    fn share(&mut self, per_mille: u64) -> Ratio {
        Ratio::new(self.between(1, per_mille) as u32, 1_000)
    }

    fn micros(&mut self, low: u64, high: u64) -> Duration {
        Duration::from_micros(self.magnitude(low, high))
    }
}

fn scenario(seed: u64) -> Config {
    let mut dice = Dice(Xoshiro256PlusPlus::seed_from_u64(seed));
    let hops = dice.pick(&[1, 1, 1, 2, 3]);
    let paths: Vec<PathConfig> = (0..hops).map(|_| random_path(&mut dice)).collect();
    let slowest = paths
        .iter()
        .filter_map(|path| match &path.forward.capacity {
            Capacity::Rate(rate) => Some(*rate),
            _ => None,
        });
    let slowest = slowest.min().unwrap_or(Rate::from_bits_per_sec(50_000_000));
    let span = slowest
        .time_for(Bytes::new(1500 * PACKETS))
        .min(Duration::from_secs(60))
        .max(Duration::from_secs(2));
    let pacing = dice.pick(&[Pacing::Fq, Pacing::Fq, Pacing::PerConnection, Pacing::None]);
    let flows = dice.pick(&[1, 1, 2, 3, 5, 12]);
    let flows = (0..flows)
        .map(|_| random_flow(&mut dice, hops, pacing, span))
        .collect();
    let nic = dice
        .happens(30)
        .then(|| Rate::from_bits_per_sec(dice.magnitude(1_000_000, 1_000_000_000)));
    Config {
        seed,
        hosts: vec![HostConfig {
            scheduler: SchedulerConfig::of(pacing),
            nic,
        }],
        end: Some(Time::ZERO + span),
        ..parking_lot(paths, flows)
    }
}

fn random_path(dice: &mut Dice) -> PathConfig {
    let rate = Rate::from_bits_per_sec(dice.magnitude(200_000, 200_000_000));
    let mut forward = LinkConfig {
        capacity: match dice.below(10) {
            0 => Capacity::Trace("3\n3\n4\n9\n10\n10\n30\n31\n".parse().unwrap()),
            _ => Capacity::Rate(rate),
        },
        ..random_link(dice, rate)
    };
    if dice.happens(25) && matches!(forward.capacity, Capacity::Rate(_)) {
        let mut at = Time::ZERO;
        forward.changes = (0..dice.between(1, 4))
            .map(|_| {
                at += dice.micros(100_000, 5_000_000);
                let percent = dice.between(25, 400);
                Change {
                    at,
                    rate: Some(Rate::from_bits_per_sec(rate.bits_per_sec() / 100 * percent)),
                    delay: dice.happens(50).then(|| dice.micros(500, 80_000)),
                    mtu: dice
                        .happens(10)
                        .then(|| Mtu::new(dice.between(600, 1_600) as u16))
                        .flatten(),
                }
            })
            .collect();
    }
    if dice.happens(10) && matches!(forward.capacity, Capacity::Rate(_)) {
        forward.effects.demand = Some(Demand {
            interval: dice.micros(1_000, 40_000),
            within: dice.micros(1_000, 100_000),
            least: Rate::from_bits_per_sec(rate.bits_per_sec() / dice.between(1, 20)),
        });
    }
    // Data of reversed flows go this way too: without a bottleneck they would never find their rate.
    let slower = if dice.happens(30) {
        dice.between(1, 20)
    } else {
        1
    };
    let reverse = LinkConfig {
        capacity: Capacity::Rate(Rate::from_bits_per_sec(rate.bits_per_sec() / slower)),
        ..random_link(dice, rate)
    };
    PathConfig { forward, reverse }
}

fn random_link(dice: &mut Dice, rate: Rate) -> LinkConfig {
    let delay = dice.micros(500, 80_000);
    let bdp = rate.bytes_in(delay * 2).max(Bytes::new(3_000));
    LinkConfig {
        delay,
        buffer: match dice.below(8) {
            0 => Buffer::Unlimited,
            1 => Buffer::Packets(dice.magnitude(1, 100)),
            2 => Buffer::Bytes(path::MTU * dice.between(1, 4)),
            _ => Buffer::Bytes(bdp * dice.magnitude(1, 16)),
        },
        effects: Effects {
            queue: random_queue(dice, bdp),
            loss: match dice.below(6) {
                0 | 1 => Loss::Independent(dice.share(50)),
                2 => Loss::Independent(dice.share(300)),
                3 => Loss::GilbertElliott(GilbertElliott {
                    p: dice.share(20),
                    r: dice.share(500),
                    loss_good: Ratio::ZERO,
                    loss_bad: dice.share(900),
                }),
                _ => Loss::NONE,
            },
            loss_at: dice.pick(&[LossAt::Entry, LossAt::Exit]),
            corruption: if dice.happens(15) {
                dice.share(100)
            } else {
                Ratio::ZERO
            },
            jitter: dice.happens(25).then(|| Jitter {
                up_to: dice.micros(100, 40_000),
                reorders: dice.happens(50),
                distribution: Distribution::Uniform,
            }),
            reorder: dice.happens(20).then(|| Reorder {
                share: dice.share(100),
                by: dice.micros(100, 60_000),
            }),
            duplicate: if dice.happens(15) {
                dice.share(50)
            } else {
                Ratio::ZERO
            },
            policer: dice.happens(10).then(|| Policer {
                rate: Rate::from_bits_per_sec(rate.bits_per_sec() / dice.between(1, 8)),
                burst: Bytes::new(dice.magnitude(3_000, 300_000)),
            }),
            aggregation: dice.happens(15).then(|| Aggregation {
                interval: dice.micros(500, 40_000),
            }),
            ..Effects::default()
        },
        ..LinkConfig::default()
    }
}

fn random_queue(dice: &mut Dice, bdp: Bytes) -> Discipline {
    let target = dice.micros(500, 50_000);
    let codel = CoDel {
        target,
        interval: target * dice.between(1, 40),
        ecn: dice.happens(50),
    };
    let min = Bytes::new(dice.magnitude(3_000, bdp.get().max(6_000)));
    match dice.below(8) {
        0 => Discipline::CoDel(codel),
        1 => Discipline::FqCoDel(FqCoDel {
            flows: dice.magnitude(1, 1024) as u32,
            target: codel.target,
            interval: codel.interval,
            ecn: codel.ecn,
            ..FqCoDel::default()
        }),
        2 => Discipline::Red(Red {
            min,
            max: min * dice.between(1, 4),
            probability: dice.share(200),
            gentle: dice.happens(50),
            ecn: dice.happens(50),
        }),
        3 => Discipline::DualPi2(DualPi2 {
            target,
            step_thresh: dice.micros(100, 5_000),
            classic_protection: dice.share(1_000),
            ..DualPi2::default()
        }),
        _ => Discipline::DropTail,
    }
}

fn random_flow(dice: &mut Dice, hops: usize, pacing: Pacing, span: Duration) -> FlowConfig {
    let first = dice.below(hops as u64) as usize;
    let last = dice.between(first as u64, hops as u64 - 1) as usize;
    let mut flow = FlowConfig::new(dice.pick(ControllerKind::ALL)).across(first..=last);
    if dice.happens(20) {
        flow = flow.reversed();
    }
    if dice.happens(40) {
        flow = flow.with_access(dice.micros(10, 100_000));
    }
    if dice.happens(50) {
        flow.start = Time::ZERO + span / dice.between(2, 50);
    }
    flow.app = random_app(dice);
    flow.sender.pacing = pacing;
    flow.sender.ecn = dice.happens(30);
    if dice.happens(25) {
        flow.sender.loss_detection = LossDetection::DupThreshold;
    }
    if dice.happens(20) {
        flow.sender.send_buffer = Bytes::new(dice.magnitude(3_000, 1_000_000));
    }
    if dice.happens(20) {
        flow.sender.max_burst = flow.sender.mss;
    }
    flow.sender.initial_cwnd = dice.pick(&[1, 2, 10, 10, 10, 40]);
    flow.receiver.ack_every = dice.pick(&[1, 2, 2, 2, 4, 16]);
    flow.receiver.max_sack_blocks = dice.pick(&[3, 3, 3, 2, 1, 0]);
    if dice.happens(20) {
        let buffer = Bytes::new(dice.magnitude(4_000, 1_000_000));
        flow.receiver.initial_buffer = flow.receiver.initial_buffer.min(buffer);
        flow.receiver.max_buffer = buffer;
    }
    flow
}

fn random_app(dice: &mut Dice) -> app::Config {
    let size = |dice: &mut Dice| Bytes::new(dice.magnitude(1, 2_000_000));
    let sizes = |dice: &mut Dice| match dice.below(4) {
        0 => Sizes::Fixed(size(dice)),
        1 => Sizes::List(vec![size(dice), size(dice)]),
        2 => Sizes::LogNormal {
            median: Bytes::new(dice.magnitude(100, 50_000)),
            sigma: Ratio::new(dice.between(1, 20) as u32, 10),
        },
        _ => Sizes::Pareto {
            min: Bytes::new(dice.magnitude(100, 10_000)),
            shape: Ratio::new(dice.between(8, 20) as u32, 10),
            max: Bytes::new(2_000_000),
        },
    };
    match dice.below(12) {
        0 => app::Config::Transfer { bytes: size(dice) },
        1 | 2 => app::Config::Requests(app::Requests {
            request: Bytes::new(dice.magnitude(1, 5_000)),
            response: sizes(dice),
            think: Pause::Exponential {
                mean: dice.micros(1_000, 500_000),
            },
            count: dice.happens(50).then(|| dice.between(1, 30)),
            outstanding: dice.pick(&[1, 1, 4]),
        }),
        3 | 4 => app::Config::Poisson(app::Poisson {
            interval: dice.micros(5_000, 500_000),
            sizes: sizes(dice),
            connections: dice.pick(&[app::Connections::New, app::Connections::Kept]),
            count: dice.happens(50).then(|| dice.between(1, 100)),
        }),
        5 => app::Config::RateLimited(app::RateLimited {
            rate: Rate::from_bits_per_sec(dice.magnitude(50_000, 20_000_000)),
            write: Bytes::new(5_000),
            backlog: Bytes::new(50_000),
            deadline: None,
        }),
        6 => app::Config::Video(app::Video::default()),
        _ => app::Config::Bulk,
    }
}
