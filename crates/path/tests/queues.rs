//! The effects of queue disciplines on flows, through the public interface.

use std::collections::BTreeMap;

use path::{
    Arrival, Buffer, Capacity, CoDel, Counters, Discipline, DualPi2, Ecn, Effects, FqCoDel, Link,
    LinkConfig, Parcel, Path, PathConfig, Red,
};
use units::{Bytes, Duration, Rate, Ratio, Time};

const PACKET: Bytes = Bytes::new(1500);

fn at_micros(micros: u64) -> Time {
    Time::ZERO + Duration::from_micros(micros)
}

/// 12 Mbit/s: a packet of 1500 bytes a millisecond.
fn link(queue: Discipline, buffer: Buffer) -> Link<u64> {
    let config = LinkConfig {
        capacity: Capacity::Rate(Rate::from_bits_per_sec(12_000_000)),
        buffer,
        effects: Effects {
            queue,
            ..Effects::default()
        },
        ..LinkConfig::default()
    };
    Link::new(config, 1).expect("a good configuration")
}

fn of_flow(flow: u64) -> Parcel {
    Parcel {
        size: PACKET,
        flow,
        ecn: Ecn::NotCapable,
    }
}

fn capable(flow: u64) -> Parcel {
    Parcel {
        ecn: Ecn::Capable,
        ..of_flow(flow)
    }
}

/// Sends `parcel` every `gap` microseconds from `from` to `to` milliseconds, and returns the arrivals by then.
fn offer(
    link: &mut Link<u64>,
    millis: std::ops::Range<u64>,
    gap: u64,
    parcel: Parcel,
) -> Vec<Arrival<u64>> {
    let mut arrivals = Vec::new();
    for micros in (millis.start * 1_000..millis.end * 1_000).step_by(gap as usize) {
        arrivals.extend(std::iter::from_fn(|| link.receive(at_micros(micros))));
        link.send(at_micros(micros), parcel, parcel.flow);
    }
    arrivals
}

fn mean_wait(arrivals: &[Arrival<u64>]) -> f64 {
    let total: Duration = arrivals
        .iter()
        .fold(Duration::ZERO, |sum, arrival| sum + arrival.queued);
    total.as_millis_f64() / arrivals.len() as f64
}

/// A sender with additive increase and multiplicative decrease: a window in packets, a round trip of 20 ms without the
/// queue, and a response to drops and marks at most once per round trip.
struct Aimd {
    link: Link<u64>,
    parcel: Parcel,
    window: f64,
    inflight: u64,
    /// The times at which ACKs arrive.
    acks: BTreeMap<Time, u64>,
    calm_until: Time,
    lost: u64,
}

impl Aimd {
    const REST: Duration = Duration::from_millis(20);

    fn new(link: Link<u64>, parcel: Parcel) -> Aimd {
        Aimd {
            link,
            parcel,
            window: 10.0,
            inflight: 0,
            acks: BTreeMap::new(),
            calm_until: Time::ZERO,
            lost: 0,
        }
    }

    fn congested(&mut self, now: Time) {
        if now >= self.calm_until {
            self.window = (self.window / 2.0).max(1.0);
            self.calm_until = now + Aimd::REST;
        }
    }

    /// Runs until `end`, and returns the arrivals of that time.
    fn run(&mut self, end: Time) -> Vec<Arrival<u64>> {
        let mut arrivals = Vec::new();
        let mut now = Time::ZERO;
        while now < end {
            while (self.inflight as f64) < self.window {
                self.link.send(now, self.parcel, 0);
                self.inflight += 1;
            }
            let ack = self.acks.first_key_value().map(|(at, _)| *at);
            let Some(next) = [self.link.next_event(), ack].into_iter().flatten().min() else {
                break;
            };
            now = next;
            while let Some(arrival) = self.link.receive(now) {
                *self.acks.entry(arrival.at + Aimd::REST).or_default() += 1;
                if arrival.ecn == Ecn::Marked {
                    self.congested(now);
                }
                arrivals.push(arrival);
            }
            let drops = self.link.counters().drops.packets;
            if drops > self.lost {
                self.inflight -= drops - self.lost;
                self.lost = drops;
                self.congested(now);
            }
            if let Some(acked) = self.acks.remove(&now) {
                self.inflight -= acked;
                self.window += acked as f64 / self.window;
            }
        }
        arrivals
    }
}

