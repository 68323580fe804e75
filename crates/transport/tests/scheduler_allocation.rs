//! Once their queues have grown, schedulers allocate nothing.
//!
//! A binary of its own without a test harness, whose threads would allocate too.

use std::alloc::System;

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use transport::burst::{Burst, Kind};
use transport::scheduler::{Pacer, Pacing, Scheduler, SchedulerConfig};
use units::{Bytes, Duration, Rate, Time};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const FLOWS: usize = 1_000;

fn main() {
    for pacing in [Pacing::PerConnection, Pacing::Fq] {
        let mut scheduler = Scheduler::new(&SchedulerConfig::of(pacing));
        let mut pacers = vec![Pacer::default(); FLOWS];
        let mut now = Time::ZERO;
        for connection in 0..FLOWS {
            enqueue(&mut scheduler, &mut pacers, now, connection);
            enqueue(&mut scheduler, &mut pacers, now, connection);
        }
        // Long enough for every flow to have been checked for idleness more than once.
        run(
            &mut scheduler,
            &mut pacers,
            &mut now,
            Duration::from_secs(8),
        );

        let region = Region::new(ALLOCATOR);
        let bursts = run(
            &mut scheduler,
            &mut pacers,
            &mut now,
            Duration::from_secs(8),
        );
        let change = region.change();
        assert!(bursts > 20_000, "{pacing:?}: only {bursts} bursts left");
        assert_eq!(
            change.allocations + change.reallocations + change.deallocations,
            0,
            "{pacing:?}: {change:?}"
        );
    }
}

fn enqueue(scheduler: &mut Scheduler, pacers: &mut [Pacer], now: Time, connection: usize) {
    const BYTES: u32 = 2_896;
    let rate = Rate::from_bits_per_sec(100_000);
    let payload = Bytes::new(u64::from(BYTES));
    let burst = Burst {
        connection: connection as u32,
        kind: Kind::Data,
        seq: 0,
        bytes: BYTES,
        mss: BYTES / 2,
        departure: pacers[connection].on_burst(now, payload, 2, rate),
        echo: Time::ZERO,
        is_retransmission: false,
        cwr: false,
        ends_write: false,
        ack_request: None,
    };
    scheduler.enqueue(now, burst).expect("room");
}

fn run(scheduler: &mut Scheduler, pacers: &mut [Pacer], now: &mut Time, span: Duration) -> u64 {
    let end = *now + span;
    let mut bursts = 0;
    while *now < end {
        while let Some(burst) = scheduler.dequeue(*now) {
            bursts += 1;
            for _ in burst.segments() {
                std::hint::black_box(scheduler.queued());
            }
            // One connection in ten pauses now and then, and is detached.
            if burst.connection % 10 == 0 && bursts % 50 == 0 {
                continue;
            }
            enqueue(scheduler, pacers, *now, burst.connection as usize);
        }
        *now = scheduler.next_departure().expect("bursts wait").max(*now);
    }
    bursts
}
