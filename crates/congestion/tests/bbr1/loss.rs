//! Loss, recovery, timeouts.

use congestion::bbr1::{Bbr1, Config, RecoveryEnd};
use congestion::{Bytes, Cause, Controller, Duration, Ratio, Recovery};
use path::Path;

use super::bulk;
use crate::support::{Flow, MSS, at_ms, connection, mbit, path};

const RTPROP: Duration = Duration::from_millis(100);

/// The share that a flow gets of what random loss leaves of 100 Mbit/s, after Startup.
fn share_at(loss_percent: u32, config: Config) -> f64 {
    let rate = mbit(100);
    let loss = Ratio::new(loss_percent, 100);
    let path = path(rate, RTPROP, Ratio::new(4, 1), loss);
    let mut flow = Flow::bulk(Bbr1::new(connection(1), config), path);
    flow.run_until(at_ms(20_000));
    let limit = rate.scale(Ratio::new(100 - loss_percent, 100));
    let goodput = flow.goodput(at_ms(2_000), at_ms(20_000));
    goodput.bytes_per_sec() as f64 / limit.bytes_per_sec() as f64
}

#[test]
fn random_loss_is_not_congestion() {
    for (loss_percent, least) in [(0, 0.95), (1, 0.93), (5, 0.90), (15, 0.80)] {
        let share = share_at(loss_percent, Config::default());
        assert!(share >= least, "{share} at {loss_percent} %");
    }
}

/// The cause that keeps a short path from that at 15 %: losses that by chance look like a policer's. The model is
/// Linux's with its threshold, so Linux's BBR does the same.
#[test]
fn near_the_policers_threshold_random_loss_is_taken_for_one() {
    let (rate, rtprop, loss) = (mbit(20), RTPROP * 4 / 10, Ratio::new(15, 100));
    let limit = rate.scale(Ratio::new(85, 100));
    let mean_share = |has_policer_model| {
        let config = Config {
            has_policer_model,
            ..Config::default()
        };
        let seeds = 10;
        let shares = (0..seeds).map(|seed| {
            let path = path(rate, rtprop, Ratio::new(4, 1), loss);
            let mut flow = Flow::bulk(Bbr1::new(connection(seed), config), path.clone());
            flow.path = Path::new(path, seed).expect("a path that makes sense");
            flow.run_until(at_ms(20_000));
            let goodput = flow.goodput(at_ms(2_000), at_ms(20_000));
            goodput.bytes_per_sec() as f64 / limit.bytes_per_sec() as f64
        });
        shares.sum::<f64>() / seeds as f64
    };
    let (with, without) = (mean_share(true), mean_share(false));
    assert!(without >= 0.8, "{without}");
    assert!((0.6..without).contains(&with), "{with}, without {without}");
}

#[test]
fn an_early_loss_does_not_end_startup() {
    let (rate, loss) = (mbit(100), Ratio::new(5, 100));
    for seed in 0..30 {
        let path = path(rate, RTPROP, Ratio::new(4, 1), loss);
        let mut flow = bulk(path.clone());
        flow.path = Path::new(path, seed).expect("a path that makes sense");
        flow.run_until(at_ms(2_500));
        let exit = flow.first_in("Drain").expect("Startup ends");
        let estimate = exit.snapshot.btl_bw;
        assert!(
            estimate >= Some(rate.scale(Ratio::new(9, 10))),
            "{estimate:?}, seed {seed}"
        );
    }
}

#[test]
fn a_recovery_each_round_trip_would_shrink_what_is_in_flight() {
    let literal = Config {
        recovery_end: RecoveryEnd::WithTransport,
        ..Config::default()
    };
    let share = share_at(5, literal);
    assert!(
        share <= 0.5,
        "{share}: then `AfterLossFreeRound` has no reason to be"
    );
}

