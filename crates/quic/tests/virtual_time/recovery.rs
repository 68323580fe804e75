//! Losses reach the controller when they are found, and cause the right recoveries.

use std::sync::Arc;

use congestion::{Bytes, Cause, ControllerKind, Duration, Recovery, Time};
use quic::controller::factory;

use crate::recorder::{Event, recorder};
use crate::world::{Samples, World, simple_path};

const SECOND: Duration = Duration::from_secs(1);
const RTT: Duration = Duration::from_millis(40);

/// The starts of recoveries with this cause, in four seconds at 1 % loss, with or without marks on all packets.
fn starts(marks: bool, cause: Cause) -> Vec<Time> {
    let (factory, log) = recorder(300_000, "40mbit");
    let mut world = World::new(simple_path("50mbit", 40, 8, "1%"), 1, factory);
    world.write(u64::MAX);
    world.run(SECOND);
    world.marks = marks;
    let from = world.now + RTT;
    world.run(SECOND * 4);
    let entered = log.events().into_iter().filter_map(|event| match event {
        Event::Recovery(at, Recovery::Entered(why), _) if why == cause => Some(at),
        _ => None,
    });
    let starts: Vec<Time> = entered.filter(|at| *at >= from).collect();
    println!("marks {marks}: {} starts by {cause:?}", starts.len());
    starts
}

/// Every packet is marked, so each round trip begins with a mark, and every loss is within a recovery that a mark
/// began.
#[test]
fn losses_are_told_in_recoveries_that_marks_began() {
    let unmarked = starts(false, Cause::Loss).len();
    let losses = starts(true, Cause::Loss);
    assert!(
        losses.len() * 10 >= unmarked * 8,
        "{} of {unmarked}",
        losses.len()
    );
    // There is still at most one per round trip.
    assert!(losses.windows(2).all(|pair| pair[1].since(pair[0]) >= RTT));
    // The marks' own starts do not become fewer.
    let marks = starts(true, Cause::Ecn);
    assert!((80..=100).contains(&marks.len()), "{}", marks.len());
    assert!(marks.windows(2).all(|pair| pair[1].since(pair[0]) >= RTT));
}

/// The tail of a transfer is lost, and the ACK of a probe shows it. With conservation from that ACK on, as much leaves
/// at once as the ACK delivered, and its delivery ends the recovery. With conservation from the next ACK on, a single
/// packet leaves, whose ACK the receiver delays, and the flow continues 125 ms later.
#[test]
fn conservation_begins_with_the_ack_that_shows_a_lost_tail() {
    let samples = Arc::new(Samples::default());
    let path = simple_path("20mbit", 100, 4, "0%");
    let mut world = World::new(
        path,
        1,
        factory(ControllerKind::Bbr1, 1, Some(samples.clone())),
    );
    world.write(20_000_000);
    world.run(SECOND * 5);
    world.is_cut = true;
    world.run(Duration::from_millis(350));
    world.is_cut = false;
    let cut_end = world.now;
    let seen = samples.0.lock().unwrap().len();
    world.run(SECOND * 2);
    let samples = samples.0.lock().unwrap();
    let shown = samples[seen..]
        .iter()
        .find(|sample| sample.packets_lost > 300);
    let shown = shown.expect("no loss").time;
    let restored = samples[seen..]
        .iter()
        .find(|sample| sample.time > shown && sample.snapshot.cwnd > Bytes::new(400_000));
    let restored = restored.expect("no end").time;
    let [shown, restored] = [shown, restored].map(|at| at.since(cut_end).as_millis_f64());
    println!("loss shown after {shown:.1} ms, window restored after {restored:.1} ms");
    // Two round trips follow, one of them with a delayed ACK.
    assert!((300.0..=350.0).contains(&shown), "{shown} ms");
    assert!(restored < 600.0, "{restored} ms");
}
