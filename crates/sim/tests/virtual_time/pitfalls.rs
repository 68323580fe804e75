//! Known faults of BBR implementations, each on a path that shows it: bursts that no pacing bounds, a window that
//! stays small, a Startup that never ends, a model that one bad moment spoils for good.

use std::ops::Range;

use congestion::{Ack, Bytes, Controller, ControllerKind, Duration, Phase, Rate, Ratio, Time};
use path::{Aggregation, Change, Jitter, PathConfig, Reorder};
use sim::{Config, FlowConfig, Id, Observer, Simulation, dumbbell};
use transport::app::{self, Pause, Sizes};
use transport::burst::Burst;
use transport::sender::Sender;

use crate::support::{at_millis, jain, limit, mbit, millis, path, quantile, run};

const BBRS: [ControllerKind; 2] = [ControllerKind::Bbr1, ControllerKind::Bbr3];
const SECOND: u64 = 1_000;

/// The times and payloads of departures.
#[derive(Default)]
struct Departures(Vec<(Time, u64)>);

impl<C: Controller> Observer<C> for Departures {
    fn on_departed(&mut self, now: Time, _: Id, burst: &Burst) {
        self.0.push((now, u64::from(burst.bytes)));
    }
}

/// The largest burst, and the most in any `span`, both from `from` on.
fn peaks(departures: &[(Time, u64)], from: Time, span: Duration) -> (u64, u64) {
    let (mut burst, mut most, mut within, mut first) = (0, 0, 0, 0);
    for (index, &(at, bytes)) in departures.iter().enumerate() {
        if at < from {
            first = index + 1;
            continue;
        }
        burst = burst.max(bytes);
        within += bytes;
        while departures[first].0 + span <= at {
            within -= departures[first].1;
            first += 1;
        }
        most = most.max(within);
    }
    (burst, most)
}

/// No more leaves than the highest gain of ProbeBW allows and one burst, which is a millisecond or two packets.
#[test]
fn pacing_bounds_bursts() {
    for kind in BBRS {
        for (rate, rtt) in [
            (mbit(10), millis(40)),
            (mbit(100), millis(100)),
            (mbit(1_000), millis(2)),
        ] {
            let path = path(rate, rtt, rate.bytes_in(rtt) * 4);
            let mut config = dumbbell(path, vec![FlowConfig::new(kind)]);
            config.end = Some(at_millis(4 * SECOND));
            let mut simulation = Simulation::new(config, Departures::default()).unwrap();
            simulation.run();
            let span = (rtt / 4).max(millis(2));
            let departures = simulation.into_observer().0;
            let (burst, most) = peaks(&departures, at_millis(2 * SECOND), span);
            let context = format!("{kind}, {rate} x {rtt}: {burst}, {most}");
            let highest = rate.scale(Ratio::new(5, 4));
            let millisecond = highest.bytes_in(millis(1)).get();
            assert!(burst <= millisecond.max(2 * 1448), "{context}");
            assert!(
                most > 0 && most - burst <= highest.bytes_in(span).get(),
                "{context}"
            );
        }
    }
}

/// An application's half minute at 50 Mbit/s and 40 ms: share of the path, median RTT, the last state's phase.
fn application(kind: ControllerKind, app: app::Config) -> (f64, Duration, Phase) {
    let (rate, rtt) = (mbit(50), millis(40));
    let mut flow = FlowConfig::new(kind);
    flow.app = app;
    let config = dumbbell(path(rate, rtt, rate.bytes_in(rtt) * 4), vec![flow]);
    let end = at_millis(30 * SECOND);
    let watch = run(config.clone(), Time::ZERO, end);
    let mut simulation = Simulation::new(
        Config {
            end: Some(end),
            ..config
        },
        (),
    )
    .unwrap();
    simulation.run();
    let (_, sender, _) = simulation.connections().next().unwrap();
    let phase = sender.controller().snapshot().state.phase;
    let share = watch.goodput(0, end) / limit(rate, 0);
    (share, quantile(&watch.flows[0].rtts, 0.5), phase)
}

