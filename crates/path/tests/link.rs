//! The effects of each impairment on packets, through the public interface.

use path::{
    Aggregation, Arrival, Buffer, Capacity, Change, Demand, Effects, Jitter, Link, LinkConfig,
    Loss, LossAt, Mtu, Path, PathConfig, Policer, Reorder,
};
use units::{Bytes, Duration, Rate, Ratio, Time};

const PACKET: Bytes = Bytes::new(1500);

fn at_millis(millis: u64) -> Time {
    Time::ZERO + Duration::from_millis(millis)
}

/// 12 Mbit/s: a packet of 1500 bytes a millisecond.
fn packet_a_milli() -> LinkConfig {
    LinkConfig {
        capacity: Capacity::Rate(Rate::from_bits_per_sec(12_000_000)),
        delay: Duration::from_millis(10),
        ..LinkConfig::default()
    }
}

fn link(config: LinkConfig) -> Link<u64> {
    Link::new(config, 1).expect("a good configuration")
}

fn drain(link: &mut Link<u64>, now: Time) -> Vec<Arrival<u64>> {
    std::iter::from_fn(|| link.receive(now)).collect()
}

/// (milliseconds, packet) of each arrival.
fn times(arrivals: &[Arrival<u64>]) -> Vec<(f64, u64)> {
    arrivals
        .iter()
        .map(|arrival| (arrival.at.as_nanos() as f64 / 1e6, arrival.packet))
        .collect()
}

#[test]
fn nothing_happens_by_default() {
    let mut link = link(LinkConfig::default());
    link.send(at_millis(3), PACKET, 7);
    assert_eq!(link.next_event(), Some(at_millis(3)));
    let arrival = link.receive(at_millis(3)).expect("it is there at once");
    assert_eq!((arrival.at, arrival.packet), (at_millis(3), 7));
    assert_eq!(arrival.queued, Duration::ZERO);
    assert_eq!(link.next_event(), None);
}

#[test]
fn the_rate_is_exact_in_the_long_run_whatever_the_sizes() {
    // Neither the rate nor the sizes divide 10⁹.
    let rate = 12_345_677;
    let mut link = link(LinkConfig {
        capacity: Capacity::Rate(Rate::from_bytes_per_sec(rate)),
        ..LinkConfig::default()
    });
    let mut total = 0u128;
    let mut expected = Vec::new();
    for packet in 0..100_000u64 {
        let size = 40 + packet * 7919 % 1461;
        link.send(Time::ZERO, Bytes::new(size), packet);
        total += size as u128;
        expected.push((total * 1_000_000_000).div_ceil(rate as u128) as u64);
    }
    let arrivals = drain(&mut link, Time::MAX);
    let finished: Vec<u64> = arrivals.iter().map(|a| a.at.as_nanos()).collect();
    assert_eq!(finished, expected);
}

#[test]
fn late_calls_shift_nothing() {
    let mut late = link(packet_a_milli());
    let mut prompt = link(packet_a_milli());
    let mut seen = Vec::new();
    for packet in 0..20 {
        let now = Time::from_nanos(packet * 700_000);
        late.send(now, PACKET, packet);
        seen.extend(drain(&mut prompt, now));
        prompt.send(now, PACKET, packet);
    }
    while let Some(at) = prompt.next_event() {
        let arrivals = drain(&mut prompt, at);
        assert!(arrivals.iter().all(|arrival| arrival.at == at));
        seen.extend(arrivals);
    }
    assert_eq!(seen, drain(&mut late, at_millis(60_000)));
}

