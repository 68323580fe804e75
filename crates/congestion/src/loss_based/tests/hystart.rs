//! The end of slow start.

use super::*;

/// A path of 100 packets at `RTT`, with an endless buffer.
fn over_bottleneck(variant: Variant, hystart: Option<HyStartVariant>) -> AckClock<Cubic> {
    let config = cubic::Config {
        variant,
        hystart,
        ..cubic::Config::default()
    };
    let mut flow = AckClock::new(Cubic::new(CONNECTION, config), RTT);
    flow.bottleneck = Rate::from_transfer(MSS * 100, RTT);
    flow
}

#[test]
fn linux_leaves_slow_start_at_once_when_the_train_is_as_long_as_the_round_trip() {
    let mut flow = over_bottleneck(Variant::Linux, Some(HyStartVariant::Linux));
    while flow.state() == "SlowStart" {
        flow.ack();
    }
    assert_eq!(flow.state(), "CongestionAvoidance");
    // Evenly spaced ACKs are a train from where they are 2 ms apart.
    assert!((25..=100).contains(&flow.packets()), "{}", flow.packets());
    let ssthresh = flow.controller.snapshot().ssthresh;
    assert!(ssthresh.is_some_and(|ssthresh| ssthresh <= flow.controller.cwnd()));
    let mut without = over_bottleneck(Variant::Linux, None);
    without.run(flow.now.since(Time::ZERO));
    assert_eq!(without.state(), "SlowStart");
}

#[test]
fn hystart_leaves_slow_start_on_a_growing_queue() {
    let mut flow = over_bottleneck(Variant::Rfc9438, Some(HyStartVariant::Rfc9406));
    while flow.state() == "SlowStart" {
        flow.ack();
    }
    assert_eq!(flow.state(), "ConservativeSlowStart");
    assert!((100..200).contains(&flow.packets()), "{}", flow.packets());
    let (alarm, packets) = (flow.controller.snapshot().round, flow.packets());
    while flow.state() == "ConservativeSlowStart" {
        flow.ack();
    }
    assert_eq!(flow.state(), "CongestionAvoidance");
    // The round of the alarm and four more, each at a quarter of slow start's pace.
    assert_eq!(flow.controller.snapshot().round, alarm + 5);
    assert!(flow.packets() < packets * 16 / 5, "{}", flow.packets());

    let mut without = over_bottleneck(Variant::Rfc9438, None);
    without.run(flow.now.since(Time::ZERO));
    assert_eq!(without.state(), "SlowStart");
    assert!(without.packets() > 2 * flow.packets());
}

#[test]
fn hystart_resumes_slow_start_after_a_false_alarm() {
    let mut flow = over_bottleneck(Variant::Rfc9438, Some(HyStartVariant::Rfc9406));
    flow.bottleneck = Rate::MAX;
    flow.round();
    flow.round();
    flow.rtprop = RTT + Duration::from_millis(10);
    flow.round();
    assert_eq!(flow.state(), "ConservativeSlowStart");
    flow.rtprop = RTT;
    flow.round();
    assert_eq!(flow.state(), "SlowStart");
    let before = flow.packets();
    flow.round();
    assert_eq!(flow.packets(), 2 * before);
}

#[test]
fn a_loss_ends_hystart_for_good() {
    let mut flow = over_bottleneck(Variant::Rfc9438, Some(HyStartVariant::Rfc9406));
    while flow.state() == "SlowStart" {
        flow.ack();
    }
    flow.lose();
    assert_eq!(flow.state(), "CongestionAvoidance");
    flow.controller.on_timeout(flow.now, Bytes::ZERO);
    flow.recovery(Recovery::Left);
    for packets in [2, 4, 8, 16] {
        flow.round();
        assert_eq!((flow.packets(), flow.state()), (packets, "SlowStart"));
    }
}
