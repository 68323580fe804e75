//! Paths of other kinds, and that change.

use congestion::{Bytes, Rate, Ratio};
use path::Policer;

use crate::support::{MSS, mbit};
use crate::{CRUISE, LATE, UP, after, assert_within, at_secs, bulk, changing, clean, millis};

#[test]
fn correctly_managing_sub_packet_bdps() {
    // 1.
    for (rate, rtt) in [
        (Rate::from_bits_per_sec(64_000), millis(10)),
        (mbit(1), millis(1)),
    ] {
        // 2.
        let mut flow = bulk(clean(rate, rtt, 1_000));
        flow.run_until_in(CRUISE, at_secs(100));
        let (from, to) = (flow.now(), flow.now() + rate.time_for(MSS * 1_000));
        flow.run_until(to);
        // 3.
        let points = flow.between(from, to);
        let least = points.iter().map(|point| point.snapshot.cwnd).min();
        assert_eq!(least, Some(MSS * 4), "{rate}");
        // 4.
        for point in points {
            if point.snapshot.state.name == CRUISE {
                assert_within(point.snapshot.pacing_rate, rate, 3);
            }
        }
        assert_within(flow.goodput(from, to), rate, 3);
    }
}

#[test]
fn increasing_bandwidth_10x_and_ensuring_full_bandwidth_is_reached() {
    let (rate, rtt) = (mbit(10), millis(40));
    // 1, 2. Losses of Startup have set the bound.
    let path = crate::path(rate, rtt, Ratio::new(1, 2), Ratio::ZERO);
    let mut flow = bulk(changing(path, at_secs(10), mbit(100)));
    flow.run_until(at_secs(10));
    assert!(flow.snapshot().long_term_inflight.is_some());
    flow.run_until(at_secs(25));
    // 3. The steps by round of the probe that found the new rate.
    let ups = after(flow.between(at_secs(10), LATE), UP);
    let (up, _) = ups
        .iter()
        .max_by_key(|(up, next)| crate::rounds(up, next))
        .expect("probes");
    let bounds: Vec<Bytes> = up
        .chunk_by(|a, b| a.snapshot.round == b.snapshot.round)
        .map(|round| {
            round[round.len() - 1]
                .snapshot
                .long_term_inflight
                .expect("set")
        })
        .collect();
    let steps: Vec<u64> = bounds
        .windows(2)
        .map(|pair| (pair[1] - pair[0]).get() / MSS.get())
        .collect();
    let doublings = steps
        .windows(2)
        .filter(|pair| pair[0] > 0 && pair[1] + 1 >= pair[0] * 2);
    assert!(doublings.count() >= 3, "{steps:?}");
    // 4.
    let found = flow
        .between(at_secs(10), LATE)
        .iter()
        .find(|point| point.snapshot.btl_bw >= Some(mbit(90)))
        .expect("found");
    assert!(found.now < at_secs(16), "{:?}", found.now);
}

#[test]
fn decreasing_bandwidth_10x_and_ensuring_max_bandwidth_adapts_down() {
    let (rate, rtt) = (mbit(100), millis(40));
    // 1, 2.
    let path = crate::path(rate, rtt, Ratio::new(1, 4), Ratio::ZERO);
    let mut flow = bulk(changing(path, at_secs(10), mbit(10)));
    flow.run_until(at_secs(10));
    assert_within(flow.snapshot().btl_bw.expect("known"), rate, 2);
    // 3.
    flow.run_until(at_secs(12));
    let least = flow
        .between(at_secs(10), at_secs(12))
        .iter()
        .filter_map(|point| point.snapshot.short_term_bw)
        .min();
    assert!(least.is_some_and(|bw| bw < mbit(30)), "{least:?}");
    // 4. Two cycles take at most three seconds each, and rounds with a queue.
    flow.run_until(at_secs(20));
    assert_within(flow.snapshot().btl_bw.expect("known"), mbit(10), 5);
    assert!(flow.goodput(at_secs(15), at_secs(20)) > mbit(9));
}

#[test]
fn handling_token_bucket_policers() {
    let rtt = millis(40);
    // 1.
    let mut path = clean(mbit(100), rtt, 4);
    path.forward.effects.policer = Some(Policer {
        rate: mbit(10),
        burst: Bytes::new(100_000),
    });
    // 2.
    let mut flow = bulk(path);
    flow.run_until(at_secs(30));
    // 3.
    let has_bounds = |point: &crate::Point| {
        point.snapshot.short_term_bw.is_some() && point.snapshot.short_term_inflight.is_some()
    };
    assert!(flow.points.iter().any(has_bounds));
    // 4.
    let late = flow.between(at_secs(15), LATE);
    let (first, last) = (late[0], late[late.len() - 1]);
    let lost = (last.lost - first.lost).get() as f64 / (last.sent - first.sent).get() as f64;
    assert!(lost < 0.05, "{lost}");
    let goodput = flow.goodput(at_secs(15), at_secs(30));
    assert!(goodput > mbit(8), "{goodput}");
}