#[test]
fn the_buffer_holds_what_waits_beside_the_packet_in_transmission() {
    for buffer in [Buffer::Packets(2), Buffer::Bytes(Bytes::new(3_000))] {
        let mut link = link(LinkConfig {
            buffer,
            ..packet_a_milli()
        });
        for packet in 0..5 {
            link.send(Time::ZERO, PACKET, packet);
        }
        assert_eq!(link.queued().packets, 2);
        assert_eq!(link.queued().bytes, Bytes::new(3_000));
        assert_eq!(link.queued().delay, Duration::from_millis(3));
        // The packet that is through at 1 ms makes room at 1 ms.
        link.send(at_millis(1), PACKET, 5);
        let counters = link.counters();
        assert_eq!(counters.drops.packets, 2);
        assert_eq!(counters.inside.packets, 4);
        let arrivals = drain(&mut link, at_millis(100));
        assert_eq!(
            times(&arrivals),
            [(11.0, 0), (12.0, 1), (13.0, 2), (14.0, 5)]
        );
        let queued: Vec<u64> = arrivals
            .iter()
            .map(|arrival| arrival.queued.as_nanos() / 1_000_000)
            .collect();
        assert_eq!(queued, [0, 1, 2, 2]);
    }
}

#[test]
fn utilization_is_what_left_and_how_long_it_took() {
    let mut link = link(packet_a_milli());
    link.send(at_millis(10), PACKET, 0);
    link.send(at_millis(10), PACKET, 1);
    link.send(at_millis(20), PACKET, 2);
    link.advance(at_millis(20) + Duration::from_micros(500));
    let counters = link.counters();
    assert_eq!(counters.transmitted.bytes, Bytes::new(3_000));
    assert_eq!(counters.busy, Duration::from_micros(2_500));
    link.advance(at_millis(40));
    assert_eq!(link.counters().busy, Duration::from_millis(3));
    assert_eq!(link.counters().transmitted.packets, 3);
}

#[test]
fn packets_lost_at_the_entry_use_nothing_of_the_link() {
    let mut link = link(LinkConfig {
        effects: Effects {
            loss: Loss::Independent(Ratio::new(1, 2)),
            policer: Some(Policer {
                rate: Rate::from_bits_per_sec(12_000),
                burst: PACKET * 40,
            }),
            ..packet_a_milli().effects
        },
        ..packet_a_milli()
    });
    for packet in 0..40 {
        link.send(Time::ZERO, PACKET, packet);
    }
    let lost = link.counters().random_losses.packets;
    assert!((10..30).contains(&lost), "{lost}");
    assert_eq!(link.queued().packets, 40 - lost - 1);
    // The policer had tokens for forty packets, and has some left.
    link.send(Time::ZERO, PACKET, 40);
    assert_eq!(link.counters().policer_drops.packets, 0);
    let arrivals = drain(&mut link, at_millis(100));
    let counters = link.counters();
    assert_eq!(counters.transmitted.packets, arrivals.len() as u64);
    assert_eq!(counters.random_losses.packets + arrivals.len() as u64, 41);
}

#[test]
fn packets_lost_at_the_exit_have_used_the_bottleneck() {
    let mut link = link(LinkConfig {
        effects: Effects {
            loss: Loss::Independent(Ratio::ONE),
            loss_at: LossAt::Exit,
            ..packet_a_milli().effects
        },
        ..packet_a_milli()
    });
    for packet in 0..5 {
        link.send(Time::ZERO, PACKET, packet);
    }
    assert_eq!(link.receive(at_millis(4)), None);
    assert_eq!(link.counters().random_losses.packets, 4);
    assert_eq!(link.counters().inside.packets, 1);
    // The wake-up for a packet that is lost in the end advances the link.
    let event = link.next_event().expect("one packet is left");
    assert_eq!(link.receive(event), None);
    assert_eq!(link.next_event(), None);
    assert_eq!(link.counters().transmitted.packets, 5);
}

#[test]
fn copies_come_right_behind_and_cost_no_rate() {
    let mut link = link(LinkConfig {
        effects: Effects {
            duplicate: Ratio::ONE,
            ..packet_a_milli().effects
        },
        ..packet_a_milli()
    });
    link.send(Time::ZERO, PACKET, 0);
    link.send(Time::ZERO, PACKET, 1);
    let arrivals = drain(&mut link, at_millis(100));
    assert_eq!(
        times(&arrivals),
        [(11.0, 0), (11.0, 0), (12.0, 1), (12.0, 1)]
    );
    assert_eq!(link.counters().duplicates.packets, 2);
}

