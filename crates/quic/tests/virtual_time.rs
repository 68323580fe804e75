//! Whole transfers over modelled paths, in virtual time: what the controllers achieve through noq.

mod world;

use std::sync::Arc;

use congestion::{Duration, Kind};
use quic::controller::factory;
use world::{Samples, World, limit_bps, simple_path};

fn bulk(
    kind: Kind,
    rate: &str,
    rtt_ms: u64,
    bdp: u64,
    loss: &str,
    secs: u64,
) -> (f64, Arc<Samples>) {
    let samples = Arc::new(Samples::default());
    let path = simple_path(rate, rtt_ms, bdp, loss);
    let mut world = World::new(path, 1, factory(kind, 1, Some(samples.clone())));
    world.write(u64::MAX);
    world.run(Duration::from_secs(secs));
    let share = world.received as f64 * 8.0 / secs as f64 / limit_bps(&mut world, rate, loss);
    let stats = world.sender_stats();
    println!(
        "{kind} {rate} {rtt_ms}ms {bdp}bdp {loss}: share {share:.4} rtt p50 {:.1} p95 {:.1} max {:.1} lost {} of {} mtu {} last {:?}",
        samples.rtt_ms(0.5),
        samples.rtt_ms(0.95),
        samples.rtt_ms(1.0),
        stats.lost_packets,
        stats.sent_packets,
        stats.current_mtu,
        samples.0.lock().unwrap().last().map(|s| s.snapshot)
    );
    (share, samples)
}

#[test]
fn first() {
    for kind in [Kind::Bbr1, Kind::Cubic] {
        for loss in ["0%", "1%", "5%"] {
            bulk(kind, "100mbit", 100, 4, loss, 20);
        }
        bulk(kind, "10mbit", 40, 25, "0%", 30);
        bulk(kind, "20mbit", 40, 8, "1%", 10);
    }
}
