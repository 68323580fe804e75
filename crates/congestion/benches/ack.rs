//! The cost of one packet's departure and its ACK in steady state, delivery-rate sampling included.

mod steady;

use std::hint::black_box;

use congestion::ControllerKind;
use criterion::{Criterion, criterion_group, criterion_main};
use steady::Flow;

fn ack(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("ack");
    for &kind in ControllerKind::ALL {
        let mut flow = Flow::of(kind);
        group.bench_function(kind.name(), |bencher| {
            bencher.iter(|| black_box(flow.step()))
        });
    }
    group.finish();
}

criterion_group!(benches, ack);
criterion_main!(benches);
