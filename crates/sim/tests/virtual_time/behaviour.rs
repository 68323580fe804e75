//! The behaviour of the algorithms, as their publications describe it.

use crate::support::{
    Fixed, MSS, Watch, at_millis, jain, limit, lossy, mbit, millis, path, quantile, run,
};
use congestion::bbr1::{self, Bbr1};
use congestion::{Ack, AnyController, Bytes, Controller, ControllerKind, Duration, Ratio, Time};
use path::{Buffer, Reorder};
use sim::{Config, FlowConfig, Id, MakeController, Observer, Simulation, dumbbell};
use transport::app;
use transport::burst::Burst;
use transport::scheduler::{Pacing, SchedulerConfig};
use transport::sender::{LossDetection, Sender};

const SECOND: u64 = 1_000;

/// The share of the limit that a bulk `bbr1` flow reaches in a minute from its start, at 100 Mbit/s × 100 ms.
fn share_of_limit(loss_percent: u32, seed: u64) -> f64 {
    let (rate, rtt) = (mbit(100), millis(100));
    let path = lossy(path(rate, rtt, rate.bytes_in(rtt) * 4), loss_percent);
    // A receiver without limits: data beyond holes occupy its buffer. With a smaller one, Startup would reach its end
    // first, which costs up to half a percent of the minute.
    let mut flow = FlowConfig::new(ControllerKind::Bbr1);
    flow.receiver.initial_buffer = Bytes::new(64 << 20);
    let config = Config {
        seed,
        ..dumbbell(path, vec![flow])
    };
    let end = at_millis(60 * SECOND);
    run(config, Time::ZERO, end).goodput(0, end) / limit(rate, loss_percent)
}

#[test]
fn bbr1_does_not_take_random_loss_for_congestion() {
    for (loss_percent, bar) in [(0, 0.95), (1, 0.95), (5, 0.95), (15, 0.90)] {
        for seed in [1, 2] {
            let share = share_of_limit(loss_percent, seed);
            assert!(
                (bar..=1.0).contains(&share),
                "{loss_percent} %, seed {seed}: {share}"
            );
        }
    }
}

/// The median RTT of a `bbr1` flow at 10 Mbit/s × 40 ms, in packets of 1.2 ms beyond RTprop, and its share of the limit.
fn median_queue(has_departure_model: bool, from: u64, end: u64) -> (f64, f64) {
    let (rate, rtt) = (mbit(10), millis(40));
    let bbr1 = bbr1::Config {
        has_departure_model,
        ..bbr1::Config::linux()
    };
    let make = move |connection| AnyController::Bbr1(Bbr1::new(connection, bbr1));
    let flow = FlowConfig::with_controller(MakeController::new(make));
    let path = path(rate, rtt, rate.bytes_in(millis(SECOND)));
    let end = at_millis(end * SECOND);
    let watch = run(dumbbell(path, vec![flow]), at_millis(from * SECOND), end);
    let queue = quantile(&watch.flows[0].rtts, 0.5).saturating_sub(rtt);
    let packets = queue.as_secs_f64() / rate.time_for(Bytes::new(1_500)).as_secs_f64();
    (packets, watch.goodput(0, end) / limit(rate, 0))
}

/// Packets leave in bursts of two, so an RTT without a queue has two packets beyond RTprop. Until the first ProbeRTT,
/// RTprop is that of the handshake, whose packets take no time on the link, and the queue is empty. ProbeRTT then takes
/// the RTT of a burst for RTprop. From then on, BBR takes two packets of a queue for the pipe, and leaves these.
///
/// With the departure model, what waits in the host is not in the network. The room of three bursts that Linux gives to
/// the end hosts at the end of each phase is then queued, but for one burst, which has just been acknowledged. (The
/// kernel's BBR, paced by TCP itself, has a median of 1.20 RTprops here, which are seven packets.)
#[test]
fn bbr1_keeps_a_deep_queue_empty() {
    const BURST: f64 = 2.0;
    const ROUNDING: f64 = 1e-6;
    // Startup's queue is gone after two seconds, and ProbeRTT is over after eleven.
    for (from, end, pipe) in [(2, 10, BURST), (11, 60, 2.0 * BURST)] {
        let (without, share) = median_queue(false, from, end);
        let range = BURST - ROUNDING..=pipe + ROUNDING;
        assert!(range.contains(&without), "{without} at {from} s");
        assert!(share > 0.95, "{share}");
        let (with, share) = median_queue(true, from, end);
        let range = without + BURST..=pipe + 2.0 * BURST;
        assert!(range.contains(&with), "{with} at {from} s");
        assert!(share > 0.95, "{share}");
    }
}

