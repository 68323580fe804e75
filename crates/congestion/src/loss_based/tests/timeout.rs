//! Retransmission timeouts.

use super::*;

#[test]
fn a_timeout_leaves_one_packet_and_slow_start_up_to_the_threshold() {
    let mut flow = reno();
    flow.round();
    flow.round();
    flow.controller.on_timeout(flow.now, Bytes::ZERO);
    assert_eq!((flow.packets(), flow.state()), (1, "SlowStart"));
    assert_eq!(flow.controller.snapshot().ssthresh, Some(MSS * 20));
    flow.recovery(Recovery::Left);
    for packets in [2, 4, 8, 16] {
        flow.round();
        assert_eq!(flow.packets(), packets);
    }
    flow.round();
    assert_eq!((flow.packets(), flow.state()), (20, "CongestionAvoidance"));
}

#[test]
fn what_is_in_flight_at_a_timeout_leaves_room_for_the_repetition() {
    for (loss_window, packets) in [(LossWindow::InflightAndOne, 8), (LossWindow::OnePacket, 1)] {
        let config = reno::Config {
            loss_window,
            ..reno::Config::default()
        };
        let mut flow = AckClock::new(Reno::new(CONNECTION, config), RTT);
        flow.round();
        flow.controller.on_timeout(flow.now, MSS * 7);
        assert_eq!(flow.packets(), packets);
        assert_eq!(flow.controller.snapshot().ssthresh, Some(MSS * 10));
    }
}

#[test]
fn a_run_of_losses_lowers_the_threshold_once() {
    let mut flow = reno();
    flow.round();
    flow.round();
    flow.recovery(ENTERED);
    flow.controller.on_timeout(flow.now, Bytes::ZERO);
    flow.controller.on_timeout(flow.now, Bytes::ZERO);
    assert_eq!(flow.packets(), 1);
    assert_eq!(flow.controller.snapshot().ssthresh, Some(MSS * 20));
    for _ in 0..10 {
        flow.ack();
    }
    flow.controller.on_timeout(flow.now, Bytes::ZERO);
    assert_eq!(flow.controller.snapshot().ssthresh, Some(Bytes::new(8_250)));
}

#[test]
fn a_loss_after_a_timeout_does_not_raise_the_window() {
    let mut flow = reno();
    flow.controller.on_timeout(flow.now, Bytes::ZERO);
    flow.recovery(ENTERED);
    assert_eq!(flow.packets(), 1);
    assert_eq!(flow.controller.snapshot().ssthresh, Some(MSS * 2));
}