/// A flow limited by its application gets what it needs, without a queue. Startup continues while only the
/// application is the limit, and ends as soon as the path is.
#[test]
fn applications_neither_starve_nor_stay_in_startup_for_ever() {
    let limited = |percent| {
        app::Config::RateLimited(app::RateLimited {
            rate: mbit(50).scale(Ratio::new(percent, 100)),
            write: Bytes::new(20_000),
            backlog: Bytes::new(1_000_000),
            deadline: None,
        })
    };
    let objects = |bytes| {
        app::Config::Requests(app::Requests {
            response: Sizes::Fixed(Bytes::new(bytes)),
            think: Pause::Fixed(millis(300)),
            ..app::Requests::default()
        })
    };
    for kind in BBRS {
        for (app, least, ends) in [
            (limited(10), 0.10, false),
            (limited(90), 0.90, true),
            (objects(1_000_000), 0.30, true),
            (objects(20_000_000), 0.80, true),
        ] {
            let context = format!("{kind}, {app:?}");
            let (share, rtt, phase) = application(kind, app);
            assert!(share >= least, "{context}: {share}");
            assert!(rtt <= millis(50), "{context}: {rtt}");
            assert_eq!(phase != Phase::Startup, ends, "{context}: {phase:?}");
        }
    }
}

/// A bulk flow's share of the limit in 15 s from its start.
fn share(kind: ControllerKind, path: &PathConfig, rate: Rate, seed: u64) -> f64 {
    let config = Config {
        seed,
        ..dumbbell(path.clone(), vec![FlowConfig::new(kind)])
    };
    let end = at_millis(15 * SECOND);
    run(config, Time::ZERO, end).goodput(0, end) / limit(rate, 0)
}

/// Each of `effects` on `path` costs less than 15 % of what a flow has on it without them.
fn cost_little(
    kind: ControllerKind,
    (rate, rtt): (Rate, Duration),
    effects: &[fn(&mut PathConfig, Duration)],
) {
    let clean = path(rate, rtt, rate.bytes_in(rtt) * 4);
    for seed in [1, 2] {
        let all = share(kind, &clean, rate, seed);
        for (index, effect) in effects.iter().enumerate() {
            let mut path = clean.clone();
            effect(&mut path, rtt);
            let rest = share(kind, &path, rate, seed) / all;
            let context = format!("{kind}, {rate} x {rtt}, effect {index}, seed {seed}");
            assert!(rest > 0.85, "{context}: {rest}");
        }
    }
}

fn jitter(up_to: Duration, reorders: bool) -> Option<Jitter> {
    Some(Jitter {
        reorders,
        ..Jitter::from(up_to)
    })
}

const PATHS: [(Rate, Duration); 3] = [
    (
        Rate::from_bits_per_sec(10_000_000),
        Duration::from_millis(20),
    ),
    (
        Rate::from_bits_per_sec(20_000_000),
        Duration::from_millis(40),
    ),
    (
        Rate::from_bits_per_sec(50_000_000),
        Duration::from_millis(100),
    ),
];

#[test]
fn jitter_of_half_a_round_trip_costs_little() {
    let effects: [fn(&mut PathConfig, Duration); 4] = [
        |path, rtt| path.forward.effects.jitter = jitter(rtt / 2, false),
        |path, rtt| path.reverse.effects.jitter = jitter(rtt / 2, false),
        |path, rtt| path.forward.effects.jitter = jitter(rtt / 2, true),
        |path, rtt| path.reverse.effects.jitter = jitter(rtt / 2, true),
    ];
    for kind in BBRS {
        for path in PATHS {
            cost_little(kind, path, &effects);
        }
    }
}