#[test]
fn jitter_in_order_and_out_of_order() {
    let arrivals = |reorders| {
        let mut link = link(LinkConfig {
            effects: Effects {
                jitter: Some(Jitter {
                    reorders,
                    ..Jitter::from(Duration::from_millis(5))
                }),
                ..packet_a_milli().effects
            },
            ..packet_a_milli()
        });
        for packet in 0..100 {
            link.send(Time::ZERO, PACKET, packet);
        }
        drain(&mut link, at_millis(1000))
    };
    for reorders in [false, true] {
        let arrivals = arrivals(reorders);
        assert_eq!(arrivals.len(), 100);
        assert!(arrivals.is_sorted_by_key(|arrival| arrival.at));
        for arrival in &arrivals {
            let earliest = at_millis(arrival.packet + 11);
            assert!(arrival.at >= earliest && arrival.at <= earliest + Duration::from_millis(5));
        }
        let in_order = arrivals.is_sorted_by_key(|arrival| arrival.packet);
        assert_eq!(in_order, !reorders);
    }
}

#[test]
fn held_packets_are_overtaken() {
    let mut link = link(LinkConfig {
        effects: Effects {
            reorder: Some(Reorder {
                share: Ratio::new(1, 10),
                by: Duration::from_micros(2_500),
            }),
            ..packet_a_milli().effects
        },
        ..packet_a_milli()
    });
    for packet in 0..1000 {
        link.send(Time::ZERO, PACKET, packet);
    }
    let arrivals = drain(&mut link, at_millis(2000));
    let mut held = 0;
    for arrival in &arrivals {
        let late = arrival.at.since(at_millis(arrival.packet + 11));
        assert!(late.is_zero() || late == Duration::from_micros(2_500));
        held += !late.is_zero() as u32;
    }
    // Five standard deviations around 100.
    assert!((53..=147).contains(&held), "{held}");
    let order: Vec<u64> = arrivals.iter().map(|arrival| arrival.packet).collect();
    let first = arrivals
        .iter()
        .find(|a| a.at > at_millis(a.packet + 11))
        .map(|a| a.packet)
        .expect("some packet is held");
    let place = |packet| order.iter().position(|p| *p == packet);
    assert!(place(first) > place(first + 1));
}

#[test]
fn acks_are_released_together() {
    let mut path = Path::new(
        PathConfig {
            forward: packet_a_milli(),
            reverse: LinkConfig {
                delay: Duration::from_millis(10),
                effects: Effects {
                    aggregation: Some(Aggregation {
                        interval: Duration::from_millis(8),
                    }),
                    ..Effects::default()
                },
                ..LinkConfig::default()
            },
        },
        1,
    )
    .expect("a good configuration");
    assert_eq!(path.rtprop(), Duration::from_millis(20));
    for ack in 0..10 {
        path.reverse.send(at_millis(ack), Bytes::new(40), ack);
    }
    assert_eq!(path.reverse.next_event(), Some(at_millis(16)));
    assert_eq!(path.reverse.receive(at_millis(15)), None);
    let first = drain(&mut path.reverse, at_millis(16));
    assert!(first.iter().all(|arrival| arrival.at == at_millis(16)));
    assert_eq!(first.len(), 7);
    let second = drain(&mut path.reverse, at_millis(30));
    assert!(second.iter().all(|arrival| arrival.at == at_millis(24)));
    assert_eq!(second.len(), 3);
}

