//! Events on the path reach the controller with their meaning intact.

use congestion::{Bytes, Cause, Duration, Recovery, Time};
use path::{PathConfig, Reorder};

use crate::recorder::{Event, Log, recorder};
use crate::world::{World, simple_path};

const SECOND: Duration = Duration::from_secs(1);
const RTT: Duration = Duration::from_millis(40);

/// A flow paced at 40 Mbit/s within a window of 300 kB. On a path of 50 Mbit/s and 40 ms, it fills neither the window
/// nor the path, so all losses are the path's.
fn flow(path: PathConfig) -> (World, Log) {
    let (factory, log) = recorder(300_000, "40mbit");
    (World::new(path, 1, factory), log)
}

fn clean() -> PathConfig {
    simple_path("50mbit", 40, 8, "0%")
}

fn count(events: &[Event], is_it: impl Fn(&Event) -> bool) -> usize {
    events.iter().filter(|event| is_it(event)).count()
}

fn is_lost(event: &Event) -> bool {
    matches!(event, Event::Lost(_))
}

fn is_recovery(event: &Event, which: Recovery) -> bool {
    matches!(event, Event::Recovery(_, recovery, _) if *recovery == which)
}

/// Checks the properties of every sequence of events.
fn check(events: &[Event]) {
    let mut now = Time::ZERO;
    let mut inflight = Bytes::ZERO;
    // The time of the last losses, and the bytes in flight before them.
    let (mut lost_at, mut before) = (Time::ZERO, Bytes::ZERO);
    let mut sent = Vec::new();
    let mut in_recovery: Option<Cause> = None;
    let mut is_undoable = false;
    let mut has_lost = false;
    let mut at = |time: Time| {
        assert!(time >= now, "time runs backwards");
        now = time;
    };
    for event in events {
        match event {
            Event::Sent(packet) => {
                at(packet.now);
                assert_eq!(packet.inflight, inflight + packet.bytes);
                (inflight, before) = (packet.inflight, packet.inflight);
                sent.push(packet);
            }
            Event::Lost(lost) => {
                at(lost.now);
                if lost_at != lost.now {
                    (lost_at, before) = (lost.now, inflight);
                }
                // The data that the same ACK delivered are not in flight either.
                assert!(lost.inflight <= inflight - lost.packet.bytes);
                inflight = lost.inflight;
                has_lost = true;
                let packet = sent[lost.packet.sequence as usize];
                assert_eq!(packet.now, lost.packet.sent_time);
                assert_eq!(packet.bytes, lost.packet.bytes);
            }
            Event::Ack(ack) => {
                at(ack.now);
                assert!(!ack.newly_acked.is_zero());
                let prior = if lost_at == ack.now { before } else { inflight };
                assert_eq!(ack.prior_inflight, prior);
                // They are equal except for packets that have vanished from noq's table, and for padded handshake
                // packets.
                if ack.now > Time::ZERO + SECOND {
                    assert!(ack.inflight + ack.newly_acked <= ack.prior_inflight);
                }
                (inflight, before) = (ack.inflight, ack.inflight);
            }
            Event::Recovery(time, recovery, at_change) => {
                at(*time);
                // All reports but a mark's follow the subtraction of the ACK's deliveries and losses.
                assert!(*at_change <= inflight);
                match recovery {
                    Recovery::Entered(cause) => {
                        assert!(
                            in_recovery.is_none()
                                || (in_recovery, *cause) == (Some(Cause::Ecn), Cause::Loss)
                        );
                        assert!(*cause == Cause::Ecn || std::mem::take(&mut has_lost));
                        is_undoable = *cause == Cause::Loss;
                        in_recovery = Some(*cause);
                    }
                    Recovery::Left => assert!(in_recovery.take().is_some()),
                    Recovery::Undone => {
                        assert!(std::mem::take(&mut is_undoable));
                        in_recovery = None;
                    }
                }
            }
            Event::Timeout(time, inflight) => {
                // This leaves the minimum window of every controller, whatever is in flight (RFC 9002, "Persistent
                // Congestion").
                assert!(inflight.is_zero());
                at(*time);
                assert!(std::mem::take(&mut has_lost));
                (in_recovery, is_undoable) = (Some(Cause::Loss), true);
            }
            Event::IdleRestart(time) => {
                at(*time);
                assert!(inflight.is_zero());
            }
            Event::Mtu(_) => {}
        }
    }
}