/// Linux's BBR looks at the state when an ACK has been processed (`bbr_set_cwnd_to_recover_or_restore`).
#[test]
fn recoveries_within_an_ack_are_one() {
    let cwnd_after = |is_same_ack: bool| {
        let path = path(mbit(20), RTPROP, Ratio::new(4, 1), Ratio::ZERO);
        let mut flow = Flow::bulk(Bbr1::new(connection(1), Config::linux()), path);
        flow.run_until(at_ms(5_000));
        let entered = Recovery::Entered(Cause::Loss);
        let (mut now, saved) = (at_ms(5_000), flow.controller.cwnd());
        let controller = &mut flow.controller;
        controller.on_recovery(now, entered, Bytes::ZERO);
        now += RTPROP * 4;
        flow.run_until(now);
        flow.controller
            .on_recovery(now, Recovery::Left, Bytes::ZERO);
        if !is_same_ack {
            now += RTPROP / 10;
            flow.run_until(now);
        }
        flow.controller.on_recovery(now, entered, Bytes::ZERO);
        flow.run_until(now + RTPROP / 10);
        (flow.controller.cwnd(), saved)
    };
    let ((one, saved), (two, _)) = (cwnd_after(true), cwnd_after(false));
    assert!(one >= saved - MSS * 4, "{one} of {saved}");
    assert!(two * 4 <= saved * 3, "{two} of {saved}");
}

/// A flow that has been in ProbeBW for a while.
fn steady() -> Flow<Bbr1> {
    let mut flow = bulk(path(mbit(20), RTPROP, Ratio::new(4, 1), Ratio::ZERO));
    flow.run_until(at_ms(5_000));
    assert_eq!(flow.controller.snapshot().state.name, "ProbeBW");
    flow
}

fn inflight(flow: &Flow<Bbr1>) -> Bytes {
    flow.points.last().expect("points").inflight
}

#[test]
fn the_first_round_of_recovery_conserves_packets() {
    let mut flow = steady();
    let (before, saved) = (inflight(&flow), flow.controller.cwnd());
    let now = at_ms(5_000);
    let entered = Recovery::Entered(Cause::Loss);
    flow.controller.on_recovery(now, entered, before);
    assert_eq!(flow.controller.cwnd(), saved, "no ACK has told of it");
    let middle = now + RTPROP * 9 / 10;
    flow.run_until(middle);
    for point in flow.between(now, middle) {
        assert!(point.inflight <= before + MSS * 2, "{}", point.inflight);
        assert!(
            point.snapshot.cwnd <= before + MSS * 2,
            "{}",
            point.snapshot.cwnd
        );
    }
    // A second round without loss, and it is over.
    flow.controller
        .on_recovery(middle, Recovery::Left, inflight(&flow));
    flow.run_until(now + RTPROP * 4);
    assert!(
        flow.controller.cwnd() >= saved - MSS * 4,
        "{}",
        flow.controller.cwnd()
    );
}

#[test]
fn an_undone_recovery_restores_the_window_at_once() {
    let mut flow = steady();
    let saved = flow.controller.cwnd();
    let (now, inflight) = (at_ms(5_000), inflight(&flow));
    let entered = Recovery::Entered(Cause::Loss);
    flow.controller.on_recovery(now, entered, inflight);
    let later = now + RTPROP / 10;
    flow.run_until(later);
    assert!(flow.controller.cwnd() < saved);
    flow.controller
        .on_recovery(later, Recovery::Undone, inflight);
    assert_eq!(flow.controller.cwnd(), saved);
}

#[test]
fn ecn_changes_nothing() {
    let mut flow = steady();
    let before = flow.controller.snapshot();
    let entered = Recovery::Entered(Cause::Ecn);
    let (now, inflight) = (at_ms(5_000), inflight(&flow));
    flow.controller.on_recovery(now, entered, inflight);
    assert_eq!(flow.controller.snapshot(), before);
}

#[test]
fn a_timeout_leaves_one_packet_and_slow_starts() {
    let mut flow = steady();
    let (now, saved) = (at_ms(5_000), flow.controller.cwnd());
    flow.controller.on_timeout(now, Bytes::ZERO);
    assert_eq!(flow.controller.cwnd(), MSS);
    let growing = now + RTPROP;
    flow.run_until(growing);
    let mut last = (MSS, Bytes::ZERO);
    for point in flow.between(now, growing) {
        let acked = point.delivered - last.1;
        if last.1 > Bytes::ZERO {
            let grown = point.snapshot.cwnd - last.0;
            assert!(grown <= acked, "grew by {grown} for {acked}");
        }
        last = (point.snapshot.cwnd, point.delivered);
    }
    flow.controller
        .on_recovery(growing, Recovery::Left, inflight(&flow));
    flow.run_until(now + RTPROP * 5);
    assert!(flow.controller.cwnd() >= saved - MSS * 4);
    assert!(flow.controller.cwnd() <= saved + MSS * 4);
}
