//! The receiver's allocations: none for data in order. For data with holes, some of the holes allocate, as a B-tree's
//! nodes come and go.
//!
//! A binary of its own without a test harness, whose threads would allocate too.

use std::alloc::System;

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use transport::receiver::{Config, Receiver};
use transport::segment::{Body, Data};
use units::{Duration, Time};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const MSS: u64 = 1448;
/// The segments after which a lost one is retransmitted: the packets in flight of 10 Gbit/s × 100 ms.
const FLIGHT: u64 = 86_000;
const SEGMENTS: u64 = 1_000_000;

fn main() {
    in_order_allocates_nothing();
    one_loss_in_a_hundred();
}

fn open() -> Receiver {
    let mut receiver = Receiver::new(1, &Config::default());
    let _ = receiver.on_segment(Time::ZERO, &Body::Syn { sent: Time::ZERO }, false);
    receiver
}

fn arrive(receiver: &mut Receiver, now: Time, n: u64) {
    let body = Body::Data(Data {
        seq: n * MSS,
        len: MSS as u32,
        sent: now,
        echo: now - Duration::from_millis(100),
        cwr: false,
        push: false,
        ack_request: None,
    });
    let _ = receiver.on_segment(now, &body, false);
}

fn in_order_allocates_nothing() {
    let mut receiver = open();
    let mut now = Time::ZERO + Duration::from_millis(100);
    let region = Region::new(ALLOCATOR);
    for n in 0..SEGMENTS {
        now += Duration::from_micros(1);
        arrive(&mut receiver, now, n);
    }
    assert_eq!(receiver.received(), SEGMENTS * MSS);
    let change = region.change();
    assert_eq!((change.allocations, change.reallocations), (0, 0));
}

/// Each hundredth segment arrives a flight later; there are 860 holes all the time.
fn one_loss_in_a_hundred() {
    let mut receiver = open();
    let mut now = Time::ZERO + Duration::from_millis(100);
    // Slow start: the window grows.
    let flight = (0..)
        .map(|n| 100 << n)
        .take_while(|flight| *flight < FLIGHT);
    let mut n = 0;
    for flight in flight.chain([FLIGHT; 3]) {
        for _ in 0..flight {
            now += Duration::from_nanos(100_000_000 / flight);
            arrive(&mut receiver, now, n);
            n += 1;
        }
    }
    let region = Region::new(ALLOCATOR);
    let first = n;
    for n in first..first + SEGMENTS {
        now += Duration::from_nanos(1_163);
        if !n.is_multiple_of(100) {
            arrive(&mut receiver, now, n);
        }
        let repeated = n - FLIGHT;
        if repeated >= first && repeated.is_multiple_of(100) {
            arrive(&mut receiver, now, repeated);
        }
    }
    let stats = receiver.stats();
    assert_eq!((stats.beyond_window, stats.refused), (0, 0));
    assert!(stats.holes > 850, "{}", stats.holes);
    let change = region.change();
    let allocations = change.allocations as u64;
    assert!(allocations < SEGMENTS / 300, "{allocations}");
    assert!(
        change
            .bytes_allocated
            .saturating_sub(change.bytes_deallocated)
            < 100_000
    );
    println!("{allocations} allocations for {SEGMENTS} segments, 1 % of them late");
}
