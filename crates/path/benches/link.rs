//! The cost of a packet on a link, in steady state: one `send` and the `receive` calls of an event loop that follows
//! `next_event`, as a simulator does.

use std::hint::black_box;

use criterion::{Bencher, Criterion, Throughput, criterion_group, criterion_main};
use path::{
    Aggregation, Buffer, Capacity, CoDel, Discipline, Effects, FqCoDel, GilbertElliott, Jitter,
    Link, LinkConfig, Loss, Parcel, Policer, Red, Reorder,
};
use units::{Bytes, Duration, Rate, Ratio, Time};

const PACKETS: u64 = 10_000;

fn plain() -> LinkConfig {
    LinkConfig {
        capacity: Capacity::Rate(Rate::from_bits_per_sec(100_000_000)),
        delay: Duration::from_millis(20),
        buffer: Buffer::Bytes(Bytes::new(500_000)),
        effects: Effects {
            loss: Loss::Independent(Ratio::new(1, 100)),
            ..Effects::default()
        },
        ..LinkConfig::default()
    }
}

fn links(criterion: &mut Criterion) {
    let all = LinkConfig {
        effects: Effects {
            loss: Loss::GilbertElliott(GilbertElliott {
                p: Ratio::new(1, 100),
                r: Ratio::new(1, 10),
                loss_good: Ratio::ZERO,
                loss_bad: Ratio::new(1, 2),
            }),
            jitter: Some(Jitter {
                reorders: true,
                ..Jitter::from(Duration::from_millis(2))
            }),
            reorder: Some(Reorder {
                share: Ratio::new(1, 100),
                by: Duration::from_millis(1),
            }),
            corruption: Ratio::new(1, 1000),
            duplicate: Ratio::new(1, 1000),
            policer: Some(Policer {
                rate: Rate::from_bits_per_sec(200_000_000),
                burst: Bytes::new(100_000),
            }),
            aggregation: Some(Aggregation {
                interval: Duration::from_millis(1),
            }),
            ..plain().effects
        },
        ..plain()
    };
    let trace = LinkConfig {
        capacity: Capacity::Trace(
            (0..1000)
                .map(|ms| format!("{ms}\n").repeat(8))
                .collect::<String>()
                .parse()
                .expect("a trace"),
        ),
        ..plain()
    };
    let mut group = criterion.benchmark_group("link");
    group.throughput(Throughput::Elements(PACKETS));
    let unlimited = LinkConfig {
        delay: Duration::from_millis(20),
        ..LinkConfig::default()
    };
    // Alternating sizes need a division each.
    for (name, config, sizes) in [
        ("delay", unlimited, [1500, 1500]),
        ("rate, delay, droptail, loss", plain(), [1500, 1500]),
        ("the same, mixed sizes", plain(), [1500, 1400]),
        ("the same on a trace", trace, [1500, 1500]),
        ("everything", all, [1500, 1500]),
    ] {
        group.bench_function(name, |bencher| {
            run(bencher, &config, sizes, |number| number)
        });
    }
    let codel = Discipline::CoDel(CoDel::default());
    let fq_codel = Discipline::FqCoDel(FqCoDel::default());
    let red = Discipline::Red(Red::new(Bytes::new(150_000), Bytes::new(450_000)));
    for (name, queue) in [("codel", codel), ("fq_codel", fq_codel), ("red", red)] {
        let config = LinkConfig {
            effects: Effects {
                queue,
                ..plain().effects
            },
            ..plain()
        };
        group.bench_function(name, |bencher| {
            run(bencher, &config, [1500, 1500], |number| number);
        });
    }
    group.bench_function("a TCP segment's 112 bytes", |bencher| {
        run(bencher, &plain(), [1500, 1500], |number| [number; 14]);
    });
    group.finish();
}

/// Packets of alternating sizes every 121 µs: just above 99 Mbit/s.
fn run<P: Clone>(
    bencher: &mut Bencher<'_>,
    config: &LinkConfig,
    sizes: [u64; 2],
    packet: impl Fn(u64) -> P,
) {
    let mut link = Link::new(config.clone(), 1).expect("a good configuration");
    let mut now = Time::ZERO;
    bencher.iter(|| {
        for number in 0..PACKETS {
            now += Duration::from_micros(121);
            while let Some(at) = link.next_event().filter(|at| *at <= now) {
                while let Some(arrival) = link.receive(at) {
                    black_box(arrival);
                }
            }
            let size = Bytes::new(sizes[(number % 2) as usize]);
            let parcel = Parcel {
                flow: number % 10,
                ..size.into()
            };
            link.send(now, parcel, packet(number));
        }
    });
}

criterion_group!(benches, links);
criterion_main!(benches);