fn after(arrivals: &[Arrival<u64>], micros: u64) -> Vec<Arrival<u64>> {
    let after = arrivals
        .iter()
        .filter(|arrival| arrival.at >= at_micros(micros));
    after.copied().collect()
}

#[test]
fn codel_keeps_a_responsive_load_near_its_target_and_the_link_busy() {
    for (codel, parcel) in [
        (CoDel::default(), of_flow(0)),
        (
            CoDel {
                ecn: true,
                ..CoDel::default()
            },
            capable(0),
        ),
    ] {
        let mut deep = Aimd::new(link(Discipline::DropTail, Buffer::Packets(500)), parcel);
        let standing = mean_wait(&after(&deep.run(at_micros(30_000_000)), 10_000_000));
        assert!(
            standing > 100.0,
            "a deep buffer alone has {standing} ms standing"
        );

        let discipline = Discipline::CoDel(codel);
        let mut sender = Aimd::new(link(discipline, Buffer::Packets(500)), parcel);
        let arrivals = sender.run(at_micros(30_000_000));
        let settled = after(&arrivals, 10_000_000);
        assert!(mean_wait(&settled) < 10.0, "{} ms", mean_wait(&settled));
        // The link's capacity is a packet per millisecond.
        assert!(settled.len() > 18_000, "{} of 20 000", settled.len());
        let Counters { drops, marks, .. } = sender.link.counters();
        assert_eq!(codel.ecn, drops.packets == 0, "{drops:?}");
        assert_eq!(codel.ecn, marks.packets > 0, "{marks:?}");
    }
}

#[test]
fn codel_bounds_an_overload_that_does_not_respond() {
    let mut link = link(Discipline::CoDel(CoDel::default()), Buffer::Unlimited);
    // The load is 12.5 % above the capacity. Flows that do not respond make CoDel search for the right drop rate
    // repeatedly, so the delay swings above the target. The numbers are those of the RFC's pseudocode, transcribed to
    // Python with floating point, for the same packets.
    let arrivals = offer(&mut link, 0..60_000, 889, of_flow(0));
    let early = mean_wait(&arrivals[2_000..6_000]);
    let late = mean_wait(&after(&arrivals, 50_000_000));
    assert!((early - 82.4).abs() < 0.1, "{early} ms");
    assert!((late - 38.6).abs() < 0.1, "{late} ms");
    let drops = link.counters().drops.packets;
    assert!(drops.abs_diff(7_436) <= 5, "{drops}");
}

#[test]
fn codel_waits_for_an_interval_and_drops_by_its_law() {
    let mut link = link(Discipline::CoDel(CoDel::default()), Buffer::Unlimited);
    for packet in 0..2_000 {
        link.send(Time::ZERO, PACKET, packet);
    }
    let arrived: Vec<u64> = std::iter::from_fn(|| link.receive(at_micros(500_000)))
        .map(|arrival| arrival.packet)
        .collect();
    let drops: Vec<u64> = (0..arrived[arrived.len() - 1])
        .filter(|packet| !arrived.contains(packet))
        .collect();
    // Packet 5 is the first that waited 5 ms; 100 ms later the first is dropped at its dequeue, and the next ones after
    // 100, 100/√2, 100/√3 … ms, each at the first dequeue from then on. Each drop leaves its millisecond to the next.
    let times = [105.0f64, 205.0, 275.71, 333.45, 383.45, 428.17, 468.99];
    let expected: Vec<u64> = (0..)
        .zip(times)
        .map(|(before, at)| at.ceil() as u64 + before)
        .collect();
    assert_eq!(drops, expected);
}

