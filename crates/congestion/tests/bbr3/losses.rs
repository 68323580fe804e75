//! The effect of losses that no queue causes, and of a round trip of seconds on Startup and on the remembered
//! bandwidth. The draft's test cases do not cover these; the expectations follow from its pseudocode.

use congestion::{Duration, Ratio, Time};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::{
    Bbr3, CRUISE, DRAIN, PROBE_RTT, STARTUP, after, assert_within, at_secs, bbr3, bulk, changing,
    clean, millis, state, stays,
};
use crate::support::{Flow, Mishap, mbit};

/// 100 Mbit/s and 100 ms, on which each `every`th packet is lost.
pub fn lossy(bbr3: Bbr3, every: u64) -> Flow<Bbr3> {
    let mut flow = Flow::bulk(bbr3, clean(mbit(100), millis(100), 4));
    flow.mishaps = vec![Mishap {
        from: Time::ZERO,
        to: at_secs(100),
        every,
        late_by: None,
    }];
    flow
}

/// `LossLowerBounds` follows the greatest delivery rate of the latest round, and nothing raises it until the next probe. What is
/// delivered is the bound itself, less the pacing margin and the losses: 2 % less at 1 % loss. The greatest sample of a round
/// covers packets that were paced by the bound of three updates before, so this much, or half as much again, goes in three
/// rounds. What happens before this slow fall, after DOWN and after ProbeRTT, is in `self_limited`.
#[test]
fn between_probes_the_rate_falls_by_the_margin_and_the_losses() {
    const ROUNDS: u64 = 16;
    let mut falls = 0;
    let mut flow = lossy(bbr3(), 100);
    flow.run_until(at_secs(30));
    for stay in stays(&flow.points) {
        // The bound of after ProbeRTT swings first, as the pipe is half empty then.
        let first = stay[0].snapshot.round + 6;
        let bound = |round| {
            let point = stay.iter().rfind(|point| point.snapshot.round == round)?;
            point.snapshot.short_term_bw
        };
        let (Some(before), Some(after)) = (bound(first), bound(first + ROUNDS)) else {
            continue;
        };
        assert_eq!(state(stay), CRUISE);
        falls += 1;
        let fall =
            (after.bits_per_sec() as f64 / before.bits_per_sec() as f64).powf(3.0 / ROUNDS as f64);
        assert!((0.97..0.985).contains(&fall), "{fall}");
    }
    assert!(falls >= 5, "{falls}");
    // 1 % is no reason to lower the other bound.
    let mut bounds = flow
        .points
        .iter()
        .map(|point| point.snapshot.long_term_inflight);
    assert!(bounds.all(|bound| bound.is_none()));
}

/// 100 Mbit/s and 100 ms, on which chance loses one packet in a hundred.
fn lossy_by_chance(seed: u64) -> Flow<Bbr3> {
    let mut chance = SplitMix64::seed_from_u64(seed);
    let mut flow = Flow::bulk(bbr3(), clean(mbit(100), millis(100), 4));
    flow.doomed = (0..300_000)
        .filter(|_| chance.next_u64().is_multiple_of(100))
        .collect();
    flow
}

/// Six losses are more than 2 % of fewer than 300 packets. So chance ends the Startup of some flows before they have found the
/// bandwidth, and sets the long-term bound.
#[test]
fn random_losses_of_a_hundredth_end_startup_early_in_some_of_sixty_seeds() {
    let mut early = 0;
    for seed in 0..60 {
        let mut flow = lossy_by_chance(seed);
        let drain = flow.run_until_in(DRAIN, at_secs(20));
        let found = drain.btl_bw.expect("known");
        if drain.long_term_inflight.is_some() {
            early += 1;
            assert!(found < mbit(80), "{seed}: {found}");
        } else {
            assert_within(found, mbit(100), 3);
        }
    }
    // The flights of Startup double, so few of them have from 200 to 300 packets.
    assert!((1..=6).contains(&early), "{early}");
}

/// Beyond the threshold each probe finds too much lost, and keeps at least 0.7 of what the flow aims at.
#[test]
fn beyond_the_threshold_each_probe_lowers_the_long_term_bound() {
    let mut flow = lossy(bbr3(), 20);
    flow.run_until(at_secs(30));
    let mut bounds: Vec<_> = flow
        .points
        .iter()
        .filter_map(|point| point.snapshot.long_term_inflight)
        .collect();
    bounds.dedup();
    let (first, last) = (bounds[0], bounds[bounds.len() - 1]);
    assert!(last < Ratio::new(1, 4).of_bytes(first), "{bounds:?}");
    let least = Ratio::new(65, 100);
    let steps = bounds.windows(2);
    assert!(
        steps.clone().all(|pair| pair[1] >= least.of_bytes(pair[0])),
        "{bounds:?}"
    );
}

/// Every state but ProbeRTT itself ends for it after five seconds (`CheckProbeRTT`), and what is sent in it counts as application-
/// limited, so that few rounds are left to look for a plateau in. The bandwidth is found in time.
#[test]
fn a_round_trip_of_a_second_lets_probe_rtt_interrupt_startup() {
    let rtt = Duration::from_secs(1);
    let mut flow = bulk(clean(mbit(10), rtt, 4));
    let drain = flow.run_until_in(DRAIN, at_secs(40));
    let states: Vec<_> = stays(&flow.points).iter().map(|stay| state(stay)).collect();
    assert!(states.iter().filter(|state| **state == PROBE_RTT).count() >= 2);
    assert!(
        states
            .iter()
            .all(|state| [STARTUP, PROBE_RTT, DRAIN].contains(state))
    );
    for (_, next) in after(&flow.points, PROBE_RTT) {
        assert_eq!(state(next), STARTUP);
    }
    assert_within(drain.btl_bw.expect("known"), mbit(10), 1);
    let found = flow
        .points
        .iter()
        .find(|point| point.snapshot.btl_bw >= Some(mbit(9)));
    assert!(found.expect("found").now < at_secs(14));
    assert!(flow.now() < at_secs(30) && flow.now() > at_secs(20));
}

/// A cycle's greatest rate is forgotten when the ACKs of its probe are over (`AdaptLongTermModel`). After ProbeRTT the flow waits
/// two to three seconds, refills the pipe for a round and probes for some, and the first round of each cycle counts as
/// application-limited. With a queue of seconds the next ProbeRTT always comes before.
#[test]
fn a_queue_of_seconds_keeps_a_bandwidth_that_is_gone() {
    let (before, after, rtt) = (mbit(20), mbit(2), millis(100));
    for (queue, is_kept) in [(millis(250), false), (millis(4_000), true)] {
        let mut path = clean(before, rtt, 1);
        path.forward.buffer = path::Buffer::Bytes(after.bytes_in(queue));
        let mut flow = bulk(changing(path, at_secs(10), after));
        flow.run_until(at_secs(50));
        let believed = flow.snapshot().btl_bw.expect("known");
        assert_within(believed, if is_kept { before } else { after }, 5);
        let late = flow.between(at_secs(40), at_secs(50));
        let (first, last) = (late[0], late[late.len() - 1]);
        let lost = (last.lost - first.lost).get() as f64 / (last.sent - first.sent).get() as f64;
        assert_eq!(lost > 0.3, is_kept, "{queue}: {lost}");
    }
}
