//! Artificial records with known values.

use std::time::Duration as StdDuration;

use congestion::{bbr1, loss_based};
use record::{
    AppSummary, FlowRecorder, FlowSample, FlowSpan, FlowTotals, Limits, PathRecorder, PathSample,
    PathTotals, PlaybackSummary, Record, Recorded, RunFacts, Transfer, TransferRecorder,
};
use scenario::Scenario;
use units::{Bytes, Duration, Rate};

const MTU: u64 = 1480;

/// Ten seconds of a flow that passes through BBR's states, or of one whose window grows and halves, on a 20 Mbit/s
/// path.
pub fn record(name: &str, controller: &str, is_partial: bool) -> Record {
    let text = format!(
        "name = 'race'\nduration = \"10s\"\nseed = 3\n\
         [path]\nrate = \"20mbit\"\nrtt = \"40ms\"\nbuffer = \"8bdp\"\nloss = \"1%\"\n\
         [[flow]]\ncontroller = {controller:?}\n"
    );
    let mut scenario: Scenario = text.parse().unwrap();
    scenario.name = name.to_string();
    let mut flow = FlowRecorder::new(scenario.warmup, 1);
    let mut path = PathRecorder::new(scenario.path.clone(), scenario.warmup);
    let mut totals = FlowTotals::default();
    for tick in 1..=5_000u64 {
        let at = Duration::from_millis(tick * 2);
        let is_bbr = controller == "bbr1";
        let wave = tick % 700;
        let (state, share, queue) = match (is_bbr, tick) {
            (true, 0..=100) => (bbr1::states::STARTUP, tick, tick * 600),
            (true, 101..=150) => (bbr1::states::DRAIN, 100, (150 - tick) * 1_200),
            (true, 2_500..=2_600) => (bbr1::states::PROBE_RTT, 10, 0),
            (true, _) => (
                bbr1::states::PROBE_BW,
                100,
                if tick % 160 < 20 { 20_000 } else { 2_000 },
            ),
            (false, 0..=200) => (loss_based::states::SLOW_START, tick / 2, tick * 500),
            (false, _) if wave < 20 => (loss_based::states::RECOVERY, 60, 0),
            (false, _) => (
                loss_based::states::CONGESTION_AVOIDANCE,
                40 + wave / 12,
                wave * 30,
            ),
        };
        let rate = Rate::from_bits_per_sec(20_000_000 * share.max(1) / 100);
        let wait = Rate::from_bits_per_sec(20_000_000).time_for(Bytes::new(queue));
        let rtt = Duration::from_micros(40_100 + tick * 7919 % 900) + wait;
        let sent = Bytes::new(rate.bytes_in(at).get());
        totals = FlowTotals {
            payload: Bytes::new(sent.get() * 96 / 100),
            sent: Some(sent),
            retransmitted: Some(Bytes::new(sent.get() / 100)),
            packets_lost: Some(sent.get() / 100 / MTU),
            timeouts: Some(0),
            limits: Some(Limits {
                busy: at,
                receiver: at / 4,
                congestion: at.saturating_sub(at / 4),
                ..Limits::default()
            }),
            ..FlowTotals::default()
        };
        flow.totals(at, totals);
        flow.sample(FlowSample {
            at,
            rtt: Some(rtt),
            srtt: Some(rtt),
            delivery_rate: Some(rate),
            inflight: rate.bytes_in(rtt),
            cwnd: rate.bytes_in(rtt) * 2,
            pacing_rate: rate,
            btl_bw: is_bbr.then_some(rate),
            rtprop: is_bbr.then_some(Duration::from_millis(40)),
            short_term_bw: is_bbr.then_some(rate),
            long_term_inflight: is_bbr.then_some(rate.bytes_in(rtt)),
            state: Some(state),
            delivered: totals.payload,
            lost: totals.retransmitted.unwrap(),
            is_app_limited: Some(false),
            limits: totals.limits,
            ..FlowSample::default()
        });
        let waiting = PathSample {
            at,
            queue: Bytes::new(queue),
            delay: wait,
        };
        path.sample(waiting);
        path.totals(
            at,
            PathTotals {
                packets: None,
                transmitted: sent,
                drops: Some(0),
                random_losses: Some(1),
                ..PathTotals::default()
            },
        );
    }
    let end = Duration::from_secs(10);
    let span = FlowSpan {
        id: 0,
        controller: controller.parse().unwrap(),
        start: Duration::ZERO,
        completed: None,
    };
    let flow = flow.finish(span, end);
    assert_eq!(flow.0.delivered_bytes, totals.payload.get());
    let run = RunFacts {
        network: &scenario.network(),
        engine: "quic",
        end,
        wall: StdDuration::from_millis(10_020),
        is_partial,
        payload_share: 0.95,
    };
    let recorded = Recorded {
        path: path.finish(end, 0.95),
        next: Vec::new(),
        flows: vec![flow],
        transfers: TransferRecorder::new(scenario.warmup).finish(),
    };
    Record::new(run, recorded)
}

