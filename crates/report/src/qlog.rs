//! A flow as qlog, for qvis and other QUIC tools.
//!
//! The format is qlog 0.3 (draft-ietf-quic-qlog-main-schema-03 and draft-ietf-quic-qlog-quic-events-03), which qvis
//! reads; later drafts renamed its header and events. The serialization is JSON text sequences (main schema, "qlog to
//! JSON Text Sequences mapping"), and the file's name should end with `.sqlog`.
//!
//! Its quic-events for each sample of the flow:
//!
//! - `recovery:metrics_updated` ("metrics_updated"): `latest_rtt`, `smoothed_rtt`, `min_rtt`, `congestion_window`,
//!   `bytes_in_flight`, `ssthresh`, `pacing_rate`; and, as additional fields, which the draft allows, `delivery_rate`,
//!   `btl_bw`, `rtprop`, `short_term_bw`, `short_term_inflight`, `long_term_inflight`, `delivered_bytes`,
//!   `lost_bytes`, `below_tcp_bytes`. Unknown values are omitted. `min_rtt` is the minimum RTT of the samples so far.
//!   In long runs these are thinned, so it may be a little above the flow's.
//! - `recovery:congestion_state_updated` ("congestion_state_updated") when the state has changed.
//! - `transport:packet_sent` ("packet_sent"): everything sent since the sample before, as if it were one packet. Its
//!   `raw.length` is the increase of the bytes delivered, lost and in flight. A record keeps no packets, and qvis takes
//!   its axes from them. `is_aggregate` marks them.
//!
//! The header has the run's `validity`, an additional field.
//!
//! Losses are not `packet_lost` events, since those are of single packets.

use serde_json::{Map, Value, json};

use record::{FlowRecord, FlowSample, Record};

/// The character before each text (RFC 7464, "JSON Text Sequence Format").
const RECORD_SEPARATOR: char = '\u{1e}';

/// The flow with this id, as qlog; `None` if the record has none.
pub fn qlog(record: &Record, flow: usize) -> Option<String> {
    let flow = record.flows.iter().find(|known| known.id == flow)?;
    let mut text = String::new();
    let mut push = |value: Value| {
        text.push(RECORD_SEPARATOR);
        text.push_str(&value.to_string());
        text.push('\n');
    };
    push(header(record, flow));
    let mut before: Option<&FlowSample> = None;
    let mut sent = 0;
    let mut min_rtt: Option<f64> = None;
    for (number, sample) in flow.samples.iter().enumerate() {
        // The time is in milliseconds since the start of the run.
        let time = sample.at.as_millis_f64();
        let rtt = sample.rtt.map(|rtt| rtt.as_millis_f64());
        min_rtt = match (min_rtt, rtt) {
            (Some(least), Some(rtt)) => Some(least.min(rtt)),
            (known, new) => known.or(new),
        };
        let by_now = (sample.delivered + sample.lost + sample.inflight).get();
        if by_now > sent {
            let data = json!({
                "header": { "packet_type": "1RTT", "packet_number": number },
                "raw": { "length": by_now - sent },
                "is_aggregate": true,
            });
            push(event(time, "transport:packet_sent", data));
            sent = by_now;
        }
        let old = before.and_then(|before| before.state);
        if old != sample.state
            && let Some(new) = sample.state
        {
            let data = with([
                ("old", old.map(|old| old.name.into())),
                ("new", Some(new.name.into())),
            ]);
            push(event(time, "recovery:congestion_state_updated", data));
        }
        push(event(
            time,
            "recovery:metrics_updated",
            metrics(sample, min_rtt),
        ));
        before = Some(sample);
    }
    Some(text)
}

/// Main schema, "qlog to JSON Text Sequences mapping": the header (`QlogFileSeq`) with its one trace.
fn header(record: &Record, flow: &FlowRecord) -> Value {
    let summary = &record.summary;
    json!({
        "qlog_version": "0.3",
        "qlog_format": "JSON-SEQ",
        "title": format!("{} · flow {} · {}", summary.scenario, flow.id, flow.controller),
        "description": format!(
            "Fullpipe {} · engine {} · seed {}; each packet_sent stands for all that was sent since the one before{}",
            env!("CARGO_PKG_VERSION"), summary.engine, summary.seed,
            summary.validity.warning().map_or(String::new(), |warning| format!("; {warning}")),
        ),
        "validity": summary.validity,
        "trace": {
            "title": format!("flow {} · {}", flow.id, flow.controller),
            "vantage_point": { "name": "sender", "type": "client" },
            "common_fields": {
                "time_format": "relative",
                "reference_time": 0,
                "protocol_type": [if summary.engine == "quic" { "QUIC" } else { "TCP" }],
            },
        },
    })
}

fn event(time: f64, name: &str, data: Value) -> Value {
    json!({ "time": time, "name": name, "data": data })
}

fn metrics(sample: &FlowSample, min_rtt: Option<f64>) -> Value {
    let rtt = |rtt: Option<units::Duration>| rtt.map(|rtt| rtt.as_millis_f64().into());
    let rate = |rate: Option<units::Rate>| rate.map(|rate| rate.bits_per_sec().into());
    let bytes = |bytes: units::Bytes| Some(bytes.get().into());
    with([
        ("latest_rtt", rtt(sample.rtt)),
        ("smoothed_rtt", rtt(sample.srtt)),
        ("min_rtt", min_rtt.map(Value::from)),
        ("congestion_window", bytes(sample.cwnd)),
        ("bytes_in_flight", bytes(sample.inflight)),
        ("ssthresh", sample.ssthresh.and_then(bytes)),
        ("pacing_rate", rate(Some(sample.pacing_rate))),
        ("delivery_rate", rate(sample.delivery_rate)),
        ("btl_bw", rate(sample.btl_bw)),
        ("rtprop", rtt(sample.rtprop)),
        ("short_term_bw", rate(sample.short_term_bw)),
        (
            "short_term_inflight",
            sample.short_term_inflight.and_then(bytes),
        ),
        (
            "long_term_inflight",
            sample.long_term_inflight.and_then(bytes),
        ),
        ("delivered_bytes", bytes(sample.delivered)),
        ("lost_bytes", bytes(sample.lost)),
        ("below_tcp_bytes", sample.below_tcp.and_then(bytes)),
    ])
}

/// Returns an object of the known fields.
fn with<const N: usize>(fields: [(&str, Option<Value>); N]) -> Value {
    let known = fields
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_string(), value?)));
    Value::Object(known.collect::<Map<_, _>>())
}