#[test]
fn losses() {
    let (mut world, log) = flow(simple_path("50mbit", 40, 8, "1%"));
    world.write(u64::MAX);
    world.run(SECOND * 5);
    let events = log.events();
    check(&events);
    // noq also counts lost MTU probes, which do not indicate congestion, and lost packets that asked for no ACK.
    let stats = world.sender_stats();
    let lost = count(&events, is_lost) as u64;
    let expected = stats.lost_packets - stats.lost_plpmtud_probes;
    assert!(
        lost <= expected && lost + 5 >= expected,
        "{lost} of {expected}"
    );
    assert!(lost > 100);
    // The losses that an ACK shows are reported before it. The timer finds few here.
    let settled = events.windows(2).filter(|pair| match pair {
        [Event::Lost(lost), Event::Ack(ack)] => lost.now == ack.now,
        [
            Event::Lost(lost),
            Event::Recovery(at, Recovery::Entered(Cause::Loss), _),
        ] => lost.now == *at,
        _ => false,
    });
    let settled = settled.count() as u64;
    assert!(settled * 10 >= lost * 9, "{settled} of {lost}");
    assert_eq!(count(&events, |e| is_recovery(e, Recovery::Undone)), 0);
    assert_eq!(count(&events, |e| matches!(e, Event::Timeout(..))), 0);
    // A loss every third of a round trip: recoveries follow each other, at most one per round trip.
    let starts: Vec<Time> = events
        .iter()
        .filter_map(|event| match event {
            Event::Recovery(at, Recovery::Entered(Cause::Loss), _) => Some(*at),
            _ => None,
        })
        .collect();
    assert!(starts.len() > 50);
    assert!(starts.windows(2).all(|pair| pair[1].since(pair[0]) >= RTT));
}

#[test]
fn round_trip_times_and_delivery_rates() {
    let (mut world, log) = flow(clean());
    world.write(u64::MAX);
    world.run(SECOND * 3);
    let events = log.events();
    check(&events);
    let mut exact = 0;
    for event in &events {
        let Event::Ack(ack) = event else { continue };
        assert!(ack.is_cwnd_limited || ack.now < Time::ZERO + RTT * 3);
        if let Some(sample) = ack.rtt {
            assert!(sample.rtt >= RTT);
            if !sample.is_ack_delayed && ack.now > Time::ZERO + SECOND {
                exact += 1;
                assert!(
                    sample.rtt <= RTT + Duration::from_millis(1),
                    "{:?}",
                    sample.rtt
                );
            }
        }
        if ack.now > Time::ZERO + SECOND {
            assert!(!ack.rate.is_app_limited);
            let rate = ack.rate.delivery_rate.expect("a sample with every ACK");
            let share = rate.bits_per_sec() as f64 / 40e6;
            assert!((0.97..=1.03).contains(&share), "{share}");
        }
    }
    assert!(exact > 1000);
}

#[test]
fn persistent_congestion() {
    let (mut world, log) = flow(clean());
    world.write(u64::MAX);
    world.run(SECOND * 2);
    world.is_cut = true;
    world.run(SECOND * 4);
    world.is_cut = false;
    let before = log.events().len();
    let received = world.received;
    world.run(SECOND * 5);
    let events = log.events();
    check(&events);
    assert_eq!(
        count(&events[..before], |e| matches!(e, Event::Timeout(..))),
        0
    );
    let timeout = events.iter().position(|e| matches!(e, Event::Timeout(..)));
    let timeout = timeout.expect("no timeout");
    assert_eq!(count(&events, |e| matches!(e, Event::Timeout(..))), 1);
    // Everything that was in flight at the cut was declared lost before, and the flow continues afterwards.
    let lost = events[before..timeout]
        .iter()
        .filter_map(|event| match event {
            Event::Lost(lost) => Some(lost.packet.bytes),
            _ => None,
        });
    assert!(lost.sum::<Bytes>() > Bytes::new(200_000));
    assert_eq!(
        count(&events[timeout..], |e| is_recovery(e, Recovery::Left)),
        1
    );
    assert!(world.received > received + 10_000_000);
}

#[test]
fn spurious_losses() {
    let mut path = clean();
    path.forward.effects.reorder = Some(Reorder {
        share: "0.1%".parse().unwrap(),
        by: Duration::from_millis(15),
    });
    let (mut world, log) = flow(path);
    world.write(u64::MAX);
    world.run(SECOND * 5);
    let events = log.events();
    check(&events);
    let entered = count(&events, |e| is_recovery(e, Recovery::Entered(Cause::Loss)));
    let undone = count(&events, |e| is_recovery(e, Recovery::Undone));
    assert!(entered >= 5, "{entered}");
    assert_eq!(undone, entered);
    assert_eq!(count(&events, |e| is_recovery(e, Recovery::Left)), 0);
}

