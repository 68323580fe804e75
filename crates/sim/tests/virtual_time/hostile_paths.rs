//! Paths that are hard on loss recovery and the host: none of its last resorts may be used without need.

use congestion::{Bytes, Controller, ControllerKind, Duration, Ratio, Time};
use path::{Buffer, Capacity, Loss, Reorder};
use sim::{Config, FlowConfig, Id, Observer, Simulation, dumbbell};
use transport::app;
use transport::burst::Burst;
use transport::scheduler::{MAX_OFFLOAD, Pacing, SchedulerConfig};
use transport::sender::Sender;

use crate::support::{MSS, at_millis, limit, lossy, mbit, millis, path, run};

const ALL: [ControllerKind; 4] = [
    ControllerKind::Bbr1,
    ControllerKind::Bbr3,
    ControllerKind::Cubic,
    ControllerKind::Reno,
];

/// A lost retransmission is found by time while anything else arrives; a timeout that happens nevertheless is not
/// spurious.
#[test]
fn no_timeout_is_spurious_however_many_packets_are_lost() {
    let (rate, rtt) = (mbit(20), millis(100));
    for kind in ALL {
        for percent in [1, 5, 15, 30] {
            let path = lossy(path(rate, rtt, rate.bytes_in(rtt) * 2), percent);
            let config = dumbbell(path, vec![FlowConfig::new(kind)]);
            let stats = run(config, Time::ZERO, at_millis(30_000)).flows[0].stats;
            let context = format!("{kind}, {percent} %: {stats:?}");
            assert!(stats.packets_lost > 0, "{context}");
            assert_eq!(
                (stats.spurious_timeouts, stats.duplicates),
                (0, 0),
                "{context}"
            );
        }
    }
}

/// Slow start's overshoot causes many true losses; a packet that is only late must not make the sender forget them.
#[test]
fn reordering_amid_true_losses_costs_no_timeout() {
    let (rate, rtt) = (mbit(50), millis(40));
    for kind in ALL {
        for seed in 0..10 {
            let mut path = path(rate, rtt, rate.bytes_in(rtt / 2));
            path.forward.effects.reorder = Some(Reorder {
                share: Ratio::new(5, 1_000),
                by: millis(30),
            });
            let config = Config {
                seed,
                ..dumbbell(path, vec![FlowConfig::new(kind)])
            };
            let stats = run(config, Time::ZERO, at_millis(10_000)).flows[0].stats;
            assert_eq!(stats.timeouts, 0, "{kind}, seed {seed}: {stats:?}");
        }
    }
}

/// Half of the acknowledgements are lost, or their path is too slow for them: cumulative acknowledgements make up for
/// it.
#[test]
fn a_bad_way_back_costs_little() {
    let rate = mbit(50);
    for kind in ALL {
        let mut lossy = path(rate, millis(40), Bytes::new(500_000));
        lossy.reverse.effects.loss = Loss::Independent(Ratio::new(1, 2));
        let mut slow = path(rate, millis(40), Bytes::new(500_000));
        slow.reverse.capacity = Capacity::Rate(mbit(2));
        slow.reverse.buffer = Buffer::Packets(20);
        for (name, path) in [("loss", lossy), ("rate", slow)] {
            let end = at_millis(30_000);
            let config = dumbbell(path, vec![FlowConfig::new(kind)]);
            let share = run(config, at_millis(5_000), end).goodput(0, end) / limit(rate, 0);
            assert!(share > 0.9, "{kind}, {name}: {share}");
        }
    }
}

/// Very long or very short round trips and small or large packets cause no timeouts and do not freeze the window.
#[test]
fn round_trips_and_packets_of_any_size() {
    let micros = Duration::from_micros;
    let paths = [
        (mbit(10), millis(2_000)),
        (mbit(1_000), micros(100)),
        (mbit(10_000), micros(10)),
    ];
    for kind in ALL {
        for mss in [536, MSS, 8_948] {
            for (rate, rtt) in paths {
                let path = path(rate, rtt, (rate.bytes_in(rtt) * 2).max(Bytes::new(100_000)));
                let mut flow = FlowConfig::new(kind);
                flow.sender.mss = Bytes::new(mss);
                let end = Time::ZERO + (rtt * 60).max(millis(200));
                let from = Time::ZERO + end.since(Time::ZERO) / 2;
                let watch = run(dumbbell(path, vec![flow]), from, end);
                let all = rate.bits_per_sec() as f64 * mss as f64 / (mss + 52) as f64;
                let share = watch.goodput(0, end) / all;
                let stats = watch.flows[0].stats;
                let context = format!("{kind}, {rate} x {rtt}, {mss}: {share}, {stats:?}");
                assert_eq!(stats.timeouts, 0, "{context}");
                // ProbeRTT costs four seconds of each ten at two seconds' RTT.
                assert!(share > 0.5, "{context}");
            }
        }
    }
}