#[test]
fn codel_lets_bursts_pass_and_never_the_last_packets_starve() {
    let eager = CoDel {
        target: Duration::from_nanos(1),
        interval: Duration::from_nanos(1),
        ecn: false,
    };
    let mut link = link(Discipline::CoDel(eager), Buffer::Unlimited);
    for burst in 0..100 {
        for packet in 0..50 {
            link.send(at_micros(burst * 200_000), PACKET, packet);
        }
        let arrivals: Vec<u64> =
            std::iter::from_fn(|| link.receive(at_micros(burst * 200_000 + 100_000)))
                .map(|arrival| arrival.packet)
                .collect();
        // The aggressive one drops all that it may, which never includes the last packet.
        assert_eq!(arrivals.last(), Some(&49), "burst {burst}");
        assert!(arrivals.len() < 20, "{}", arrivals.len());
    }

    let mut link = self::link(Discipline::CoDel(CoDel::default()), Buffer::Unlimited);
    for burst in 0..100 {
        for packet in 0..90 {
            link.send(at_micros(burst * 200_000), PACKET, packet);
        }
    }
    link.advance(at_micros(30_000_000));
    assert_eq!(link.counters().drops.packets, 0);
}

#[test]
fn codel_marks_the_capable_and_drops_the_others() {
    for ecn in [Ecn::Capable, Ecn::Marked, Ecn::NotCapable] {
        let codel = CoDel {
            ecn: true,
            ..CoDel::default()
        };
        let mut link = link(Discipline::CoDel(codel), Buffer::Unlimited);
        let parcel = Parcel { ecn, ..of_flow(0) };
        offer(&mut link, 0..2_000, 900, parcel);
        let Counters { drops, marks, .. } = link.counters();
        let signals = if ecn == Ecn::NotCapable { drops } else { marks };
        assert!(signals.packets > 20, "{signals:?}");
        assert_eq!(signals.packets, drops.packets + marks.packets);
    }
}

/// Three bulk flows with packets of different sizes, all far above their shares, and a sparse one.
fn three_fat_and_one_sparse(queue: Discipline) -> (BTreeMap<u64, Bytes>, f64) {
    let mut link = link(queue, Buffer::Packets(1_000));
    let sizes = [1500, 700, 90];
    let mut bytes = BTreeMap::new();
    let mut sparse = Vec::new();
    for micros in (0..20_000_000).step_by(100) {
        let now = at_micros(micros);
        while let Some(arrival) = link.receive(now) {
            if arrival.packet == 99 {
                sparse.push(arrival);
            } else if micros > 5_000_000 {
                *bytes.entry(arrival.packet).or_default() += arrival.size;
            }
        }
        for (flow, size) in (0..).zip(sizes) {
            // Each of them offers at least 12 Mbit/s.
            if micros % [1_000, 400, 100][flow as usize] == 0 {
                let parcel = Parcel {
                    size: Bytes::new(size),
                    ..of_flow(flow)
                };
                link.send(now, parcel, flow);
            }
        }
        if micros % 50_000 == 0 {
            let parcel = Parcel {
                size: Bytes::new(200),
                ..of_flow(99)
            };
            link.send(now, parcel, 99);
        }
    }
    assert!(sparse.len() >= 398 || queue == Discipline::DropTail);
    (bytes, mean_wait(&sparse))
}

#[test]
fn fq_codel_is_fair_in_bytes_and_lets_the_sparse_go_first() {
    let (bytes, wait) = three_fat_and_one_sparse(Discipline::FqCoDel(FqCoDel::default()));
    let share = |bytes: Bytes| bytes.get() as f64 / (15.0 * 1_500_000.0);
    assert_eq!(bytes.len(), 3);
    for (flow, bytes) in &bytes {
        // The sparse flow has 0.3 % of the link.
        let share = share(*bytes);
        assert!((share - 0.332).abs() < 0.005, "flow {flow}: {share}");
    }
    // At most the packet in transmission is before it: a millisecond.
    assert!(wait < 1.0, "{wait} ms");

    let (bytes, wait) = three_fat_and_one_sparse(Discipline::DropTail);
    let fair = bytes.values().all(|b| (share(*b) - 0.332).abs() < 0.02);
    assert!(!fair && wait > 50.0, "{bytes:?}, {wait} ms");
}