#[test]
fn cubic_fills_a_deep_queue() {
    let (rate, rtt) = (mbit(10), millis(40));
    let path = path(rate, rtt, rate.bytes_in(millis(SECOND)));
    let config = dumbbell(path, vec![FlowConfig::new(ControllerKind::Cubic)]);
    let watch = run(config, at_millis(30 * SECOND), at_millis(120 * SECOND));
    let median = quantile(&watch.flows[0].rtts, 0.5);
    let longest = quantile(&watch.flows[0].rtts, 1.0);
    assert!(median > millis(700), "{median}");
    assert!(longest > millis(1_000), "{longest}");
}

/// Beside a flow that keeps the queue full, ProbeRTT finds no empty pipe. From then on the queue counts as RTprop, so
/// the window holds enough of it to keep a share (Ware et al., "Modeling BBR's Interactions with Loss-Based
/// Congestion Control", IMC 2019).
#[test]
fn bbr1_keeps_a_share_beside_cubic_in_a_deep_queue() {
    let (rate, rtt) = (mbit(20), millis(40));
    for seed in [1, 2, 3] {
        let path = path(rate, rtt, rate.bytes_in(rtt) * 10);
        let cubic = FlowConfig::new(ControllerKind::Cubic).starting(at_millis(2 * SECOND));
        let config = Config {
            seed,
            ..dumbbell(path, vec![FlowConfig::new(ControllerKind::Bbr1), cubic])
        };
        let end = at_millis(30 * SECOND);
        let watch = run(config, at_millis(15 * SECOND), end);
        let share = watch.goodput(0, end) / limit(rate, 0);
        assert!((0.15..0.35).contains(&share), "seed {seed}: {share}");
    }
}

/// The flows that start late take more than their share, until a common ProbeRTT shows the true RTprop to each (the
/// paper's figure 6): that takes a few of them.
#[test]
fn ten_bbr1_flows_come_to_share_fairly() {
    let rate = mbit(100);
    for (rtt, bdps, stagger) in [(40, 2, 200), (40, 8, 200), (10, 10, 1_000)] {
        for seed in [1, 2] {
            let path = path(rate, millis(rtt), rate.bytes_in(millis(rtt)) * bdps);
            let flow = |index: u64| {
                FlowConfig::new(ControllerKind::Bbr1).starting(at_millis(stagger * index))
            };
            let config = Config {
                seed,
                ..dumbbell(path, (0..10).map(flow).collect())
            };
            let end = at_millis(90 * SECOND);
            let watch = run(config, at_millis(60 * SECOND), end);
            let rates: Vec<f64> = (0..10).map(|flow| watch.goodput(flow, end)).collect();
            let index = jain(&rates);
            let context = format!("{rtt} ms, buffer {bdps} BDP, seed {seed}");
            assert!(index >= 0.95, "{context}: {index} of {rates:?}");
            assert!(
                rates.iter().sum::<f64>() / limit(rate, 0) > 0.95,
                "{context}"
            );
        }
    }
}