#[test]
fn ack_loss_is_loss_on_the_way_back_with_chances_of_its_own() {
    let lossy = LinkConfig {
        effects: Effects {
            loss: Loss::Independent(Ratio::new(1, 2)),
            ..Effects::default()
        },
        ..LinkConfig::default()
    };
    let config = PathConfig {
        forward: lossy.clone(),
        reverse: lossy.clone(),
    };
    let mut path = Path::new(config, 9).expect("a good configuration");
    let mut alone = Link::new(lossy, 9).expect("a good configuration");
    for packet in 0..1000 {
        path.forward.send(Time::ZERO, PACKET, packet);
        path.reverse.send(Time::ZERO, PACKET, packet);
        alone.send(Time::ZERO, PACKET, packet);
    }
    let forward = drain(&mut path.forward, Time::ZERO);
    let reverse = drain(&mut path.reverse, Time::ZERO);
    assert_eq!(forward, drain(&mut alone, Time::ZERO));
    // Independent coins agree in about half of the cases.
    let both = forward.iter().filter(|a| reverse.contains(a)).count();
    assert!((180..=320).contains(&both), "{both}");
}

#[test]
fn the_policer_stands_before_the_buffer() {
    let mut link = link(LinkConfig {
        effects: Effects {
            policer: Some(Policer {
                rate: Rate::from_bits_per_sec(1_200_000),
                burst: Bytes::new(15_000),
            }),
            ..packet_a_milli().effects
        },
        ..packet_a_milli()
    });
    for packet in 0..1_000 {
        link.send(at_millis(packet), PACKET, packet);
    }
    // The bucket had 10 packets at first, and then one every 10 ms.
    let counters = link.counters();
    assert_eq!(
        counters.entered.packets - counters.policer_drops.packets,
        109
    );
    assert_eq!(counters.drops.packets, 0);
}

#[test]
fn damaged_packets_use_the_link_as_whole_ones_do_and_arrive_damaged() {
    let impaired = |corruption| LinkConfig {
        buffer: Buffer::Packets(30),
        effects: Effects {
            corruption,
            loss: Loss::Independent(Ratio::new(1, 10)),
            jitter: Some(Jitter::from(Duration::from_micros(700))),
            duplicate: Ratio::new(1, 10),
            ..Effects::default()
        },
        ..packet_a_milli()
    };
    let run = |corruption| {
        let mut link = link(impaired(corruption));
        for packet in 0..2_000 {
            link.send(at_millis(packet), PACKET, packet);
        }
        let arrivals = drain(&mut link, Time::MAX);
        (arrivals, link.counters())
    };
    let (whole, _) = run(Ratio::ZERO);
    let (mixed, counters) = run(Ratio::new(1, 4));
    // Corruption changes no other draw: each packet keeps its loss and its time.
    assert_eq!(times(&mixed), times(&whole));
    assert!(whole.iter().all(|arrival| !arrival.corrupted));
    let damaged = mixed.iter().filter(|arrival| arrival.corrupted).count() as u64;
    assert_eq!(counters.corrupted.packets, damaged);
    assert_eq!(counters.corrupted.bytes, PACKET * damaged);
    assert_eq!(counters.delivered.packets, mixed.len() as u64);
    // The bound is five standard deviations, for packets that sometimes come in pairs.
    assert!(damaged.abs_diff(mixed.len() as u64 / 4) < 110, "{damaged}");
    let (all, counters) = run(Ratio::ONE);
    assert!(all.iter().all(|arrival| arrival.corrupted));
    assert_eq!(counters.corrupted, counters.delivered);
}

