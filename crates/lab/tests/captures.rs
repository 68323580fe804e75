//! What is read from the captures of a simulation, beside what the simulation knows.

mod parts;

use std::io;

use capture::read::{Frames, Opened};
use capture::write::Writer;
use capture::{FlowSummary, Summary, Trace};
use lab::{Cancel, Sim};
use record::{FlowSummary as Truth, Record};
use scenario::Scenario;

/// Runs the scenario: what its sending end and its receiving end captured.
fn captured(text: &str) -> (Record, [Vec<u8>; 2]) {
    let scenario: Scenario = text.parse().expect("a scenario");
    let to = [Vec::new(), Vec::new()];
    let run = Sim::new().run_captured(&scenario, &|_| (), &Cancel::new(), to);
    run.expect("a run")
}

/// Runs the scenario, and reads what its sending end and its receiving end captured.
fn run(text: &str) -> (Record, [Summary; 2]) {
    let (record, files) = captured(text);
    (record, files.map(|file| read(&file)))
}

fn read(file: &[u8]) -> Summary {
    let mut trace = Trace::new();
    trace.read(file, &|| true).expect("a capture");
    assert_eq!(trace.counts().packets, trace.counts().tcp);
    Summary::of(trace).0
}

/// Runs one flow over a path of this rate in Mbit/s, RTprop in milliseconds, buffer, and loss in percent.
fn run_one(
    controller: &str,
    (rate, rtt): (u32, u32),
    buffer: &str,
    loss: f64,
) -> (Record, [Summary; 2]) {
    run(&format!(
        r#"
        name = "one"
        duration = "25s"
        path = {{ rate = "{rate}mbit", rtt = "{rtt}ms", buffer = "{buffer}", loss = "{loss}%" }}
        flow = [{{ controller = "{controller}" }}]
        "#
    ))
}

/// Reads the captures of both ends as one.
fn both(files: &[Vec<u8>; 2]) -> Summary {
    let mut trace = Trace::new();
    let open = |place: usize| -> io::Result<Opened<'_>> {
        let file: &[u8] = &files[place];
        Ok(Opened {
            source: Box::new(file),
            is_lasting: true,
        })
    };
    trace.read_all(2, open, &|| true).expect("captures");
    Summary::of(trace).0
}

/// The same packets over IPv6, which have no numbers; and without their timestamps, if they are to have none.
fn over_ipv6(file: &[u8], has_timestamps: bool) -> Vec<u8> {
    const TIMESTAMP: [u8; 2] = [8, 10];
    let mut frames = Frames::new(file).expect("a capture");
    let mut writer = Writer::new(Vec::new(), "six").expect("a vector takes everything");
    while let Some(frame) = frames.next_frame().expect("a frame") {
        let (ip, tcp) = frame.data.split_at(20);
        let rest = frame.wire_len - frame.data.len() as u32;
        let len = (tcp.len() as u32 + rest) as u16;
        let mut packet = vec![0x60, 0, 0, 0];
        packet.extend(len.to_be_bytes());
        packet.extend([6, 64]);
        for address in [&ip[12..16], &ip[16..20]] {
            packet.extend([0xfd; 12]);
            packet.extend(address);
        }
        let mut tcp = tcp.to_vec();
        let stamp = tcp[20..].windows(2).position(|two| two == TIMESTAMP);
        if let Some(stamp) = stamp.filter(|_| !has_timestamps) {
            tcp[20 + stamp..30 + stamp].fill(1);
        }
        packet.extend(tcp);
        let written = writer.raw(frame.at, &packet, rest);
        written.expect("a vector takes everything");
    }
    writer.finish().expect("a vector takes everything")
}

/// The flow of a capture with one connection that has data in one direction.
fn only(summary: &Summary) -> &FlowSummary {
    let [connection] = &summary.connections[..] else {
        panic!("{} connections", summary.connections.len());
    };
    let [flow] = &connection.flows[..] else {
        panic!("{} flows", connection.flows.len());
    };
    flow
}

/// What is off by more than a share of the truth, and by more than so much.
fn off(what: &str, found: f64, truth: f64, share: f64, least: f64) -> Option<String> {
    let off = (found - truth).abs();
    (off > truth * share && off > least).then(|| format!("{what} {found:.4}, not {truth:.4}"))
}

/// Whether the flow kept the bottleneck busy, according to the simulation.
fn fills(truth: &Truth) -> bool {
    truth.limit_share > Some(0.9)
}