/// Twenty seconds of two groups of flows on two bottlenecks: `bbr1` with constant rates, and as many `cubic` whose
/// applications transfer objects.
pub fn crowd(each: u64) -> Record {
    let text = format!(
        "name = 'crowd'\nduration = \"20s\"\nseed = 7\n[path]\nrate = \"100mbit\"\nrtt = \"40ms\"\n\
         buffer = \"1bdp\"\n[[flow]]\ncontroller = 'bbr1'\ncount = {each}\n\
         [[flow]]\ncontroller = 'cubic'\ncount = {each}\nstart = '2s'\n"
    );
    let scenario: Scenario = text.parse().unwrap();
    let end = Duration::from_secs(20);
    let mut transfers = TransferRecorder::new(scenario.warmup);
    let flows = scenario.each_flow().enumerate().map(|(id, (spec, start))| {
        let mut flow = FlowRecorder::new(scenario.warmup, 2 * each as usize);
        let id_share = (id as u64 * 37) % 60 + 70;
        let fair = Rate::from_bits_per_sec(100_000_000 / (2 * each) * id_share / 100);
        for tick in 0..2_000u64 {
            let at = start + Duration::from_millis(tick * 10 + 40);
            if at > end {
                break;
            }
            let wave = (tick + id as u64 * 13) % 200;
            let rate = match spec.controller.name() {
                "cubic" => Rate::from_bits_per_sec(fair.bits_per_sec() * (60 + wave / 3) / 100),
                _ => fair,
            };
            let rtt = Duration::from_micros(40_500 + wave * 150);
            let payload = fair.bytes_in(at.saturating_sub(start));
            flow.totals(
                at,
                FlowTotals {
                    payload,
                    sent: Some(payload),
                    retransmitted: Some(Bytes::new(payload.get() / 200)),
                    ..FlowTotals::default()
                },
            );
            flow.sample(FlowSample {
                at,
                rtt: Some(rtt),
                delivery_rate: Some(rate),
                inflight: rate.bytes_in(rtt),
                cwnd: rate.bytes_in(rtt) * 2,
                ssthresh: Some(Bytes::new(10_000)),
                pacing_rate: rate,
                state: Some(loss_based::states::CONGESTION_AVOIDANCE),
                delivered: payload,
                ..FlowSample::default()
            });
        }
        if spec.controller.name() == "cubic" {
            for object in 0..10u64 {
                let start = start + Duration::from_secs(object);
                let took = Duration::from_millis(60 + 40 * object);
                transfers.note(Transfer {
                    flow: id,
                    controller: spec.controller,
                    start,
                    bytes: Bytes::new(5_000 * 4u64.pow(object as u32 / 2)),
                    completed: (object < 9).then(|| start + took),
                });
            }
            flow.app(AppSummary {
                kind: "video".to_string(),
                started: 10,
                completed: 9,
                refused: 0,
                skipped: None,
                late: None,
                playback: Some(PlaybackSummary {
                    startup_s: Some(0.5),
                    stalls: 1,
                    stalled_s: 0.25,
                    played_s: 12.0,
                }),
            });
        }
        let span = FlowSpan {
            id,
            controller: spec.controller,
            start,
            completed: None,
        };
        flow.finish(span, end)
    });
    let flows = flows.collect();
    let hop = |height: u64| {
        let mut hop = PathRecorder::new(scenario.path.clone(), scenario.warmup);
        for tick in 0..=2_000u64 {
            let queue = Bytes::new(tick % 100 * height);
            let sample = PathSample {
                at: Duration::from_millis(tick * 10),
                queue,
                delay: Rate::from_bits_per_sec(100_000_000).time_for(queue),
            };
            let totals = PathTotals {
                packets: None,
                transmitted: Bytes::new(tick * 120_000),
                drops: Some(tick / 100),
                marks: Some(tick / 50),
                ..PathTotals::default()
            };
            hop.sample(sample);
            hop.totals(sample.at, totals);
        }
        hop.finish(end, 0.965)
    };
    let run = RunFacts {
        network: &scenario.network(),
        engine: "sim",
        end,
        wall: StdDuration::from_millis(350),
        is_partial: false,
        payload_share: 0.95,
    };
    let recorded = Recorded {
        path: hop(4_000),
        next: vec![hop(1_000)],
        flows,
        transfers: transfers.finish(),
    };
    Record::new(run, recorded)
}
