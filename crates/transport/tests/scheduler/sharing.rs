//! The order of flows when the NIC is busy.

use transport::burst::Burst;
use transport::scheduler::{Pacing, Scheduler, SchedulerConfig};
use units::{Bytes, Duration, Rate, Time};

use crate::host::{Flow, Host, MSS, at_millis, burst};

const GIGABIT: Rate = Rate::from_bits_per_sec(1_000_000_000);
const LARGEST: u32 = 45 * MSS;

fn greedy(bytes: u32) -> Flow {
    Flow::new(bytes, Rate::MAX, Time::ZERO)
}

#[test]
fn a_busy_nic_is_shared_fairly_in_bytes_whatever_the_size_of_bursts() {
    let sizes = [1, 100, MSS, 2 * MSS, 10 * MSS, LARGEST];
    let flows = sizes.map(greedy).into_iter().collect();
    let config = SchedulerConfig::of(Pacing::Fq);
    let mut host = Host::new(&config, GIGABIT, flows, 2);
    host.run(at_millis(2_000), |_, _| {});
    let left: Vec<_> = host.flows.iter().map(|flow| flow.left.get()).collect();
    let spread = left.iter().max().unwrap() - left.iter().min().unwrap();
    // Turns differ by at most one, and the bytes sent beyond one's turns by at most a burst.
    assert!(spread <= 2 * 3_000 + 45 * 1_500, "{left:?}");
    assert!(left.iter().all(|bytes| *bytes > 40_000_000), "{left:?}");
}

/// The scheduler has room for a burst of each. A new flow sends its initial credit first, and then a quantum a turn.
#[test]
fn a_busy_nic_is_shared_fairly_by_a_hundred_thousand_flows() {
    let flows = (0..100_000).map(|_| greedy(2 * MSS)).collect();
    let config = SchedulerConfig::of(Pacing::Fq);
    let nic = Rate::from_bits_per_sec(100_000_000_000);
    let mut host = Host::new(&config, nic, flows, 1);
    let rounds = 8;
    let round = nic.time_for(Bytes::new(100_000 * 3_000));
    let mut last = vec![0; 100_000];
    let mut served = 0;
    host.run(Time::ZERO + round * rounds, |_, burst| {
        served += 1;
        last[burst.connection as usize] = served;
    });
    let turns = rounds * 3_000;
    let is_fair = |flow: &Flow| flow.left.get().abs_diff(turns) <= 3_000;
    assert!(host.flows.iter().all(is_fair));
    // Once all have spent their first credit, each is served once before any is served again.
    assert!(last.iter().all(|at| served - at < 100_000 + 10));
}

#[test]
fn a_slow_flow_is_not_slowed_by_those_who_share_the_rest() {
    let paced = Rate::from_bits_per_sec(10_000_000);
    let mut flows = vec![Flow::new(2 * MSS, paced, Time::ZERO)];
    flows.extend((0..9).map(|_| greedy(LARGEST)));
    let config = SchedulerConfig::of(Pacing::Fq);
    let mut host = Host::new(&config, GIGABIT, flows, 2);
    host.run(at_millis(2_000), |_, _| {});
    let rate = Rate::from_transfer(host.flows[0].left, Duration::from_secs(2));
    // 10 Mbit/s of payload.
    let expected = 10.0 * 1_500.0 / f64::from(MSS);
    let mbit = rate.bits_per_sec() as f64 / 1e6;
    assert!((expected - mbit).abs() < 0.05 * expected, "{mbit} Mbit/s");
}

/// The time that a flow's only packet waits when it arrives after a hundred long flows' bursts.
fn mouse_waits(config: &SchedulerConfig) -> Duration {
    let mut scheduler = Scheduler::new(config);
    let mut now = at_millis(10);
    let elephant = |index, seq| burst(index, seq, LARGEST, now);
    for index in 0..100 {
        for seq in 0..3 {
            scheduler.enqueue(now, elephant(index, seq)).unwrap();
        }
    }
    let send = |now: &mut Time, burst: Burst| *now += GIGABIT.time_for(burst.wire_size());
    // All long flows have had a turn, so they are no longer new.
    for _ in 0..110 {
        let burst = scheduler.dequeue(now).unwrap();
        send(&mut now, burst);
    }
    let mouse = burst(1_000, 0, 100, now);
    let came = now;
    scheduler.enqueue(now, mouse).unwrap();
    while let Some(burst) = scheduler.dequeue(now) {
        if burst == mouse {
            return now.since(came);
        }
        send(&mut now, burst);
    }
    panic!("the mouse is lost");
}

#[test]
fn a_mouse_is_not_held_behind_elephants() {
    let largest = GIGABIT.time_for(Bytes::new(45 * 1_500));
    assert!(mouse_waits(&SchedulerConfig::of(Pacing::Fq)) <= largest);
    // Without fair queueing it is different.
    let fifo = mouse_waits(&SchedulerConfig::of(Pacing::PerConnection));
    assert_eq!(fifo, largest * 190);
}
