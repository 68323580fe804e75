//! After its buffers have grown, a link allocates nothing, whatever its effects.
//!
//! This binary has no test harness, whose threads would allocate, too.

use std::alloc::System;

use path::{
    Aggregation, Buffer, Capacity, Change, CoDel, Demand, Discipline, DualPi2, Ecn, Effects,
    FqCoDel, GilbertElliott, Jitter, Link, LinkConfig, Loss, Parcel, Policer, Red, Reorder,
};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use units::{Bytes, Duration, Rate, Ratio, Time};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn main() {
    let plain = LinkConfig {
        capacity: Capacity::Rate(Rate::from_bits_per_sec(100_000_000)),
        delay: Duration::from_millis(20),
        buffer: Buffer::Packets(300),
        effects: Effects {
            loss: Loss::Independent(Ratio::new(1, 100)),
            ..Effects::default()
        },
        ..LinkConfig::default()
    };
    let everything = LinkConfig {
        changes: vec![Change {
            at: Time::from_nanos(2_000_000_000),
            rate: Some(Rate::from_bits_per_sec(50_000_000)),
            delay: Some(Duration::from_millis(10)),
            mtu: path::Mtu::new(1_500),
        }],
        effects: Effects {
            loss: Loss::GilbertElliott(GilbertElliott {
                p: Ratio::new(1, 100),
                r: Ratio::new(1, 10),
                loss_good: Ratio::new(1, 1000),
                loss_bad: Ratio::new(1, 2),
            }),
            jitter: Some(Jitter {
                reorders: true,
                ..Jitter::from(Duration::from_millis(5))
            }),
            reorder: Some(Reorder {
                share: Ratio::new(1, 10),
                by: Duration::from_millis(3),
            }),
            corruption: Ratio::new(1, 10),
            duplicate: Ratio::new(1, 10),
            policer: Some(Policer {
                rate: Rate::from_bits_per_sec(150_000_000),
                burst: Bytes::new(1_000_000),
            }),
            demand: Some(Demand {
                interval: Duration::from_millis(1),
                within: Duration::from_millis(2),
                least: Rate::from_bits_per_sec(1_000_000),
            }),
            aggregation: Some(Aggregation {
                interval: Duration::from_millis(7),
            }),
            ..plain.effects
        },
        ..plain.clone()
    };
    let trace = LinkConfig {
        capacity: Capacity::Trace("3\n5\n5\n9\n".parse().expect("a trace")),
        ..plain.clone()
    };
    let under = |queue| LinkConfig {
        effects: Effects {
            queue,
            ..everything.effects
        },
        ..everything.clone()
    };
    let codel = CoDel {
        target: Duration::from_micros(100),
        interval: Duration::from_millis(1),
        ecn: true,
    };
    let fq_codel = FqCoDel {
        target: codel.target,
        interval: codel.interval,
        ..FqCoDel::default()
    };
    let red = Red {
        ecn: true,
        ..Red::new(Bytes::new(10_000), Bytes::new(30_000))
    };
    for (name, config) in [
        ("plain", plain),
        ("trace", trace),
        ("codel", under(Discipline::CoDel(codel))),
        ("fq_codel", under(Discipline::FqCoDel(fq_codel))),
        ("red", under(Discipline::Red(red))),
        ("dualpi2", under(Discipline::DualPi2(DualPi2::default()))),
        ("everything", everything),
    ] {
        let mut link = Link::new(config, 1).expect("a good configuration");
        // These are more packets at once than the rest of the run ever has on the link.
        for round in 0..20u64 {
            let now = Time::from_nanos(round * 10_000_000);
            for packet in 0..400 {
                link.send(now, Bytes::new(100), packet);
            }
        }
        let mut now = Time::from_nanos(1_000_000_000);
        while link.receive(now).is_some() {}

        let region = Region::new(ALLOCATOR);
        let mut received = 0u64;
        for packet in 0..20_000 {
            now += Duration::from_micros(100);
            let parcel = Parcel {
                size: Bytes::new(1_500),
                flow: packet % 100,
                ecn: [Ecn::NotCapable, Ecn::Capable, Ecn::L4s][(packet % 3) as usize],
            };
            link.send(now, parcel, packet);
            std::hint::black_box((link.next_event(), link.queued(), link.counters()));
            while link.receive(now).is_some() {
                received += 1;
            }
        }
        let change = region.change();
        assert!(
            received > 100,
            "{name}: only {received} packets came through"
        );
        assert_eq!(
            change.allocations + change.reallocations + change.deallocations,
            0,
            "{name}: {change:?}"
        );
    }
}