/// The smallest transfers, with loss of any packet: SYN, SYN-ACK, the data or its ACK.
#[test]
fn a_byte_arrives_when_whatever_is_lost_was_repeated_once() {
    let mut seconds = Vec::new();
    for seed in 0..200 {
        let mut path = lossy(path(mbit(10), millis(40), Bytes::new(100_000)), 20);
        path.reverse.effects.loss = Loss::Independent(Ratio::new(1, 5));
        let mut flow = FlowConfig::new(ControllerKind::Cubic);
        flow.app = app::Config::Transfer {
            bytes: Bytes::new(1),
        };
        let config = Config {
            seed,
            ..dumbbell(path, vec![flow])
        };
        let watch = run(config, Time::ZERO, at_millis(200_000));
        let seen = &watch.flows[0];
        assert_eq!(seen.received, 1, "seed {seed}");
        let ended = seen
            .ended
            .unwrap_or_else(|| panic!("seed {seed}: {seen:?}"));
        seconds.push(ended.since(Time::ZERO).as_secs_f64());
    }
    seconds.sort_by(f64::total_cmp);
    // Without a loss it takes two round trips; a SYN's answer is awaited for a second, five times.
    assert!(seconds[60] < 0.09, "{:?}", seconds[60]);
    assert!(seconds[190] < 8.0, "{:?}", seconds[190]);
}

/// Checks that each sender respects the limit of TCP small queues, and counts the bursts that have not left its host.
#[derive(Default)]
struct SmallQueues {
    waiting: u64,
}

impl<C: Controller> Observer<C> for SmallQueues {
    fn on_departed(&mut self, now: Time, id: Id, burst: &Burst) {
        self.waiting -= 1;
        assert!(burst.departure <= now, "{now:?} {id:?}: {burst:?}");
    }

    fn on_sent(&mut self, now: Time, id: Id, burst: &Burst, sender: &Sender<C>) {
        self.waiting += 1;
        let controller = sender.controller();
        let millisecond = controller.pacing_rate().bytes_in(millis(1));
        let limit = millisecond.max(controller.send_quantum().min(MAX_OFFLOAD) * 2);
        // Twice the limit for retransmissions, and the burst itself.
        let most = limit * 2 + Bytes::new(u64::from(burst.bytes));
        let below = sender.below_tcp();
        assert!(below <= most, "{now:?} {id:?}: {below}, at most {most}");
    }
}

/// Whatever the pacing, the scheduler and the card: about a millisecond of data waits below, and the scheduler never
/// drops.
#[test]
fn little_waits_below_the_sender() {
    let rate = mbit(50);
    for kind in ALL {
        for pacing in [Pacing::None, Pacing::PerConnection, Pacing::Fq] {
            for nic in [None, Some(mbit(1_000)), Some(mbit(40))] {
                let path = lossy(path(rate, millis(40), rate.bytes_in(millis(80))), 2);
                let mut flow = FlowConfig::new(kind);
                flow.sender.pacing = pacing;
                let mut config = dumbbell(path, vec![flow; 4]);
                config.hosts[0].scheduler = SchedulerConfig::of(pacing);
                config.hosts[0].nic = nic;
                config.end = Some(at_millis(5_000));
                let mut simulation = Simulation::new(config, SmallQueues::default()).unwrap();
                simulation.run();
                let counters = simulation.scheduler(0).unwrap();
                assert!(counters.enqueued > 1_000, "{kind} {pacing:?} {nic:?}");
                assert_eq!(counters.dropped, 0, "{kind} {pacing:?} {nic:?}");
                // One more may be in the card.
                let queued = counters.enqueued - counters.dequeued;
                let waiting = simulation.observer().waiting;
                assert!(
                    (queued..=queued + 1).contains(&waiting),
                    "{waiting} of {queued}"
                );
            }
        }
    }
}

/// Linux gives up 131 s after the first SYN; the connections of both directions end with it.
#[test]
fn a_connection_that_nobody_answers_is_given_up() {
    let mut pages = FlowConfig::new(ControllerKind::Cubic);
    pages.app = app::Config::Requests(app::Requests::default());
    for flow in [FlowConfig::new(ControllerKind::Bbr1), pages] {
        for is_forward in [true, false] {
            let mut path = path(mbit(10), millis(40), Bytes::new(100_000));
            let link = if is_forward {
                &mut path.forward
            } else {
                &mut path.reverse
            };
            link.effects.loss = Loss::Independent(Ratio::ONE);
            let watch = run(
                dumbbell(path, vec![flow.clone()]),
                Time::ZERO,
                at_millis(200_000),
            );
            assert_eq!(watch.flows[0].ended, Some(at_millis(131_000)));
            assert_eq!(watch.flows[0].stats.packets_sent, 0);
        }
    }
}
