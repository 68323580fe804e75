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

/// A packet number ends at 2^62 − 1 (RFC 9000, section 12.3), and sums of larger ones would not fit.
#[test]
fn a_packet_number_that_cannot_be_is_left_out() {
    let event = |number: u64, kind: &str, frames: &str| {
        format!(
            "{{\"name\": \"t:{kind}\", \"time\": 1, \"data\": {{\"header\": {{\"packet_number\": {number}}}, \
             \"raw\": {{\"length\": 1200}}, \"frames\": [{frames}]}}}}"
        )
    };
    let data = "{\"frame_type\": \"stream\", \"stream_id\": 0, \"offset\": 0, \"length\": 1000}";
    let ack = "{\"frame_type\": \"ack\", \"acked_ranges\": [[0, 18446744073709551615]]}";
    let events = [
        event(u64::MAX, "packet_sent", data),
        event(1, "packet_sent", data),
        event(1, "packet_received", ack),
    ];
    let log = format!(
        "{{\"qlog_version\": \"0.3\", \"traces\": [{{\"events\": [{}]}}]}}",
        events.join(",")
    );
    let summary = summary(log.as_bytes(), None);
    assert_eq!(only(&summary).sent_bytes, 1_000);
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
/// Each packet of the connection, and the same packet of another one with other connection IDs between the same ends.
#[test]
fn connections_between_the_same_ends_are_told_apart() {
    let mut ids: Vec<Vec<u8>> = Vec::new();
    rewritten(|record| {
        // Of long headers: the lengths of both IDs, each before its ID.
        if let [first, _, _, _, _, rest @ ..] = &record[HEADERS..]
            && first & 0x80 != 0
        {
            let (to, rest) = rest[1..].split_at(rest[0].into());
            let from = &rest[1..=usize::from(rest[0])];
            ids.extend([to.to_vec(), from.to_vec()]);
        }
        Vec::new()
    });
    let other = |record: &[u8]| {
        let mut record = record.to_vec();
        for id in &ids {
            let found = record.windows(id.len()).position(|bytes| bytes == id);
            if let Some(place) = found {
                record[place..place + id.len()]
                    .iter_mut()
                    .for_each(|byte| *byte ^= 0x55);
            }
        }
        record
    };
    let both = rewritten(|record| [record.to_vec(), other(record)].concat());
    let first = rewritten(<[u8]>::to_vec);
    let after = [&first[..], &rewritten(other)[24..]].concat();
    let alone = summary(CAPTURE, Some(KEYS));
    for file in [both, after] {
        let told = summary(&file, Some(KEYS));
        let [one, another] = &told.quic[..] else {
            panic!("{:?}", told.quic);
        };
        for place in 0..2 {
            let sent = [&alone.quic[0], one, another].map(|one| one.flows[place].bytes);
            assert_eq!(sent, [sent[0]; 3]);
        }
        assert_eq!(only(&told).delivered_bytes, only(&alone).delivered_bytes);
    }
}

#[test]
fn keys_do_not_open_what_was_captured_in_part() {
    let cut = rewritten(|record| {
        let len = record.len().min(16 + 128);
        let captured = u32::try_from(len - 16).expect("short");
        [&record[..8], &captured.to_le_bytes(), &record[12..len]].concat()
    });
    let told = summary(&cut, Some(KEYS));
    assert!(told.read.cut_datagrams > 100, "{:?}", told.read);
    assert_eq!(summary(&cut, None).read.cut_datagrams, 0);
    assert_eq!(summary(CAPTURE, Some(KEYS)).read.cut_datagrams, 0);
}

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
        // A separator too many, and the zeros of a machine that stopped.
        format!("{}\u{1e}", written("\u{1e}", false)),
        format!("{}\0\0\0", written("\u{1e}", false)),
        format!("{}\0\0\0", written("", true)),
        format!("{log}\0\0\0"),
        written("\0\0\u{1e}", false).replacen("\0\0", "", 1),
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

#[test]
fn a_log_in_utf_16_is_named() {
    for log in ["\u{feff}{\"qlog_version\": \"0.3\"}", "{\"traces\": []}"] {
        let units: Vec<u16> = log.encode_utf16().collect();
        for order in [u16::to_le_bytes, u16::to_be_bytes] {
            let bytes: Vec<u8> = units.iter().copied().flat_map(order).collect();
            let error = Trace::new().read(&bytes[..], &|| true).expect_err(log);
            let expected =
                "looks like a qlog, but cannot be used: this is UTF-16; save it as UTF-8";
            assert_eq!(error.to_string(), expected);
        }
    }
}

/// A parser that fails allocates its error.
#[test]
fn texts_that_say_nothing_take_no_time() {
    for nothing in ["{\n", "{}\n", "\u{1e}", "\u{1e}{\n", "{\"\n", "\u{1e}{}\n"] {
        let log = nothing.repeat(100_000);
        let taken = allocation_counter::measure(|| {
            Trace::new()
                .read(log.as_bytes(), &|| true)
                .expect_err("no log");
        });
        assert!(taken.count_total < 1_000, "{nothing:?}: {taken:?}");
    }
}

/// The lengths of the headers of a record: its own, Ethernet, IPv4 and UDP.
const HEADERS: usize = 16 + 14 + 20 + 8;

/// The capture as segmentation offload shows it: up to `most` datagrams of one direction and one length, and a shorter one
/// behind them, are one packet. At most `snap` bytes of it are captured.
fn offloaded(most: usize, snap: usize) -> Vec<u8> {
    let mut groups: Vec<Vec<Vec<u8>>> = Vec::new();
    rewritten(|record| {
        let place = 16 + 14;
        let id = |record: &[u8]| u16::from_be_bytes([record[place + 4], record[place + 5]]);
        let ends = place + 12..place + 24;
        match groups.last_mut() {
            Some(group)
                if group.len() < most
                    && group[0][ends.clone()] == record[ends]
                    && group[group.len() - 1].len() == group[0].len()
                    && record.len() <= group[0].len()
                    && usize::from(id(record)) == usize::from(id(&group[0])) + group.len() =>
            {
                group.push(record.to_vec());
            }
            _ => groups.push(vec![record.to_vec()]),
        }
        Vec::new()
    });
    let mut file = CAPTURE[..24].to_vec();
    for group in groups {
        let mut packet = group[0][..HEADERS].to_vec();
        packet.extend(group.iter().flat_map(|record| &record[HEADERS..]));
        let len = packet.len() - 16;
        let captured = len.min(snap);
        packet[8..12].copy_from_slice(&u32::try_from(captured).expect("short").to_le_bytes());
        packet[12..16].copy_from_slice(&u32::try_from(len).expect("short").to_le_bytes());
        let ip = u16::try_from(len - 14).expect("short");
        packet[32..34].copy_from_slice(&ip.to_be_bytes());
        packet[54..56].copy_from_slice(&(ip - 20).to_be_bytes());
        packet.truncate(16 + captured);
        file.extend(packet);
    }
    file
}

#[test]
fn what_offload_has_joined_counts_as_separate() {
    let plain = summary(CAPTURE, None);
    for (most, snap) in [
        (16, usize::MAX),
        (40, usize::MAX),
        (2, usize::MAX),
        (16, 128),
    ] {
        let joined = summary(&offloaded(most, snap), None);
        assert!(joined.read.packets < plain.read.packets - 20);
        for (one, other) in plain.quic[0].flows.iter().zip(&joined.quic[0].flows) {
            assert_eq!((one.datagrams, one.bytes), (other.datagrams, other.bytes));
            assert_eq!(one.largest_bytes, other.largest_bytes);
            assert_eq!((one.offloaded, other.undivided), (0, 0));
        }
        assert!(joined.quic[0].flows[0].offloaded > 40, "{:?}", joined.quic);
    }
}

#[test]
fn what_offload_has_joined_opens_as_separate() {
    let (plain, joined) = (
        summary(CAPTURE, Some(KEYS)),
        summary(&offloaded(16, usize::MAX), Some(KEYS)),
    );
    let (one, other) = (only(&plain), only(&joined));
    assert_eq!((one.packets, one.lost), (other.packets, other.lost));
    assert_eq!(one.delivered_bytes, other.delivered_bytes);
    assert_eq!(one.mss_bytes, other.mss_bytes);
}

/// At the sender, datagrams are captured joined, and at the receiver separately.
#[test]
fn datagrams_captured_joined_and_separately_count_once() {
    let mut trace = Trace::new();
    let files = [CAPTURE.to_vec(), offloaded(16, usize::MAX)];
    let open = |file: usize| {
        Ok(capture::read::Opened {
            source: Box::new(std::io::Cursor::new(files[file].clone())),
            is_lasting: true,
        })
    };
    trace.read_all(2, open, &|| true).expect("captures");
    let (plain, both) = (summary(CAPTURE, None), Summary::of(trace).0);
    for (one, other) in plain.quic[0].flows.iter().zip(&both.quic[0].flows) {
        assert_eq!((one.datagrams, one.bytes), (other.datagrams, other.bytes));
        assert_eq!(other.copies, one.datagrams);
    }
}

/// A pcapng file with the key log in front of the packets, as `editcap --inject-secrets` writes it.
#[test]
fn keys_in_a_capture_open_its_connections() {
    let block = |kind: u32, body: &[u8]| {
        let mut body = body.to_vec();
        body.resize(body.len().next_multiple_of(4), 0);
        let length = u32::try_from(body.len() + 12).expect("short").to_le_bytes();
        [&kind.to_le_bytes()[..], &length, &body, &length].concat()
    };
    let with_given = |secrets: &[u8], kind: u32, given: Option<&[u8]>| {
        let len = u32::try_from(secrets.len()).expect("short");
        let section = [&[0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0][..], &[0xff; 8]].concat();
        let mut file = block(0x0a0d_0d0a, &section);
        file.extend(block(1, &[1, 0, 0, 0, 0, 0, 0, 0]));
        file.extend(block(
            10,
            &[&kind.to_le_bytes()[..], &len.to_le_bytes(), secrets].concat(),
        ));
        rewritten(|record| {
            let word = |at: usize| u32::from_le_bytes(record[at..at + 4].try_into().expect("four"));
            let micros = u64::from(word(0)) * 1_000_000 + u64::from(word(4));
            let time = [micros >> 32, micros & 0xffff_ffff].map(|half| half as u32);
            let head = [0, time[0], time[1], word(8), word(12)].map(u32::to_le_bytes);
            file.extend(block(6, &[&head.concat()[..], &record[16..]].concat()));
            Vec::new()
        });
        summary(&file, given)
    };
    let with = |secrets: &[u8], kind: u32| with_given(secrets, kind, None);
    let told = with(KEYS, 0x544c_534b);
    assert_eq!(told.quic[0].connection, Some(0));
    let (one, other) = (summary(CAPTURE, Some(KEYS)), told);
    assert_eq!(only(&one).delivered_bytes, only(&other).delivered_bytes);
    for (secrets, kind) in [
        (KEYS, 0x5747_4b4c),
        (b"no key log", 0x544c_534b),
        (b"", 0x544c_534b),
    ] {
        assert!(with(secrets, kind).connections.is_empty());
    }
    // Wrong secrets for the same connection do not replace those that are given.
    let text = String::from_utf8_lossy(KEYS);
    let wrong = text.lines().filter_map(|line| {
        let (before, secret) = line.rsplit_once(' ')?;
        Some(format!("{before} {}\n", "0".repeat(secret.len())))
    });
    let wrong = wrong.collect::<String>().into_bytes();
    let told = with_given(&wrong, 0x544c_534b, Some(KEYS));
    assert_eq!(only(&told).delivered_bytes, only(&one).delivered_bytes);
    assert!(with(&wrong, 0x544c_534b).connections.is_empty());
}

#[test]
fn fuzz_any_datagrams_have_an_answer() {
    let mut corpus = vec![KEYS.to_vec()];
    rewritten(|record| {
        if corpus.len() < 8 {
            corpus.push(record[HEADERS..].to_vec());
        }
        Vec::new()
    });
    // Datagrams that were captured joined.
    corpus.push(corpus[4..8].concat());
    // ACK frames with and without ECN, STREAM, RESET_STREAM, MAX_DATA, NEW_CONNECTION_ID, CRYPTO, DATAGRAM.
    let frames = [
        &[2, 0x44, 0, 0x40, 25, 2, 3, 1, 4, 0, 9][..],
        &[
            3, 7, 1, 0, 2, 1, 2, 3, 0x0e, 4, 0x41, 0, 3, 1, 2, 3, 4, 4, 0, 9, 0x10, 0x7f, 0xff,
        ],
        &[0x18, 1, 0, 4, 1, 2, 3, 4],
        &[5; 16],
        &[6, 0, 4, 1, 0, 0, 0, 0x31, 2, 1, 1, 0x0a, 8, 5],
    ];
    corpus.push(frames.concat());
    fuzzing::run("trace_quic", &corpus, crate::fuzz::quic);
}