#[test]
fn what_is_larger_than_the_mtu_does_not_enter() {
    let mtu = |bytes| Mtu::new(bytes).expect("an MTU");
    let mtu_at = |at, bytes| Change {
        at: at_millis(at),
        mtu: Some(mtu(bytes)),
        ..Change::default()
    };
    let mut link = link(LinkConfig {
        effects: Effects {
            mtu: Some(mtu(1_500)),
            ..Effects::default()
        },
        changes: vec![mtu_at(10, 1_400), mtu_at(20, 9_000)],
        ..packet_a_milli()
    });
    for (at, size) in [
        (0, 1_500),
        (1, 1_501),
        // The limit holds until the change, and from then on.
        (9, 1_500),
        (10, 1_401),
        (11, 1_400),
        (20, 9_000),
        (21, 9_001),
    ] {
        link.send(at_millis(at), Bytes::new(size), at);
    }
    assert_eq!(link.mtu(), Some(mtu(9_000)));
    let arrived: Vec<u64> = drain(&mut link, Time::MAX)
        .iter()
        .map(|arrival| arrival.packet)
        .collect();
    assert_eq!(arrived, [0, 9, 11, 20]);
    let counters = link.counters();
    assert_eq!(counters.too_big.packets, 3);
    assert_eq!(counters.too_big.bytes, Bytes::new(1_501 + 1_401 + 9_001));
    assert_eq!(counters.transmitted.packets, 4);
    // A change of only the MTU keeps packets and link; and there is a minimum.
    assert_eq!(Mtu::new(575), None);
}

#[test]
fn a_packet_in_transmission_goes_on_at_the_new_rate() {
    let mut link = link(LinkConfig {
        changes: vec![
            Change {
                at: at_millis(5) + Duration::from_micros(250),
                rate: Some(Rate::from_bits_per_sec(3_000_000)),
                delay: None,
                mtu: None,
            },
            Change {
                at: at_millis(20),
                rate: Some(Rate::from_bits_per_sec(24_000_000)),
                delay: None,
                mtu: None,
            },
        ],
        ..packet_a_milli()
    });
    for packet in 0..10 {
        link.send(Time::ZERO, PACKET, packet);
    }
    // Packet 5 has a quarter sent at 5.25 ms; its other 1125 bytes take 3 ms. Packet 8 starts at 16.25 ms and has 3.75
    // of its 4 ms behind it at 20 ms; the rest, 93.75 bytes, takes 31.25 µs.
    let arrivals = drain(&mut link, at_millis(100));
    let expected = [
        (11.0, 0),
        (12.0, 1),
        (13.0, 2),
        (14.0, 3),
        (15.0, 4),
        (18.25, 5),
        (22.25, 6),
        (26.25, 7),
        (30.03125, 8),
        (30.53125, 9),
    ];
    assert_eq!(times(&arrivals), expected);
}

#[test]
fn an_unlimited_link_can_get_a_rate() {
    let mut link = link(LinkConfig {
        changes: vec![Change {
            at: at_millis(1),
            rate: Some(Rate::from_bits_per_sec(12_000_000)),
            delay: None,
            mtu: None,
        }],
        ..LinkConfig::default()
    });
    for packet in 0..2 {
        link.send(Time::ZERO, PACKET, packet);
    }
    for packet in 2..4 {
        link.send(at_millis(1), PACKET, packet);
    }
    let arrivals = drain(&mut link, at_millis(100));
    assert_eq!(times(&arrivals), [(0.0, 0), (0.0, 1), (2.0, 2), (3.0, 3)]);
}

#[test]
fn a_shorter_delay_overtakes_nobody() {
    let mut link = link(LinkConfig {
        changes: vec![Change {
            at: at_millis(2),
            rate: None,
            delay: Some(Duration::from_millis(1)),
            mtu: None,
        }],
        ..packet_a_milli()
    });
    for packet in 0..14 {
        link.send(Time::ZERO, PACKET, packet);
    }
    assert_eq!(link.delay(), Duration::from_millis(10));
    let arrivals = drain(&mut link, at_millis(100));
    assert_eq!(link.delay(), Duration::from_millis(1));
    // Packets 0 and 1 are through by the change and keep their 10 ms.
    let expected: Vec<(f64, u64)> = (0..14)
        .map(|packet| match packet {
            0 => (11.0, 0),
            1..=10 => (12.0, packet),
            _ => (packet as f64 + 2.0, packet),
        })
        .collect();
    assert_eq!(times(&arrivals), expected);
}

