//! The output of recorders.

use congestion::ControllerKind;
use congestion::{State, bbr1, loss_based};
use record::{
    FlowRecorder, FlowSample, FlowSpan, FlowTotals, PathRecorder, PathSample, PathTotals,
};
use scenario::PathSpec;
use units::{Bytes, Duration, Rate};

const SECOND: Duration = Duration::from_secs(1);

fn sample(at: Duration, rtt: Duration) -> FlowSample {
    FlowSample {
        at,
        rtt: Some(rtt),
        state: Some(bbr1::states::STARTUP),
        ..FlowSample::default()
    }
}

fn totals(payload: u64) -> FlowTotals {
    FlowTotals {
        payload: Bytes::new(payload),
        sent: Some(Bytes::new(payload * 2)),
        retransmitted: Some(Bytes::new(payload / 10)),
        packets_lost: Some(payload / 1000),
        timeouts: Some(payload / 100_000),
        ecn_marks: Some(payload / 10_000),
        ..FlowTotals::default()
    }
}

/// A flow that delivers 100 kB a second for ten seconds; its RTT grows by one millisecond each second.
fn flow(warmup: Duration) -> FlowRecorder {
    let mut recorder = FlowRecorder::new(warmup, 1);
    for second in 1..=10 {
        recorder.sample(sample(SECOND * second, Duration::from_millis(second)));
        recorder.totals(SECOND * second, totals(100_000 * second));
    }
    recorder
}

fn span(start: Duration, completed: Option<Duration>) -> FlowSpan {
    FlowSpan {
        id: 3,
        controller: ControllerKind::Reno.into(),
        start,
        completed,
    }
}

/// A chain's hops keep all samples that one hop keeps. The links of a large network share the room.
#[test]
fn many_links_share_the_room_of_a_few() {
    let recorded = |links: usize| {
        let mut recorder = PathRecorder::new(PathSpec::default(), Duration::ZERO).among(links);
        for tick in 0..30_000u64 {
            recorder.sample(PathSample {
                at: Duration::from_millis(tick),
                queue: Bytes::ZERO,
                delay: Duration::from_millis(1_000 + tick % 100),
            });
        }
        let (summary, record) = recorder.finish(SECOND * 30, 1.0);
        (summary.queue_ms.p50.expect("a queue"), record.samples.len())
    };
    let (fine, samples) = recorded(1);
    assert!(samples > 14_000, "{samples}");
    assert_eq!(recorded(64), (fine, samples));
    let (coarse, samples) = recorded(20_000);
    assert!(samples <= 105, "{samples}");
    assert!(
        coarse != fine && (coarse / fine - 1.0).abs() < 0.01,
        "{coarse} for {fine}"
    );
}

#[test]
fn a_flow_in_numbers() {
    let (summary, record) = flow(Duration::ZERO).finish(span(Duration::ZERO, None), SECOND * 10);
    assert_eq!((summary.id, summary.controller.as_str()), (3, "reno"));
    assert_eq!(summary.goodput_bps, 800_000);
    assert_eq!(summary.delivered_bytes, 1_000_000);
    assert_eq!(summary.sent_bytes, Some(2_000_000));
    assert_eq!(summary.retransmitted_share(), Some(0.05));
    assert_eq!(
        (summary.packets_lost, summary.timeouts),
        (Some(1000), Some(10))
    );
    assert_eq!(summary.ecn_marks, Some(100));
    assert_eq!(
        (summary.spurious_recoveries, summary.tail_loss_probes),
        (None, None)
    );
    assert_eq!(
        (summary.rtt_ms.min, summary.rtt_ms.max),
        (Some(1.0), Some(10.0))
    );
    assert_eq!(summary.rtt_ms.mean, Some(5.5));
    assert_eq!(summary.completed_s, None);
    assert_eq!(record.samples.len(), 10);
    assert_eq!(record.throughput.bytes(), [100_000; 10]);
}