#[test]
fn application_limits() {
    let (mut world, log) = flow(clean());
    // The flow has five requests of 100 kB with pauses, and then bulk data.
    world.run(SECOND);
    for _ in 0..5 {
        world.write(100_000);
        world.run(SECOND);
    }
    let pauses = log.events();
    let bulk_from = world.now;
    world.write(u64::MAX);
    world.run(SECOND * 2);
    let events = log.events();
    check(&events);
    let restarts = |events: &[Event], from: Time| {
        count(
            events,
            |e| matches!(e, Event::IdleRestart(at) if *at >= from),
        )
    };
    assert_eq!(restarts(&pauses, Time::ZERO + SECOND), 5);
    assert_eq!(restarts(&events, bulk_from), 1);
    for event in &events {
        let Event::Ack(ack) = event else { continue };
        if ack.now < bulk_from && ack.now > Time::ZERO + SECOND {
            // A request begins after a pause and ends before one, so the application limited each of its packets.
            assert!(ack.rate.is_app_limited, "{ack:?}");
        }
        // The marks end with the pauses: after two round trips, none is left.
        if ack.now > bulk_from + RTT * 3 {
            assert!(!ack.rate.is_app_limited, "{ack:?}");
            assert!(ack.is_cwnd_limited);
        }
    }
    // The last ACK of each request finds no data to send.
    let last = pauses.iter().rev().find_map(|event| match event {
        Event::Ack(ack) => Some(ack),
        _ => None,
    });
    assert!(last.is_some_and(|ack| !ack.is_cwnd_limited && ack.inflight.is_zero()));
}

/// The pause is shorter than a round trip, and packets are still in flight.
#[test]
fn short_pauses_are_application_limits_too() {
    let (mut world, log) = flow(clean());
    world.run(SECOND);
    world.write(5_000_000);
    // 5 MB at 40 Mbit/s take 1025 ms with all headers. The next data come 10 ms after the last of them have left.
    world.run(Duration::from_millis(1035));
    let resumed = world.now;
    assert!(world.received < 5_000_000, "the pause came too late");
    world.write(u64::MAX);
    world.run(SECOND);
    let events = log.events();
    check(&events);
    assert_eq!(
        count(
            &events,
            |e| matches!(e, Event::IdleRestart(at) if *at >= resumed)
        ),
        0
    );
    let limited: Vec<Time> = events
        .iter()
        .filter_map(|event| match event {
            Event::Ack(ack) if ack.now > resumed && ack.rate.is_app_limited => Some(ack.now),
            _ => None,
        })
        .collect();
    assert!(!limited.is_empty());
    assert!(limited.iter().all(|at| *at < resumed + RTT * 3));
}

#[test]
fn mtu_found() {
    let (mut world, log) = flow(clean());
    world.max_datagram = 1380;
    world.write_last(10_000_000);
    assert!(world.run_to_end(SECOND * 10));
    world.run(SECOND);
    let events = log.events();
    check(&events);
    let mtus: Vec<u64> = events
        .iter()
        .filter_map(|event| match event {
            Event::Mtu(mtu) => Some(mtu.get()),
            _ => None,
        })
        .collect();
    let last = *mtus.last().expect("no change");
    assert!(
        mtus.is_sorted() && (1350..=1380).contains(&last),
        "{mtus:?}"
    );
    // Probes that were too large do not indicate congestion, and do not stay in flight.
    assert!(world.sender_stats().lost_plpmtud_probes > 0);
    assert_eq!(count(&events, is_lost), 0);
    let last = events.iter().rev().find_map(|event| match event {
        Event::Ack(ack) => Some(ack.inflight),
        _ => None,
    });
    assert_eq!(last, Some(Bytes::ZERO));
}

#[test]
fn mtu_lost() {
    let (mut world, log) = flow(clean());
    world.write(u64::MAX);
    world.run(SECOND * 2);
    world.max_datagram = 1300;
    world.run(SECOND * 10);
    let received = world.received;
    world.run(SECOND);
    assert!(world.received > received + 1_000_000);
    let events = log.events();
    check(&events);
    let smallest = events
        .iter()
        .filter_map(|event| match event {
            Event::Mtu(mtu) => Some(mtu.get()),
            _ => None,
        })
        .skip_while(|mtu| *mtu > 1300)
        .min();
    assert_eq!(smallest, Some(1200));
}

#[test]
fn congestion_marks() {
    let (mut world, log) = flow(clean());
    world.write(u64::MAX);
    world.run(SECOND * 2);
    let before = log.events();
    world.marks = true;
    world.run(SECOND);
    world.marks = false;
    world.run(SECOND);
    let events = log.events();
    check(&events);
    let marked = |event: &Event| matches!(event, Event::Ack(ack) if !ack.ce_marked.is_zero());
    assert_eq!(count(&before, marked), 0);
    assert!(count(&events, marked) > 100);
    let entered = count(&events, |e| is_recovery(e, Recovery::Entered(Cause::Ecn)));
    let left = count(&events, |e| is_recovery(e, Recovery::Left));
    assert!((10..=26).contains(&entered), "{entered}");
    assert_eq!(entered, left);
}