#[test]
fn a_cell_grants_what_waits() {
    let mut link = link(LinkConfig {
        effects: Effects {
            demand: Some(Demand {
                interval: Duration::from_millis(10),
                within: Duration::from_millis(20),
                least: Rate::from_bytes_per_sec(150_000),
            }),
            ..packet_a_milli().effects
        },
        ..packet_a_milli()
    });
    for packet in 0..21 {
        link.send(Time::ZERO, PACKET, packet);
    }
    // The first packet is through after 10 ms. Then 20 wait, which is what the link carries in the time, then 10, then 5.
    assert_eq!(link.next_event(), Some(at_millis(20)));
    let arrivals = drain(&mut link, at_millis(48));
    let at: Vec<f64> = times(&arrivals).iter().map(|(at, _)| *at).collect();
    let milliseconds = [20]
        .into_iter()
        .chain(21..=30)
        .chain([32, 34, 36, 38, 40, 44, 48]);
    assert_eq!(at, milliseconds.map(f64::from).collect::<Vec<_>>());
    // After a pause, it is the minimum again.
    link.send(at_millis(200), PACKET, 99);
    assert_eq!(
        drain(&mut link, at_millis(220))
            .last()
            .map(|arrival| arrival.at),
        Some(at_millis(220))
    );
}

#[test]
fn a_trace_delivers_at_its_opportunities() {
    let mut link = link(LinkConfig {
        capacity: Capacity::Trace("2\n2\n5\n".parse().expect("a trace")),
        delay: Duration::from_millis(10),
        buffer: Buffer::Packets(4),
        ..LinkConfig::default()
    });
    // Nothing waits at 2 ms, and packets that come at 5 ms are late for 5 ms.
    for packet in 0..5 {
        link.send(at_millis(5), PACKET, packet);
    }
    assert_eq!(link.queued().packets, 4);
    assert_eq!(link.counters().drops.packets, 1);
    link.advance(at_millis(6));
    assert_eq!(link.counters().busy, Duration::from_millis(1));
    // Each takes one opportunity: the next are at 7, 7, 10 and 12 ms.
    let arrivals = drain(&mut link, at_millis(100));
    assert_eq!(
        times(&arrivals),
        [(17.0, 0), (17.0, 1), (20.0, 2), (22.0, 3)]
    );
    assert_eq!(arrivals[0].queued, Duration::from_millis(2));
    assert_eq!(link.counters().busy, Duration::from_millis(7));
}

#[test]
fn an_opportunity_is_a_full_packet() {
    let mut link = link(LinkConfig {
        capacity: Capacity::Trace("1\n".parse().expect("a trace")),
        ..LinkConfig::default()
    });
    for packet in 0..1_000 {
        link.send(Time::ZERO, PACKET, packet);
    }
    // Packets of a few bytes share one opportunity, as far as it goes.
    for packet in 1_000..1_040 {
        link.send(Time::ZERO, Bytes::new(50), packet);
    }
    for arrival in drain(&mut link, at_millis(2_000)) {
        let opportunity = match arrival.packet {
            full @ ..1_000 => full + 1,
            1_000..1_030 => 1_001,
            _ => 1_002,
        };
        assert_eq!(arrival.at, at_millis(opportunity));
    }
}

#[test]
fn extremes_saturate() {
    let mut link = link(LinkConfig {
        delay: Duration::MAX,
        ..packet_a_milli()
    });
    link.send(Time::ZERO, Bytes::MAX, 0);
    link.send(Time::MAX, Bytes::ZERO, 1);
    link.send(Time::ZERO, Bytes::ZERO, 2);
    assert_eq!(link.next_event(), Some(Time::MAX));
    let arrivals = drain(&mut link, Time::MAX);
    assert_eq!(arrivals.len(), 3);
    assert!(arrivals.iter().all(|arrival| arrival.at == Time::MAX));
    assert_eq!(link.next_event(), None);
}

