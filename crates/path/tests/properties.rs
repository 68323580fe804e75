//! Properties of any link and any packets.

use std::collections::VecDeque;

use path::{
    Aggregation, Arrival, Buffer, Capacity, Change, CoDel, Counters, Demand, Discipline,
    Distribution, DualPi2, Ecn, Effects, FqCoDel, GilbertElliott, Jitter, Link, LinkConfig, Loss,
    LossAt, Mtu, OPPORTUNITY, Parcel, Policer, Red, Reorder, Trace, TraceError,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use units::{Bytes, Duration, Rate, Ratio, Time};

const NANOS_PER_SEC: u128 = 1_000_000_000;

fn share() -> impl Strategy<Value = Ratio> {
    prop_oneof![
        Just(Ratio::ZERO),
        Just(Ratio::ONE),
        (0u32..=20, 20u32..100).prop_map(|(n, d)| Ratio::new(n, d)),
    ]
}

fn rate() -> impl Strategy<Value = Rate> {
    prop_oneof![1u64..10_000, 10_000u64..1_000_000_000].prop_map(Rate::from_bytes_per_sec)
}

fn span() -> impl Strategy<Value = Duration> {
    prop_oneof![
        Just(Duration::ZERO),
        (0u64..100_000_000).prop_map(Duration::from_nanos)
    ]
}

fn stamps() -> impl Strategy<Value = Vec<u64>> {
    (vec(0u64..4, 0..20), 1u64..4).prop_map(|(steps, last)| {
        let sum = |stamp: &mut u64, step| {
            *stamp += step;
            Some(*stamp)
        };
        steps.into_iter().chain([last]).scan(0, sum).collect()
    })
}

fn trace_of(stamps: &[u64]) -> Trace {
    let text: String = stamps.iter().map(|stamp| format!("{stamp}\n")).collect();
    text.parse().expect("a trace")
}

fn capacity() -> impl Strategy<Value = Capacity> {
    prop_oneof![
        1 => Just(Capacity::Unlimited),
        4 => rate().prop_map(Capacity::Rate),
        2 => stamps().prop_map(|stamps| Capacity::Trace(trace_of(&stamps))),
    ]
}

fn buffer() -> impl Strategy<Value = Buffer> {
    prop_oneof![
        Just(Buffer::Unlimited),
        (1500u64..20_000).prop_map(|bytes| Buffer::Bytes(Bytes::new(bytes))),
        (1u64..20).prop_map(Buffer::Packets),
    ]
}

fn discipline() -> impl Strategy<Value = Discipline> {
    let codel = || {
        (1u64..20_000_000, 0u64..50_000_000, any::<bool>()).prop_map(|(target, more, ecn)| CoDel {
            target: Duration::from_nanos(target),
            interval: Duration::from_nanos(target + more),
            ecn,
        })
    };
    let fq_codel = (1u32..8, 256u64..4_000, codel()).prop_map(|(flows, quantum, codel)| FqCoDel {
        flows,
        quantum: Bytes::new(quantum),
        target: codel.target,
        interval: codel.interval,
        ecn: codel.ecn,
    });
    let red = (
        1u64..20_000,
        0u64..20_000,
        share(),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(min, more, probability, gentle, ecn)| Red {
            min: Bytes::new(min),
            max: Bytes::new(min + more),
            probability,
            gentle,
            ecn,
        });
    let dualpi2 = (
        1u64..20_000_000,
        1_000_000u64..50_000_000,
        0u64..5_000_000,
        0u32..4,
        share(),
    )
        .prop_map(|(target, tupdate, step, gain, protection)| DualPi2 {
            target: Duration::from_nanos(target),
            tupdate: Duration::from_nanos(tupdate),
            alpha: Ratio::new(gain, 1),
            beta: Ratio::new(gain, 1),
            step_thresh: Duration::from_nanos(step),
            classic_protection: protection,
            ..DualPi2::default()
        });
    prop_oneof![
        2 => Just(Discipline::DropTail),
        1 => codel().prop_map(Discipline::CoDel),
        1 => fq_codel.prop_map(Discipline::FqCoDel),
        1 => red.prop_map(Discipline::Red),
        1 => dualpi2.prop_map(Discipline::DualPi2),
    ]
}

fn loss() -> impl Strategy<Value = Loss> {
    let chain = (share(), share(), share(), share());
    prop_oneof![
        Just(Loss::NONE),
        share().prop_map(Loss::Independent),
        chain.prop_map(
            |(p, r, loss_good, loss_bad)| Loss::GilbertElliott(GilbertElliott {
                p,
                r,
                loss_good,
                loss_bad
            })
        ),
    ]
}

fn demand() -> impl Strategy<Value = Demand> {
    (1u64..30_000_000, 1u64..100_000_000, 1u64..10_000).prop_map(|(interval, within, least)| {
        Demand {
            interval: Duration::from_nanos(interval),
            within: Duration::from_nanos(within),
            least: Rate::from_bytes_per_sec(least),
        }
    })
}

fn loss_at() -> impl Strategy<Value = LossAt> {
    prop_oneof![Just(LossAt::Entry), Just(LossAt::Exit)]
}

fn mtu() -> impl Strategy<Value = Option<Mtu>> {
    option::of((Mtu::MIN..3_000).prop_map(|bytes| Mtu::new(bytes).expect("no less than the least")))
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    vec((span(), option::of(rate()), span(), mtu()), 0..4).prop_map(|steps| {
        let mut at = Time::ZERO;
        steps
            .into_iter()
            .map(|(step, rate, delay, mtu)| {
                at += step;
                Change {
                    at,
                    rate,
                    delay: Some(delay),
                    mtu,
                }
            })
            .collect()
    })
}

/// Returns any valid link.
#[allow(clippy::needless_update, reason = "a new effect needs no line here")]
fn config() -> impl Strategy<Value = LinkConfig> {
    let distributions = prop::sample::select(vec![
        Distribution::Uniform,
        Distribution::Normal,
        Distribution::Pareto,
        Distribution::ParetoNormal,
    ]);
    let jitter =
        (span(), any::<bool>(), distributions).prop_map(|(up_to, reorders, distribution)| Jitter {
            up_to,
            reorders,
            distribution,
        });
    let reorder = (share(), 1u64..50_000_000).prop_map(|(share, by)| Reorder {
        share,
        by: Duration::from_nanos(by),
    });
    let policer = (rate(), 1500u64..50_000).prop_map(|(rate, burst)| Policer {
        rate,
        burst: Bytes::new(burst),
    });
    let aggregation = (1u64..30_000_000).prop_map(|interval| Aggregation {
        interval: Duration::from_nanos(interval),
    });
    (
        (
            capacity(),
            span(),
            buffer(),
            discipline(),
            loss(),
            loss_at(),
            share(),
            mtu(),
        ),
        option::of(jitter),
        option::of(reorder),
        share(),
        option::of(policer),
        option::of(aggregation),
        option::of(demand()),
        changes(),
    )
        .prop_map(
            |(
                (capacity, delay, buffer, queue, loss, loss_at, corruption, mtu),
                jitter,
                reorder,
                duplicate,
                policer,
                aggregation,
                demand,
                mut changes,
            )| {
                let demand = demand.filter(
                    |demand| matches!(capacity, Capacity::Rate(rate) if rate >= demand.least),
                );
                if matches!(capacity, Capacity::Trace(_)) {
                    for change in &mut changes {
                        change.rate = None;
                    }
                }
                LinkConfig {
                    capacity,
                    delay,
                    buffer,
                    changes,
                    effects: Effects {
                        queue,
                        loss,
                        loss_at,
                        corruption,
                        mtu,
                        jitter,
                        reorder,
                        duplicate,
                        policer,
                        demand,
                        aggregation,
                        ..Effects::default()
                    },
                }
            },
        )
}

/// Returns packets: the gap to the one before, and the size.
fn packets() -> impl Strategy<Value = Vec<(u64, u64)>> {
    let gap = prop_oneof![2 => Just(0), 3 => 0u64..2_000_000, 1 => 0u64..100_000_000];
    let size = prop_oneof![3 => Just(1500), 2 => 0u64..3_000];
    vec((gap, size), 0..80)
}

/// Returns packets at the edges of the integers.
fn wild_packets() -> impl Strategy<Value = Vec<(u64, u64)>> {
    let wild = || prop_oneof![Just(0), Just(1500), Just(u64::MAX), any::<u64>()];
    vec((wild(), wild()), 0..20)
}

fn entries(packets: &[(u64, u64)]) -> Vec<(Time, Bytes)> {
    let mut now = Time::ZERO;
    packets
        .iter()
        .map(|(gap, size)| {
            now += Duration::from_nanos(*gap);
            (now, Bytes::new(*size))
        })
        .collect()
}

fn link(config: &LinkConfig, seed: u64) -> Link<usize> {
    Link::new(config.clone(), seed).expect("a good configuration")
}

/// Returns flows and ECN fields that vary independently.
fn parcel(packet: usize, size: Bytes) -> Parcel {
    Parcel {
        size,
        flow: packet as u64 % FLOWS,
        ecn: [Ecn::NotCapable, Ecn::Capable, Ecn::Marked, Ecn::L4s][packet % 4],
    }
}

const FLOWS: u64 = 5;

/// Sends everything before it receives anything.
fn all_at_the_end(link: &mut Link<usize>, entries: &[(Time, Bytes)]) -> Vec<Arrival<usize>> {
    for (packet, (at, size)) in entries.iter().enumerate() {
        link.send(*at, parcel(packet, *size), packet);
    }
    std::iter::from_fn(|| link.receive(Time::MAX)).collect()
}

/// Follows the link's events, as a simulator does, and checks the guarantees of `next_event`.
fn event_by_event(
    link: &mut Link<usize>,
    entries: &[(Time, Bytes)],
    check: impl Fn(&Link<usize>) -> TestCaseResult,
) -> Result<Vec<Arrival<usize>>, TestCaseError> {
    let mut arrivals = Vec::new();
    let mut follow = |link: &mut Link<usize>, until: Time| -> TestCaseResult {
        while let Some(event) = link.next_event().filter(|event| *event <= until) {
            while let Some(arrival) = link.receive(event) {
                prop_assert_eq!(arrival.at, event, "nothing arrives before it is announced");
                arrivals.push(arrival);
            }
            prop_assert!(
                link.next_event().is_none_or(|next| next > event),
                "time stands still"
            );
            check(link)?;
        }
        Ok(())
    };
    for (packet, (at, size)) in entries.iter().enumerate() {
        follow(link, *at)?;
        link.send(*at, parcel(packet, *size), packet);
        check(link)?;
    }
    follow(link, Time::MAX)?;
    Ok(arrivals)
}

fn check_conservation(counters: &Counters) -> TestCaseResult {
    let Counters {
        entered,
        too_big,
        policer_drops,
        drops,
        random_losses,
        duplicates,
        delivered,
        inside,
        ..
    } = counters;
    let ends = [
        too_big,
        policer_drops,
        drops,
        random_losses,
        delivered,
        inside,
    ];
    prop_assert_eq!(
        entered.packets + duplicates.packets,
        ends.iter().map(|count| count.packets).sum::<u64>()
    );
    prop_assert_eq!(
        entered.bytes + duplicates.bytes,
        ends.iter().map(|count| count.bytes).sum::<Bytes>()
    );
    Ok(())
}

/// First in, first out at a rate, in exact fractions of a nanosecond: (finish in 1 / rate ns, waited in ns) of each
/// packet, or `None` if it is dropped.
fn reference(rate: Rate, buffer: Buffer, entries: &[(Time, Bytes)]) -> Vec<Option<(u128, u64)>> {
    let rate = rate.bytes_per_sec() as u128;
    let mut free = 0u128;
    let mut starts: Vec<(u128, Bytes)> = Vec::new();
    entries
        .iter()
        .map(|(at, size)| {
            let now = at.as_nanos() as u128 * rate;
            let waiting = starts.iter().filter(|(start, _)| *start > now);
            let bytes: Bytes = waiting.clone().map(|(_, size)| *size).sum();
            let starts_now = free <= now;
            let fits = match buffer {
                Buffer::Unlimited => true,
                Buffer::Bytes(max) => bytes + *size <= max,
                Buffer::Packets(max) => (waiting.count() as u64) < max,
            };
            if !fits {
                return None;
            }
            let start = if starts_now { now } else { free };
            starts.push((start, *size));
            free = start + size.get() as u128 * NANOS_PER_SEC;
            Some((free, (start.div_ceil(rate) - at.as_nanos() as u128) as u64))
        })
        .collect()
}

/// The packets that a repeated trace delivers, computed step by step: each opportunity in turn carries the bytes that
/// have entered before it, and is used up.
fn one_opportunity_after_the_other(
    stamps: &[u64],
    entries: &[(Time, Bytes)],
) -> Vec<(usize, Time)> {
    let period = stamps.last().copied().expect("a trace has a stamp");
    let mut delivered = Vec::new();
    let mut carried = 0;
    for millis in (0..).flat_map(|n| stamps.iter().map(move |stamp| n * period + stamp)) {
        let now = Time::ZERO + Duration::from_millis(millis);
        let mut left = OPPORTUNITY.get();
        while left > 0 {
            let Some((entered, size)) = entries.get(delivered.len()) else {
                return delivered;
            };
            if *entered >= now {
                break;
            }
            let share = left.min(size.get() - carried);
            left -= share;
            carried += share;
            if carried == size.get() {
                carried = 0;
                delivered.push((delivered.len(), now));
            }
        }
    }
    delivered
}

/// The time at which the cell has carried each packet, computed update by update: all packets are one volume, which
/// drains at the granted rate.
fn one_look_after_the_other(demand: Demand, rate: Rate, entries: &[(Time, Bytes)]) -> Vec<Time> {
    let (mut now, mut next, mut carried) = (0u64, 0, 0u128);
    let interval = demand.interval.as_nanos();
    // The rest of each packet, in bytes × 10⁻⁹, and its size.
    let mut inside: VecDeque<(u128, u64)> = VecDeque::new();
    let mut through = Vec::new();
    while through.len() < entries.len() {
        if now.is_multiple_of(interval) {
            let backlog: u64 = inside.iter().map(|(_, size)| size).sum();
            let asked = backlog as u128 * NANOS_PER_SEC / demand.within.as_nanos() as u128;
            let least = demand.least.bytes_per_sec() as u128;
            carried = asked.max(least).min(rate.bytes_per_sec() as u128);
        }
        while let Some((_, size)) = entries.get(next).filter(|(at, _)| at.as_nanos() == now) {
            inside.push_back((size.get() as u128 * NANOS_PER_SEC, size.get()));
            next += 1;
        }
        let look = (now / interval + 1) * interval;
        let until = entries
            .get(next)
            .map_or(look, |(at, _)| look.min(at.as_nanos()));
        let mut passes = carried * (until - now) as u128;
        let mut passed = 0;
        while let Some((left, _)) = inside.front_mut() {
            if *left > passes {
                *left -= passes;
                break;
            }
            passes -= *left;
            passed += *left;
            through.push(Time::from_nanos(now + passed.div_ceil(carried) as u64));
            inside.pop_front();
        }
        now = until;
    }
    through
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_plain_link_agrees_with_exact_fractions(
        rate in rate(),
        delay in span(),
        buffer in buffer(),
        packets in packets(),
    ) {
        let config = LinkConfig {
            capacity: Capacity::Rate(rate),
            delay,
            buffer,
            ..LinkConfig::default()
        };
        let entries = entries(&packets);
        let expected: Vec<(Time, u64, usize)> = reference(rate, buffer, &entries)
            .into_iter()
            .enumerate()
            .filter_map(|(packet, fate)| {
                let (finish, queued) = fate?;
                let through = finish.div_ceil(rate.bytes_per_sec() as u128) as u64;
                Some((Time::from_nanos(through) + delay, queued, packet))
            })
            .collect();
        let arrivals: Vec<(Time, u64, usize)> = all_at_the_end(&mut link(&config, 0), &entries)
            .into_iter()
            .map(|arrival| (arrival.at, arrival.queued.as_nanos(), arrival.packet))
            .collect();
        prop_assert_eq!(arrivals, expected);
    }

    #[test]
    fn when_the_caller_looks_changes_nothing(
        config in config(),
        packets in packets(),
        seed: u64,
    ) {
        let entries = entries(&packets);
        let late = all_at_the_end(&mut link(&config, seed), &entries);
        let prompt = event_by_event(&mut link(&config, seed), &entries, |_| Ok(()))?;
        prop_assert_eq!(&late, &prompt);
        prop_assert!(late.is_sorted_by_key(|arrival| arrival.at));
    }

    #[test]
    fn nothing_is_invented_or_lost_uncounted_and_the_buffer_holds(
        config in config(),
        packets in packets(),
        seed: u64,
    ) {
        let mut link = link(&config, seed);
        let entries = entries(&packets);
        let check = |link: &Link<usize>| {
            check_conservation(&link.counters())?;
            let queued = link.queued();
            match config.buffer {
                Buffer::Unlimited => {}
                Buffer::Bytes(max) => prop_assert!(queued.bytes <= max),
                Buffer::Packets(max) => prop_assert!(queued.packets <= max),
            }
            Ok(())
        };
        let arrivals = event_by_event(&mut link, &entries, check)?;
        let counters = link.counters();
        prop_assert_eq!(counters.inside.packets, 0);
        prop_assert_eq!(counters.entered.packets, entries.len() as u64);
        prop_assert_eq!(counters.delivered.packets, arrivals.len() as u64);
        let mut marked = 0;
        for arrival in &arrivals {
            let sent = parcel(arrival.packet, entries[arrival.packet].1);
            prop_assert_eq!(arrival.size, sent.size);
            if arrival.ecn != sent.ecn {
                prop_assert!(matches!(sent.ecn, Ecn::Capable | Ecn::L4s));
                prop_assert_eq!(arrival.ecn, Ecn::Marked);
                marked += 1;
            }
        }
        prop_assert!(marked <= counters.marks.packets + counters.duplicates.packets);
        let may_mark = match config.effects.queue {
            Discipline::DropTail => false,
            Discipline::CoDel(CoDel { ecn, .. })
            | Discipline::FqCoDel(FqCoDel { ecn, .. })
            | Discipline::Red(Red { ecn, .. }) => ecn,
            Discipline::DualPi2(_) => true,
        };
        prop_assert!(may_mark || counters.marks.packets == 0);
    }

    #[test]
    fn nothing_comes_before_serialization_and_delay_allow(
        config in config(),
        packets in packets(),
        seed: u64,
    ) {
        let entries = entries(&packets);
        let fastest = match config.capacity {
            Capacity::Rate(rate) => {
                config.changes.iter().filter_map(|change| change.rate).fold(rate, Rate::max)
            }
            Capacity::Unlimited | Capacity::Trace(_) => Rate::MAX,
        };
        let shortest = config
            .changes
            .iter()
            .filter_map(|change| change.delay)
            .fold(config.delay, Duration::min);
        for arrival in all_at_the_end(&mut link(&config, seed), &entries) {
            let (entered, size) = entries[arrival.packet];
            let least = if fastest == Rate::MAX { Duration::ZERO } else { fastest.time_for(size) };
            prop_assert!(arrival.at >= entered + least + shortest);
            // The wait is rounded up to a whole nanosecond.
            let queued = arrival.queued.saturating_sub(Duration::from_nanos(1));
            prop_assert!(arrival.at >= entered + queued + least + shortest);
        }
    }

    #[test]
    fn no_reordering_unless_asked(config in config(), packets in packets(), seed: u64) {
        let config = LinkConfig { effects: Effects {
            reorder: None,
            jitter: config.effects.jitter.map(|jitter| Jitter { reorders: false, ..jitter }), ..config.effects}, ..config};
        let arrivals = all_at_the_end(&mut link(&config, seed), &entries(&packets));
        // Flows have queues of their own in FQ-CoDel, and so have two groups of ECN fields in DualPI2.
        let queue = |packet: usize| match config.effects.queue {
            Discipline::FqCoDel(_) => packet % FLOWS as usize,
            Discipline::DualPi2(_) => {
                usize::from(matches!(parcel(packet, Bytes::ZERO).ecn, Ecn::L4s | Ecn::Marked))
            }
            _ => 0,
        };
        for of in 0..FLOWS as usize {
            let packets = arrivals.iter().map(|arrival| arrival.packet);
            prop_assert!(packets.filter(|packet| queue(*packet) == of).is_sorted());
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_fate(config in config(), packets in packets(), seed: u64) {
        let entries = entries(&packets);
        let (mut one, mut other) = (link(&config, seed), link(&config, seed));
        prop_assert_eq!(
            all_at_the_end(&mut one, &entries),
            all_at_the_end(&mut other, &entries)
        );
        prop_assert_eq!(one.counters(), other.counters());
    }

    #[test]
    fn one_impairment_does_not_change_anothers_choice(
        config in config(),
        packets in packets(),
        seed: u64,
    ) {
        let entries = entries(&packets);
        let survivors = |config: &LinkConfig| {
            let mut packets: Vec<usize> = all_at_the_end(&mut link(config, seed), &entries)
                .iter()
                .map(|arrival| arrival.packet)
                .collect();
            packets.sort_unstable();
            packets.dedup();
            packets
        };
        let only_loss = LinkConfig { effects: Effects {
            jitter: None,
            reorder: None,
            duplicate: Ratio::ZERO,
            aggregation: None, ..config.effects}, ..config.clone()};
        prop_assert_eq!(survivors(&config), survivors(&only_loss));

        let times = |config: &LinkConfig| {
            all_at_the_end(&mut link(config, seed), &entries)
                .iter()
                .map(|arrival| (arrival.packet, arrival.at))
                .collect::<Vec<_>>()
        };
        let lossless = LinkConfig {
            changes: Vec::new(), effects: Effects {
            loss: Loss::NONE,
            duplicate: Ratio::ZERO,
            jitter: config.effects.jitter.map(|jitter| Jitter { reorders: true, ..jitter }),
            aggregation: None, ..config.effects}, ..config};
        let all = times(&lossless);
        let loss = Loss::Independent(Ratio::new(1, 3));
        let lossy = LinkConfig { effects: Effects { loss, loss_at: LossAt::Exit, ..lossless.effects}, ..lossless};
        // If jitter or reordering may overtake, each packet's time is independent. If not, packets may arrive earlier
        // because the one before them is lost, which constant delays rule out.
        prop_assert!(times(&lossy).iter().all(|arrival| all.contains(arrival)));
    }

    #[test]
    fn a_policer_passes_its_burst_and_its_rate_in_any_interval(
        rate in rate(),
        burst in 1500u64..50_000,
        packets in packets(),
    ) {
        let config = LinkConfig { effects: Effects {
            policer: Some(Policer { rate, burst: Bytes::new(burst) }), ..Effects::default()}, ..LinkConfig::default()};
        let passed = all_at_the_end(&mut link(&config, 0), &entries(&packets));
        for first in 0..passed.len() {
            let mut bytes = 0u128;
            for arrival in &passed[first..] {
                bytes += arrival.size.get() as u128;
                let span = arrival.at.since(passed[first].at).as_nanos() as u128;
                let filled = rate.bytes_per_sec() as u128 * span;
                prop_assert!(bytes * NANOS_PER_SEC <= burst as u128 * NANOS_PER_SEC + filled);
            }
        }
    }

    #[test]
    fn a_trace_delivers_no_more_than_its_opportunities(
        stamps in stamps(),
        packets in packets(),
    ) {
        let config = LinkConfig {
            capacity: Capacity::Trace(trace_of(&stamps)),
            ..LinkConfig::default()
        };
        let entries = entries(&packets);
        let arrivals: Vec<(usize, Time)> = all_at_the_end(&mut link(&config, 0), &entries)
            .iter()
            .map(|arrival| (arrival.packet, arrival.at))
            .collect();
        prop_assert_eq!(arrivals, one_opportunity_after_the_other(&stamps, &entries));
    }

    #[test]
    fn a_cell_carries_what_it_grants(
        (interval, within) in (1_000_000u64..30_000_000, 1u64..100_000_000),
        (least, more) in (10_000u64..1_000_000, 0u64..10_000_000),
        packets in packets(),
    ) {
        let demand = Demand {
            interval: Duration::from_nanos(interval),
            within: Duration::from_nanos(within),
            least: Rate::from_bytes_per_sec(least),
        };
        let rate = Rate::from_bytes_per_sec(least + more);
        let config = LinkConfig {
            capacity: Capacity::Rate(rate), effects: Effects {
            demand: Some(demand), ..Effects::default()}, ..LinkConfig::default()};
        let entries = entries(&packets);
        let arrivals = all_at_the_end(&mut link(&config, 0), &entries);
        let through: Vec<Time> = arrivals.iter().map(|arrival| arrival.at).collect();
        prop_assert_eq!(through, one_look_after_the_other(demand, rate, &entries));
    }

    #[test]
    fn a_cell_gives_no_less_than_the_least_and_no_more_than_the_link(
        demand in demand(),
        rate in rate(),
        changes in changes(),
        packets in packets(),
    ) {
        let rate = rate.max(demand.least);
        let rates = || changes.iter().filter_map(|change| change.rate);
        let slowest = rates().fold(demand.least, Rate::min);
        let fastest = rates().fold(rate, Rate::max);
        let config = LinkConfig {
            capacity: Capacity::Rate(rate),
            changes: changes.iter().map(|change| Change { delay: Some(Duration::ZERO), mtu: None, ..*change }).collect(), effects: Effects {
            demand: Some(demand), ..Effects::default()}, ..LinkConfig::default()};
        let entries = entries(&packets);
        let mut free = Time::ZERO;
        for arrival in all_at_the_end(&mut link(&config, 0), &entries) {
            let (entered, size) = entries[arrival.packet];
            let took = arrival.at.since(free.max(entered));
            free = arrival.at;
            // The rest of a nanosecond belongs to the next packet.
            let rounded = Duration::from_nanos(1);
            prop_assert!(took <= slowest.time_for(size) + rounded, "less than the least, or idle");
            prop_assert!(fastest.time_for(size) <= took + rounded, "more than the link");
        }
    }

    #[test]
    fn the_queue_view_foretells_the_wait(
        capacity in capacity(),
        packets in vec((0u64..3_000_000, 1u64..3_000), 0..60),
    ) {
        let config = LinkConfig { capacity, ..LinkConfig::default() };
        let mut link = link(&config, 0);
        let mut foretold = Vec::new();
        for (packet, (at, size)) in entries(&packets).into_iter().enumerate() {
            link.advance(at);
            foretold.push(link.queued().delay);
            link.send(at, size, packet);
        }
        while let Some(arrival) = link.receive(Time::MAX) {
            prop_assert_eq!(arrival.queued, foretold[arrival.packet]);
        }
        prop_assert_eq!(link.counters().delivered.packets, packets.len() as u64);
    }

    #[test]
    fn the_edges_of_the_integers_hold(
        config in config(),
        packets in wild_packets(),
        seed: u64,
        late in any::<u64>(),
    ) {
        let entries = entries(&packets);
        let mut link = link(&config, seed);
        for (packet, (at, size)) in entries.iter().enumerate() {
            link.send(*at, parcel(packet, *size), packet);
            // The clock jumps, also backwards.
            link.advance(Time::from_nanos(late));
            let _ = (link.next_event(), link.queued(), link.counters());
        }
        let arrivals = std::iter::from_fn(|| link.receive(Time::MAX)).count() as u64;
        let counters = link.counters();
        prop_assert_eq!(counters.inside.packets, 0);
        prop_assert_eq!(
            counters.entered.packets + counters.duplicates.packets,
            counters.too_big.packets
                + counters.policer_drops.packets
                + counters.drops.packets
                + counters.random_losses.packets
                + arrivals
        );
        prop_assert_eq!(link.next_event(), None);
    }

    #[test]
    fn any_text_is_a_trace_or_an_error_with_its_line(text in "[0-9 \\n\\rx.-]{0,60}|\\PC*") {
        match text.parse::<Trace>() {
            Ok(trace) => prop_assert!(trace.steps() > 0 && trace.period() > Duration::ZERO),
            Err(TraceError { line, .. }) => prop_assert!(line <= text.lines().count()),
        }
    }
}
