//! Properties of the path that a flow shows.

use trace::FlowSummary;

use crate::{off, only, run, run_one, run_two};

#[test]
fn a_policer_is_told_from_a_bottleneck_at_both_ends() {
    for controller in ["bbr1", "bbr3", "cubic", "reno"] {
        for (path, is_policed) in [
            (
                r#"rate = "80mbit", policer = { rate = "8mbit", burst = "300kb" }"#,
                true,
            ),
            (r#"rate = "80mbit""#, false),
            (r#"rate = "8mbit", loss = "3%""#, false),
        ] {
            let (_, summaries) = run(&format!(
                r#"
                name = "policer"
                duration = "20s"
                path = {{ rtt = "40ms", buffer = "1bdp", {path} }}
                flow = [{{ controller = "{controller}" }}]
                "#
            ));
            for summary in &summaries {
                let found = only(summary);
                let what = format!("{controller} over {path} at {}", found.place);
                assert_eq!(found.policer_bps.is_some(), is_policed, "{what}");
                if let Some(rate) = found.policer_bps {
                    assert!((7_400_000..8_000_000).contains(&rate), "{what}: {rate}");
                    let path = found.path.as_ref().expect("a path");
                    assert!(path.random_loss() == 0.0, "{what}: {path:?}");
                }
            }
        }
    }
}

/// The ends of a range of the path that a flow shows, without their unit.
fn range(found: &FlowSummary, field: &str, unit: &str) -> Option<(f64, f64)> {
    let path = found.path.as_ref().expect("a path");
    let (_, range) = path.ranges().into_iter().find(|(name, _)| *name == field)?;
    let end = |text: &str| text.strip_suffix(unit).expect("its unit").parse::<f64>();
    let (from, to) = range.split_once("..").expect("a range");
    Some((end(from).expect("a number"), end(to).expect("a number")))
}

#[test]
fn a_buffers_drops_are_told_from_losses_by_chance() {
    for controller in ["bbr1", "bbr3", "cubic", "reno"] {
        for buffer in [0.5, 2.0, 8.0] {
            for loss in [0.0, 1.0] {
                let (record, summaries) =
                    run_one(controller, (20, 40), &format!("{buffer}bdp"), loss);
                let dropped = record.summary.path.drops.expect("drops");
                for summary in &summaries {
                    let found = only(summary);
                    let what = format!("{controller}, {buffer} BDP, {loss} % at {}", found.place);
                    let by_chance = range(found, "loss", "%");
                    match by_chance {
                        _ if loss == 0.0 && found.place == "sender" => {
                            assert_eq!(by_chance, None, "{what}");
                        }
                        Some((least, most)) => {
                            let is_within = least <= loss && loss <= most;
                            let is_narrow = most <= loss * 3.0 + 1.0;
                            assert!(is_within && is_narrow, "{what}: {least} to {most}");
                        }
                        None => assert!(loss == 0.0, "{what}"),
                    }
                    let (shortest, longest) = range(found, "buffer", "bdp").expect("a buffer");
                    assert!(longest >= buffer, "{what}: {shortest} to {longest}");
                    if dropped >= 10 && loss == 0.0 {
                        let is_bounded = shortest <= buffer && longest <= buffer * 1.4;
                        assert!(is_bounded, "{what}: {shortest} to {longest}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_share_of_the_bottleneck_does_not_bound_it_from_above() {
    let (_, summaries) = run_two("1bdp");
    for summary in &summaries {
        for connection in &summary.connections {
            let found = &connection.flows[0];
            assert!(found.is_pipe_filled, "{found:?}");
            let (least, most) = rates(found);
            assert!(
                least <= 20.0 && (20.0..40.0).contains(&most),
                "{least} to {most}"
            );
        }
    }
}

/// The ends of the range of a path's rate, in Mbit/s.
fn rates(found: &FlowSummary) -> (f64, f64) {
    let path = found.path.as_ref().expect("a path");
    let most = if path.is_pipe_filled {
        path.rate_of_all
    } else {
        units::Rate::MAX
    };
    let mbit = |rate: units::Rate| rate.bits_per_sec() as f64 / 1e6;
    (mbit(path.rate) * 0.97, mbit(most) * 1.03)
}

#[test]
fn ack_aggregation_is_measured_as_in_bbr() {
    let of = |path: &str| {
        let (_, [sender, _]) = run(&format!(
            r#"
            name = "aggregation"
            duration = "15s"
            path = {{ rate = "20mbit", rtt = "40ms", buffer = "4bdp"{path} }}
            flow = [{{ controller = "bbr1" }}]
            "#
        ));
        only(&sender).ack_aggregation_bytes.expect("rounds")
    };
    let (alone, together) = (of(""), of(r#", aggregation = { interval = "20ms" }"#));
    // Without aggregation, the value is the data of one or two acknowledgements. 50 kB pass in 20 ms.
    assert!(alone < 10_000, "{alone}");
    assert!((40_000..80_000).contains(&together), "{together}");
}

#[test]
fn a_standing_queue_counts_as_a_queue() {
    // The receive window is four BDP, three of which are in the queue after slow start.
    let (record, summaries) = run(r#"
        name = "standing"
        duration = "30s"
        path = { rate = "20mbit", rtt = "40ms", buffer = "8bdp" }
        flow = [{ controller = "cubic", host = { receive_buffer = "400kb" } }]
        "#);
    let truth = record.summary.path.queue_ms;
    for summary in &summaries {
        let found = only(summary);
        let queue = found.queue_ms.expect("RTTs");
        let is_as_long = off("queue", queue.p95, truth.p95.expect("a queue"), 0.1, 4.0);
        assert_eq!(is_as_long, None, "{}", found.place);
        assert!(queue.p50 > 40.0, "{queue:?} at {}", found.place);
    }
}
