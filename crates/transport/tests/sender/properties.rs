//! Whatever arrives, the sender stays consistent; once the network works, everything is delivered.

use congestion::{AnyController, Bytes, Controller, ControllerKind, Duration, Time};
use proptest::prelude::*;
use transport::scheduler::Pacing;
use transport::segment::{self, Body, SackBlocks};
use transport::sender::{Config, LossDetection};

use crate::wire::{Fate, MSS, Wire};

/// Packets written in each run.
const PACKETS: u64 = 400;

/// A segment that no receiver would send. Positions are in packets.
#[derive(Debug, Clone)]
struct Hostile {
    at: u64,
    next: u64,
    window: u64,
    echo: u64,
    sacks: Vec<(u64, u64)>,
    is_dsack: bool,
    is_odd: bool,
    ecn_echo: bool,
    is_syn_ack: bool,
}

impl Hostile {
    fn body(&self) -> Body {
        let odd = u64::from(self.is_odd) * 7;
        let position = |packets: u64| packets * MSS + odd;
        let (sent, echo) = (time(self.at), time(self.echo));
        if self.is_syn_ack {
            let (next, window) = (position(self.next), self.window);
            return Body::SynAck {
                sent,
                echo,
                next,
                window,
            };
        }
        let mut sacks = SackBlocks::NONE;
        for (index, (start, end)) in self.sacks.iter().enumerate() {
            let range = position(*start)..position(*end);
            if index == 0 && self.is_dsack {
                sacks.set_dsack(range);
            } else {
                sacks.push(range);
            }
        }
        Body::Ack(segment::Ack {
            next: position(self.next),
            window: self.window,
            sent,
            echo,
            sacks,
            ecn_echo: self.ecn_echo,
            ce_bytes: self.window,
        })
    }
}

