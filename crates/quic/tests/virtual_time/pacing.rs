//! Packets leave at the pacing rate, and not in windows.

use congestion::{ControllerKind, Duration, Time};
use quic::controller::factory;

use crate::recorder::recorder;
use crate::world::{Departure, World, simple_path};

/// The maximum bytes that left in any span of this length.
fn peak(departures: &[Departure], span: Duration) -> u64 {
    let (mut first, mut bytes, mut most) = (0, 0, 0);
    for departure in departures {
        bytes += departure.size;
        while departures[first].at + span <= departure.at {
            bytes -= departures[first].size;
            first += 1;
        }
        most = most.max(bytes);
    }
    most
}

fn since(world: &World, from: Time) -> Vec<Departure> {
    let later = world.departures.iter().filter(|d| d.at >= from);
    later.copied().collect()
}

/// The fixed rate is far below what the window allows, so packets leave at that rate, evenly.
#[test]
fn packets_leave_at_the_pacing_rate() {
    let (factory, _) = recorder(10_000_000, "40mbit");
    let mut world = World::new(simple_path("100mbit", 40, 4, "0%"), 1, factory);
    world.write(u64::MAX);
    world.run(Duration::from_secs(3));
    let departures = since(&world, Time::ZERO + Duration::from_secs(1));
    let bytes: u64 = departures.iter().map(|d| d.size).sum();
    let rate = bytes as f64 * 8.0 / 2.0;
    assert!((rate / 40e6 - 1.0).abs() < 0.005, "{rate}");
    // The timer is as fine as virtual time. Sometimes two packets leave in the time of one, and never more.
    let one = Duration::from_nanos(1452 * 8 * 1_000_000_000 / 40_000_000);
    assert!(
        peak(&departures, one) <= 3 * 1452,
        "{}",
        peak(&departures, one)
    );
}

/// A runtime's timers have a resolution of a millisecond. The pacer's bucket holds two milliseconds' worth, so no
/// credit is lost, and the credit of a millisecond leaves at once.
#[test]
fn coarse_timers_keep_the_rate() {
    for rate in ["10mbit", "100mbit", "1gbit"] {
        let bits: f64 = rate.parse::<congestion::Rate>().unwrap().bits_per_sec() as f64;
        let (factory, _) = recorder(100_000_000, rate);
        let mut world = World::new(simple_path("2gbit", 20, 4, "0%"), 1, factory);
        world.tick = Duration::from_millis(1);
        world.write(u64::MAX);
        world.run(Duration::from_millis(1200));
        let departures = since(&world, Time::ZERO + Duration::from_millis(200));
        let bytes: u64 = departures.iter().map(|d| d.size).sum();
        let share = bytes as f64 * 8.0 / bits;
        println!(
            "{rate}: {share:.4} of the pacing rate, at most {} bytes at once",
            peak(&departures, Duration::from_nanos(1))
        );
        assert!((share - 1.0).abs() < 0.01, "{rate}: {share}");
        let burst = peak(&departures, Duration::from_nanos(1)) as f64;
        assert!(
            burst <= bits / 8.0 * 0.0021 + 10.0 * 1452.0,
            "{rate}: {burst}"
        );
    }
}

/// BBR's whole window is two BDPs. Without pacing, it would leave at the rate of ACKs and in bursts.
#[test]
fn bbr_is_paced() {
    for kind in [ControllerKind::Bbr1, ControllerKind::Bbr3] {
        let path = simple_path("50mbit", 40, 4, "0%");
        let mut world = World::new(path, 1, factory(kind, 1, None));
        world.tick = Duration::from_millis(1);
        world.write(u64::MAX);
        world.run(Duration::from_secs(5));
        let departures = since(&world, Time::ZERO + Duration::from_secs(2));
        // The maximum gain is 5/4, and two milliseconds' worth of credit may be left.
        let most = 50e6 / 8.0 * 1.25 * 0.012 + 2.0 * 1452.0;
        let peak = peak(&departures, Duration::from_millis(10));
        assert!(peak as f64 <= most, "{kind}: {peak} > {most}");
    }
}
