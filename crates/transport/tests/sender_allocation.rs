//! The sender's allocations: none once a window has been in flight.
//!
//! A binary of its own without a test harness, whose threads would allocate too.

use std::alloc::System;

use congestion::{AnyController, ControllerKind};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use transport::segment::{self, Body, SackBlocks};
use transport::sender::{Config, Sender};
use units::{Bytes, Duration, Time};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const MSS: u64 = 1448;
/// Packets written in each round.
const FLIGHT: u64 = 40;
const RTT: Duration = Duration::from_millis(40);

fn main() {
    for &kind in ControllerKind::ALL {
        let mut sender = Sender::new(
            Time::ZERO,
            0,
            &Config::default(),
            |connection| AnyController::new(kind, connection),
            0,
        );
        sender.open(Time::ZERO);
        let mut now = Time::ZERO;
        drain(&mut sender, now);
        now += RTT;
        let answer = Body::SynAck {
            sent: now,
            echo: Time::ZERO,
            next: 0,
            window: 1 << 30,
        };
        sender.on_segment(now, &answer);

        let mut acknowledged = 0;
        for _ in 0..2_000 {
            flight(&mut sender, &mut now, &mut acknowledged);
        }
        let region = Region::new(ALLOCATOR);
        for _ in 0..1_000 {
            flight(&mut sender, &mut now, &mut acknowledged);
        }
        let change = region.change();
        assert_eq!((change.allocations, change.reallocations), (0, 0), "{kind}");
        let stats = sender.stats();
        assert!(stats.delivered.get() >= acknowledged * MSS);
        assert!(stats.packets_lost >= 500, "{kind}: {stats:?}");
    }
}

/// Sends a window, of which the first packet is lost and retransmitted.
fn flight(sender: &mut Sender<AnyController>, now: &mut Time, acknowledged: &mut u64) {
    let hole = *acknowledged;
    sender.write(Bytes::new(FLIGHT * MSS));
    drain(sender, *now);
    let stats = sender.stats();
    let sent = (stats.sent.get() - stats.retransmitted.get()) / MSS;
    *now += RTT;
    for next in (hole + 2)..=sent {
        arrive(sender, *now, hole, Some((hole + 1, next)));
    }
    drain(sender, *now);
    // The longest wait of loss detection on a path that has reordered.
    *now += RTT;
    sender.on_timer(*now);
    drain(sender, *now);
    *now += RTT;
    arrive(sender, *now, sent, None);
    *acknowledged = sent;
}

/// An ACK, in packets.
fn arrive(sender: &mut Sender<AnyController>, now: Time, next: u64, sack: Option<(u64, u64)>) {
    let mut sacks = SackBlocks::NONE;
    if let Some((start, end)) = sack {
        sacks.push(start * MSS..end * MSS);
    }
    let ack = segment::Ack {
        next: next * MSS,
        window: 1 << 30,
        sent: now,
        echo: now - RTT,
        sacks,
        ecn_echo: false,
        ce_bytes: 0,
    };
    sender.on_segment(now, &Body::Ack(ack));
}

fn drain(sender: &mut Sender<AnyController>, now: Time) {
    while let Some(burst) = sender.poll_burst(now) {
        sender.on_departed(&burst);
    }
}
