//! ProbeRTT.

use congestion::{Bytes, Ratio};

use path::Change;

use super::{
    Bbr3, CRUISE, Case, Config, LATE, MSS, PROBE_RTT, after, at_secs, bulk, cases_of_all_kinds,
    clean, millis, paths_with_many_packets, state,
};
use crate::support::{Flow, Mishap, connection, kbit, mbit};

#[test]
fn entering_and_exiting_probe_rtt() {
    // With a round trip of a second, ProbeRTT comes in Startup first.
    let slow = [
        (kbit(64), millis(10)),
        (kbit(64), millis(1_000)),
        (mbit(1), millis(1_000)),
    ];
    let slow = slow.map(|(rate, rtt)| Case {
        rate,
        rtt,
        quanta: 1,
    });
    for case in cases_of_all_kinds().into_iter().chain(slow) {
        let Case { rate, rtt, .. } = case;
        if rate > mbit(1_000) {
            continue; // millions of packets, and nothing new
        }
        // 1, 2.
        let path = clean(rate, rtt, if rate < mbit(1) { 1_000 } else { 8 });
        let mut flow = Flow::bulk(case.bbr3(), path);
        flow.run_until_in(CRUISE, LATE);
        let during = flow.run_until_in(PROBE_RTT, LATE);
        let from = flow.now();
        let seen = flow.points.partition_point(|point| point.now < from);
        let lowest = flow.points[..seen]
            .windows(2)
            .rfind(|pair| pair[1].snapshot.rtprop != pair[0].snapshot.rtprop);
        let lowest = lowest.map_or(flow.points[0].now, |pair| pair[1].now);
        let ends = after(&flow.points[..seen], PROBE_RTT);
        let waited = from.since(lowest.max(ends.last().map_or(lowest, |(_, next)| next[0].now)));
        let interval = millis(5_000);
        assert!(
            waited > interval && waited < interval + rtt * 10,
            "{case:?}: {waited}"
        );
        // 3.
        assert_eq!(during.cwnd_gain, Some(Ratio::new(1, 2)));
        flow.run_until_in(CRUISE, LATE);
        // 4, 5.
        let stays = after(&flow.points, PROBE_RTT);
        let (stay, next) = stays[stays.len() - 1];
        let entry = stay[0].snapshot;
        let bdp = entry.btl_bw.unwrap().bytes_in(entry.rtprop.unwrap());
        let least = Ratio::new(1, 2).of_bytes(bdp).max(MSS * 4);
        let low: Vec<_> = stay
            .iter()
            .filter(|point| point.inflight <= least)
            .collect();
        let length = next[0].now.since(low[0].now);
        // Four packets may take longer than a round trip.
        let round = rtt.max(rate.time_for(MSS * 3));
        let shortest = round.max(millis(200));
        assert!(length >= shortest, "{case:?}: {length}");
        assert!(length <= shortest + round * 2, "{case:?}: {length}");
        assert_eq!(state(next), CRUISE);
        let (from, to) = (flow.now() + round * 2, flow.now() + round * 12);
        flow.run_until(to);
        // The next ProbeRTT is due after 5 s.
        let mut points = flow.between(from, to).iter();
        let again = points.find(|point| point.snapshot.state.name == PROBE_RTT);
        let goodput = flow.goodput(from, again.map_or(to, |point| point.now));
        let least = rate.scale(Ratio::new(9, 10));
        assert!(goodput >= least, "{case:?}: {goodput}");
    }
}

#[test]
fn skipping_probe_rtt_due_to_application_limited_sending() {
    for (rate, rtt) in [
        (kbit(64), millis(100)),
        (mbit(10), millis(100)),
        (mbit(10), millis(1_000)),
        (mbit(100), millis(40)),
        (mbit(100), millis(4)),
    ] {
        // 1.
        let mut flow = bulk(clean(rate, rtt, 8));
        flow.run_until_in(CRUISE, LATE);
        // 2, 3.
        let again = flow.now() + millis(6_000);
        flow.set_writes([(again, Bytes::MAX)]);
        flow.run_until(again - millis(1));
        assert_eq!(flow.points.last().expect("points").inflight, Bytes::ZERO);
        // 4, 5. The first ACK finds the interval over, and renews it: ProbeRTT comes when that is over again.
        flow.run_until_in(PROBE_RTT, again + millis(6_500) + rtt * 2);
        let skipped = flow.now().since(again);
        assert!(skipped > millis(5_000), "{rate}, {rtt}: {skipped}");
        let states = flow.between(again, again + millis(5_000));
        assert!(!states.is_empty());
    }
}

