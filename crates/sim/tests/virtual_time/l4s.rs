//! L4S: Prague and CUBIC over DualPI2.

use congestion::{Bytes, ControllerKind, Duration};
use path::{Discipline, DualPi2};
use sim::{Config, FlowConfig, dumbbell};

use crate::support::{Watch, at_millis, limit, mbit, millis, path, quantile, run};

const MBIT: u64 = 40;
const RTT: Duration = millis(20);

/// Flows over 40 Mbit/s and 20 ms, seen from 10 to 40 s.
fn over_dualpi2(kinds: &[ControllerKind], seed: u64) -> Watch {
    let mut path = path(mbit(MBIT), RTT, Bytes::new(15_000_000));
    path.forward.effects.queue = Discipline::DualPi2(DualPi2::default());
    let flows = kinds.iter().map(|kind| FlowConfig::new(*kind)).collect();
    let config = Config {
        seed,
        ..dumbbell(path, flows)
    };
    run(config, at_millis(10_000), at_millis(40_000))
}

/// The time in the queue: the RTT without propagation and transmission.
fn queue(watch: &Watch, flow: usize, share: f64) -> Duration {
    let empty = RTT + mbit(MBIT).time_for(Bytes::new(1500));
    quantile(&watch.flows[flow].rtts, share).saturating_sub(empty)
}

#[test]
fn a_classic_flow_has_the_targets_delay() {
    let watch = over_dualpi2(&[ControllerKind::Cubic], 1);
    let median = queue(&watch, 0, 0.5);
    assert!((millis(10)..millis(20)).contains(&median), "{median}");
    let share = watch.goodput(0, at_millis(40_000)) / limit(mbit(MBIT), 0);
    assert!(share > 0.97, "{share}");
}

#[test]
fn a_scalable_flow_has_next_to_no_delay_and_the_rate() {
    let watch = over_dualpi2(&[ControllerKind::Prague], 1);
    let (median, late) = (queue(&watch, 0, 0.5), queue(&watch, 0, 0.99));
    assert!(median < millis(1) && late < millis(2), "{median}, {late}");
    let share = watch.goodput(0, at_millis(40_000)) / limit(mbit(MBIT), 0);
    assert!(share > 0.95, "{share}");
    assert_eq!(watch.flows[0].stats.packets_lost, 0);
}

#[test]
fn both_share_the_rate_and_keep_their_delays() {
    let watch = over_dualpi2(&[ControllerKind::Prague, ControllerKind::Cubic], 1);
    let [prague, cubic] = [0, 1].map(|flow| watch.goodput(flow, at_millis(40_000)));
    let ratio = prague / cubic;
    assert!((0.5..2.0).contains(&ratio), "{prague} {cubic}");
    let (low, classic) = (queue(&watch, 0, 0.99), queue(&watch, 1, 0.5));
    assert!(low < millis(2), "{low}");
    assert!((millis(10)..millis(20)).contains(&classic), "{classic}");
}
