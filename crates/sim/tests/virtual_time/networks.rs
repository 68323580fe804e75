//! Random networks: links, and routes over them in any order.

use congestion::{Ack, AnyController, ControllerKind, Duration, Ratio, Time};
use path::{Buffer, Capacity, Discipline, LinkConfig, Loss};
use proptest::prelude::*;
use sim::{Config, End, FlowConfig, HostConfig, Id, Observer, Passing, Route, Simulation};
use transport::segment::Body;
use transport::sender::Sender;

use crate::support::{at_millis, mbit, millis};

/// Counts the packets that leave hosts and that reach them, and keeps the shortest RTT of each flow.
#[derive(Debug)]
struct Count {
    left: u64,
    arrived: u64,
    least_rtts: Vec<Duration>,
}

impl Observer<AnyController> for Count {
    const WATCHES_SEGMENTS: bool = true;

    fn on_segment(&mut self, _: Time, passing: &Passing<'_>) {
        let is_from_data = !matches!(passing.segment.body, Body::SynAck { .. } | Body::Ack(_));
        if is_from_data == (passing.end == End::Sending) {
            self.left += 1;
        } else {
            self.arrived += 1;
        }
    }

    fn on_ack(&mut self, _: Time, id: Id, ack: &Ack, _: &Sender<AnyController>) {
        if let Some(sample) = ack.rtt {
            let least = &mut self.least_rtts[id.flow];
            *least = sample.rtt.min(*least);
        }
    }
}

fn any_link() -> impl Strategy<Value = LinkConfig> {
    (
        1u64..50,
        0u64..20,
        4u64..100,
        0u32..4,
        0u32..4,
        any::<bool>(),
    )
        .prop_map(|(rate, delay, packets, loss, copies, is_codel)| {
            let mut link = LinkConfig {
                capacity: Capacity::Rate(mbit(rate)),
                delay: millis(delay),
                buffer: Buffer::Packets(packets),
                ..LinkConfig::default()
            };
            link.effects.loss = Loss::Independent(Ratio::new(loss, 100));
            link.effects.duplicate = Ratio::new(copies, 100);
            if is_codel {
                link.effects.queue = Discipline::CoDel(path::CoDel::default());
            }
            link
        })
}

/// The first of these links, in this order.
fn route(links: usize, order: &[usize], most: usize) -> Vec<usize> {
    let mut crossed = Vec::new();
    for link in order.iter().map(|link| link % links) {
        if !crossed.contains(&link) && crossed.len() < most {
            crossed.push(link);
        }
    }
    crossed
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Each packet that a host sent has reached a host, was dropped by a link, or is on one; a link that no route
    /// crosses carries nothing; and no RTT is shorter than the sum of the delays along both routes.
    #[test]
    fn every_packet_is_accounted_for(
        links in prop::collection::vec(any_link(), 1..8),
        routes in prop::collection::vec((prop::collection::vec(0usize..8, 8), prop::collection::vec(0usize..8, 8), 1usize..5, 0usize..3), 1..6),
        seed: u64,
    ) {
        let kinds = [ControllerKind::Bbr1, ControllerKind::Cubic, ControllerKind::Reno];
        let flow = |(there, back, most, kind): &(Vec<usize>, Vec<usize>, usize, usize)| FlowConfig {
            forward: Route::over(route(links.len(), there, *most)),
            backward: Route::over(route(links.len(), back, *most)),
            ..FlowConfig::new(kinds[*kind])
        };
        let flows: Vec<_> = routes.iter().map(flow).collect();
        let ways: Vec<Vec<usize>> = flows.iter().map(|flow| [&flow.forward.links[..], &flow.backward.links[..]].concat()).collect();
        let end = at_millis(2_000);
        let config = Config { seed, links: links.clone(), hosts: vec![HostConfig::default()], flows, end: Some(end) };
        let count = Count { left: 0, arrived: 0, least_rtts: vec![Duration::MAX; ways.len()] };
        let mut simulation = Simulation::new(config, count).unwrap();
        for step in 1..=20 {
            simulation.run_until(at_millis(step * 100));
            let (mut came, mut gone) = (0, 0);
            for link in 0..links.len() {
                let counters = simulation.link(link).unwrap().counters();
                let lost = counters.drops.packets + counters.random_losses.packets;
                let inside = counters.inside.packets;
                prop_assert_eq!(
                    counters.entered.packets + counters.duplicates.packets,
                    counters.delivered.packets + lost + inside
                );
                prop_assert!(ways.iter().any(|way| way.contains(&link)) || counters.entered.packets == 0);
                came += counters.duplicates.packets;
                gone += lost + inside;
            }
            let seen = simulation.observer();
            prop_assert_eq!(seen.left + came, seen.arrived + gone);
        }
        let seen = simulation.observer();
        prop_assert!(seen.arrived > 0);
        for (way, least) in ways.iter().zip(&seen.least_rtts) {
            let delays = way.iter().map(|link| links[*link].delay);
            let sum = delays.fold(Duration::ZERO, |sum, delay| sum + delay);
            prop_assert!(*least > sum, "{least} on a route of {sum}");
        }
    }
}

