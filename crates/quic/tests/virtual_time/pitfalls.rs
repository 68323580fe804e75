//! Known errors of BBR implementations, each on a path that shows it. The simulator's tests have the same, and several
//! flows. `pacing` tests bursts.

use std::sync::Arc;

use congestion::{ControllerKind, Duration, Phase, Rate, Ratio, Time};
use path::{Aggregation, Change, Jitter, PathConfig, Reorder};
use quic::controller::factory;

use crate::world::{Samples, World, limit_bps, simple_path};

const BBRS: [ControllerKind; 2] = [ControllerKind::Bbr1, ControllerKind::Bbr3];
const SECOND: Duration = Duration::from_secs(1);

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn world(kind: ControllerKind, path: PathConfig) -> (World, Arc<Samples>) {
    let samples = Arc::new(Samples::default());
    let world = World::new(path, 1, factory(kind, 1, Some(samples.clone())));
    (world, samples)
}

fn bulk(kind: ControllerKind, path: PathConfig) -> World {
    let (mut world, _) = world(kind, path);
    world.write(u64::MAX);
    world
}

/// The share of the limit of `rate` that arrives within the next seconds.
fn share(world: &mut World, rate: &str, secs: u64) -> f64 {
    let before = world.received;
    world.run(SECOND * secs);
    let bits = (world.received - before) as f64 * 8.0;
    bits / secs as f64 / limit_bps(world, rate, "0%")
}

/// The flow has a tenth of the path's rate in small writes, and then more than the path can carry.
#[test]
fn applications_neither_starve_nor_stay_in_startup_for_ever() {
    for kind in BBRS {
        let (mut world, samples) = world(kind, simple_path("20mbit", 40, 4, "0%"));
        let phase = || {
            samples
                .0
                .lock()
                .unwrap()
                .last()
                .unwrap()
                .snapshot
                .state
                .phase
        };
        for _ in 0..250 {
            world.write(10_000);
            world.run(millis(40));
        }
        assert!(world.received >= 249 * 10_000, "{kind}: {}", world.received);
        assert_eq!(phase(), Phase::Startup, "{kind}");
        assert!(samples.rtt_ms(0.5) < 50.0, "{kind}");
        world.write(u64::MAX);
        world.run(SECOND);
        assert_ne!(phase(), Phase::Startup, "{kind}");
        let share = share(&mut world, "20mbit", 3);
        assert!(share > 0.8, "{kind}: {share}");
    }
}

/// The BDP is one packet.
#[test]
fn the_window_does_not_freeze_on_a_path_of_100_microseconds() {
    for kind in BBRS {
        let mut path = simple_path("100mbit", 1, 20, "0%");
        path.forward.delay = Duration::from_micros(50);
        path.reverse.delay = Duration::from_micros(50);
        let mut world = bulk(kind, path);
        let share = share(&mut world, "100mbit", 1);
        assert!(share > 0.8, "{kind}: {share}");
    }
}

/// Jitter must not let most packets overtake three others: with a packet threshold of three, that is loss (RFC 9002,
/// "Packet Threshold"), whatever the controller.
#[test]
fn jitter_reordering_and_aggregation_cost_little() {
    let (rate, rtt) = ("10mbit", millis(40));
    let jitter = Some(Jitter::from(rtt / 2));
    let reorder = |percent, by| {
        Some(Reorder {
            share: Ratio::new(percent, 100),
            by,
        })
    };
    let aggregation = |ms| {
        Some(Aggregation {
            interval: millis(ms),
        })
    };
    let clean = simple_path(rate, 40, 4, "0%");
    let mut paths = vec![clean.clone(); 7];
    paths[0].forward.effects.jitter = jitter;
    paths[1].reverse.effects.jitter = jitter;
    paths[2].forward.effects.reorder = reorder(1, rtt / 4);
    paths[3].forward.effects.reorder = reorder(1, rtt);
    paths[4].reverse.effects.aggregation = aggregation(10);
    paths[5].reverse.effects.aggregation = aggregation(50);
    paths[6].forward.effects.aggregation = aggregation(50);
    for kind in BBRS {
        let all = share(&mut bulk(kind, clean.clone()), rate, 10);
        for (index, path) in paths.iter().enumerate() {
            let rest = share(&mut bulk(kind, path.clone()), rate, 10) / all;
            println!("{kind}, path {index}: {rest:.3}");
            assert!(rest > 0.85, "{kind}, path {index}: {rest}");
        }
    }
}

/// QUIC probes after twice the time of the last probe, so the path may be back for as long as it was gone (RFC 9002,
/// "Computing PTO").
#[test]
fn ten_seconds_of_blackout_are_no_stall() {
    for kind in BBRS {
        let mut world = bulk(kind, simple_path("10mbit", 40, 2, "0%"));
        world.run(SECOND * 5);
        world.is_cut = true;
        world.run(SECOND * 10);
        world.is_cut = false;
        world.run(SECOND * 10);
        let share = share(&mut world, "10mbit", 5);
        println!("{kind}: {share:.3}");
        assert!(share > 0.9, "{kind}: {share}");
    }
}

#[test]
fn ten_times_as_much_or_as_little_is_found() {
    for kind in BBRS {
        for (rate, rtt) in [
            ("500kbit", 40),
            ("50mbit", 40),
            ("5mbit", 4),
            ("5mbit", 400),
        ] {
            let mut path = simple_path("5mbit", 40, 2, "0%");
            let change = |rate: Option<&str>| Change {
                at: Time::ZERO + SECOND * 5,
                rate: rate.map(|rate| rate.parse::<Rate>().unwrap()),
                delay: Some(millis(rtt) / 2),
                mtu: None,
            };
            path.forward.changes = vec![change(Some(rate))];
            path.reverse.changes = vec![change(None)];
            let mut world = bulk(kind, path);
            world.run(SECOND * 25);
            let share = share(&mut world, rate, 10);
            println!("{kind}, {rate} x {rtt} ms: {share:.3}");
            assert!(share > 0.7, "{kind}, {rate} x {rtt} ms: {share}");
        }
    }
}

/// Packets of the discovered size vanish; then the path takes them again.
#[test]
fn a_change_of_the_mtu_is_no_stall() {
    for kind in BBRS {
        let mut world = bulk(kind, simple_path("10mbit", 40, 2, "0%"));
        world.run(SECOND * 5);
        let before = world.sender_stats().current_mtu;
        world.max_datagram = 1_300;
        world.run(SECOND * 2);
        let less = share(&mut world, "10mbit", 4);
        let after = world.sender_stats().current_mtu;
        println!("{kind}: {before} {after} {less:.3}");
        assert!(after < before && less > 0.85, "{kind}: {after}, {less}");
    }
}
