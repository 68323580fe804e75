//! Only flows that respond to marks get them.

use congestion::{ControllerKind, Duration};
use quic::controller::factory;

use crate::world::{World, simple_path};

const SECOND: Duration = Duration::from_secs(1);

/// A controller that does not respond to marks must not request them in place of losses (RFC 3168, "The TCP Sender"). Prague does not
/// respond to those of ECT(0) as it must, and the stack has no ECT(1).
#[test]
fn packets_are_ecn_capable_if_marks_are_answered() {
    for kind in ControllerKind::ALL.iter().copied() {
        let is_answering = !matches!(
            kind,
            ControllerKind::Bbr1 | ControllerKind::Bbr3 | ControllerKind::Prague
        );
        let path = simple_path("20mbit", 40, 4, "0%");
        let mut world = World::new(path, 1, factory(kind, 1, None));
        world.write(u64::MAX);
        world.run(SECOND * 4);
        let all = |is: bool| move |d: &crate::world::Departure| d.is_ecn_capable == is;
        assert!(world.departures.iter().all(all(is_answering)), "{kind}");

        // From now on, the network marks ECN-capable packets.
        world.marks = true;
        world.run(SECOND);
        let before = world.received;
        world.run(SECOND * 4);
        let mbps = (world.received - before) as f64 * 8.0 / 4e6;
        println!("{kind}: {mbps:.2} Mbit/s of 20 with every packet marked");
        assert_eq!(mbps < 1.0, is_answering, "{kind}: {mbps} Mbit/s");
        assert!(world.departures.iter().all(all(is_answering)), "{kind}");
    }
}