/// Counts what each flow delivered.
#[derive(Debug)]
struct Delivered(Vec<u64>);

impl Observer<AnyController> for Delivered {
    fn on_ack(&mut self, _: Time, id: Id, ack: &Ack, _: &Sender<AnyController>) {
        self.0[id.flow] += ack.newly_acked.get();
    }
}

const FLOWS: usize = 9;

/// The flows' deliveries, each over a line of its own, all of them equal, into one shared link.
fn over_equal_lines(kind: ControllerKind, seed: u64) -> Vec<u64> {
    let line = |rate: u64, buffer: Buffer| LinkConfig {
        capacity: Capacity::Rate(mbit(rate)),
        delay: millis(5),
        buffer,
        ..LinkConfig::default()
    };
    let mut links = vec![line(100, Buffer::Packets(1000)); FLOWS];
    // Half a BDP.
    links.push(line(50, Buffer::Packets(40)));
    links.push(LinkConfig {
        delay: millis(10),
        ..LinkConfig::default()
    });
    let flow = |index| FlowConfig {
        host: index,
        forward: Route::over([index, FLOWS]),
        backward: Route::over([FLOWS + 1]),
        ..FlowConfig::new(kind)
    };
    let config = Config {
        seed,
        links,
        hosts: vec![HostConfig::default(); FLOWS],
        flows: (0..FLOWS).map(flow).collect(),
        end: Some(at_millis(6_000)),
    };
    let mut simulation = Simulation::new(config, Delivered(vec![0; FLOWS])).unwrap();
    simulation.run();
    simulation.into_observer().0
}

/// Flows that start together over equal lines have the same share in the mean of many seeds, each of them, whatever the
/// order of their lines; and a seed gives the same run. The band is 3.5 standard errors of a flow's mean, and at most 15 %.
#[test]
fn the_order_of_equal_lines_favours_no_flow() {
    const SEEDS: u64 = 24;
    for kind in [ControllerKind::Reno, ControllerKind::Cubic] {
        let runs: Vec<_> = (0..SEEDS)
            .map(|seed| over_equal_lines(kind, seed))
            .collect();
        assert_eq!(runs[0], over_equal_lines(kind, 0));
        assert_ne!(runs[0], runs[1]);
        for flow in 0..FLOWS {
            let share =
                |run: &Vec<u64>| (run[flow] * FLOWS as u64) as f64 / run.iter().sum::<u64>() as f64;
            let shares: Vec<f64> = runs.iter().map(share).collect();
            let mean = shares.iter().sum::<f64>() / SEEDS as f64;
            let squares = shares.iter().map(|share| (share - mean).powi(2));
            let error = (squares.sum::<f64>() / (SEEDS * (SEEDS - 1)) as f64).sqrt();
            println!(
                "{kind} {flow} {mean:.3} ± {error:.3} {:.1}",
                (mean - 1.0) / error
            );
            let off = (mean - 1.0).abs();
            let is_even = off < 3.5 * error && off < 0.15;
            assert!(
                is_even,
                "{kind}, flow {flow}: {mean:.3} ± {error:.3} of an equal share"
            );
        }
    }
}
