//! RTprop from ACKs of single packets.

use std::sync::Arc;

use congestion::{ControllerKind, Duration};
use path::Path;
use quic::controller::factory;

use crate::world::{Samples, World, simple_path};

const SECOND: Duration = Duration::from_secs(1);

/// On a path so slow, the receiver waits in vain for a second packet, and every ACK is for one. A rise of the RTT must
/// be found although each sample includes the receiver's delay. If all samples were refused as delayed, RTprop would
/// stay at 118 ms.
#[test]
fn a_rise_of_rtprop_is_found_where_each_ack_is_for_one_packet() {
    for rate in ["100kbit", "2mbit"] {
        let samples = Arc::new(Samples::default());
        let controllers = factory(ControllerKind::Bbr1, 1, Some(samples.clone()));
        let mut world = World::new(simple_path(rate, 20, 8, "0%"), 1, controllers);
        world.write(u64::MAX);
        world.run(SECOND * 20);
        // The route changes: 600 ms instead of 20.
        world.path = Path::new(simple_path(rate, 600, 2, "0%"), 2).unwrap();
        world.run(SECOND * 20);
        let last = *samples.0.lock().unwrap().last().unwrap();
        let rtprop = last.snapshot.rtprop.unwrap().as_millis_f64();
        println!("{rate}: RTprop {rtprop:.1} ms");
        assert!((600.0..=750.0).contains(&rtprop), "{rate}: {rtprop} ms");
    }
}