#[test]
fn reordering_costs_little() {
    fn reorder(percent: u32, by: Duration) -> Option<Reorder> {
        let share = Ratio::new(percent, 100);
        Some(Reorder { share, by })
    }
    let effects: [fn(&mut PathConfig, Duration); 3] = [
        |path, rtt| path.forward.effects.reorder = reorder(1, rtt / 4),
        |path, rtt| path.forward.effects.reorder = reorder(1, rtt),
        |path, rtt| path.forward.effects.reorder = reorder(10, rtt / 2),
    ];
    for kind in BBRS {
        for path in PATHS {
            cost_little(kind, path, &effects);
        }
    }
}

/// Aggregation as on Wi-Fi and in cellular networks.
#[test]
fn aggregation_costs_little() {
    fn every(ms: u64) -> Option<Aggregation> {
        let interval = millis(ms);
        Some(Aggregation { interval })
    }
    let effects: [fn(&mut PathConfig, Duration); 4] = [
        |path, _| path.reverse.effects.aggregation = every(10),
        |path, _| path.reverse.effects.aggregation = every(20),
        |path, _| path.reverse.effects.aggregation = every(50),
        |path, _| path.forward.effects.aggregation = every(50),
    ];
    for kind in BBRS {
        for path in PATHS {
            cost_little(kind, path, &effects);
        }
    }
    // Five round trips of it.
    let short = (mbit(50), millis(10));
    cost_little(ControllerKind::Bbr3, short, &effects);
    cost_little(ControllerKind::Bbr1, short, &effects[..2]);
}

/// BBRv1 reaches the rate late if ACKs are merged for five round trips, and then keeps it. It has no room for that
/// before the pipe is full (Linux `bbr_set_cwnd`), and takes the rate of a window in each burst for the path's: Startup
/// ends at a sixth of it. Then it grows by a quarter in a cycle, which is of eight bursts. A receive window as large as
/// the receiver's shortest round trip demands delays it once more, so it has a large one here (`docs/choose.md`).
#[test]
fn bbr1_comes_late_to_the_rate_where_acks_come_together() {
    let (rate, rtt) = (mbit(50), millis(10));
    let mut path = path(rate, rtt, rate.bytes_in(rtt) * 4);
    let interval = millis(50);
    path.reverse.effects.aggregation = Some(Aggregation { interval });
    let mut flow = FlowConfig::new(ControllerKind::Bbr1);
    flow.receiver.initial_buffer = Bytes::new(4 << 20);
    let config = dumbbell(path, vec![flow]);
    let share = |from, to| {
        let (from, to) = (at_millis(from * SECOND), at_millis(to * SECOND));
        run(config.clone(), from, to).goodput(0, to) / limit(rate, 0)
    };
    let (early, late) = (share(0, 4), share(5, 15));
    assert!((0.2..0.6).contains(&early), "{early}");
    assert!(late > 0.9, "{late}");
}

/// The bytes delivered until each ACK.
#[derive(Default)]
struct Delivered(Vec<(Time, u64)>);

impl<C: Controller> Observer<C> for Delivered {
    fn on_ack(&mut self, now: Time, _: Id, ack: &Ack, _: &Sender<C>) {
        self.0.push((now, ack.rate.total_delivered.get()));
    }
}

impl Delivered {
    /// The share of the limit of `rate` between two seconds.
    fn share(&self, rate: Rate, from: u64, to: u64) -> f64 {
        let until = |secs| {
            let count = self
                .0
                .partition_point(|(at, _)| *at <= at_millis(secs * SECOND));
            count.checked_sub(1).map_or(0, |last| self.0[last].1)
        };
        (until(to) - until(from)) as f64 * 8.0 / (to - from) as f64 / limit(rate, 0)
    }

    /// The longest time without an ACK after the second `from`.
    fn silence(&self, from: u64) -> Duration {
        let gaps = self
            .0
            .windows(2)
            .filter(|pair| pair[0].0 > at_millis(from * SECOND));
        gaps.map(|pair| pair[1].0.since(pair[0].0))
            .max()
            .unwrap_or(Duration::MAX)
    }
}

/// A change of the path.
#[derive(Debug, Clone, Copy)]
struct Then {
    at: u64,
    rate: Rate,
    rtt: Duration,
}

