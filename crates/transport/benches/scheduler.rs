//! The cost of a burst for its host below TCP: stamped, enqueued, and dequeued at its time, by the number of flows.
//!
//! Flows are paced, with two bursts of two packets each in the scheduler; together they send about 8 Gbit/s.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use transport::burst::{Burst, Kind};
use transport::scheduler::{Pacer, Pacing, Scheduler, SchedulerConfig};
use units::{Bytes, Rate, Time};

const BYTES: u32 = 2 * 1_448;
const TOTAL_RATE: u64 = 8_000_000_000;
const BURSTS: u64 = 10_000;

struct Host {
    scheduler: Scheduler,
    pacers: Vec<Pacer>,
    rate: u64,
    now: Time,
}

impl Host {
    fn new(pacing: Pacing, flows: usize) -> Host {
        let mut host = Host {
            scheduler: Scheduler::new(&SchedulerConfig::of(pacing)),
            pacers: vec![Pacer::default(); flows],
            rate: TOTAL_RATE / flows as u64,
            now: Time::ZERO,
        };
        for _ in 0..2 {
            for connection in 0..flows {
                host.enqueue(connection);
            }
        }
        // Runs until the flows are spread over time.
        host.run(20 * flows as u64);
        host
    }

    fn enqueue(&mut self, connection: usize) {
        // Rates differ, so the order of flows keeps changing.
        let rate = self.rate / 2 + self.rate * (connection as u64 % 97) / 97;
        let payload = Bytes::new(u64::from(BYTES));
        let pacer = &mut self.pacers[connection];
        let burst = Burst {
            connection: connection as u32,
            kind: Kind::Data,
            seq: 0,
            bytes: BYTES,
            mss: BYTES / 2,
            departure: pacer.on_burst(self.now, payload, 2, Rate::from_bits_per_sec(rate)),
            echo: Time::ZERO,
            is_retransmission: false,
            cwr: false,
            ends_write: false,
            ack_request: None,
        };
        self.scheduler.enqueue(self.now, burst).expect("room");
    }

    fn run(&mut self, bursts: u64) {
        let mut left = 0;
        while left < bursts {
            while let Some(burst) = self.scheduler.dequeue(self.now) {
                left += 1;
                self.enqueue(black_box(burst).connection as usize);
            }
            let next = self.scheduler.next_departure().expect("bursts wait");
            self.now = self.now.max(next);
        }
    }
}

fn scheduler(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("scheduler");
    group.throughput(Throughput::Elements(BURSTS));
    for flows in [1, 100, 10_000] {
        let mut host = Host::new(Pacing::Fq, flows);
        group.bench_function(format!("fq, {flows} flows"), |bencher| {
            bencher.iter(|| host.run(BURSTS));
        });
    }
    group.finish();
}

criterion_group!(benches, scheduler);
criterion_main!(benches);
