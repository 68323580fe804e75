//! ECN: BBRv3 with Linux's answer to marks, where a queue marks at a shallow threshold, as in a data centre.

use congestion::bbr3::{self, EcnConfig};
use congestion::{Bytes, ControllerKind, Duration, Settings};
use path::{Discipline, Red};
use sim::{Config, FlowConfig, dumbbell};

use crate::support::{at_millis, jain, limit, mbit, path, quantile, run};

const RTT: Duration = Duration::from_millis(2);

/// Four flows on 1 Gbit/s with a buffer of 16 BDP, which marks from a third of a BDP on: their share of the limit,
/// Jain's index, and the median time in the queue of the first.
fn four_flows(settings: Settings) -> (f64, f64, Duration) {
    let rate = mbit(1_000);
    let bdp = rate.bytes_in(RTT);
    let mut path = path(rate, RTT, bdp * 16);
    path.forward.effects.queue = Discipline::Red(Red::threshold(Bytes::new(bdp.get() / 3)));
    let mut flow = FlowConfig::new(settings);
    flow.sender.ecn = true;
    let config = Config {
        seed: 1,
        ..dumbbell(path, vec![flow; 4])
    };
    let end = at_millis(3_000);
    let watch = run(config, at_millis(1_000), end);
    assert!(watch.flows.iter().all(|flow| flow.stats.packets_lost == 0));
    let rates: Vec<f64> = (0..4).map(|flow| watch.goodput(flow, end)).collect();
    let share = rates.iter().sum::<f64>() / limit(rate, 0);
    let rtt = quantile(&watch.flows[0].rtts, 0.5);
    (share, jain(&rates), rtt.saturating_sub(RTT))
}

/// The draft's BBRv3 ignores marks: the windows of four flows stand in the queue. After a probe with too many marks,
/// a small flow keeps room for its bursts (`bbr_target_inflight`); with room for its BDP alone, one flow had nearly
/// everything.
#[test]
fn linuxs_answer_to_marks_makes_the_queue_shallow_and_keeps_the_rate() {
    let answer = Settings::Bbr3(bbr3::Config {
        ecn: Some(EcnConfig::linux()),
        ..bbr3::Config::tcp()
    });
    let (share, index, queue) = four_flows(answer);
    let (_, _, without) = four_flows(ControllerKind::Bbr3.into());
    assert!(share > 0.95, "{share}");
    assert!(index > 0.7, "{index}");
    assert!(queue * 3 < without, "{queue}, {without} without");
}
