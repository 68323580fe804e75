//! ProbeBW: steady state, and paths that change.

use congestion::bbr1::{Bbr1, Config};
use congestion::{Bytes, Duration, Rate, Ratio};
use path::{Aggregation, Change};

use super::bulk;
use crate::support::{Flow, at_ms, connection, mbit, path};

const RTPROP: Duration = Duration::from_millis(40);

#[test]
fn full_pipe_empty_queue() {
    for (rate, rtprop_ms) in [(10, 40), (100, 10), (100, 100), (1_000, 20)] {
        let (rate, rtprop) = (mbit(rate), Duration::from_millis(rtprop_ms));
        let mut flow = bulk(path(rate, rtprop, Ratio::new(4, 1), Ratio::ZERO));
        flow.run_until(at_ms(9_000));
        let (from, to) = (at_ms(2_000), at_ms(9_000));
        let goodput = flow.goodput(from, to);
        assert!(
            goodput >= rate.scale(Ratio::new(95, 100)),
            "{goodput} of {rate}"
        );
        let median = flow.median_rtt(from, to);
        assert!(median <= rtprop * 11 / 10, "{median} over {rtprop}");
        assert_eq!(flow.points.last().expect("points").lost, Bytes::ZERO);
    }
}

/// The criterion for the end of a phase decides how much of the queue is drained: Linux leaves the three bursts in its
/// own queues.
#[test]
fn room_for_the_end_hosts_at_the_end_of_a_phase_is_a_queue() {
    let median = |config| {
        let path = path(mbit(10), RTPROP, Ratio::new(25, 1), Ratio::ZERO);
        let mut flow = Flow::bulk(Bbr1::new(connection(1), config), path);
        flow.run_until(at_ms(9_000));
        flow.median_rtt(at_ms(2_000), at_ms(9_000))
    };
    let (plain, linux) = (median(Config::default()), median(Config::linux()));
    assert!(plain <= RTPROP * 108 / 100, "{plain}");
    assert!(linux > plain && linux <= RTPROP * 130 / 100, "{linux}");
}

#[test]
fn the_bandwidth_estimate_is_flat_over_the_gain_cycle() {
    let rate = mbit(10);
    let mut flow = bulk(path(rate, RTPROP, Ratio::new(4, 1), Ratio::ZERO));
    flow.run_until(at_ms(9_000));
    for point in flow.between(at_ms(2_000), at_ms(9_000)) {
        let bw = point.snapshot.btl_bw.expect("known");
        assert!(
            bw >= rate.scale(Ratio::new(99, 100)),
            "{bw} at {:?}",
            point.now
        );
        assert!(
            bw <= rate.scale(Ratio::new(101, 100)),
            "{bw} at {:?}",
            point.now
        );
    }
}

#[test]
fn the_gain_cycle_shows_in_the_round_trip_time() {
    let mut flow = bulk(path(mbit(10), RTPROP, Ratio::new(4, 1), Ratio::ZERO));
    flow.run_until(at_ms(9_000));
    let steady = flow.between(at_ms(2_000), at_ms(9_000));
    let most = steady.iter().map(|point| point.rtt).max().expect("points");
    assert!(
        most >= RTPROP * 115 / 100,
        "probing fills the queue a little: {most}"
    );
    assert!(most <= RTPROP * 145 / 100, "and only a little: {most}");
    let gains: Vec<_> = steady
        .iter()
        .map(|point| point.snapshot.pacing_gain)
        .collect();
    for gain in [Ratio::new(5, 4), Ratio::new(3, 4), Ratio::ONE] {
        assert!(gains.contains(&Some(gain)));
    }
}

fn with_rates(changes: &[(u64, Rate)], first: Rate) -> path::PathConfig {
    let mut config = path(first, RTPROP, Ratio::new(8, 1), Ratio::ZERO);
    config.forward.changes = changes
        .iter()
        .map(|(ms, rate)| Change {
            at: at_ms(*ms),
            rate: Some(*rate),
            ..Change::default()
        })
        .collect();
    config
}

#[test]
fn a_doubled_rate_is_found_within_two_seconds() {
    let mut flow = bulk(with_rates(&[(5_000, mbit(20))], mbit(10)));
    flow.run_until(at_ms(9_000));
    let estimate = flow.between(at_ms(7_000), at_ms(9_000))[0].snapshot.btl_bw;
    assert!(estimate >= Some(mbit(19)), "{estimate:?}");
    let goodput = flow.goodput(at_ms(7_000), at_ms(9_000));
    assert!(goodput >= mbit(19), "{goodput}");
    assert!(flow.median_rtt(at_ms(7_500), at_ms(9_000)) <= RTPROP * 11 / 10);
}

/// BBR as in the paper's text, whose gain cycle is `percent` above and below one.
fn cycling(percent: u32, path: path::PathConfig) -> Flow<Bbr1> {
    let config = Config {
        peak_gain: Ratio::new(100 + percent, 100),
        trough_gain: Ratio::new(100 - percent, 100),
        ..Config::paper()
    };
    Flow::bulk(Bbr1::new(connection(1), config), path)
}

/// Pacing at BtlBw makes the sender the bottleneck, which cannot see that the network's has become faster.
#[test]
fn without_a_gain_above_one_more_bandwidth_is_not_seen() {
    let mut flow = cycling(0, with_rates(&[(5_000, mbit(20))], mbit(10)));
    flow.run_until(at_ms(14_000));
    let goodput = flow.goodput(at_ms(12_000), at_ms(14_000));
    assert!(goodput <= mbit(11), "{goodput}");
}

