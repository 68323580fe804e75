//! Paths of other kinds, and that change.

use congestion::{Bytes, Duration, Rate, Ratio};
use path::Policer;

use crate::support::{MSS, Point, kbit, mbit};
use crate::{
    CRUISE, LATE, UP, assert_within, at_secs, bulk, changing, clean, millis, rounds, state, stays,
};

#[test]
fn correctly_managing_sub_packet_bdps() {
    // 1.
    for (rate, rtt) in [(kbit(64), millis(10)), (mbit(1), millis(1))] {
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
    for (rate, rtt) in paths_that_change() {
        // 1, 2. Losses of Startup have set the bound.
        let path = crate::path(rate, rtt, Ratio::new(1, 2), Ratio::ZERO);
        let more = rate.scale(Ratio::new(10, 1));
        let mut before = bulk(path.clone());
        while before
            .run_until_in(CRUISE, LATE)
            .long_term_inflight
            .is_none()
        {
            before.run_until_in(UP, LATE);
        }
        let from = before.now();
        let mut flow = bulk(changing(path, from, more));
        flow.run_until(from);
        let end = from + millis(6_000);
        let is_found = |point: &Point| point.snapshot.btl_bw >= Some(more.scale(Ratio::new(9, 10)));
        while !flow.points.last().is_some_and(is_found) {
            assert!(flow.now() < end, "{rate}, {rtt}");
            flow.run_until(flow.now() + rtt);
        }
        // 3. The steps by round of the probe that found the new rate.
        let stays = stays(flow.between(from, end));
        let up = stays.iter().rfind(|stay| state(stay) == UP);
        let up = up.expect("probes");
        let bounds: Vec<Bytes> = up
            .chunk_by(|a, b| a.snapshot.round == b.snapshot.round)
            .filter_map(|round| round[round.len() - 1].snapshot.long_term_inflight)
            .collect();
        let steps: Vec<u64> = bounds
            .windows(2)
            .map(|pair| (pair[1] - pair[0]).get() / MSS.get())
            .collect();
        // Where the window is not the limit, or for a part of the round only, it grows by less.
        let mut greatest = Vec::new();
        for step in &steps {
            if greatest.last().is_none_or(|last| step > last) {
                greatest.push(*step);
            }
        }
        let doublings = greatest
            .windows(2)
            .filter(|pair| pair[0] > 1 && pair[1] + 1 >= pair[0] * 2);
        assert!(doublings.count() >= 3, "{rate}, {rtt}: {steps:?}");
        // 4. Of the rounds those count in which it probed and could find more: a precautionary probe ends at the bound.
        let bound = |point: &Point| point.snapshot.long_term_inflight;
        let probes = stays.iter().filter(|stay| state(stay) == UP);
        let probes = probes.filter(|stay| bound(&stay[stay.len() - 1]) > bound(&stay[0]));
        let rounds: u64 = probes
            .map(|stay| rounds(stay, &stay[stay.len() - 1..]))
            .sum();
        let packets = more.bytes_in(rtt).get() / MSS.get();
        let most = (packets as f64).log2() * 3.0;
        assert!(
            rounds as f64 <= most,
            "{rate}, {rtt}: {rounds} rounds, {packets} packets"
        );
    }
}

#[test]
fn decreasing_bandwidth_10x_and_ensuring_max_bandwidth_adapts_down() {
    for (less, rtt) in paths_that_change() {
        let rate = less.scale(Ratio::new(10, 1));
        // 1, 2.
        let path = crate::path(rate, rtt, Ratio::new(1, 4), Ratio::ZERO);
        let mut before = bulk(path.clone());
        before.run_until_in(CRUISE, LATE);
        let from = before.now();
        let mut flow = bulk(changing(path, from, less));
        flow.run_until(from);
        assert_within(flow.snapshot().btl_bw.expect("known"), rate, 2);
        // 3.
        flow.run_until(from + millis(2_000));
        let least = flow
            .between(from, from + millis(2_000))
            .iter()
            .filter_map(|point| point.snapshot.short_term_bw)
            .min();
        assert!(
            least.is_some_and(|bw| bw < less.scale(Ratio::new(3, 1))),
            "{rate}, {rtt}: {least:?}"
        );
        // 4. Two cycles take at most three seconds each, and rounds with a queue.
        flow.run_until(from + millis(10_000));
        assert_within(flow.snapshot().btl_bw.expect("known"), less, 5);
        let goodput = flow.goodput(from + millis(5_000), flow.now());
        assert!(
            goodput > less.scale(Ratio::new(9, 10)),
            "{rate}, {rtt}: {goodput}"
        );
    }
}

#[test]
fn handling_token_bucket_policers() {
    // With a BDP of eight packets, a probe comes so soon that what it loses is a larger share (`docs/bbr3.md`).
    for (policed, rtt, most) in [
        (mbit(1), millis(100), 0.1),
        (mbit(10), millis(100), 0.05),
        (mbit(10), millis(40), 0.05),
        (mbit(100), millis(10), 0.05),
        (mbit(100), millis(1), 0.1),
    ] {
        // 1. The bucket holds two BDP of the tokens' rate.
        let rate = policed.scale(Ratio::new(10, 1));
        let mut path = clean(rate, rtt, 4);
        path.forward.effects.policer = Some(Policer {
            rate: policed,
            burst: policed.bytes_in(rtt) * 2,
        });
        // 2.
        let mut flow = bulk(path);
        flow.run_until(at_secs(30));
        // 3. In each CRUISE with losses, two rounds later.
        let mut seen = 0;
        for stay in stays(flow.between(at_secs(5), at_secs(30))) {
            let first = stay.iter().find(|point| point.lost > stay[0].lost);
            let Some(first) = first.filter(|_| state(stay) == CRUISE) else {
                continue;
            };
            let mut later = stay
                .iter()
                .filter(|point| point.snapshot.round > first.snapshot.round + 2);
            let Some(end) = later.next_back() else {
                continue;
            };
            seen += 1;
            let bound = end.snapshot.short_term_bw.expect("a bound");
            let most = policed.scale(Ratio::new(5, 3));
            assert!(bound <= most, "{policed}, {rtt}: {bound}");
            assert!(end.snapshot.short_term_inflight.is_some());
        }
        assert!(seen >= 3, "{policed}, {rtt}: {seen}");
        // 4.
        let late = flow.between(at_secs(15), at_secs(30));
        let (first, last) = (late[0], late[late.len() - 1]);
        let lost = (last.lost - first.lost).get() as f64 / (last.sent - first.sent).get() as f64;
        let goodput = flow.goodput(at_secs(15), at_secs(30));
        assert!(lost < most, "{policed}, {rtt}: {lost}");
        let least = policed.scale(Ratio::new(8, 10));
        assert!(goodput > least, "{policed}, {rtt}: {goodput}");
    }
}

/// The lower rate before or after a change by ten, on long and short paths.
fn paths_that_change() -> [(Rate, Duration); 4] {
    [
        (mbit(1), millis(100)),
        (mbit(10), millis(40)),
        (mbit(100), millis(10)),
        (mbit(1_000), millis(1)),
    ]
}