/// A flow on a path that changes.
fn change(path: &mut PathConfig, then: &[Then]) {
    let change = |then: &Then, rate| Change {
        at: at_millis(then.at * SECOND),
        rate,
        delay: Some(then.rtt / 2),
        mtu: None,
    };
    path.forward.changes = then
        .iter()
        .map(|then| change(then, Some(then.rate)))
        .collect();
    path.reverse.changes = then.iter().map(|then| change(then, None)).collect();
}

fn changing(kind: ControllerKind, mut path: PathConfig, then: &[Then]) -> Delivered {
    change(&mut path, then);
    let mut config = dumbbell(path, vec![FlowConfig::new(kind)]);
    config.end = Some(at_millis(50 * SECOND));
    let mut simulation = Simulation::new(config, Delivered::default()).unwrap();
    simulation.run();
    simulation.into_observer()
}

/// Ten seconds without the path. The packets in the buffer then arrive ten seconds late, and TCP's round-trip time is
/// seconds. BBRv1 is in ProbeRTT, with a window of four packets, which the packets dropped by the buffer fill. It
/// learns of their loss with the next tail loss probe, two such round trips later.
#[test]
fn ten_seconds_of_blackout_are_no_stall() {
    for (rate, rtt) in [
        (mbit(10), millis(40)),
        (mbit(100), millis(20)),
        (mbit(20), millis(100)),
    ] {
        for bdps in [1, 4] {
            let gone = Then {
                at: 10,
                rate: Rate::from_bits_per_sec(1_000),
                rtt,
            };
            let back = Then { at: 20, rate, rtt };
            for (kind, end) in [(ControllerKind::Bbr1, 33), (ControllerKind::Bbr3, 21)] {
                let path = path(rate, rtt, rate.bytes_in(rtt) * bdps);
                let seen = changing(kind, path, &[gone, back]);
                let share = seen.share(rate, end, 50);
                assert!(share > 0.9, "{kind}, {rate} x {rtt}, {bdps} BDP: {share}");
            }
        }
    }
}

/// Ten times the rate or a tenth, ten times the RTT or a tenth: the flow continues, and has found the path within 20
/// s (see `docs/bbr3.md` for the effect of more than half a second of RTT on BBRv3, whether it is the path's or a
/// queue's).
#[test]
fn ten_times_as_much_or_as_little_is_found() {
    for kind in BBRS {
        for (rate, rtt, bdps) in [(mbit(10), millis(40), 1), (mbit(20), millis(20), 2)] {
            let cases = [
                (rate.scale(Ratio::new(1, 10)), rtt),
                (rate.scale(Ratio::new(10, 1)), rtt),
                (rate, rtt / 10),
                (rate, rtt * 10),
            ];
            for (new_rate, new_rtt) in cases {
                let path = path(rate, rtt, rate.bytes_in(rtt) * bdps);
                let then = Then {
                    at: 10,
                    rate: new_rate,
                    rtt: new_rtt,
                };
                let seen = changing(kind, path, &[then]);
                let (share, silence) = (seen.share(new_rate, 30, 50), seen.silence(10));
                let context = format!("{kind}, {rate} x {rtt} to {new_rate} x {new_rtt}");
                assert!(share > 0.7, "{context}: {share}");
                assert!(silence < rtt.max(new_rtt) * 2, "{context}: {silence}");
            }
        }
    }
}

/// The median RTT between two seconds.
fn median_rtt(path: PathConfig, flow: FlowConfig, seconds: Range<u64>) -> Duration {
    let config = dumbbell(path, vec![flow]);
    let [from, to] = [seconds.start, seconds.end].map(|second| at_millis(second * SECOND));
    quantile(&run(config, from, to).flows[0].rtts, 0.5)
}