#[test]
fn an_earlier_now_is_read_as_the_latest_one() {
    let mut link = link(packet_a_milli());
    link.send(at_millis(5), PACKET, 0);
    link.send(at_millis(3), PACKET, 1);
    link.advance(at_millis(17));
    let arrivals = drain(&mut link, at_millis(1));
    assert_eq!(times(&arrivals), [(16.0, 0), (17.0, 1)]);
    let queued: Vec<Duration> = arrivals.iter().map(|arrival| arrival.queued).collect();
    assert_eq!(queued, [Duration::ZERO, Duration::from_millis(1)]);
}

#[test]
fn a_held_packet_after_a_change_to_a_shorter_delay_is_announced_in_time() {
    let mut link = link(LinkConfig {
        changes: vec![Change {
            at: at_millis(1),
            rate: None,
            delay: Some(Duration::ZERO),
            mtu: None,
        }],
        effects: Effects {
            reorder: Some(Reorder {
                share: Ratio::ONE,
                by: Duration::from_micros(1),
            }),
            ..packet_a_milli().effects
        },
        ..packet_a_milli()
    });
    link.send(Time::ZERO, PACKET, 0);
    link.send(Time::ZERO, PACKET, 1);
    let mut announced = Vec::new();
    while let Some(event) = link.next_event() {
        announced.extend(
            drain(&mut link, event)
                .iter()
                .map(|a| (event, a.at, a.packet)),
        );
    }
    let micro = Duration::from_micros(1);
    let (overtaking, overtaken) = (at_millis(2) + micro, at_millis(11) + micro);
    assert_eq!(
        announced,
        [(overtaking, overtaking, 1), (overtaken, overtaken, 0)]
    );
}

/// The BBR paper on rate balance and full pipe: sending at the bottleneck's rate keeps any existing queue, and a BDP in
/// flight may come in bursts. RTprop is 20 ms here, so the BDP is 20 packets.
#[test]
fn only_the_bottlenecks_rate_with_a_bdp_in_flight_leaves_no_queue() {
    /// Returns the number of packets that waited before each of the last thousand, for this number of packets at each
    /// of these times.
    fn waited(sends: impl Iterator<Item = (u64, u64)>) -> Vec<u64> {
        let mut link = link(packet_a_milli());
        for (millis, packets) in sends {
            (0..packets).for_each(|_| link.send(at_millis(millis), PACKET, millis));
        }
        let arrivals = drain(&mut link, Time::MAX);
        let steady = &arrivals[arrivals.len() - 1_000..];
        let apart = steady.windows(2).map(|two| two[1].at.since(two[0].at));
        assert!(
            apart.into_iter().all(|gap| gap == Duration::from_millis(1)),
            "always busy"
        );
        let waited = steady
            .iter()
            .map(|arrival| arrival.queued.as_nanos() / 1_000_000);
        waited.collect()
    }
    let both = waited((0..3_000).map(|millis| (millis, 1)));
    assert!(both.iter().all(|packets| *packets == 0), "{both:?}");
    // A first window of two BDP, and one packet for each ACK from then on: the excess over the pipe waits for ever.
    let acked = (21..3_000).map(|millis| (millis, 1));
    let balanced = waited([(0, 40)].into_iter().chain(acked));
    assert!(
        balanced.iter().all(|packets| *packets == 19),
        "{balanced:?}"
    );
    // A BDP as two bursts: a quarter of it is there on average, with the half packet that is in transmission.
    let bursts = waited((0..300).map(|burst| (burst * 10, 10)));
    let mean = bursts.iter().sum::<u64>() as f64 / bursts.len() as f64;
    assert_eq!(mean + 0.5, 20.0 / 4.0);
}

/// A change of the rate alone.
fn rate_at(at: u64, rate: Rate) -> Change {
    Change {
        at: at_millis(at),
        rate: Some(rate),
        delay: None,
        mtu: None,
    }
}

