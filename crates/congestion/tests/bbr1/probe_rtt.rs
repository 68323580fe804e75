//! ProbeRTT.

use congestion::bbr1::{Bbr1, Config};
use congestion::{Bytes, Duration, Ratio, Time};

use super::{bbr1, bulk};
use crate::support::{Flow, MSS, Point, at_ms, connection, mbit, path};

const RTPROP: Duration = Duration::from_millis(40);

/// The stays in ProbeRTT, as the first point of each and the first after it.
fn stays(points: &[Point]) -> Vec<(Point, Point)> {
    let chunks: Vec<&[Point]> = points
        .chunk_by(|a, b| a.snapshot.state == b.snapshot.state)
        .collect();
    chunks
        .windows(2)
        .filter(|pair| pair[0][0].snapshot.state.name == "ProbeRTT")
        .map(|pair| (pair[0][0], pair[1][0]))
        .collect()
}

#[test]
fn at_most_once_in_ten_seconds_and_at_least_200_ms() {
    let mut flow = bulk(path(mbit(10), RTPROP, Ratio::new(4, 1), Ratio::ZERO));
    flow.run_until(at_ms(35_000));
    let stays = stays(&flow.points);
    assert_eq!(stays.len(), 3);
    for pair in stays.windows(2) {
        let apart = pair[1].0.now.since(pair[0].1.now);
        assert!(apart >= Duration::from_secs(10), "{apart}");
    }
    for (first, last) in &stays {
        let least: Vec<_> = flow
            .between(first.now, last.now)
            .iter()
            .filter(|point| point.inflight <= MSS * 4)
            .collect();
        let (from, to) = (least[0].now, last.now);
        let length = to.since(from);
        assert!(length >= Duration::from_millis(200), "{length}");
        assert!(
            length <= Duration::from_millis(200) + RTPROP * 2,
            "{length}"
        );
        assert_eq!(least[least.len() / 2].snapshot.cwnd, MSS * 4);
        let later = flow.between(from + Duration::from_millis(100), to);
        // At its ACK, the packet that it lets go is not in flight yet.
        let inflight = later.iter().map(|point| point.inflight + MSS);
        assert_eq!(inflight.max(), Some(MSS * 4));
        let emptied = flow.between(from, to).iter().map(|point| point.rtt).min();
        assert!(
            emptied <= Some(RTPROP + Duration::from_millis(2)),
            "{emptied:?}"
        );
    }
}

/// A flow alone empties the queue in each gain cycle and sees its RTprop again. Until November 2020, that was enough for
/// Linux.
#[test]
fn a_flow_of_linux_4_19_that_is_alone_needs_none() {
    let of_its_time = Config::linux_4_19().off_host();
    let today = Config {
        does_equal_rtt_renew: false,
        ..of_its_time
    };
    for (config, expected) in [(of_its_time, 0), (today, 3)] {
        let bbr1 = Bbr1::new(connection(1), config);
        let mut flow = Flow::bulk(bbr1, path(mbit(10), RTPROP, Ratio::new(4, 1), Ratio::ZERO));
        flow.run_until(at_ms(35_000));
        assert_eq!(stays(&flow.points).len(), expected, "{config:?}");
    }
}

#[test]
fn costs_about_two_percent_and_leaves_the_estimate_alone() {
    let rate = mbit(10);
    let mut flow = bulk(path(rate, RTPROP, Ratio::new(4, 1), Ratio::ZERO));
    flow.run_until(at_ms(35_000));
    let goodput = flow.goodput(at_ms(2_000), at_ms(34_000));
    assert!(goodput >= rate.scale(Ratio::new(95, 100)), "{goodput}");
    for point in flow.between(at_ms(2_000), at_ms(35_000)) {
        let bw = point.snapshot.btl_bw.expect("known");
        assert!(
            bw >= rate.scale(Ratio::new(98, 100)),
            "{bw} at {:?}",
            point.now
        );
    }
}

#[test]
fn the_window_of_before_is_restored() {
    let mut flow = bulk(path(mbit(10), RTPROP, Ratio::new(4, 1), Ratio::ZERO));
    flow.run_until(at_ms(15_000));
    let (first, last) = stays(&flow.points)[0];
    let before = flow.between(Time::ZERO, first.now).last().expect("points");
    let after = flow.between(last.now, at_ms(15_000))[1];
    assert_eq!(after.snapshot.state.name, "ProbeBW");
    assert!(after.snapshot.cwnd >= before.snapshot.cwnd - MSS * 10);
}

#[test]
fn skipped_when_the_application_is_quiet_now_and_then() {
    // A chunk of 20 packets each 730 ms: the pipe is empty most of the time.
    let writes = (0..60).map(|i| (at_ms(730 * i), MSS * 20));
    let path = path(mbit(10), RTPROP, Ratio::new(4, 1), Ratio::ZERO);
    let mut flow = Flow::with_writes(bbr1(), path, writes);
    flow.run_until(at_ms(40_000));
    assert!(stays(&flow.points).is_empty());
    assert!(flow.points.last().expect("points").delivered > Bytes::new(1_000_000));
}

#[test]
fn startup_goes_on_after_it() {
    // A trickle that always has something in flight: RTprop is not renewed by idleness, and the pipe is never full.
    let trickle = (0..1_200).map(|i| (at_ms(10 * i), MSS));
    let path = path(mbit(100), RTPROP, Ratio::new(4, 1), Ratio::ZERO);
    let mut flow = Flow::with_writes(bbr1(), path, trickle);
    flow.run_until(at_ms(12_000));
    let stays = stays(&flow.points);
    assert_eq!(stays.len(), 1);
    assert_eq!(stays[0].1.snapshot.state.name, "Startup");
}

#[test]
fn its_own_slow_rounds_do_not_lower_the_estimate() {
    // Forty round trips of four packets: far more than the estimate's window.
    let rate = mbit(100);
    let rtprop = Duration::from_millis(5);
    let mut flow = bulk(path(rate, rtprop, Ratio::new(4, 1), Ratio::ZERO));
    flow.run_until(at_ms(11_000));
    let (first, last) = stays(&flow.points)[0];
    assert!(last.snapshot.round - first.snapshot.round > 20);
    // The first samples that count are those of the round that refills the pipe; two gain cycles correct them.
    let least = |from, to, percent| {
        for point in flow.between(from, to) {
            let bw = point.snapshot.btl_bw.expect("known");
            assert!(bw >= rate.scale(Ratio::new(percent, 100)), "{bw}");
        }
    };
    least(at_ms(2_000), last.now, 98);
    least(last.now, last.now + rtprop * 20, 85);
    least(last.now + rtprop * 20, at_ms(11_000), 98);
}

#[test]
fn on_a_long_path_it_lasts_one_round() {
    let rtprop = Duration::from_millis(600);
    let mut flow = bulk(path(mbit(10), rtprop, Ratio::new(4, 1), Ratio::ZERO));
    flow.run_until(at_ms(16_000));
    let (first, last) = stays(&flow.points)[0];
    let stay = flow.between(first.now, last.now);
    let least = stay.iter().find(|point| point.inflight <= MSS * 4);
    let length = last.now.since(least.expect("reached").now);
    assert!(length >= rtprop && length <= rtprop * 2, "{length}");
}
