//! The growth and rest of the window, and the pacing rate.

use super::*;

#[test]
fn nothing_grows_that_is_not_used() {
    let mut flow = reno();
    flow.is_cwnd_limited = false;
    flow.round();
    assert_eq!(flow.packets(), 10, "in slow start");
    flow.lose();
    for _ in 0..20 {
        flow.round();
    }
    assert_eq!(flow.packets(), 5, "in congestion avoidance");
}

#[test]
fn nothing_grows_on_what_arrives_out_of_order() {
    let mut flow = cubic();
    flow.is_progress = false;
    flow.ack();
    flow.ack();
    assert_eq!(flow.packets(), 10);
    flow.is_progress = true;
    flow.ack();
    assert_eq!(flow.packets(), 11, "by what this one has delivered");
}

#[test]
fn paces_two_windows_a_round_in_slow_start_and_six_fifths_after_it() {
    let mut flow = reno();
    flow.round();
    let rate = |windows: Ratio, cwnd| Rate::from_transfer(windows.of_bytes(cwnd), RTT);
    let cwnd = flow.controller.cwnd();
    assert_eq!(flow.controller.pacing_rate(), rate(Ratio::new(2, 1), cwnd));
    flow.lose();
    let cwnd = flow.controller.cwnd();
    assert_eq!(flow.controller.pacing_rate(), rate(Ratio::new(6, 5), cwnd));
    // A millisecond of that is less than two packets.
    assert_eq!(flow.controller.send_quantum(), MSS * 2);
}

#[test]
fn before_the_first_measurement_the_window_leaves_within_a_millisecond() {
    let flow = reno();
    let span = Duration::from_millis(1);
    assert!(flow.controller.pacing_rate().bytes_in(span) >= flow.controller.cwnd());
    assert_eq!(flow.controller.send_quantum(), MSS * 19);
}

#[test]
fn an_idle_time_halves_the_window_for_each_timeout() {
    let mut flow = reno();
    flow.round();
    flow.round();
    flow.round();
    flow.lose();
    assert_eq!(flow.packets(), 40);
    flow.controller.on_packet_sent(&sent(flow.now));
    // The timeout is the round-trip time, its deviation having died down, and 200 ms.
    for (idle, packets) in [(240, 40), (300, 20), (490, 20), (530, 10), (60_000, 10)] {
        let mut idle_flow = flow.controller.clone();
        idle_flow.on_idle_restart(flow.now + Duration::from_millis(idle));
        assert_eq!(idle_flow.cwnd(), MSS * packets, "{idle} ms");
        assert_eq!(idle_flow.snapshot().ssthresh, Some(MSS * 40));
    }
}

#[test]
fn an_idle_time_leaves_three_quarters_of_a_grown_window_as_threshold() {
    let mut flow = reno();
    flow.round();
    flow.round();
    flow.lose();
    while flow.packets() < 80 {
        flow.round();
    }
    flow.controller.on_packet_sent(&sent(flow.now));
    flow.controller
        .on_idle_restart(flow.now + Duration::from_millis(300));
    assert_eq!((flow.packets(), flow.state()), (40, "SlowStart"));
    assert_eq!(flow.controller.snapshot().ssthresh, Some(MSS * 60));
}

#[test]
fn slow_start_grows_to_twice_what_was_in_flight() {
    let mut flow = reno();
    flow.is_cwnd_limited = false;
    for packets in 1..=8 {
        flow.controller
            .on_packet_sent(&Sent::new(flow.now, MSS, MSS * packets));
    }
    for _ in 0..20 {
        flow.ack();
    }
    assert_eq!(flow.packets(), 16);
    // Not beyond slow start.
    flow.lose();
    flow.round();
    assert_eq!((flow.packets(), flow.state()), (8, "CongestionAvoidance"));
}

#[test]
fn larger_packets_raise_the_least_window_only() {
    let mut flow = reno();
    flow.controller.on_mtu_change(Bytes::new(4_000));
    assert_eq!(flow.controller.cwnd(), Bytes::new(15_000));
    flow.controller.on_mtu_change(Bytes::new(9_000));
    assert_eq!(flow.controller.cwnd(), Bytes::new(18_000));
    flow.controller.on_timeout(flow.now, Bytes::ZERO);
    assert_eq!(flow.controller.cwnd(), Bytes::new(9_000));
    flow.controller.on_mtu_change(Bytes::new(10_000));
    assert_eq!(flow.controller.cwnd(), Bytes::new(10_000));
}