/// The flows converge because each sends while less than its window is in flight, so on average half a packet more
/// than in proportion to its share; with Linux's room in the window, some eight packets more.
#[test]
fn five_flows_of_the_papers_bbr_come_to_share_fairly() {
    let (rate, rtt) = (mbit(100), millis(10));
    for seed in [1, 2, 3] {
        let path = path(rate, rtt, rate.bytes_in(rtt) * 8);
        let paper = |connection| Bbr1::new(connection, bbr1::Config::paper());
        let flow = |index: u64| {
            FlowConfig::with_controller(MakeController::new(paper))
                .starting(at_millis(2 * SECOND * index))
        };
        let config = Config {
            seed,
            ..dumbbell(path, (0..5).map(flow).collect())
        };
        let end = at_millis(120 * SECOND);
        let watch = run(config, at_millis(80 * SECOND), end);
        let rates: Vec<f64> = (0..5).map(|flow| watch.goodput(flow, end)).collect();
        let index = jain(&rates);
        assert!(index >= 0.95, "seed {seed}: {index} of {rates:?}");
    }
}

/// The shares of five flows of the BBR of the paper's time that start two seconds apart, in the second half of a
/// minute, with this RTprop window.
fn shares_with_rtprop_window(window: Duration, seed: u64) -> Vec<f64> {
    let (rate, rtt) = (mbit(100), millis(10));
    let bbr1 = bbr1::Config {
        rtprop_window: window,
        ..bbr1::Config::linux_4_19()
    };
    let flow = |index: u64| {
        let make = move |connection| Bbr1::new(connection, bbr1);
        FlowConfig::with_controller(MakeController::new(make))
            .starting(at_millis(2 * SECOND * index))
    };
    let config = Config {
        seed,
        ..dumbbell(
            path(rate, rtt, rate.bytes_in(rtt) * 8),
            (0..5).map(flow).collect(),
        )
    };
    let end = at_millis(60 * SECOND);
    let watch = run(config, at_millis(30 * SECOND), end);
    (0..5).map(|flow| watch.goodput(flow, end)).collect()
}

/// The paper on several flows: late starters take a queue for a part of the path, and have more while they do; common
/// ProbeRTTs correct them.
#[test]
fn without_probe_rtt_flows_that_start_late_keep_more_than_their_share() {
    for seed in [1, 2] {
        let with = shares_with_rtprop_window(millis(10 * SECOND), seed);
        assert!(jain(&with) > 0.95, "seed {seed}: {with:?}");
        let without = shares_with_rtprop_window(millis(1_000 * SECOND), seed);
        assert!(jain(&without) < 0.7, "seed {seed}: {without:?}");
        assert!(without[4] > 10.0 * without[0], "seed {seed}: {without:?}");
    }
}

/// A transfer of ten packets that leave at once, into a buffer with room for all but the last two.
fn tail_loss(loss_detection: LossDetection) -> Watch {
    let mut path = path(mbit(12), millis(40), Bytes::ZERO);
    path.forward.buffer = Buffer::Packets(7);
    let mut flow = FlowConfig::with_controller(Fixed::packets(10));
    flow.app = app::Config::Transfer {
        bytes: Bytes::new(10 * MSS),
    };
    flow.sender.loss_detection = loss_detection;
    run(
        dumbbell(path, vec![flow]),
        Time::ZERO,
        at_millis(10 * SECOND),
    )
}

#[test]
fn a_tail_loss_costs_a_probe_and_no_timeout() {
    let rack = tail_loss(LossDetection::Rack).flows[0].clone();
    assert_eq!((rack.stats.tail_loss_probes, rack.stats.timeouts), (1, 0));
    let classic = tail_loss(LossDetection::DupThreshold).flows[0].clone();
    assert_eq!(
        (classic.stats.tail_loss_probes, classic.stats.timeouts),
        (0, 1)
    );
    assert!(rack.ended.unwrap() < classic.ended.unwrap());
}

