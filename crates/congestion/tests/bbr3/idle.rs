//! Restarting from idle (draft, "Actions when Restarting from Idle").

use congestion::{Bytes, Ratio};

use super::{
    LATE, STARTUP, UP, assert_within, at_secs, bulk, clean, millis, paths_with_many_packets,
};

/// In ProbeBW it is the bandwidth, less the pacing margin, and not the state's 5/4 of it.
#[test]
fn after_idle_probe_bw_paces_at_the_bandwidth() {
    for (rate, rtt) in paths_with_many_packets() {
        let mut flow = bulk(clean(rate, rtt, 8));
        flow.run_until_in(UP, LATE);
        let paced = |gain: Ratio, snapshot: &congestion::Snapshot| {
            let bw = snapshot.btl_bw.expect("known");
            assert_within(
                snapshot.pacing_rate,
                bw.scale(Ratio::new(99, 100)).scale(gain),
                1,
            );
        };
        let again = flow.now() + rtt * 12;
        flow.set_writes([(again, Bytes::MAX)]);
        flow.run_until(again - millis(1));
        let idle = flow.snapshot();
        assert_eq!(flow.points.last().expect("points").inflight, Bytes::ZERO);
        assert_eq!(idle.state.name, UP);
        paced(Ratio::new(5, 4), &idle);
        flow.run_until(again);
        let restarted = flow.snapshot();
        assert_eq!(restarted.state, idle.state);
        paced(Ratio::ONE, &restarted);
        // The first ACK paces as the state does.
        flow.run_until(again + rtt * 5 / 4);
        let later = flow.snapshot();
        paced(later.pacing_gain.expect("a gain"), &later);
    }
}

/// Startup has no estimate to pace at: its rate stays.
#[test]
fn after_idle_startup_paces_as_before() {
    for (rate, rtt) in paths_with_many_packets() {
        let mut flow = bulk(clean(rate, rtt, 8));
        flow.run_until(at_secs(0) + rtt * 3);
        let again = flow.now() + rtt * 4;
        flow.set_writes([(again, Bytes::MAX)]);
        flow.run_until(again - millis(1));
        let idle = flow.snapshot();
        assert_eq!(idle.state.name, STARTUP);
        flow.run_until(again);
        assert_eq!(flow.snapshot().pacing_rate, idle.pacing_rate);
    }
}
