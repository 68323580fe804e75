//! What limits a flow, and the parts of congestion control's share.

use capture::read::Frames;
use capture::write::Writer;
use trace::{FlowSummary, Summary};

use crate::{captured, off, only, parts, read, run, run_two};

/// The kinds of limits: a name, the flow's parameters, and the path's.
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
                let all = off_of_limits(found, &truth, 0.05);
                if !all.is_empty() {
                    let all = all.join("; ");
                    wrong.push(format!("{controller}, {kind}, at {}: {all}", found.place));
                }
            }
        }
    }
    // docs/trace.md names it.
    let is_known =
        |one: &String| one.starts_with("bbr3, small send buffer, at sender: application ");
    assert!(
        wrong.len() == 1 && wrong.iter().all(is_known),
        "{}",
        wrong.join("\n")
    );
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
            // Away from the sender, millisecond timestamps cannot distinguish a pacer from a small send buffer.
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

/// No flow has a constant share of the rate, but there is always a queue. While a share falls, BtlBw still has
/// samples of earlier rounds.
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

/// The flow with the most data.
fn largest(summary: &Summary) -> &FlowSummary {
    let flows = summary.connections.iter().flat_map(|one| &one.flows);
    flows.max_by_key(|flow| flow.sent_bytes).expect("a flow")
}

/// BBR keeps its window over idle times (Linux `tcp_slow_start_after_idle_check`).
#[test]
fn bbr_does_not_begin_again_after_idle() {
    let mut wrong = Vec::new();
    for controller in ["bbr1", "bbr3"] {
        for response in ["1mb", "3mb"] {
            let (_, summaries) = run(&format!(
                r#"
                name = "objects"
                duration = "20s"
                path = {{ rate = "20mbit", rtt = "40ms", buffer = "4bdp" }}
                host = {{ scheduler = "pacing" }}
                flow = [{{ controller = "{controller}", app = {{ kind = "requests", response = "{response}", think = {{ mean = "300ms" }} }} }}]
                "#
            ));
            for summary in &summaries {
                let found = largest(summary);
                let by = found.limited_by.expect("limits");
                let slow_start = by.slow_start.expect("parts");
                if slow_start > 0.08 {
                    wrong.push(format!(
                        "{controller}, {response}, at {}: {by:?}",
                        found.place
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The deviations of the application's and congestion control's limits.
fn off_of_limits(found: &FlowSummary, truth: &record::LimitShares, most: f64) -> Vec<String> {
    let by = found.limited_by.expect("limits");
    // A capture cannot show whether the application had no more data, or could not write them.
    let application = truth.application + truth.send_buffer;
    let all = [
        off("application", by.application, application, 0.0, most),
        off("receiver", by.receiver, truth.receiver, 0.0, most),
        off("congestion", by.congestion, truth.congestion, 0.0, most),
    ];
    all.into_iter().flatten().collect()
}

/// The last round trip counts, although a capture at the receiver ends before it.
#[test]
fn single_objects_are_limited_alike_at_both_ends() {
    let mut wrong = Vec::new();
    for controller in ["bbr1", "cubic"] {
        for bytes in ["50kb", "100kb", "400kb"] {
            let (record, summaries) = run(&format!(
                r#"
                name = "object"
                duration = "5s"
                path = {{ rate = "20mbit", rtt = "40ms", buffer = "2bdp" }}
                flow = [{{ controller = "{controller}", bytes = "{bytes}" }}]
                "#
            ));
            let truth = record.summary.flows[0].limited_by.expect("limits");
            for summary in &summaries {
                let found = only(summary);
                let all = off_of_limits(found, &truth, 0.05);
                if !all.is_empty() {
                    let all = all.join("; ");
                    wrong.push(format!("{controller}, {bytes}, at {}: {all}", found.place));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_repair_of_an_objects_end_is_congestion_controls_time() {
    let (record, [sender, _]) = run(r#"
        name = "repair"
        duration = "20s"
        path = { rate = "20mbit", rtt = "150ms", buffer = "0.3bdp" }
        flow = [{ controller = "bbr1", app = { kind = "requests", response = "1mb", think = { mean = "500ms" } } }]
        "#);
    let truth = record.summary.flows[0].limited_by.expect("limits");
    let all = off_of_limits(largest(&sender), &truth, 0.05);
    assert!(all.is_empty(), "{}", all.join("; "));
}

/// The packets of a capture that passed at these times, in seconds from its first packet.
fn part(file: &[u8], is_kept: impl Fn(f64) -> bool) -> Summary {
    let mut frames = Frames::new(file).expect("a capture");
    let mut writer = Writer::new(Vec::new(), "part").expect("a vector takes everything");
    let mut first = None;
    while let Some(frame) = frames.next_frame().expect("a frame") {
        let first = *first.get_or_insert(frame.at);
        if is_kept(frame.at.since(first).as_secs_f64()) {
            let rest = frame.wire_len - frame.data.len() as u32;
            let written = writer.raw(frame.at, frame.data, rest);
            written.expect("a vector takes everything");
        }
    }
    read(&writer.finish().expect("a vector takes everything"))
}

#[test]
fn the_time_of_a_hole_and_before_a_capture_is_nobodys() {
    let (record, files) = captured(
        r#"
        name = "hole"
        duration = "20s"
        path = { rate = "20mbit", rtt = "40ms", buffer = "2bdp" }
        flow = [{ controller = "cubic" }]
        "#,
    );
    let truth = record.summary.flows[0].limited_by.expect("limits");
    let mut wrong = Vec::new();
    for file in &files {
        let hole = part(file, |at| !(8.0..13.0).contains(&at));
        wrong.extend(off_of_limits(only(&hole), &truth, 0.05));
    }
    let late = part(&files[0], |at| at > 6.0);
    wrong.extend(off_of_limits(only(&late), &truth, 0.05));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
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