/// `SaveCwnd` after `EnterProbeRTT` keeps the greater window of a recovery before. So ProbeRTT returns to a window of before the
/// losses, and not to the latest that neither it nor a recovery has cut, as the draft's text has it.
#[test]
fn after_probe_rtt_the_window_is_one_of_before_the_losses() {
    for (rate, rtt) in paths_with_many_packets() {
        let mut flow = bulk(clean(rate, rtt, 8));
        // Few enough that no probe goes too far.
        let losses = (0..60).map(|half_seconds| Mishap {
            from: at_secs(0) + millis(500) * half_seconds,
            to: at_secs(0) + millis(500) * half_seconds + rtt / 2,
            every: 30,
            late_by: None,
        });
        flow.mishaps = losses.collect();
        flow.run_until(at_secs(30));
        let (mut seen, mut greater) = (0, 0);
        for (stay, next) in after(&flow.points, PROBE_RTT) {
            let entry = flow.points.partition_point(|point| point.now < stay[0].now);
            let before = flow.points[entry - 1];
            // A recovery that goes on keeps the window of before it.
            let round = flow.between(before.now - rtt * 2, before.now);
            let is_calm = round.iter().all(|point| point.lost == stay[0].lost);
            if !is_calm || before.snapshot.short_term_inflight.is_none() {
                continue;
            }
            seen += 1;
            let acked = next[0].delivered - stay[stay.len() - 1].delivered;
            let (window, first) = (before.snapshot.cwnd, next[0].snapshot.cwnd);
            assert!(first >= window + acked, "{rate}, {rtt}");
            greater += usize::from(first > window + acked);
            assert!(window < rate.bytes_in(rtt) * 2);
        }
        assert!(
            seen >= 1 && greater >= 1,
            "{rate}, {rtt}: {greater} of {seen}"
        );
    }
}

/// The RTT of a path rises from 40 to 80 ms after 4 s. By the draft, ProbeRTT comes after 5 s and keeps the old estimate for
/// another five. With `bbr1_min_rtt` (issue 109 of the draft's authors), it comes after 10 s, takes the new RTT at once, and
/// yet keeps its window at half a BDP of the old one.
#[test]
fn with_one_clock_probe_rtt_comes_later_and_keeps_the_window_of_the_old_estimate() {
    let half_bdp = |rtt: u64| mbit(20).bytes_in(millis(rtt)).get() / 2;
    for (bbr1_min_rtt, interval, estimate) in [(false, 5, 40), (true, 10, 80)] {
        let config = Config {
            bbr1_min_rtt,
            ..Config::default()
        };
        let mut path = clean(mbit(20), millis(40), 4);
        path.forward.changes = vec![Change {
            at: at_secs(4),
            delay: Some(path.forward.delay + millis(40)),
            ..Change::default()
        }];
        let mut flow = Flow::bulk(Bbr3::new(connection(1), config), path);
        let during = flow.run_until_in(PROBE_RTT, LATE);
        let began = flow.now().since(at_secs(0));
        let expected = millis(interval * 1_000);
        assert!(
            began > expected && began < expected + millis(500),
            "{began}"
        );
        let taken = during.rtprop.expect("known");
        assert!(
            taken >= millis(estimate) && taken < millis(estimate + 10),
            "{taken}"
        );
        flow.run_until_in(CRUISE, LATE);
        let (stay, _) = after(&flow.points, PROBE_RTT)[0];
        let windows = stay.iter().map(|point| point.snapshot.cwnd.get());
        let least = windows.min().expect("points");
        let share = least as f64 / half_bdp(40) as f64;
        assert!((0.9..1.1).contains(&share), "{share}");
    }
}
