//! A connection of another implementation (aioquic 1.7: 160 kB from the client through a relay of 4 Mbit/s, 40 ms and 4 %
//! loss). It was captured at the client, and there are the key log and the client's qlog.

use std::io::Read;

use crate::{FlowSummary, Summary, Trace};

const CAPTURE: &[u8] = include_bytes!("../../data/quic.pcap");
const KEYS: &[u8] = include_bytes!("../../data/quic.keys");
const QLOG: &[u8] = include_bytes!("../../data/quic.qlog.gz");

fn summary(file: &[u8], keys: Option<&[u8]>) -> Summary {
    let mut trace = Trace::new();
    if let Some(keys) = keys {
        trace.read_keys(keys).expect("secrets");
    }
    trace.read(file, &|| true).expect("a capture");
    Summary::of(trace).0
}

#[test]
fn what_needs_no_keys_is_seen() {
    let summary = summary(CAPTURE, None);
    assert!(summary.connections.is_empty());
    let [one] = &summary.quic[..] else {
        panic!("{:?}", summary.quic);
    };
    assert_eq!(summary.read.quic, summary.read.udp);
    assert_eq!(one.version.as_deref(), Some("1"));
    assert_eq!(one.server_name.as_deref(), Some("test.example"));
    assert_eq!(one.protocols, ["t"]);
    assert!(one.connection.is_none());
    // On a busy machine, the computing time of Python counts, too.
    let handshake = one.handshake_ms.expect("a handshake");
    assert!((40.0..400.0).contains(&handshake), "{handshake}");
    let spin = one.spin.as_ref().expect("it spins");
    assert!((40.0..70.0).contains(&spin.rtt_ms.min), "{spin:?}");
    let [up, down] = &one.flows[..] else {
        panic!("{one:?}");
    };
    assert!(up.bytes > 160_000 && up.bytes < 190_000, "{up:?}");
    assert!(down.bytes < 40_000, "{down:?}");
    assert!(up.losses.is_none(), "aioquic has no loss bits");
}

fn only(summary: &Summary) -> &FlowSummary {
    let [one] = &summary.connections[..] else {
        panic!("{} connections", summary.connections.len());
    };
    assert_eq!(one.protocol, "quic");
    &one.flows[0]
}

#[test]
fn with_keys_or_a_log_it_is_as_tcp() {
    let opened = summary(CAPTURE, Some(KEYS));
    assert_eq!(opened.quic[0].connection, Some(0));
    let logged = summary(QLOG, None);
    // The logging program sees packets later than the wire does, because of other work of the machine. So the RTprop on the
    // wire is between the path's 40 ms and the log's value.
    for (flow, what, delivered, rtprops) in [
        (only(&opened), "keys", 160_000, 40.0..LOGGED),
        (only(&logged), "log", LAST, LOGGED * 0.98..LOGGED * 1.02),
    ] {
        assert_eq!(flow.delivered_bytes, delivered, "{what}: {flow:?}");
        assert_eq!(flow.place, "sender", "{what}: {flow:?}");
        assert_eq!(flow.lost, Some(LOST), "{what}: {flow:?}");
        let rtprop = flow.rtprop_ms.expect("RTprop");
        assert!(rtprops.contains(&rtprop), "{what}: {rtprop}");
        let rate = flow.btl_bw_ip_bps.expect("BtlBw") as f64 / 1e6;
        assert!((3.0..4.2).contains(&rate), "{what}: {rate}");
    }
}

#[test]
fn other_keys_open_nothing() {
    let keys = String::from_utf8_lossy(KEYS).replace("SECRET_0 ", "SECRET_0 00");
    let mut trace = Trace::new();
    assert!(
        trace.read_keys(keys.as_bytes()).is_err(),
        "their randoms are too long"
    );
    let text = String::from_utf8_lossy(KEYS);
    let wrong: Vec<String> = text
        .lines()
        .map(|line| match line.rsplit_once(' ') {
            Some((before, secret)) => format!("{before} {}", "0".repeat(secret.len())),
            None => line.to_owned(),
        })
        .collect();
    let summary = summary(CAPTURE, Some(wrong.join("\n").as_bytes()));
    assert!(summary.connections.is_empty());
    assert_eq!(summary.quic.len(), 1);
}

/// From the client's log: the packets with data that were never acknowledged, and (`LOGGED`) `min_rtt` in milliseconds.
const LOST: u64 = 19;