/// What is off of a flow that was captured where it is sent, or where it is received.
fn all_off(
    found: &FlowSummary,
    truth: &Truth,
    (rate, rtprop): (f64, f64),
    is_sender: bool,
) -> Vec<String> {
    let retransmitted = truth.retransmitted_bytes.expect("bytes") as f64 / found.mss_bytes as f64;
    let lost = truth.packets_lost.expect("packets") as f64;
    let (limits, by) = (
        truth.limited_by.expect("limits"),
        found.limited_by.expect("limits"),
    );
    let btl_bw = found.btl_bw_ip_bps.expect("BtlBw") as f64 / rate;
    let place = if is_sender { "sender" } else { "receiver" };
    // A sender's handshake shows the propagation alone. At the receiver it ends with the first data, which take time to be sent.
    let rtprop = if is_sender {
        rtprop
    } else {
        truth.rtt_ms.min.expect("RTTs")
    };
    [
        off(
            "RTprop",
            found.rtprop_ms.expect("RTprop"),
            rtprop,
            0.02,
            0.0,
        ),
        // Who never fills the pipe has not seen the bottleneck's rate.
        off("BtlBw", btl_bw.max(1.0), 1.0, 0.03, 0.0),
        // At the receiver, losses can hide that the pipe was filled.
        off("BtlBw", btl_bw, 1.0, 0.03, 0.0)
            .filter(|_| found.is_pipe_filled || is_sender && fills(truth)),
        off(
            "retransmitted",
            found.retransmitted as f64,
            retransmitted,
            0.01,
            2.0,
        ),
        off("lost", found.lost.expect("losses") as f64, lost, 0.01, 2.0),
        off("application", by.application, limits.application, 0.0, 0.05),
        off("receiver", by.receiver, limits.receiver, 0.0, 0.05),
        off("congestion", by.congestion, limits.congestion, 0.0, 0.05),
        (found.place != place).then(|| format!("captured at {}", found.place)),
        found.policer_bps.map(|rate| format!("policer of {rate}")),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[test]
fn a_capture_shows_what_the_simulation_knows() {
    let (mut wrong, mut guesses, mut right, mut filled) = (Vec::new(), 0, 0, 0);
    for controller in ["bbr1", "bbr3", "cubic", "reno"] {
        for loss in [0.0, 1.0, 5.0] {
            for (buffer, rate, rtt) in [("0.3bdp", 20, 40), ("1bdp", 50, 10), ("8bdp", 20, 40)] {
                let (record, summaries) = run_one(controller, (rate, rtt), buffer, loss);
                let truth = &record.summary.flows[0];
                filled += u32::from(fills(truth));
                for (summary, is_sender) in summaries.iter().zip([true, false]) {
                    let found = only(summary);
                    let (rate, rtprop) = (f64::from(rate) * 1e6, f64::from(rtt));
                    let all = all_off(found, truth, (rate, rtprop), is_sender);
                    if !all.is_empty() {
                        let all = all.join("; ");
                        wrong.push(format!(
                            "{controller} {loss} {buffer} at {}: {all}",
                            found.place
                        ));
                    }
                    let guess = found.controller.as_ref().expect("a guess");
                    guesses += 1;
                    right += u32::from(guess.controller == controller);
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(right * 10 >= guesses * 9, "{right} of {guesses} guesses");
    assert!(filled >= 18, "{filled} flows filled the pipe");
}

#[test]
fn who_never_fills_the_pipe_is_not_taken_for_one_who_does() {
    for (controller, loss, fills) in [
        ("cubic", "0%", true),
        ("reno", "0%", true),
        ("cubic", "5%", false),
        ("reno", "3%", false),
    ] {
        let (_, summaries) = run(&format!(
            r#"
            name = "one"
            duration = "20s"
            path = {{ rate = "20mbit", rtt = "60ms", buffer = "1bdp", loss = "{loss}" }}
            flow = [{{ controller = "{controller}" }}]
            "#
        ));
        for summary in &summaries {
            let found = only(summary);
            let what = format!("{controller} at {loss} at {}", found.place);
            assert_eq!(found.is_pipe_filled, fills, "{what}");
            let rate = found.btl_bw_ip_bps.expect("BtlBw");
            assert_eq!(rate > 19_400_000, fills, "{what}: {rate}");
            // Without the bottleneck's rate, the BDP is unknown.
            let mut signs = found.controller.iter().flat_map(|guess| &guess.signs);
            assert!(fills || !signs.any(|sign| sign.contains("BDP")), "{what}");
        }
    }
}

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

#[test]
fn reordering_is_no_loss_and_spurious_repeats_are_none() {
    let (record, summaries) = run(r#"
        name = "reordering"
        duration = "20s"
        path = { rate = "20mbit", rtt = "40ms", buffer = "4bdp", reorder = { share = "0.5%", by = "12ms" } }
        flow = [{ controller = "bbr1" }]
        "#);
    let truth = &record.summary.flows[0];
    let sent = truth.sent_bytes.expect("bytes") / 1500;
    for summary in &summaries {
        let found = only(summary);
        assert!(found.reordered > sent / 400, "{found:?}");
        let lost = found.lost.expect("numbers tell copies");
        assert!(lost <= 2 + sent / 5000, "{found:?}");
        assert_eq!(found.spurious + lost, found.retransmitted, "{found:?}");
        assert!(found.spurious > 0, "{found:?}");
    }
}

/// The second flow's minimum RTT includes the first one's queue, until it takes part in emptying it.
#[test]
fn retransmissions_of_a_flow_that_begins_in_a_queue_are_not_spurious() {
    let (record, [sender, _]) = run(r#"
        name = "joined"
        duration = "20s"
        path = { rate = "40mbit", rtt = "40ms", buffer = "0.1bdp" }
        flow = [{ controller = "cubic" }, { controller = "cubic", start = "6s" }]
        "#);
    let truth = record.summary.flows[1].packets_lost.expect("losses") as f64;
    let flows = sender.connections.iter().flat_map(|one| &one.flows);
    let found = flows.min_by_key(|flow| flow.sent_bytes).expect("a flow");
    let lost = found.lost.expect("losses") as f64;
    assert!(truth > 10.0, "{truth}");
    assert_eq!(off("lost", lost, truth, 0.01, 2.0), None, "{found:?}");
}

#[test]
fn what_was_sent_before_a_capture_began_is_not_known_to_have_arrived() {
    let (_, [sender, _]) = captured(
        r#"
        name = "late"
        duration = "20s"
        path = { rate = "20mbit", rtt = "40ms", buffer = "2bdp", loss = "5%" }
        flow = [{ controller = "bbr1" }]
        "#,
    );
    for skipped in [4_001, 8_002, 12_003] {
        let mut frames = Frames::new(&sender[..]).expect("a capture");
        let mut writer = Writer::new(Vec::new(), "late").expect("a vector takes everything");
        let mut number = 0;
        while let Some(frame) = frames.next_frame().expect("a frame") {
            number += 1;
            if number > skipped {
                let rest = frame.wire_len - frame.data.len() as u32;
                let written = writer.raw(frame.at, frame.data, rest);
                written.expect("a vector takes everything");
            }
        }
        let late = read(&writer.finish().expect("a vector takes everything"));
        let found = only(&late);
        assert!(found.retransmitted > 100, "{found:?}");
        assert!(found.spurious <= 2, "{skipped}: {found:?}");
    }
}

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
    let (_, summaries) = run(r#"
        name = "two"
        duration = "25s"
        path = { rate = "20mbit", rtt = "40ms", buffer = "1bdp" }
        flow = [{ controller = "cubic" }, { controller = "reno" }]
        "#);
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

/// A flow, and four of them, with short and deep queues.
const TWICE: [(&str, u32); 3] = [
    (
        r#"
        path = { rate = "50mbit", rtt = "40ms", buffer = "1bdp" }
        flow = [{ controller = "cubic" }]
        "#,
        1,
    ),
    (
        r#"
        path = { rate = "20mbit", rtt = "40ms", buffer = "8bdp", loss = "0.5%" }
        flow = [{ controller = "bbr1" }]
        "#,
        1,
    ),
    (
        r#"
        path = { rate = "50mbit", rtt = "40ms", buffer = "4bdp" }
        flow = [
            { controller = "bbr1", count = 2, stagger = "1s" },
            { controller = "cubic", count = 2, start = "500ms", stagger = "1s" },
        ]
        "#,
        4,
    ),
];

#[test]
fn what_both_ends_captured_counts_once() {
    for (flows, count) in TWICE {
        let (_, files) = captured(&format!("name = \"twice\"\nduration = \"15s\"\n{flows}"));
        let six = [true, false].map(|stamps| files.each_ref().map(|file| over_ipv6(file, stamps)));
        let alone = read(&files[0]);
        let [with, without] = &six;
        for (what, files) in [("IPv4", &files), ("IPv6", with), ("bare IPv6", without)] {
            let twice = both(files);
            assert_eq!(twice.connections.len(), count as usize);
            for one in &alone.connections {
                let one = &one.flows[0];
                let port = |flow: &FlowSummary| flow.from.rsplit(':').next().map(str::to_owned);
                let mut others = twice.connections.iter().map(|other| &other.flows[0]);
                let other = others.find(|other| port(other) == port(one));
                let other = other.expect("the same flow");
                if what == "bare IPv6" {
                    assert_eq!(other.lost, None, "nothing tells: {other:?}");
                    continue;
                }
                let told = |flow: &FlowSummary| (flow.packets, flow.retransmitted);
                assert_eq!(told(other), told(one), "{what}: {other:?}");
                let [found, lost] = [other, one].map(|flow| flow.lost.expect("losses") as f64);
                assert_eq!(off("lost", found, lost, 0.01, 2.0), None, "{what}");
                assert!(other.copies > one.packets * 9 / 10, "{what}: {other:?}");
            }
        }
    }
}

#[test]
fn without_timestamps_the_receiver_does_not_see_what_the_sender_knew() {
    let (record, files) = captured(
        r#"
        name = "blind"
        duration = "15s"
        path = { rate = "20mbit", rtt = "40ms", buffer = "4bdp" }
        flow = [{ controller = "cubic" }]
        "#,
    );
    let mut trace = Trace::new();
    let file = over_ipv6(&files[1], false);
    trace.read(&file[..], &|| true).expect("a capture");
    let (summary, timelines) = Summary::of(trace);
    let found = only(&summary);
    assert_eq!(found.place, "receiver");
    let rtprop = found.rtprop_ms.expect("the handshake's");
    assert!((40.0..41.0).contains(&rtprop), "{rtprop}");
    assert!(
        found.rtt_ms.is_none() && found.btl_bw_bps.is_none(),
        "{found:?}"
    );
    assert!(
        found.controller.is_none() && found.path.is_none(),
        "{found:?}"
    );
    assert!(timelines[0].flows[0].samples.is_empty());
    let (by, truth) = (found.limited_by.expect("limits"), &record.summary.flows[0]);
    assert!(by.window.is_none() && by.bottleneck.is_none(), "{by:?}");
    let truth = truth.limited_by.expect("limits").congestion;
    assert_eq!(off("congestion", by.congestion, truth, 0.0, 0.05), None);
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

/// Neither flow has a constant share of the rate, but there is always a queue.
#[test]
fn who_shares_a_busy_bottleneck_is_limited_by_it() {
    let (record, summaries) = run(r#"
        name = "two"
        duration = "25s"
        path = { rate = "20mbit", rtt = "40ms", buffer = "4bdp" }
        flow = [{ controller = "cubic" }, { controller = "reno" }]
        "#);
    assert!(record.summary.path.utilization > Some(0.98));
    for summary in &summaries {
        for connection in &summary.connections {
            let found = &connection.flows[0];
            let by = found.limited_by.expect("limits");
            let window = by.window.expect("parts");
            assert!(window < 0.02, "{by:?} at {}", found.place);
        }
    }
}

#[test]
fn the_parts_of_congestion_controls_share_are_right() {
    let mut wrong = Vec::new();
    for controller in ["bbr1", "bbr3", "cubic", "reno"] {
        for kind in parts::KINDS {
            let both = parts::of(controller, kind).expect("a run");
            let [known, found] = both.map(|parts| parts.expect("limits"));
            let [all @ .., buffer] = ["slow start", "window", "bottleneck", "buffer"];
            let buffers = known.1.zip(found.1);
            // A loss-based controller's slow start after idle ends unseen, and then counts as the bottleneck's time.
            let is_restart = !controller.starts_with("bbr") && kind.0 == "objects of 300 kB";
            let most = if is_restart { 0.06 } else { 0.05 };
            let off = |what, (known, found)| off(what, found, known, 0.0, most);
            let parts = all.into_iter().zip(known.0.into_iter().zip(found.0));
            let all = parts
                .map(|(what, both)| off(what, both))
                .chain([buffers.and_then(|both| off(buffer, both))]);
            let all: Vec<String> = all.flatten().collect();
            if !all.is_empty() {
                wrong.push(format!("{controller}, {}: {}", kind.0, all.join("; ")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
