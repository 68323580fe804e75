//! The pacing of each flow.

use transport::scheduler::{Pacing, SchedulerConfig};
use units::{Bytes, Duration, Rate, Time};

use crate::host::{Flow, Host, MSS, at_millis};

/// Ten thousand flows of about 0.1 to 1.6 Mbit/s, which start within the first 100 ms; 8.5 Gbit/s in all.
fn many_flows() -> Vec<Flow> {
    (0..10_000u64)
        .map(|index| {
            let rate = Rate::from_bits_per_sec(100_000 + index * 7_919 % 1_500_000);
            let start = Time::ZERO + Duration::from_micros(index * 104_729 % 100_000);
            Flow::new(2 * MSS, rate, start)
        })
        .collect()
}

fn fq() -> SchedulerConfig {
    SchedulerConfig::of(Pacing::Fq)
}

#[test]
fn an_idle_nic_takes_every_burst_at_its_departure() {
    let mut host = Host::new(&fq(), Rate::MAX, many_flows(), 2);
    // A rate beyond all links still takes a nanosecond for a burst.
    let tolerance = Duration::from_micros(10);
    host.run(at_millis(500), |now, burst| {
        assert!(
            now.since(burst.departure) <= tolerance,
            "{burst:?} at {now:?}"
        );
    });
}

#[test]
fn each_of_ten_thousand_flows_leaves_within_its_quantum_of_its_time() {
    let mut host = Host::new(
        &fq(),
        Rate::from_bits_per_sec(10_000_000_000),
        many_flows(),
        2,
    );
    let quanta: Vec<_> = host
        .flows
        .iter()
        .map(|flow| flow.rate.time_for(Bytes::new(u64::from(flow.burst))))
        .collect();
    let end = at_millis(2_000);
    host.run(end, |now, burst| {
        let late = now.since(burst.departure);
        let quantum = quanta[burst.connection as usize];
        assert!(late <= quantum, "{burst:?} {late} late, of {quantum}");
    });
    for flow in &host.flows {
        let payload = flow.left.get() * u64::from(MSS) / 1_500;
        let due = flow.rate.bytes_in(end.since(flow.start)).get();
        let difference = payload.abs_diff(due);
        assert!(
            difference <= 2 * u64::from(flow.burst),
            "{payload} of {due} bytes at {}",
            flow.rate
        );
    }
}

#[test]
fn the_same_flows_leave_in_the_same_order_every_time() {
    let run = || {
        let mut order = Vec::new();
        let mut host = Host::new(
            &fq(),
            Rate::from_bits_per_sec(5_000_000_000),
            many_flows(),
            2,
        );
        host.run(at_millis(200), |now, burst| {
            order.push((now, burst.connection, burst.seq));
        });
        order
    };
    assert_eq!(run(), run());
}