/// A max-plus system: the greatest gain decides how fast it adapts, and the mean gain how much queue there is.
#[test]
fn the_peak_gain_sets_the_growth_and_the_mean_gain_the_queue() {
    for percent in [10, 25, 50] {
        let mut flow = cycling(percent, with_rates(&[(5_000, mbit(20))], mbit(10)));
        flow.run_until(at_ms(9_900));
        let steady = flow.median_rtt(at_ms(2_000), at_ms(5_000));
        assert!(steady <= RTPROP * 108 / 100, "{percent} %: {steady}");
        let change = flow.between(at_ms(5_000), at_ms(9_900));
        let found = change
            .iter()
            .find(|point| point.snapshot.btl_bw >= Some(mbit(19)));
        let took = found.expect("the new rate").now.since(at_ms(5_000));
        let cycles = took.as_secs_f64() / (RTPROP * 8).as_secs_f64();
        let wanted = (19.0_f64 / 10.0).ln() / (1.0 + f64::from(percent) / 100.0).ln();
        assert!(
            (wanted - 1.0..wanted + 2.0).contains(&cycles),
            "{percent} %: {cycles} of {wanted} cycles"
        );
    }
}

#[test]
fn a_halved_rate_is_followed_when_the_old_one_leaves_the_window() {
    let mut flow = bulk(with_rates(&[(5_000, mbit(10))], mbit(20)));
    flow.run_until(at_ms(12_000));
    // Until then cwnd bounds what is in flight to 2 old BDP, 4 new ones: ten rounds of a little more than 4 RTprop.
    let most = flow
        .points
        .iter()
        .map(|point| point.rtt)
        .max()
        .expect("points");
    assert!(most <= RTPROP * 45 / 10, "{most}");
    let followed = at_ms(5_000) + most * 10;
    let estimate = flow.between(followed, at_ms(9_000))[0].snapshot.btl_bw;
    assert!(
        estimate <= Some(mbit(10).scale(Ratio::new(102, 100))),
        "{estimate:?}"
    );
    // A round later no more than 2 new BDP and the end hosts' share are in flight. The pacing margin of 1 % takes that
    // down over the next seconds, ProbeRTT, ten seconds after the start, what is left; see the next test.
    let rtt = |ms| flow.median_rtt(at_ms(ms), at_ms(ms + 300));
    let bounded = flow.median_rtt(followed + most, followed + most + RTPROP * 2);
    assert!(bounded <= RTPROP * 24 / 10, "{bounded}");
    assert!(rtt(9_500) <= RTPROP * 15 / 10, "{}", rtt(9_500));
    assert!(rtt(11_000) <= RTPROP * 12 / 10, "{}", rtt(11_000));
    let goodput = flow.goodput(at_ms(6_000), at_ms(10_000));
    assert!(goodput >= mbit(10).scale(Ratio::new(98, 100)), "{goodput}");
}

/// A standing queue persists after the old maximum has left the window, until ProbeRTT, except for the pacing margin;
/// in Linux's BBR and the paper's alike. A gain cycle sends as much in the phase at 5/4 as it saves in that at 3/4: the
/// latter ends after an RTprop even if more than the BDP is still in flight, and the former starts however much is in
/// flight. So the window of 2 BDP stays in use, one of them as a queue.
#[test]
fn the_gain_cycle_alone_does_not_drain_a_standing_queue() {
    let mut flow = Flow::bulk(
        Bbr1::new(connection(1), Config::paper()),
        with_rates(&[(5_000, mbit(10))], mbit(20)),
    );
    flow.run_until(at_ms(14_000));
    let probe_rtt = flow.first_in("ProbeRTT").expect("after ten seconds").now;
    assert!(probe_rtt > at_ms(9_500), "{probe_rtt:?}");
    for ms in (7_500..9_500).step_by(500) {
        let rtt = flow.median_rtt(at_ms(ms), at_ms(ms + 500));
        assert!(rtt >= RTPROP * 16 / 10 && rtt <= RTPROP * 21 / 10, "{rtt}");
    }
    let after = flow.median_rtt(at_ms(11_000), at_ms(14_000));
    assert!(after <= RTPROP * 12 / 10, "{after}");
}

fn aggregated(config: Config) -> Rate {
    let rate = mbit(100);
    let mut path = path(rate, RTPROP / 4, Ratio::new(4, 1), Ratio::ZERO);
    path.reverse.effects.aggregation = Some(Aggregation {
        interval: Duration::from_millis(10),
    });
    let mut flow = Flow::bulk(Bbr1::new(connection(1), config), path);
    flow.run_until(at_ms(6_000));
    flow.goodput(at_ms(1_000), at_ms(6_000))
}

#[test]
fn aggregated_acks_do_not_stall_it() {
    let goodput = aggregated(Config::default());
    assert!(goodput >= mbit(95), "{goodput}");
}

#[test]
fn a_cwnd_gain_of_one_without_compensation_would_stall() {
    let goodput = aggregated(Config {
        cwnd_gain: Ratio::ONE,
        ..Config::paper()
    });
    assert!(goodput <= mbit(80), "{goodput}");
}

#[test]
fn the_papers_settings_fill_the_pipe_too() {
    let rate = mbit(10);
    let path = path(rate, RTPROP, Ratio::new(4, 1), Ratio::ZERO);
    let mut flow = Flow::bulk(Bbr1::new(connection(1), Config::paper()), path);
    flow.run_until(at_ms(9_000));
    let goodput = flow.goodput(at_ms(2_000), at_ms(9_000));
    assert!(goodput >= rate.scale(Ratio::new(97, 100)), "{goodput}");
    let median = flow.median_rtt(at_ms(2_000), at_ms(9_000));
    assert!(median <= RTPROP * 12 / 10, "{median}");
}