#[test]
fn what_startup_had_found() {
    let mbit = |mbit: u64| Some(Rate::from_bits_per_sec(mbit * 1_000_000));
    let exit = |seen: &[(State, Option<Rate>, Option<Rate>)]| {
        let mut recorder = FlowRecorder::new(Duration::ZERO, 1);
        for (at, (state, delivery_rate, btl_bw)) in (1..).zip(seen) {
            recorder.sample(FlowSample {
                state: Some(*state),
                delivery_rate: *delivery_rate,
                btl_bw: *btl_bw,
                ..sample(SECOND * at, SECOND)
            });
        }
        let (summary, _) = recorder.finish(span(Duration::ZERO, None), SECOND * 10);
        summary.startup_exit_bps
    };
    let bbr = [
        (bbr1::states::STARTUP, mbit(50), mbit(50)),
        (bbr1::states::DRAIN, mbit(40), mbit(49)),
        (bbr1::states::STARTUP, mbit(90), mbit(90)),
        (bbr1::states::DRAIN, mbit(90), mbit(90)),
    ];
    assert_eq!(exit(&bbr), Some(49_000_000));
    assert_eq!(exit(&bbr[..1]), None);
    let cubic = [
        (loss_based::states::SLOW_START, mbit(5), None),
        (loss_based::states::CONSERVATIVE_SLOW_START, mbit(20), None),
        (loss_based::states::SLOW_START, None, None),
        (loss_based::states::RECOVERY, mbit(30), None),
        (loss_based::states::CONGESTION_AVOIDANCE, mbit(70), None),
    ];
    assert_eq!(exit(&cubic), Some(30_000_000));
    assert_eq!(exit(&cubic[3..]), None);
}

#[test]
fn many_flows_keep_fewer_samples_each() {
    let kept = |flows| {
        let mut recorder = FlowRecorder::new(Duration::ZERO, flows);
        for millis in 0..50_000 {
            recorder.sample(sample(Duration::from_millis(millis), SECOND));
        }
        let (summary, record) = recorder.finish(span(Duration::ZERO, None), SECOND * 50);
        assert_eq!(summary.rtt_ms.p99, Some(1000.0));
        record.samples.len()
    };
    assert!((5_000..=20_001).contains(&kept(1)), "{}", kept(1));
    assert!((25..=101).contains(&kept(10_000)), "{}", kept(10_000));
}

#[test]
fn the_warmup_is_left_out_of_the_summary_only() {
    let (summary, record) = flow(SECOND * 5).finish(span(Duration::ZERO, None), SECOND * 10);
    assert_eq!(summary.delivered_bytes, 500_000);
    assert_eq!(summary.goodput_bps, 800_000);
    assert_eq!(summary.packets_lost, Some(500));
    assert_eq!(summary.rtt_ms.min, Some(5.0));
    assert_eq!(record.samples.len(), 10);
}

#[test]
fn goodput_is_over_the_life_of_a_flow() {
    let goodput = |start, completed| {
        let span = span(SECOND * start, completed);
        flow(Duration::ZERO).finish(span, SECOND * 20).0.goodput_bps
    };
    assert_eq!(goodput(0, Some(SECOND * 10)), 800_000);
    assert_eq!(goodput(5, Some(SECOND * 10)), 1_600_000);
    assert_eq!(goodput(0, None), 400_000);
    // A flow that never lived has no goodput.
    assert_eq!(goodput(20, None), 0);
}

#[test]
fn a_path_in_numbers() {
    let mut spec = PathSpec::default();
    for (key, text) in [
        ("rate", "8mbit"),
        ("rtt", "100ms"),
        ("buffer", "2bdp"),
        ("loss", "10%"),
    ] {
        spec.set(key, text).unwrap();
    }
    let mut recorder = PathRecorder::new(spec, SECOND * 5);
    for second in 0..=10 {
        // A queue that grows by 10 ms a second, at a path that is half used.
        let queue = Bytes::new(10_000 * second);
        let seen = PathSample {
            at: SECOND * second,
            queue,
            delay: Duration::from_millis(10 * second),
        };
        let totals = PathTotals {
            packets: None,
            transmitted: Bytes::new(500_000 * second),
            drops: Some(second),
            random_losses: Some(2 * second),
            marks: None,
            late_packets: Some(3 * second),
            released_packets: Some(30 * second),
            lateness: Some(Duration::from_millis(6 * second)),
            overflows: None,
            corrupted: Some(second),
            too_big: Some(second),
        };
        recorder.sample(seen);
        recorder.totals(seen.at, totals);
    }
    recorder.overflows(7);
    let (summary, record) = recorder.finish(SECOND * 10, 0.9);
    assert_eq!(summary.overflows, Some(7));
    assert_eq!(summary.rate_bps, Some(8_000_000));
    assert_eq!(summary.rtprop_ms, 100.0);
    assert_eq!(summary.buffer_bytes, Some(200_000));
    // Losses before the bottleneck do not reduce its limit.
    assert_eq!(summary.limit_bps, Some(7_200_000));
    assert_eq!(summary.utilization, Some(0.5));
    assert_eq!((summary.drops, summary.random_losses), (Some(5), Some(10)));
    // The path has neither.
    assert_eq!((summary.corrupted, summary.too_big), (None, None));
    assert_eq!((summary.marks, summary.late_packets), (None, Some(15)));
    assert_eq!(summary.released_packets, Some(150));
    assert_eq!(summary.lateness_mean_ms, Some(0.2));
    assert_eq!(summary.queue_ms.mean, Some(75.0));
    let median = summary.queue_ms.p50.unwrap();
    assert!((median - 70.0).abs() < 0.07, "{median}");
    assert_eq!(summary.queue_ms.max, Some(100.0));
    assert_eq!(record.samples.len(), 11);
}

