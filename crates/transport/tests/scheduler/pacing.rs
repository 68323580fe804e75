//! The pacing of each flow.

use transport::scheduler::{Pacing, Scheduler, SchedulerConfig};
use units::{Bytes, Duration, Rate, Time};

use crate::host::{Flow, Host, MSS, at_millis};

/// Ten thousand flows of about 0.1 to 1.6 Mbit/s, which start within the first 100 ms; 8.5 Gbit/s in all.
fn many_flows() -> Vec<Flow> {
    flows_of_8_gigabits(10_000)
}

/// So many flows that share the same rate in the same proportions.
fn flows_of_8_gigabits(count: u64) -> Vec<Flow> {
    (0..count)
        .map(|index| {
            let of_ten_thousand = 100_000 + index * 7_919 % 1_500_000;
            let rate = Rate::from_bits_per_sec(of_ten_thousand * 10_000 / count);
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
    leave_in_time(many_flows(), 2);
}

/// The same data of ten times as many flows, and of a tenth. The scheduler has room for a burst of each.
#[test]
fn a_hundred_thousand_flows_leave_in_time_too_and_their_packets_cost_no_more() {
    let work = |flows: u64| {
        let scheduler = leave_in_time(flows_of_8_gigabits(flows), 1);
        let done = scheduler.counters();
        // A burst is served once, and delayed at most once before. Its flow gets credit, or leaves the lists when it has
        // no more bursts: two turns at most.
        assert!(done.throttled <= done.enqueued, "{done:?}");
        done.turns as f64 / done.dequeued as f64
    };
    let [few, many] = [1_000, 100_000].map(work);
    assert!(many < 4.0 && many < 1.05 * few, "{few}, {many}");
}

/// Runs flows for two seconds over a card that has room for them; checks when they leave, and how much.
fn leave_in_time(flows: Vec<Flow>, bursts: u32) -> Scheduler {
    let nic = Rate::from_bits_per_sec(10_000_000_000);
    let mut host = Host::new(&fq(), nic, flows, bursts);
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
    host.scheduler
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