/// From the start on, including Startup and Drain. The buffer is so deep that CUBIC does not fill it meanwhile: no
/// packet is really lost.
#[test]
fn reordering_by_half_a_round_trip_costs_at_most_one_recovery() {
    let (rate, rtt) = (mbit(50), millis(40));
    let end = at_millis(5 * SECOND);
    for (kind, bdps) in [
        (ControllerKind::Bbr1, 8),
        (ControllerKind::Bbr1, 64),
        (ControllerKind::Cubic, 64),
    ] {
        for share in [Ratio::new(1, 1_000), Ratio::new(1, 100)] {
            for by in [rtt / 8, rtt / 4, rtt / 2] {
                for seed in 1..=5 {
                    let mut path = path(rate, rtt, rate.bytes_in(rtt) * bdps);
                    path.forward.effects.reorder = Some(Reorder { share, by });
                    let config = Config {
                        seed,
                        ..dumbbell(path, vec![FlowConfig::new(kind)])
                    };
                    let stats = run(config, Time::ZERO, end).flows[0].stats;
                    let context = format!("{kind}, {share} held for {by}, seed {seed}: {stats:?}");
                    assert!(stats.reordered > 0, "{context}");
                    assert!(stats.recoveries <= 1, "{context}");
                    assert_eq!(stats.spurious_recoveries, stats.recoveries, "{context}");
                    assert_eq!(stats.timeouts, 0, "{context}");
                }
            }
        }
    }
}

/// A send buffer smaller than what Startup would have in flight counts as an application limit, as in Linux with its
/// 4 MB. Such samples do not show that the pipe is full, so Startup never ends; they do not lower BtlBw either.
#[test]
fn a_small_send_buffer_keeps_bbr1_in_startup() {
    let (rate, rtt) = (mbit(100), millis(100));
    for (megabytes, state) in [(2, "Startup"), (4, "Startup"), (8, "ProbeBW")] {
        let mut flow = FlowConfig::new(ControllerKind::Bbr1);
        flow.sender.send_buffer = Bytes::new(megabytes * 1_000_000);
        let mut config = dumbbell(path(rate, rtt, rate.bytes_in(rtt * 4)), vec![flow]);
        config.end = Some(at_millis(9 * SECOND));
        let mut simulation = Simulation::new(config, ()).unwrap();
        simulation.run();
        let (_, sender, _) = simulation.connections().next().unwrap();
        let snapshot = sender.controller().snapshot();
        assert_eq!(snapshot.state.name, state, "{megabytes} MB");
        let btl_bw = snapshot.btl_bw.unwrap().bits_per_sec() as f64;
        assert!(
            (0.99..1.01).contains(&(btl_bw / limit(rate, 0))),
            "{btl_bw}"
        );
        // Not all of the time: the buffer empties by a third, and is refilled at once.
        let limits = sender.limits(simulation.now());
        assert_eq!(
            limits.send_buffer > millis(SECOND),
            state == "Startup",
            "{megabytes} MB: {limits:?}"
        );
    }
}

/// The share of the limit that a flow has after its start, on a path of 333 packets (100 Mbit/s × 40 ms) with a
/// buffer of this many packets.
fn share_with_buffer(kind: ControllerKind, packets: u64) -> f64 {
    let (rate, rtt) = (mbit(100), millis(40));
    let mut path = path(rate, rtt, Bytes::ZERO);
    path.forward.buffer = Buffer::Packets(packets);
    let end = at_millis(90 * SECOND);
    let watch = run(
        dumbbell(path, vec![FlowConfig::new(kind)]),
        at_millis(30 * SECOND),
        end,
    );
    watch.goodput(0, end) / limit(rate, 0)
}

#[test]
fn a_shallow_buffer_costs_loss_based_control_more_than_bbr1() {
    for (packets, most, least) in [(4, 0.5, 0.6), (10, 0.93, 0.94)] {
        let share = |kind| share_with_buffer(kind, packets);
        let reno = share(ControllerKind::Reno);
        let cubic = share(ControllerKind::Cubic);
        let bbr1 = share(ControllerKind::Bbr1);
        assert!(reno < cubic && cubic < most, "{packets}: {reno}, {cubic}");
        assert!(bbr1 > least, "{packets}: {bbr1}");
    }
}

/// The times at which bursts left their host.
#[derive(Default)]
struct Departures(Vec<Time>);