/// The client closes before the acknowledgement of the last hole arrives. The log has no acknowledgement beyond this byte.
const LAST: u64 = 94_392;

const LOGGED: f64 = 56.236;

#[test]
fn a_log_that_is_none_is_answered_in_a_line() {
    for text in [
        "{}",
        "{\"traces\": 3}",
        "{\"traces\": [{\"events\": [{\"name\": \"transport:packet_sent\", \"time\": 1, \"data\": 1}]}]}",
        "{",
        "\u{1e}{\"qlog_version\":\"0.3\"}\n\u{1e}{\"name\"",
        "\u{1e}",
    ] {
        let error = Trace::new().read(text.as_bytes(), &|| true);
        let error = error.expect_err(text).to_string();
        assert!(!error.contains('\n'), "{error}");
    }
}

#[test]
fn damaged_connections_have_an_answer() {
    let (mut random, mut opened) = (1_u64, 0);
    for _ in 0..300 {
        let mut file = CAPTURE.to_vec();
        for _ in 0..40 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            // Behind the file header, so that the file is still a capture.
            let place = 24 + (random >> 33) as usize % (file.len() / 8);
            file[place] ^= 1 << (random >> 61);
        }
        let mut trace = Trace::new();
        trace.read_keys(KEYS).expect("secrets");
        if trace.read(&file[..], &|| true).is_ok() {
            opened += Summary::of(trace).0.connections.len();
        }
    }
    assert!(opened > 100, "only {opened} connections were opened");
}

/// The claimed length of these datagrams is impossible.
#[test]
fn a_log_of_impossible_lengths_has_an_answer() {
    let event = |number: u32, length: u64| {
        format!(
            "{{\"name\": \"t:packet_sent\", \"time\": {number}, \"data\": {{\"header\": {{\"packet_number\": {number}}}, \
             \"raw\": {{\"length\": {length}}}, \"frames\": [{{\"frame_type\": \"stream\", \"stream_id\": 0, \"offset\": \
             {number}000, \"length\": 1000}}]}}}}"
        )
    };
    let events = [event(1, u64::MAX), event(2, 1_200)].join(",");
    let log = format!("{{\"qlog_version\": \"0.3\", \"traces\": [{{\"events\": [{events}]}}]}}");
    let summary = summary(log.as_bytes(), None);
    assert_eq!(only(&summary).sent_bytes, 2_000);
}

