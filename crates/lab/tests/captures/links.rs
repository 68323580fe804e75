//! Captures at links of a network.

use lab::{Cancel, Sim};
use record::PathSummary;
use scenario::{Crossing, Scenario};
use trace::{FlowSummary, Summary};

use crate::read;

/// Two senders, each with an access line of its own, meet at a bottleneck.
const DUMBBELL: &str = r#"
    name = "dumbbell"
    duration = "20s"
    link = [
        { name = "fibre", from = "s1", to = "left", rate = "100mbit", rtt = "4ms" },
        { name = "dsl", from = "s2", to = "left", rate = "40mbit", rtt = "36ms" },
        { name = "core", from = "left", to = "right", rate = "20mbit", rtt = "16ms", buffer = "100kb" },
    ]
    flow = [
        { controller = "bbr1", from = "s1", to = "right" },
        { controller = "cubic", from = "s2", to = "right" },
    ]
"#;

/// The captures at these places, and the links of the record.
fn at(names: &[&str]) -> (Vec<Summary>, Vec<PathSummary>) {
    let scenario: Scenario = DUMBBELL.parse().expect("a scenario");
    let network = scenario.network();
    let place = |name: &&str| (network.crossing(name).expect("a link"), Vec::new());
    let places: Vec<(Crossing, Vec<u8>)> = names.iter().map(place).collect();
    let ends = [Vec::new(), Vec::new()];
    let run = Sim::new().run_captured_at(&scenario, &|_| (), &Cancel::new(), ends, places);
    let (record, _, files) = run.expect("a run");
    let record = record.summary;
    let links = std::iter::once(record.path).chain(record.next);
    (
        files.iter().map(|file| read(file)).collect(),
        links.collect(),
    )
}

/// The flows of data.
fn flows(summary: &Summary) -> Vec<&FlowSummary> {
    let connections = summary.connections.iter();
    let flows = connections.flat_map(|connection| &connection.flows);
    flows.filter(|flow| flow.delivered_bytes > 0).collect()
}

#[test]
fn a_link_shows_the_flows_that_cross_it_and_the_way_to_either_end() {
    let (captures, links) = at(&["core", "core.uplink", "dsl"]);
    let [before, behind, dsl] = &captures[..] else {
        panic!("{} captures", captures.len());
    };
    for (capture, places) in [
        (before, &[("middle", 4.0, 16.0), ("middle", 36.0, 16.0)][..]),
        (behind, &[("receiver", 20.0, 0.0), ("receiver", 52.0, 0.0)]),
        (dsl, &[("sender", 0.0, 52.0)]),
    ] {
        let flows = flows(capture);
        assert_eq!(flows.len(), places.len());
        for (flow, (place, to_sender, to_receiver)) in flows.into_iter().zip(places) {
            assert_eq!(flow.place, *place, "{flow:?}");
            let near = |found: Option<f64>, wanted: f64| {
                found.is_some_and(|found| (wanted..wanted + 3.0).contains(&found))
            };
            assert!(near(flow.to_sender_ms, *to_sender), "{flow:?}");
            assert!(near(flow.to_receiver_ms, *to_receiver), "{flow:?}");
        }
    }
    // What the buffer dropped entered the link, but did not leave it.
    let packets = |summary| flows(summary).iter().map(|flow| flow.packets).sum::<u64>();
    let dropped = packets(before) - packets(behind);
    let core = links
        .iter()
        .find(|link| link.name.as_deref() == Some("core"));
    let core = core.expect("the bottleneck");
    let drops = core.drops.expect("drops");
    assert!(drops > 0, "{core:?}");
    // At the end of the run, some packets are in the buffer.
    assert!(
        (drops..drops + 200).contains(&dropped),
        "{dropped} for {drops}"
    );
}