impl<C: Controller> Observer<C> for Departures {
    fn on_departed(&mut self, now: Time, _: Id, _: &Burst) {
        self.0.push(now);
    }
}

/// The longest silence in each of the rounds five to seven, as a share of the RTT; the pipe is not full before the
/// ninth.
fn silences(kind: ControllerKind, pacing: Pacing) -> Vec<f64> {
    let (rate, rtt) = (mbit(1_000), millis(100));
    let mut flow = FlowConfig::new(kind);
    flow.sender.pacing = pacing;
    flow.receiver.initial_buffer = Bytes::new(64 << 20);
    let mut config = dumbbell(path(rate, rtt, rate.bytes_in(rtt)), vec![flow]);
    config.hosts[0].scheduler = SchedulerConfig::of(pacing);
    config.end = Some(at_millis(700));
    let mut simulation = Simulation::new(config, Departures::default()).unwrap();
    simulation.run();
    let departures = simulation.into_observer().0;
    let rounds = |span: Duration| span.as_secs_f64() / rtt.as_secs_f64();
    let longest = |round: u64| {
        let gaps = departures.windows(2).filter_map(|two| {
            let is_of_it = rounds(two[1].since(Time::ZERO)) as u64 == round;
            is_of_it.then(|| rounds(two[1].since(two[0])))
        });
        gaps.fold(0.0, f64::max)
    };
    (4..7).map(longest).collect()
}

/// The appendix of the paper: even with pacing, slow start sends during a part of each round and is silent for the
/// rest, while Startup sends ever faster. The gap after its first window is gone after four rounds.
#[test]
fn slow_start_is_silent_in_each_round_and_startup_is_not() {
    let bbr1 = silences(ControllerKind::Bbr1, Pacing::Fq);
    assert!(bbr1.iter().all(|silence| *silence < 0.1), "{bbr1:?}");
    let paced = silences(ControllerKind::Cubic, Pacing::Fq);
    assert!(paced.iter().all(|silence| *silence > 0.25), "{paced:?}");
    let unpaced = silences(ControllerKind::Cubic, Pacing::None);
    assert!(unpaced.iter().all(|silence| *silence > 0.9), "{unpaced:?}");
}

/// A flow's BtlBw at each ACK.
#[derive(Default)]
struct Beliefs(Vec<f64>);

impl<C: Controller> Observer<C> for Beliefs {
    fn on_ack(&mut self, now: Time, id: Id, _: &Ack, sender: &Sender<C>) {
        if id.flow == 0 && now >= at_millis(20 * SECOND) {
            let btl_bw = sender.controller().snapshot().btl_bw;
            self.0.extend(btl_bw.map(|rate| rate.bits_per_sec() as f64));
        }
    }
}

/// The paper on competition: whatever part of the buffer CUBIC fills, ProbeBW moves BtlBw towards the flow's fair
/// share: from above in a buffer of 2 BDP, and a little too far in deeper ones. In a buffer of 1 BDP, little moves it.
#[test]
fn beside_cubic_btl_bw_moves_towards_the_fair_share() {
    let (rate, rtt) = (mbit(20), millis(40));
    for (bdps, share) in [
        (1, 0.8..1.0),
        (2, 0.5..0.75),
        (4, 0.35..0.5),
        (8, 0.3..0.45),
    ] {
        let path = path(rate, rtt, rate.bytes_in(rtt) * bdps);
        let kinds = [ControllerKind::Bbr1, ControllerKind::Cubic];
        let config = Config {
            end: Some(at_millis(80 * SECOND)),
            ..dumbbell(path, kinds.map(FlowConfig::new).to_vec())
        };
        let mut simulation = Simulation::new(config, Beliefs::default()).unwrap();
        simulation.run();
        let mut beliefs = simulation.into_observer().0;
        beliefs.sort_by(f64::total_cmp);
        let median = beliefs[beliefs.len() / 2] / limit(rate, 0);
        assert!(share.contains(&median), "{bdps} BDP: {median}");
    }
}