/// The capture after `of` has rewritten each of its records.
fn rewritten(mut of: impl FnMut(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let mut file = CAPTURE[..24].to_vec();
    let mut rest = &CAPTURE[24..];
    while rest.len() >= 16 {
        let length = u32::from_le_bytes([rest[8], rest[9], rest[10], rest[11]]);
        let (record, behind) = rest.split_at(16 + length as usize);
        file.extend(of(record));
        rest = behind;
    }
    file
}

/// Both ends clear the fixed bit of every second packet (RFC 9287), also in the server's first packets.
#[test]
fn packets_without_the_fixed_bit_belong_to_their_connection() {
    let mut number = 0;
    let greased = rewritten(|record| {
        // The headers of the record, Ethernet, IPv4 and UDP.
        let first = 16 + 14 + 20 + 8;
        let mut record = record.to_vec();
        number += 1;
        if number % 2 == 0 {
            record[first] &= !0x40;
        }
        record
    });
    let (plain, greased) = (summary(CAPTURE, None), summary(&greased, None));
    assert_eq!(greased.read.quic, plain.read.quic);
    assert_eq!(greased.quic.len(), 1);
    for (one, other) in plain.quic[0].flows.iter().zip(&greased.quic[0].flows) {
        assert_eq!((one.datagrams, one.bytes), (other.datagrams, other.bytes));
    }
}

/// Every datagram appears twice, as with two interfaces.
#[test]
fn what_was_captured_twice_counts_once() {
    let twice = rewritten(|record| [record, record].concat());
    let (once, twice) = (summary(CAPTURE, Some(KEYS)), summary(&twice, Some(KEYS)));
    for (one, other) in once.quic[0].flows.iter().zip(&twice.quic[0].flows) {
        assert_eq!((one.datagrams, one.bytes), (other.datagrams, other.bytes));
        assert_eq!((one.copies, other.copies), (0, one.datagrams));
    }
    let (one, other) = (only(&once), only(&twice));
    assert_eq!((one.packets, one.lost), (other.packets, other.lost));
}

#[test]
fn a_log_that_is_cut_is_read_as_far_as_it_goes() {
    let mut whole = Vec::new();
    let mut gzip = flate2::read::GzDecoder::new(QLOG);
    gzip.read_to_end(&mut whole).expect("a qlog");
    for file in [&whole[..whole.len() / 3 * 2], &QLOG[..QLOG.len() / 3 * 2]] {
        let mut trace = Trace::new();
        trace.read(file, &|| true).expect("what there is");
        let summary = Summary::of(trace).0;
        assert_eq!(summary.read.cut, 1);
        let delivered = only(&summary).delivered_bytes;
        assert!((20_000..=LAST).contains(&delivered), "{delivered}");
    }
}

#[test]
fn data_of_a_reset_stream_count_as_delivered() {
    let event = |name: &str, at: u32, number: u32, frames: &str| {
        format!(
            r#"{{"name": "t:packet_{name}", "time": {at}, "data": {{"header": {{"packet_number": {number}}},
             "raw": {{"length": 1200}}, "frames": [{frames}]}}}}"#
        )
    };
    let stream = |id: u32, offset: u32| {
        format!(
            r#"{{"frame_type": "stream", "stream_id": {id}, "offset": {offset}, "length": 1000}}"#
        )
    };
    let ack = |ranges: &str| format!(r#"{{"frame_type": "ack", "acked_ranges": [{ranges}]}}"#);
    let events = [
        event("sent", 1, 1, &stream(0, 0)),
        event("sent", 2, 2, &stream(4, 0)),
        event("sent", 3, 3, &stream(0, 1_000)),
        event("received", 41, 1, &ack("[1, 1], [3, 3]")),
        event(
            "sent",
            42,
            4,
            r#"{"frame_type": "reset_stream", "stream_id": 4}"#,
        ),
        event("sent", 43, 5, &stream(0, 2_000)),
        event("received", 83, 2, &ack("[1, 1], [3, 5]")),
    ]
    .join(",");
    let log = format!(r#"{{"qlog_version": "0.3", "traces": [{{"events": [{events}]}}]}}"#);
    let summary = summary(log.as_bytes(), None);
    let flow = only(&summary);
    assert_eq!((flow.sent_bytes, flow.delivered_bytes), (4_000, 4_000));
    assert_eq!((flow.lost, flow.rtprop_ms), (Some(0), Some(38.0)));
}

/// The log as a sequence of texts, in the forms that implementations and editors write.
#[test]
fn a_sequence_of_texts_may_have_line_breaks_in_them() {
    use serde_json::{Value, json};

    let mut whole = Vec::new();
    let mut gzip = flate2::read::GzDecoder::new(QLOG);
    gzip.read_to_end(&mut whole).expect("a qlog");
    let log: Value = serde_json::from_slice(&whole).expect("a qlog");
    let mut trace = log["traces"][0].clone();
    let events = trace["events"].take();
    trace.as_object_mut().expect("a trace").remove("events");
    let header = json!({"qlog_version": "0.3", "qlog_format": "JSON-SEQ", "trace": trace});
    let texts: Vec<&Value> = [&header]
        .into_iter()
        .chain(events.as_array().expect("events"))
        .collect();
    let written = |before: &str, is_pretty: bool| -> String {
        let text = |value: &&Value| {
            if is_pretty {
                format!("{before}{value:#}\n")
            } else {
                format!("{before}{value}\n")
            }
        };
        texts.iter().map(text).collect()
    };
    let plain = serde_json::to_value(summary(&whole, None)).expect("JSON");
    let mark = "\u{feff}";
    for form in [
        written("\u{1e}", false),
        written("\u{1e}", true),
        written("", false),
        written("", true),
        written("\u{1e}", true).replace('\n', "\r\n"),
        written("", false).replace('\n', "\r\n"),
        format!("{mark}{}", written("\u{1e}", true)),
        format!("{mark}{}", written("", false)),
        format!("{mark}{log}"),
        // A text that is cut is left out; those behind it are not.
        written("\u{1e}", true).replacen(
            "\u{1e}{\n  \"data",
            "\u{1e}{\n  \"data\": {\n\u{1e}{\n  \"data",
            1,
        ),
    ] {
        let read = serde_json::to_value(summary(form.as_bytes(), None)).expect("JSON");
        assert_eq!(read, plain, "{}", &form[..200]);
    }
}