#[test]
fn fq_codel_drops_from_the_fattest_when_the_buffer_is_full() {
    let queue = FqCoDel {
        target: Duration::from_secs(1_000),
        interval: Duration::from_secs(1_000),
        ..FqCoDel::default()
    };
    let mut link = link(Discipline::FqCoDel(queue), Buffer::Packets(100));
    for packet in 0..10 {
        link.send(Time::ZERO, capable(1), packet);
    }
    for packet in 10..1_000 {
        link.send(Time::ZERO, capable(2), packet);
    }
    assert_eq!(link.counters().marks.packets, 0);
    let arrivals: Vec<Arrival<u64>> =
        std::iter::from_fn(|| link.receive(at_micros(10_000_000))).collect();
    let of_one: Vec<u64> = arrivals
        .iter()
        .map(|arrival| arrival.packet)
        .filter(|packet| *packet < 10)
        .collect();
    assert_eq!(of_one, Vec::from_iter(0..10), "the thin flow lost nothing");
    assert_eq!(arrivals.last().map(|arrival| arrival.packet), Some(999));
}

#[test]
fn a_threshold_marks_what_comes_to_a_queue_as_long() {
    let queue = Discipline::Red(Red::threshold(Bytes::new(6_000)));
    let mut link = link(queue, Buffer::Packets(8));
    for packet in 0..12 {
        link.send(Time::ZERO, capable(0), packet);
    }
    link.send(Time::ZERO, of_flow(0), 12);
    // One is in transmission, four wait below the threshold, four above it, and three find the buffer full. So does the
    // last one, which may not be marked.
    let Counters { drops, marks, .. } = link.counters();
    assert_eq!((drops.packets, marks.packets), (4, 4));
    let marked: Vec<bool> = std::iter::from_fn(|| link.receive(at_micros(4_500)))
        .map(|arrival| arrival.ecn == Ecn::Marked)
        .collect();
    assert_eq!(marked, [false; 4]);
    link.send(at_micros(4_500), of_flow(0), 13);
    assert_eq!(link.counters().drops.packets, 5, "not capable, so dropped");
    link.send(at_micros(5_500), of_flow(0), 14);
    assert_eq!(link.counters().drops.packets, 5);
    let marked: Vec<bool> = std::iter::from_fn(|| link.receive(at_micros(20_000)))
        .map(|arrival| arrival.ecn == Ecn::Marked)
        .collect();
    assert_eq!(marked, [false, true, true, true, true, false]);
}

fn red(gentle: bool) -> Red {
    Red {
        gentle,
        ecn: true,
        ..Red::new(Bytes::new(30_000), Bytes::new(90_000))
    }
}

/// The share of marks among 50 000 packets that all find `waiting` packets in the queue: one enters at the end of each
/// packet's transmission, when the next one has started.
fn share_of_marks(red: Red, waiting: u64) -> f64 {
    let mut link = link(Discipline::Red(red), Buffer::Unlimited);
    for _ in 0..waiting + 2 {
        link.send(Time::ZERO, capable(0), 0);
    }
    let mut before = 0;
    for packet in 1..=60_000 {
        link.send(at_micros(packet * 1_000), capable(0), 0);
        if packet == 10_000 {
            before = link.counters().marks.packets;
        }
    }
    assert_eq!(link.counters().drops.packets, 0);
    (link.counters().marks.packets - before) as f64 / 50_000.0
}

#[test]
fn red_marks_by_the_average_queue() {
    // With a uniform gap of 1 … 1/p packets, the share of marks is 2p / (1 + p).
    let share = |p: f64| 2.0 * p / (1.0 + p);
    for (waiting, gentle, expected) in [
        (19, true, 0.0),
        (39, true, share(0.1 * 28.5 / 60.0)),
        (58, false, share(0.1 * 57.0 / 60.0)),
        (88, true, share(0.1 + 0.9 * 42.0 / 90.0)),
        (88, false, 1.0),
        (140, true, 1.0),
    ] {
        let marks = share_of_marks(red(gentle), waiting);
        assert!(
            (marks - expected).abs() <= 0.03 * expected,
            "{waiting} waiting: {marks}, not {expected}"
        );
    }
}