fn time(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

fn hostile() -> impl Strategy<Value = Hostile> {
    let number = || 0..PACKETS + 20;
    let block = prop_oneof![
        (number(), number()),
        (number(), 1..20_u64).prop_map(|(start, len)| (start, start + len)),
        Just((0, u64::MAX / MSS - 1)),
    ];
    (
        0..4_000_u64,
        prop_oneof![3 => 0..40_u64, 1 => number()],
        prop_oneof![Just(0), 0..100 * MSS, Just(u64::MAX)],
        0..5_000_u64,
        prop::collection::vec(block, 0..4),
        any::<[bool; 3]>(),
        prop::bool::weighted(0.05),
    )
        .prop_map(
            |(at, next, window, echo, sacks, flags, is_syn_ack)| Hostile {
                at,
                next,
                window,
                echo,
                sacks,
                is_dsack: flags[0],
                is_odd: flags[1],
                ecn_echo: flags[2],
                is_syn_ack,
            },
        )
}

fn config() -> impl Strategy<Value = Config> {
    let pacing = prop_oneof![
        Just(Pacing::None),
        Just(Pacing::PerConnection),
        Just(Pacing::Fq)
    ];
    let detection = prop_oneof![Just(LossDetection::Rack), Just(LossDetection::DupThreshold)];
    let flags = (any::<bool>(), prop::bool::weighted(0.7));
    (pacing, detection, flags, 1..200_u64).prop_map(
        |(pacing, loss_detection, (ecn, has_selective_acks), buffer)| Config {
            pacing,
            loss_detection,
            has_selective_acks,
            ecn,
            send_buffer: Bytes::new(MSS * 2 * buffer),
            ..Config::default()
        },
    )
}

/// A network that drops, delays and marks at random until `calm` packets have passed.
fn weather(seed: u64, percent: u64, calm: u64) -> impl FnMut(u64, u32) -> Fate {
    let mut state = seed | 1;
    let mut count = 0;
    move |_, _| {
        count += 1;
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        if count > calm || state % 100 >= percent {
            return Fate::Pass;
        }
        match (state >> 32) % 4 {
            0 => Fate::Late(Duration::from_millis((state >> 40) % 300)),
            1 => Fate::Mark,
            _ => Fate::Drop,
        }
    }
}

fn check<C: Controller>(wire: &Wire<C>) {
    let stats = wire.sender.stats();
    assert!(stats.delivered <= stats.sent);
    assert!(stats.retransmitted <= stats.sent);
    assert!(stats.packets_retransmitted <= stats.packets_lost + stats.tail_loss_probes);
    assert!(stats.spurious_recoveries <= stats.recoveries);
    assert!(wire.sender.inflight() <= stats.sent);
    if !wire.sender.inflight().is_zero() {
        assert!(
            wire.sender.next_timer().is_some(),
            "what is in flight is waited for"
        );
    }
}

/// Writes everything, as it fits, and runs until it is acknowledged.
fn deliver_all<C: Controller>(wire: &mut Wire<C>, mut rest: Bytes) {
    while !rest.is_zero() {
        rest -= wire.sender.write(rest);
        wire.run_until(wire.now + Duration::from_millis(20));
        check(wire);
        assert!(wire.now < time(3_000_000), "{rest:?} {:?}", wire.sender);
    }
    wire.finish();
    check(wire);
    assert!(wire.sender.inflight().is_zero());
    assert!(wire.sender.next_timer().is_none());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn everything_arrives_through_any_weather(
        config in config(),
        kind in prop::sample::select(ControllerKind::ALL),
        seed in any::<u64>(),
        percent in 0..60_u64,
    ) {
        let script = weather(seed, percent, 3_000);
        let mut wire = Wire::new(&config, |c| AnyController::new(kind, c), script);
        deliver_all(&mut wire, Bytes::new(MSS * PACKETS));
        let stats = wire.sender.stats();
        prop_assert_eq!(stats.delivered, Bytes::new(MSS * PACKETS));
        prop_assert_eq!(wire.receiver.received(), MSS * PACKETS);
        prop_assert!(stats.duplicates <= stats.packets_retransmitted);
    }

    /// Acknowledgements of data that never arrived cannot be distinguished from true ones: after those, the receiver
    /// may wait for ever for data that the sender has discarded. Everything else must end well.
    #[test]
    fn nonsense_does_no_harm(
        config in config(),
        kind in prop::sample::select(ControllerKind::ALL),
        seed in any::<u64>(),
        mut hostile in prop::collection::vec(hostile(), 1..60),
    ) {
        let script = weather(seed, 20, 1_000);
        let mut wire = Wire::new(&config, |c| AnyController::new(kind, c), script);
        hostile.sort_by_key(|segment| segment.at);
        let mut rest = Bytes::new(MSS * PACKETS);
        for segment in &hostile {
            rest -= wire.sender.write(rest);
            wire.run_until(time(segment.at).max(wire.now));
            let received = wire.receiver.received();
            let mut body = segment.body();
            if let Body::Ack(ack) = &mut body {
                ack.next = if ack.next > received { u64::MAX } else { ack.next };
            }
            wire.sender.on_segment(wire.now, &body);
            check(&wire);
        }
        deliver_all(&mut wire, rest);
        prop_assert_eq!(wire.receiver.received(), MSS * PACKETS);
    }

    #[test]
    fn lies_about_what_arrived_are_survived(
        config in config(),
        kind in prop::sample::select(ControllerKind::ALL),
        mut hostile in prop::collection::vec(hostile(), 1..60),
    ) {
        let mut wire = Wire::new(&config, |c| AnyController::new(kind, c), |_, _| Fate::Pass);
        hostile.sort_by_key(|segment| segment.at);
        for segment in &hostile {
            wire.sender.write(Bytes::new(MSS * 10));
            wire.run_until(time(segment.at).max(wire.now));
            wire.sender.on_segment(wire.now, &segment.body());
            check(&wire);
        }
        wire.run_until(wire.now + Duration::from_secs(10));
        check(&wire);
    }
}
