//! The purpose of BBR's packet conservation after a loss.

use congestion::bbr1::{self, Bbr1};
use congestion::{Bytes, Time};
use path::Policer;
use sim::{FlowConfig, MakeController, dumbbell};

use crate::support::{at_millis, mbit, millis, path, run};

/// Packets that a flow loses in twenty seconds from its start, with the conservation and without it.
fn lost(policer: Option<Policer>, bdps: u64, seed: u64) -> (u64, u64) {
    let (rate, rtt) = (mbit(20), millis(40));
    let mut path = path(rate, rtt, rate.bytes_in(rtt) * bdps);
    path.forward.effects.policer = policer;
    let of = |conserves_packets| {
        let config = bbr1::Config {
            conserves_packets,
            ..bbr1::Config::linux_4_19()
        };
        let bbr = MakeController::new(move |connection| Bbr1::new(connection, config));
        let mut network = dumbbell(path.clone(), vec![FlowConfig::with_controller(bbr)]);
        network.seed = seed;
        let run = run(network, Time::ZERO, at_millis(20_000));
        run.flows[0].stats.packets_lost
    };
    (of(true), of(false))
}

#[test]
fn a_third_less_is_lost_in_a_buffer_of_a_bdp() {
    for seed in 1..=4 {
        let (with, without) = lost(None, 1, seed);
        assert!(with > 0 && with * 3 < without * 2, "{with} and {without}");
    }
}

/// The claim `transient-loss` has the same over whole series.
#[test]
fn at_a_policer_the_seed_decides() {
    let policer = Policer {
        rate: mbit(5),
        burst: Bytes::new(100_000),
    };
    let runs: Vec<(u64, u64)> = (1..=16).map(|seed| lost(Some(policer), 4, seed)).collect();
    assert!(
        runs.iter().any(|(with, without)| with * 4 < without * 3),
        "{runs:?}"
    );
    assert!(
        runs.iter().any(|(with, without)| with > without),
        "{runs:?}"
    );
}
