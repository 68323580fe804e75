//! The frequency of ACKs that each state wants ("Impact of changing ACK frequency").

use congestion::{AckFrequency, Controller};

use super::{
    CRUISE, DOWN, DRAIN, LATE, PROBE_RTT, REFILL, STARTUP, UP, at_secs, bulk, clean, millis,
};
use crate::support::{Mishap, mbit};

#[test]
fn probes_want_frequent_acks_and_other_states_few() {
    let mut flow = bulk(clean(mbit(20), millis(40), 8));
    for (state, wanted) in [
        (STARTUP, AckFrequency::Frequent),
        (DRAIN, AckFrequency::Frequent),
        (DOWN, AckFrequency::Rare),
        (CRUISE, AckFrequency::Rare),
        (REFILL, AckFrequency::Frequent),
        (UP, AckFrequency::Frequent),
        (PROBE_RTT, AckFrequency::Prompt),
    ] {
        flow.run_until_in(state, LATE);
        assert_eq!(flow.controller.ack_frequency(), wanted, "{state}");
    }
}

/// "If a sender that has requested reduced ACK frequency observes that it frequently exhausts C.cwnd before the next ACK
/// arrives, it SHOULD increase the requested ACK frequency." Losses have made the window shorter than the path.
#[test]
fn a_window_that_is_short_wants_frequent_acks() {
    let mut flow = bulk(clean(mbit(20), millis(40), 8));
    flow.mishaps = vec![Mishap {
        from: at_secs(1),
        to: at_secs(9),
        every: 20,
        late_by: None,
    }];
    let mut short = 0;
    while flow.now() < at_secs(9) {
        flow.run_until(flow.now() + millis(1));
        let wanted = flow.controller.ack_frequency();
        let Some(point) = flow.points.last() else {
            continue;
        };
        if point.snapshot.state.name == CRUISE && point.is_window_full {
            assert_eq!(wanted, AckFrequency::Frequent);
            short += 1;
        }
    }
    assert!(short > 0);
}