#[test]
fn in_an_outage_the_queue_holds_and_drops_and_then_goes_on() {
    let mut link = link(LinkConfig {
        buffer: Buffer::Packets(3),
        changes: vec![
            rate_at(2, Rate::ZERO),
            rate_at(100, Rate::from_bits_per_sec(12_000_000)),
        ],
        ..packet_a_milli()
    });
    for packet in 0..4 {
        link.send(Time::ZERO, PACKET, packet);
    }
    // Two are through, the third begins, the fourth waits.
    link.advance(at_millis(50));
    assert_eq!(link.queued().packets, 1);
    assert_eq!(link.queued().delay, Duration::from_millis(52));
    assert!(!link.is_idle());
    for packet in 4..7 {
        link.send(at_millis(50), PACKET, packet);
    }
    assert_eq!(link.counters().drops.packets, 1);
    let arrivals = drain(&mut link, at_millis(1_000));
    let expected = [
        (11.0, 0),
        (12.0, 1),
        (111.0, 2),
        (112.0, 3),
        (113.0, 4),
        (114.0, 5),
    ];
    assert_eq!(times(&arrivals), expected);
}

#[test]
fn what_comes_to_an_idle_link_in_an_outage_waits_for_its_end() {
    let config = LinkConfig {
        changes: vec![
            rate_at(2, Rate::ZERO),
            rate_at(10, Rate::ZERO),
            rate_at(100, Rate::from_bits_per_sec(6_000_000)),
        ],
        ..packet_a_milli()
    };
    let mut one = link(config.clone());
    one.advance(at_millis(5));
    assert!(!one.is_idle());
    one.send(at_millis(5), PACKET, 7);
    // Nothing arrives before the rate returns, so the caller need only call at the change.
    let mut looks = 0;
    let arrival = loop {
        let next = one.next_event().expect("a packet is on the link");
        match one.receive(next) {
            Some(arrival) => break arrival,
            None => looks += 1,
        }
        assert!(looks < 10);
    };
    assert_eq!((arrival.at, arrival.packet), (at_millis(112), 7));
    // The outage has no end.
    let mut dead = link(LinkConfig {
        changes: vec![rate_at(2, Rate::ZERO)],
        ..config
    });
    dead.send(at_millis(1), PACKET, 0);
    dead.send(at_millis(1), PACKET, 1);
    dead.advance(at_millis(9));
    assert_eq!(dead.queued().delay, Duration::from_millis(1));
    assert_eq!(drain(&mut dead, at_millis(1_000_000)).len(), 1);
    assert_eq!(dead.next_event(), Some(Time::MAX));
}

#[test]
fn a_link_follows_a_table_of_rates() {
    // The rates are a packet per millisecond, an outage, and two packets per millisecond, for 3, 3 and 4 ms,
    // repeatedly.
    let trace = "time_ms,mbps\n0,12\n3,0\n6,24\n9,24\n10,12\n13,0\n16,24\n19,24\n";
    let mut link = link(LinkConfig {
        capacity: Capacity::Trace(trace.parse().expect("a trace")),
        ..LinkConfig::default()
    });
    for packet in 0..5 {
        link.send(at_millis(1), PACKET, packet);
    }
    assert_eq!(link.queued().delay, Duration::from_millis(5));
    let arrivals = drain(&mut link, at_millis(15));
    let expected = [(2.0, 0), (3.0, 1), (6.5, 2), (7.0, 3), (7.5, 4)];
    assert_eq!(times(&arrivals), expected);
    // After a long idle time, it finds its position again: a repetition has 22 ms.
    link.send(at_millis(22_004), PACKET, 5);
    let mut last = None;
    while let Some(next) = link.next_event() {
        last = link.receive(next).or(last);
    }
    assert_eq!(
        last.map(|arrival| (arrival.at, arrival.packet)),
        Some((Time::from_nanos(22_006_500_000), 5))
    );
}