#[test]
fn red_lets_a_burst_pass_and_forgets_it_while_idle() {
    let mut link = link(Discipline::Red(red(true)), Buffer::Unlimited);
    // A burst of three times max moves the average by less than min.
    for _ in 0..150 {
        link.send(Time::ZERO, capable(0), 0);
    }
    assert_eq!(link.counters().marks.packets, 0);
    // A long queue moves it, and a second without packets is a thousand packet times: e⁻² of the average is left.
    offer(&mut link, 150..3_000, 950, capable(0));
    let marks = link.counters().marks.packets;
    assert!(marks > 10, "{marks}");
    while link.next_event().is_some() {
        let event = link.next_event().unwrap_or_default();
        while link.receive(event).is_some() {}
    }
    let idle_from = 5_000_000;
    link.send(at_micros(idle_from), capable(0), 0);
    link.send(at_micros(idle_from), capable(0), 0);
    let before = link.counters().marks.packets;
    for packet in 0..100 {
        link.send(at_micros(idle_from + packet * 1_000), capable(0), 0);
    }
    assert_eq!(link.counters().marks.packets, before);
}

#[test]
fn red_holds_a_responsive_load_between_its_thresholds() {
    for parcel in [of_flow(0), capable(0)] {
        let queue = Discipline::Red(red(true));
        let mut sender = Aimd::new(link(queue, Buffer::Packets(500)), parcel);
        let settled = after(&sender.run(at_micros(60_000_000)), 20_000_000);
        let wait = mean_wait(&settled);
        assert!((15.0..60.0).contains(&wait), "{wait} ms");
        let Counters { drops, marks, .. } = sender.link.counters();
        let is_capable = parcel.ecn == Ecn::Capable;
        assert_eq!(
            (drops.packets == 0, marks.packets > 0),
            (is_capable, is_capable)
        );
    }
}

fn l4s(flow: u64) -> Parcel {
    Parcel {
        ecn: Ecn::L4s,
        ..of_flow(flow)
    }
}

fn dualpi2(config: DualPi2) -> Link<u64> {
    link(Discipline::DualPi2(config), Buffer::Packets(500))
}

#[test]
fn dualpi2_marks_what_has_waited_in_the_low_latency_queue() {
    let mut link = dualpi2(DualPi2::default());
    for packet in 0..6 {
        link.send(Time::ZERO, l4s(0), packet);
    }
    let marked: Vec<bool> = std::iter::from_fn(|| link.receive(at_micros(6_000)))
        .map(|arrival| arrival.ecn == Ecn::Marked)
        .collect();
    // They wait 0 to 5 ms; nothing waits behind the last one.
    assert_eq!(marked, [false, false, true, true, true, false]);
}

#[test]
fn dualpi2_lets_l4s_go_first_but_not_alone() {
    // No update of the probability comes.
    let mut link = dualpi2(DualPi2 {
        tupdate: Duration::from_secs(3_600),
        ..DualPi2::default()
    });
    for _ in 0..100 {
        link.send(Time::ZERO, of_flow(0), 0);
    }
    link.send(at_micros(10_500), l4s(1), 1);
    let first: Vec<u64> = std::iter::from_fn(|| link.receive(at_micros(12_000)))
        .map(|arrival| arrival.packet)
        .collect();
    assert_eq!(first.last(), Some(&1), "behind the one in transmission");
    for _ in 0..300 {
        link.send(at_micros(12_000), l4s(1), 1);
    }
    let both: Vec<u64> = std::iter::from_fn(|| link.receive(at_micros(212_000)))
        .map(|arrival| arrival.packet)
        .collect();
    let classic = both.iter().filter(|packet| **packet == 0).count();
    // One leaves before the others come, one after eight of them, and then one of each ten.
    assert_eq!((both.len(), classic), (200, 1 + 1 + 19));
}

#[test]
fn dualpi2_holds_its_target_whoever_overloads_it() {
    // Twice what the link carries, whatever it signals.
    for parcel in [of_flow(0), capable(0), l4s(0)] {
        let mut link = dualpi2(DualPi2::default());
        let arrivals = offer(&mut link, 0..30_000, 500, parcel);
        let wait = mean_wait(&after(&arrivals, 10_000_000));
        assert!((13.0..17.0).contains(&wait), "{:?}: {wait} ms", parcel.ecn);
        let Counters { drops, .. } = link.counters();
        assert!((28_000..31_000).contains(&drops.packets), "{drops:?}");
    }
}

