//! What limits a flow, and the parts of congestion control's share.

use capture::Summary;

use crate::{off, only, parts, run, run_two};

/// What may limit a flow: its name, what is said of the flow, and of the path.
const KINDS: [(&str, &str, &str); 15] = [
    ("bulk", "", ""),
    ("lossy", "", r#", loss = "1%""#),
    ("short buffer", "", r#", buffer = "0.3bdp""#),
    (
        "policed",
        "",
        r#", policer = { rate = "8mbit", burst = "300kb" }"#,
    ),
    (
        "rate",
        r#", app = { kind = "rate", rate = "4mbit", write = "10kb" }"#,
        "",
    ),
    (
        "short writes",
        r#", app = { kind = "rate", rate = "1mbit", write = "600b" }"#,
        "",
    ),
    (
        "rate and loss",
        r#", app = { kind = "rate", rate = "4mbit", write = "40kb" }"#,
        r#", loss = "1%""#,
    ),
    (
        "small writes and loss",
        r#", app = { kind = "rate", rate = "4mbit", write = "10kb" }"#,
        r#", loss = "1%""#,
    ),
    (
        "small writes and few losses",
        r#", app = { kind = "rate", rate = "4mbit", write = "10kb" }"#,
        r#", loss = "0.1%""#,
    ),
    (
        "large answers",
        r#", app = { kind = "requests", response = "500kb", think = { mean = "300ms" } }"#,
        "",
    ),
    (
        "small answers",
        r#", app = { kind = "requests", response = "20kb", think = { mean = "100ms" } }"#,
        "",
    ),
    (
        "small window",
        r#", host = { receive_buffer = "60kb" }"#,
        "",
    ),
    ("window", r#", host = { receive_buffer = "180kb" }"#, ""),
    (
        "small send buffer",
        r#", host = { send_buffer = "60kb" }"#,
        "",
    ),
    ("send buffer", r#", host = { send_buffer = "180kb" }"#, ""),
];

#[test]
fn limits_are_told_apart() {
    let mut wrong = Vec::new();
    for controller in ["bbr1", "bbr3", "cubic", "reno"] {
        for (kind, flow, path) in KINDS {
            let buffer = if path.contains("buffer") {
                ""
            } else {
                r#", buffer = "2bdp""#
            };
            let (record, summaries) = run(&format!(
                r#"
                name = "limits"
                duration = "20s"
                path = {{ rate = "50mbit", rtt = "40ms"{buffer}{path} }}
                flow = [{{ controller = "{controller}"{flow} }}]
                "#
            ));
            let truth = record.summary.flows[0].limited_by.expect("limits");
            for summary in &summaries {
                let connections = summary.connections.iter();
                let found = connections
                    .flat_map(|connection| &connection.flows)
                    .max_by_key(|flow| flow.sent_bytes)
                    .expect("a flow");
                let by = found.limited_by.expect("limits");
                // Nobody sees from outside whether the application wrote no more, or could not.
                let application = truth.application + truth.send_buffer;
                let all = [
                    off("application", by.application, application, 0.0, 0.05),
                    off("receiver", by.receiver, truth.receiver, 0.0, 0.05),
                    off("congestion", by.congestion, truth.congestion, 0.0, 0.05),
                ];
                let all: Vec<String> = all.into_iter().flatten().collect();
                if !all.is_empty() {
                    let all = all.join("; ");
                    wrong.push(format!("{controller}, {kind}, at {}: {all}", found.place));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn pacing_within_tcp_is_told_from_a_scheduler() {
    let mut wrong = Vec::new();
    for controller in ["bbr1", "bbr3"] {
        for scheduler in ["fq", "pacing"] {
            let (record, summaries) = run(&format!(
                r#"
                name = "paced"
                duration = "20s"
                path = {{ rate = "20mbit", rtt = "40ms", buffer = "2bdp" }}
                host = {{ scheduler = "{scheduler}" }}
                flow = [{{ controller = "{controller}", app = {{ kind = "rate", rate = "4mbit", write = "10kb" }} }}]
                "#
            ));
            let truth = record.summary.flows[0].limited_by.expect("limits");
            // Away from the sender, timestamps of a millisecond do not tell a pacer from a small send buffer.
            let ends = if scheduler == "fq" { 2 } else { 1 };
            for summary in &summaries[..ends] {
                let found = only(summary);
                let by = found.limited_by.expect("limits");
                let off = off("congestion", by.congestion, truth.congestion, 0.0, 0.05);
                let what = format!("{controller}, {scheduler}, {}", found.place);
                wrong.extend(off.map(|off| format!("{what}: {off}")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// No flow has a constant share of the rate, but there is always a queue. While a share falls, BtlBw still has rounds from before.
#[test]
fn who_shares_a_busy_bottleneck_is_limited_by_it() {
    let more = r#"
        name = "more"
        duration = "25s"
        path = { rate = "20mbit", rtt = "40ms", buffer = "4bdp" }
        flow = [{ controller = "cubic" }, { controller = "cubic", count = 5, start = "4s" }]
        "#;
    for ((record, summaries), most) in [(run_two("4bdp"), [0.02; 2]), (run(more), [0.12, 0.35])] {
        assert!(record.summary.path.utilization > Some(0.98));
        for (summary, most) in summaries.iter().zip(most) {
            for connection in &summary.connections {
                let found = &connection.flows[0];
                let by = found.limited_by.expect("limits");
                let window = by.window.expect("parts");
                assert!(window < most, "{by:?} at {}", found.place);
            }
        }
    }
}

/// A pause is no time in which the bottleneck could have been busy.
#[test]
fn objects_after_pauses_are_limited_alike_at_both_ends() {
    let (_, [sender, receiver]) = run(r#"
        name = "objects"
        duration = "20s"
        path = { rate = "20mbit", rtt = "40ms", buffer = "2bdp" }
        flow = [{ controller = "bbr1", app = { kind = "requests", response = "300kb", think = { mean = "300ms" } } }]
        "#);
    let bottleneck = |summary: &Summary| {
        let flows = summary.connections.iter().flat_map(|one| &one.flows);
        let flow = flows.max_by_key(|flow| flow.sent_bytes).expect("a flow");
        flow.limited_by.and_then(|by| by.bottleneck).expect("parts")
    };
    let (there, here) = (bottleneck(&sender), bottleneck(&receiver));
    assert_eq!(off("bottleneck", here, there, 0.0, 0.05), None);
}

#[test]
fn the_parts_of_congestion_controls_share_are_right() {
    let mut wrong = Vec::new();
    for controller in ["bbr1", "bbr3", "cubic", "reno"] {
        for kind in parts::KINDS {
            let both = parts::of(controller, kind).expect("a run");
            let [known, found] = both.map(|parts| parts.expect("limits"));
            let all = ["slow start", "window", "bottleneck"];
            let buffers = known.1.zip(found.1);
            // A loss-based controller's slow start after idle ends unseen, and then counts as the bottleneck's time.
            let is_restart = !controller.starts_with("bbr") && kind.0 == "objects of 300 kB";
            let most = if is_restart { 0.06 } else { 0.05 };
            let parts = all.into_iter().zip(known.0.into_iter().zip(found.0));
            let parts = parts.map(|(what, (known, found))| off(what, found, known, 0.0, most));
            let buffers = buffers.map(|(known, found)| off("buffer", found, known, 0.0, 0.03));
            let all: Vec<String> = parts.chain(buffers).flatten().collect();
            if !all.is_empty() {
                wrong.push(format!("{controller}, {}: {}", kind.0, all.join("; ")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