/// By the draft, ACKs that arrive at once with the change leave an excess of extra acked, which lasts as long as the link is
/// never idle: its queue keeps the link from that. With a new RTT of 10 ms, the link is idle now and then.
#[test]
fn bbr3_keeps_a_queue_where_the_route_becomes_much_shorter() {
    for (after, keeps) in [(1, true), (10, false)] {
        let (rate, rtt) = (mbit(10), millis(after));
        let packet = Bytes::new(1_500);
        let mut path = path(rate, millis(200), packet * 200);
        let at = 10;
        change(&mut path, &[Then { at, rate, rtt }]);
        let median = median_rtt(path, FlowConfig::new(ControllerKind::Bbr3), 40..60);
        let usual = rtt * 2 + rate.time_for(packet * 10);
        assert_eq!(median > usual * 4, keeps, "{after} ms: {median}");
        assert!(keeps || median <= usual, "{after} ms: {median}");
    }
}

/// By the draft, data from before a silence of the sender are an excess after it.
#[test]
fn bbr3_requests_keep_a_queue_where_the_bdp_is_small() {
    for (rate, rtt, response, keeps) in [
        (10, 1, 2_000, true),
        (5, 5, 1_000, true),
        (20, 40, 1_000, false),
    ] {
        let (rate, rtt) = (mbit(rate), millis(rtt));
        let packet = Bytes::new(1_500);
        let mut flow = FlowConfig::new(ControllerKind::Bbr3);
        flow.app = app::Config::Requests(app::Requests {
            response: Sizes::Fixed(Bytes::new(response * 1_000)),
            think: Pause::Fixed(millis(300)),
            ..app::Requests::default()
        });
        let path = path(rate, rtt, packet * 200);
        let median = median_rtt(path, flow, 20..50);
        let usual = rtt * 2 + rate.time_for(packet * 10);
        assert_eq!(median > usual, keeps, "{rate} x {rtt}: {median}");
    }
}

/// With a BDP of less than a packet there are no rounds to wait for. DOWN then ends with its first ACK, before the round after
/// which the draft forgets a cycle's bandwidth. So the flow keeps a bandwidth that is gone, and fills the buffer.
#[test]
fn bbr3_keeps_ten_times_the_rate_where_the_bdp_is_less_than_a_packet() {
    for (rate, rtt) in [(10_000, 1), (5_000, 2)] {
        let rate = Rate::from_bits_per_sec(rate * 1_000);
        let (less, rtt) = (rate.scale(Ratio::new(1, 10)), millis(rtt));
        let packet = Bytes::new(1_500);
        let mut path = path(rate, rtt, packet * 100);
        let at = 2;
        change(
            &mut path,
            &[Then {
                at,
                rate: less,
                rtt,
            }],
        );
        let median = median_rtt(path, FlowConfig::new(ControllerKind::Bbr3), 30..60);
        let half = less.time_for(packet * 50);
        assert!(median > half, "{rate} x {rtt}: {median}");
    }
}

/// The round trip is so short that each flow probes more than once a second. The claim `v3-staggered` has other
/// paths, and BBRv1 is in `behaviour`.
#[test]
fn bbr3_flows_that_start_one_after_the_other_come_to_share() {
    let (rate, rtt) = (mbit(100), millis(10));
    for seed in [1, 2] {
        for bdps in [1, 2] {
            for count in [2, 5, 10] {
                let path = path(rate, rtt, rate.bytes_in(rtt) * bdps);
                let flow = |index| {
                    let start = at_millis(2 * SECOND * index);
                    FlowConfig::new(ControllerKind::Bbr3).starting(start)
                };
                let config = Config {
                    seed,
                    ..dumbbell(path, (0..count).map(flow).collect())
                };
                let last = 2 * (count - 1);
                let end = at_millis((last + 30) * SECOND);
                let watch = run(config, at_millis((last + 20) * SECOND), end);
                let flows = 0..count as usize;
                let rates: Vec<f64> = flows.map(|flow| watch.goodput(flow, end)).collect();
                let index = jain(&rates);
                assert!(
                    index >= 0.9,
                    "{count}, {bdps} BDP, seed {seed}: {index} of {rates:?}"
                );
            }
        }
    }
}