#[test]
fn dualpi2_holds_a_responsive_load_at_its_target() {
    for parcel in [of_flow(0), capable(0)] {
        let mut sender = Aimd::new(dualpi2(DualPi2::default()), parcel);
        let settled = after(&sender.run(at_micros(60_000_000)), 20_000_000);
        let wait = mean_wait(&settled);
        assert!((10.0..20.0).contains(&wait), "{wait} ms");
        let Counters { drops, marks, .. } = sender.link.counters();
        let is_capable = parcel.ecn == Ecn::Capable;
        assert_eq!(
            (drops.packets == 0, marks.packets > 0),
            (is_capable, is_capable)
        );
    }
}

#[test]
fn the_way_back_has_a_bottleneck_of_its_own() {
    let queue = Discipline::CoDel(CoDel::default());
    let there = LinkConfig {
        capacity: Capacity::Rate(Rate::from_bits_per_sec(12_000_000)),
        ..LinkConfig::default()
    };
    let back = LinkConfig {
        capacity: Capacity::Rate(Rate::from_bits_per_sec(320_000)),
        buffer: Buffer::Packets(1_000),
        effects: Effects {
            queue,
            ..Effects::default()
        },
        ..LinkConfig::default()
    };
    let config = PathConfig {
        forward: there,
        reverse: back.clone(),
    };
    let mut path = Path::new(config, 1).expect("a good configuration");
    let mut alone = Link::new(back, 1).expect("a good configuration");
    let ack = Bytes::new(40);
    for packet in 0..20_000 {
        let now = at_micros(packet * 900);
        path.forward.send(now, PACKET, packet);
        path.reverse.send(now, ack, packet);
        alone.send(now, ack, packet);
    }
    let end = at_micros(30_000_000);
    let drain = |link: &mut Link<u64>| Vec::from_iter(std::iter::from_fn(|| link.receive(end)));
    assert_eq!(drain(&mut path.forward).len(), 20_000);
    let acks = drain(&mut path.reverse);
    // A queue without randomness acts alike in both directions.
    assert_eq!(acks, drain(&mut alone));
    assert!(acks.len() < 19_000, "{}", acks.len());
    // A buffer of 1000 such packets alone would hold them for a second.
    let wait = mean_wait(&after(&acks, 10_000_000));
    assert!(wait < 150.0, "{wait} ms");
}

/// A fingerprint of all events: FNV-1a over each arrival, drops, marks.
fn digest(queue: Discipline) -> (u64, u64, u64) {
    let mut link = link(queue, Buffer::Packets(60));
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for step in 0..20_000u64 {
        let now = at_micros(step * 500);
        let parcel = Parcel {
            size: Bytes::new(200 + step * 7919 % 1_301),
            flow: step % 17,
            ecn: match step % 3 {
                1 => Ecn::NotCapable,
                2 if matches!(queue, Discipline::DualPi2(_)) => Ecn::L4s,
                _ => Ecn::Capable,
            },
        };
        link.send(now, parcel, step);
        while let Some(arrival) = link.receive(now) {
            let marked = u64::from(arrival.ecn == Ecn::Marked);
            for word in [arrival.at.as_nanos(), arrival.packet, marked] {
                hash = (hash ^ word).wrapping_mul(0x0100_0000_01b3);
            }
        }
    }
    let counters = link.counters();
    (hash, counters.drops.packets, counters.marks.packets)
}

#[test]
fn the_same_on_every_machine() {
    let ecn = CoDel {
        ecn: true,
        ..CoDel::default()
    };
    let red = Red {
        ecn: true,
        probability: Ratio::new(1, 20),
        ..Red::new(Bytes::new(5_000), Bytes::new(15_000))
    };
    let digests = [
        Discipline::DropTail,
        Discipline::CoDel(ecn),
        Discipline::FqCoDel(FqCoDel::default()),
        Discipline::Red(red),
        Discipline::DualPi2(DualPi2::default()),
    ]
    .map(digest);
    let seen = [
        (16_713_088_086_975_706_398, 1_842, 0),
        (11_267_067_103_431_237_816, 2_044, 1_740),
        (2_931_797_661_533_600_715, 2_151, 751),
        (9_271_461_605_368_207_934, 2_347, 4_737),
        (15_509_157_951_109_158_390, 2_357, 6_923),
    ];
    assert_eq!(digests, seen);
}
