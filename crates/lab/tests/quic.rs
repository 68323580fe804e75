//! Real packets: properties of their records that must hold on any machine, however busy it is.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use lab::Cancel;
use lab::{Engine, Quic};
use scenario::Scenario;

const SCENARIO: &str = "name = \"shared\"\nduration = \"2s\"\n[path]\nrate = \"20mbit\"\nrtt = \"40ms\"\nbuffer = \"4bdp\"\n\
                        [[flow]]\ncontroller = \"bbr1\"\ncount = 2\n[[flow]]\ncontroller = \"cubic\"\ncount = 2\n";

/// The most by which an ACK may seem older than it is, because clocks are set while they are read.
const TOLERANCE_MS: f64 = 0.1;

/// No packet is faster than the path, even if threads lose their processors all the time. When ACKs were stamped with
/// the time at which reading began, RTTs of 37.5 ms were measured on a path of 40 ms.
#[test]
fn no_round_trip_is_shorter_than_the_path_and_the_extremes_are_among_the_samples() {
    let scenario: Scenario = SCENARIO.parse().unwrap();
    let is_over = AtomicBool::new(false);
    let record = thread::scope(|scope| {
        let processors = thread::available_parallelism().map_or(2, usize::from);
        for _ in 0..processors {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let record = Quic::new().run(&scenario, &|_| {}, &Cancel::new());
        is_over.store(true, Ordering::Relaxed);
        record
    });
    let record = record.unwrap();
    for (flow, summary) in record.flows.iter().zip(&record.summary.flows) {
        let rtts = || {
            flow.samples
                .iter()
                .filter_map(|sample| Some(sample.rtt?.as_millis_f64()))
        };
        assert!(rtts().count() > 0, "flow {} heard nothing", flow.id);
        let (min, max) = (rtts().fold(f64::MAX, f64::min), rtts().fold(0.0, f64::max));
        assert_eq!(
            (summary.rtt_ms.min, summary.rtt_ms.max),
            (Some(min), Some(max))
        );
        assert!(min >= 40.0 - TOLERANCE_MS, "flow {}: {min} ms", flow.id);
    }
}

#[test]
fn the_stack_finds_a_smaller_mtu_and_discards_nothing_that_is_whole() {
    let text = "name = \"tunnel\"\nduration = \"4s\"\n[path]\nrate = \"20mbit\"\nrtt = \"20ms\"\nmtu = 1500\n\
                corruption = \"0.5%\"\nchange = [{ at = \"1s\", mtu = 1300 }]\n[[flow]]\ncontroller = \"bbr1\"\n";
    let scenario: Scenario = text.parse().unwrap();
    let record = Quic::new().run(&scenario, &|_| {}, &Cancel::new()).unwrap();
    let (path, flow) = (&record.summary.path, &record.summary.flows[0]);
    assert!(path.too_big.unwrap() > 0, "{path:?}");
    assert!(path.corrupted.unwrap() > 0, "{path:?}");
    let last = record.flows[0].samples.last().unwrap();
    let second = units::Duration::from_secs(3);
    let late = record.flows[0]
        .samples
        .iter()
        .find(|sample| sample.at > second);
    let late = late.unwrap_or_else(|| panic!("nothing after three seconds: {flow:?}"));
    assert!(last.delivered > late.delivered, "{flow:?}");
    let small = text.replace("1300", "1227");
    let error = Quic::new()
        .check(&small.parse().unwrap())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("path.change[0].mtu: engine quic cannot do this"),
        "{error}"
    );
}