#[test]
fn a_bottleneck_is_never_more_than_used() {
    let mut spec = PathSpec::default();
    spec.set("rate", "8mbit").unwrap();
    // The path is always busy. The last sample was a little after the end, and the one at the end of the warmup a
    // little before it.
    let mut recorder = PathRecorder::new(spec, SECOND * 5);
    for at in [0, 4_900, 10_300].map(Duration::from_millis) {
        let seen = PathSample {
            at,
            queue: Bytes::ZERO,
            delay: Duration::ZERO,
        };
        let totals = PathTotals {
            packets: None,
            transmitted: Bytes::new(at.as_nanos() / 1_000),
            ..PathTotals::default()
        };
        recorder.sample(seen);
        recorder.totals(seen.at, totals);
    }
    let (summary, _) = recorder.finish(SECOND * 10, 0.9);
    assert_eq!(summary.utilization, Some(1.0));
}

#[test]
fn a_policer_limits_what_the_path_allows() {
    let limit = |options: &[(&str, &str)]| {
        let mut spec = PathSpec::default();
        for (key, text) in options {
            spec.set(key, text).unwrap();
        }
        let recorder = PathRecorder::new(spec, Duration::ZERO);
        recorder.finish(SECOND * 10, 0.5).0.limit_bps
    };
    let policer = ("policer", "rate=8mbit,burst=1mb");
    assert_eq!(limit(&[("rate", "80mbit"), policer]), Some(4_400_000));
    assert_eq!(limit(&[policer]), Some(4_400_000));
    assert_eq!(limit(&[("rate", "1mbit"), policer]), Some(500_000));
}

#[test]
fn what_is_corrupted_or_too_big_is_counted_by_itself() {
    let mut spec = PathSpec::default();
    for (key, text) in [
        ("rate", "8mbit"),
        ("corruption", "10%"),
        ("change", "at=3s,mtu=1400"),
    ] {
        spec.set(key, text).unwrap();
    }
    let mut recorder = PathRecorder::new(spec, SECOND);
    for second in 0..=10 {
        let totals = PathTotals {
            packets: None,
            corrupted: Some(second),
            too_big: Some(2 * second),
            ..PathTotals::default()
        };
        recorder.totals(SECOND * second, totals);
    }
    let (summary, _) = recorder.finish(SECOND * 10, 0.5);
    // Since the warmup.
    assert_eq!((summary.corrupted, summary.too_big), (Some(9), Some(18)));
    assert_eq!(summary.limit_bps, Some(3_600_000));
}

#[test]
fn loss_behind_the_bottleneck_takes_from_what_the_path_allows() {
    let mut spec = PathSpec::default();
    for (key, text) in [("rate", "8mbit"), ("loss", "10%"), ("loss_at", "exit")] {
        spec.set(key, text).unwrap();
    }
    let recorder = PathRecorder::new(spec, Duration::ZERO);
    assert_eq!(recorder.finish(SECOND, 0.9).0.limit_bps, Some(6_480_000));
}

#[test]
fn what_no_engine_saw_is_not_known() {
    let recorder = PathRecorder::new(PathSpec::default(), Duration::ZERO);
    let (summary, record) = recorder.finish(SECOND, 0.9);
    assert_eq!(
        (summary.rate_bps, summary.limit_bps, summary.buffer_bytes),
        (None, None, None)
    );
    assert_eq!(
        (summary.utilization, summary.drops, summary.random_losses),
        (None, None, None)
    );
    assert_eq!(summary.queue_ms.p95, None);
    assert!(record.samples.is_empty());
    let nothing = FlowRecorder::new(Duration::ZERO, 1);
    let (summary, _) = nothing.finish(span(Duration::ZERO, None), SECOND);
    assert_eq!((summary.goodput_bps, summary.rtt_ms.p50), (0, None));
    assert_eq!(summary.retransmitted_share(), None);
}
