//! Segments a second through the receiver: all in order; with one loss in a hundred, retransmitted a flight of 86 000
//! segments later (10 Gbit/s × 100 ms); and with every second segment half a flight late, the most holes that a path
//! causes.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use transport::receiver::{Config, Receiver};
use transport::segment::{Body, Data, MSS};
use units::{Duration, Time};

const SEGMENTS: u64 = 1_000_000;
const FLIGHT: u64 = 86_000;

/// Passes `SEGMENTS` segments to a receiver: those for which `late` is true arrive `by` segments after their turn.
fn receive(late: impl Fn(u64) -> bool, by: u64) -> u64 {
    let mut receiver = Receiver::new(1, &Config::default());
    let mut now = Time::ZERO;
    let _ = receiver.on_segment(now, &Body::Syn { sent: now }, false);
    let mut arrive = |n: u64| {
        now += Duration::from_nanos(1_163);
        let data = Data {
            seq: n * MSS.get(),
            len: MSS.get() as u32,
            sent: now,
            echo: now - Duration::from_millis(100),
            cwr: false,
            push: false,
            ack_request: None,
        };
        black_box(receiver.on_segment(now, &Body::Data(data), false));
    };
    // In order at first, until the window is that of the flight.
    let start = 4 * FLIGHT;
    for n in 0..SEGMENTS {
        let is_late = |n: u64| n >= start && late(n);
        if !is_late(n) {
            arrive(n);
        }
        if let Some(delayed) = n.checked_sub(by)
            && is_late(delayed)
        {
            arrive(delayed);
        }
    }
    let stats = receiver.stats();
    assert_eq!((stats.beyond_window, stats.refused), (0, 0));
    stats.segments
}

fn receiver(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("receiver");
    group
        .sample_size(10)
        .throughput(Throughput::Elements(SEGMENTS));
    group.bench_function("in order", |bencher| {
        bencher.iter(|| receive(|_| false, 0));
    });
    group.bench_function("one loss in a hundred", |bencher| {
        bencher.iter(|| receive(|n| n.is_multiple_of(100), FLIGHT));
    });
    group.bench_function("every second late", |bencher| {
        bencher.iter(|| receive(|n| n.is_multiple_of(2), FLIGHT / 2));
    });
    group.finish();
}

criterion_group!(benches, receiver);
criterion_main!(benches);
