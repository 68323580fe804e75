//! Tests of a flow as qlog 0.3.

use std::time::SystemTime;

use record::{Record, columns};
use report::{Origin, html, qlog};
use serde_json::Value;

use crate::records::{crowd, record};

/// The texts of a JSON text sequence (RFC 7464).
fn texts(record: &Record, flow: usize) -> Vec<Value> {
    let text = qlog(record, flow).unwrap();
    assert!(text.starts_with('\u{1e}'));
    let texts = text.split('\u{1e}').skip(1);
    let texts = texts.map(|text| {
        assert!(text.ends_with('\n'), "{text}");
        serde_json::from_str(text).unwrap()
    });
    texts.collect()
}

#[test]
fn what_the_draft_and_qvis_want() {
    let record = record("race", "bbr1", false);
    let texts = texts(&record, 0);
    let (header, events) = texts.split_first().unwrap();
    assert_eq!(header["qlog_version"], "0.3");
    assert_eq!(header["qlog_format"], "JSON-SEQ");
    let trace = &header["trace"];
    assert_eq!(trace["vantage_point"]["type"], "client");
    assert_eq!(trace["common_fields"]["time_format"], "relative");
    assert_eq!(trace["common_fields"]["protocol_type"][0], "QUIC");

    let mut last = 0.0;
    for event in events {
        let mut keys: Vec<&str> = event
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        keys.sort_unstable();
        assert_eq!(keys, ["data", "name", "time"]);
        let time = event["time"].as_f64().unwrap();
        assert!(time >= last, "{time} after {last}");
        last = time;
    }
    let named = |name: &str| -> Vec<&Value> {
        let found = events.iter().filter(|event| event["name"] == name);
        found.map(|event| &event["data"]).collect()
    };
    let metrics = named("recovery:metrics_updated");
    let samples = &record.flows[0].samples;
    assert_eq!(metrics.len(), samples.len());
    for (metrics, sample) in metrics.iter().zip(samples) {
        assert_eq!(metrics["congestion_window"], sample.cwnd.get());
        assert_eq!(metrics["bytes_in_flight"], sample.inflight.get());
        assert_eq!(metrics["pacing_rate"], sample.pacing_rate.bits_per_sec());
        assert_eq!(metrics["latest_rtt"], sample.rtt.unwrap().as_millis_f64());
        assert!(metrics["min_rtt"].as_f64() <= metrics["latest_rtt"].as_f64());
        assert_eq!(metrics["rtprop"], 40.0);
        assert!(metrics.get("ssthresh").is_none(), "not known, so not told");
    }
    let states: Vec<&str> = named("recovery:congestion_state_updated")
        .iter()
        .map(|data| data["new"].as_str().unwrap())
        .collect();
    assert_eq!(
        states,
        ["Startup", "Drain", "ProbeBW", "ProbeRTT", "ProbeBW"]
    );
    assert_eq!(
        named("recovery:congestion_state_updated")[1]["old"],
        "Startup"
    );

    // The sent bytes are the sum of their fates.
    let sent = named("transport:packet_sent");
    assert!(sent.iter().all(|packet| packet["is_aggregate"] == true));
    let bytes: u64 = sent
        .iter()
        .map(|packet| packet["raw"]["length"].as_u64().unwrap())
        .sum();
    let went = |index: usize| {
        let sample = &samples[index];
        (sample.delivered + sample.lost + sample.inflight).get()
    };
    assert_eq!(bytes, (0..samples.len()).map(went).max().unwrap());
    let numbers: Vec<u64> = sent
        .iter()
        .map(|packet| packet["header"]["packet_number"].as_u64().unwrap())
        .collect();
    assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]));
}

#[test]
fn a_tcp_flow_by_its_id() {
    let record = crowd(2);
    let header = &texts(&record, 3)[0];
    assert_eq!(header["trace"]["common_fields"]["protocol_type"][0], "TCP");
    assert_eq!(header["title"], "crowd · flow 3 · cubic");
    assert_eq!(texts(&record, 3)[3]["data"]["ssthresh"], 10_000);
    assert_eq!(qlog(&record, 4), None);
}

#[test]
fn many_connections_have_no_state_in_common() {
    let mut record = record("pooled", "cubic", false);
    record.flows[0]
        .samples
        .iter_mut()
        .for_each(|sample| sample.state = None);
    let events = texts(&record, 0);
    let states = |event: &&Value| event["name"] == "recovery:congestion_state_updated";
    assert_eq!(events.iter().filter(states).count(), 0);
    let (columns, mut rows) = columns::samples(&record);
    let state = columns
        .iter()
        .find(|column| column.name == "state")
        .unwrap();
    assert_eq!(state.value(&rows.next().unwrap()), None);
    let origin = Origin {
        command: String::new(),
        generated: SystemTime::UNIX_EPOCH,
    };
    assert!(!html(std::slice::from_ref(&record), &origin).contains("\"state\":\"\""));
}
