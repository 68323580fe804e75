use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};

use super::*;
use crate::connection::Moment;
use crate::group::GroupBy;
use crate::metrics::Metrics;
use crate::tests::connection;

/// The head and the body of a request.
type Request = (String, Vec<u8>);

fn read(stream: &mut TcpStream) -> Request {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(
            reader.read_line(&mut head).expect("a request") > 0,
            "{head}"
        );
    }
    let length = head.to_lowercase();
    let length = length.split("content-length: ").nth(1).expect("a length");
    let length = length.lines().next().unwrap().parse().expect("a length");
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("a body");
    (head, body)
}

/// A collector that gives each connection one of the answers, and then is gone. An empty answer closes the connection.
fn collector(answers: Vec<Vec<u8>>) -> (String, Receiver<Request>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (to, requests) = channel();
    std::thread::spawn(move || {
        let mut silent = Vec::new();
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let request = read(&mut stream);
            // The receiver may be gone.
            let _ = stream.write_all(&answer);
            if answer.is_empty() {
                silent.push(stream);
            }
            if to.send(request).is_err() {
                return;
            }
        }
        // The connection stays open until the test is over.
        while to.send(Request::default()).is_ok() {
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    (url, requests)
}

fn answer(head: &str, body: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 {head}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into()
}

fn snapshot(unix_s: f64) -> Arc<Snapshot> {
    let mut metrics = Metrics::new(GroupBy::Port, 10);
    let when = Moment {
        unix_s,
        ..Moment::default()
    };
    metrics.look(when, &[connection(1)], [1, 0, 0]);
    metrics.snapshot()
}

fn pusher(url: &str) -> Pusher {
    let destination = Destination::new(url, |name| match name {
        destination::HEADERS => Some("x-key=top-secret".into()),
        "OTEL_EXPORTER_OTLP_TIMEOUT" | "OTEL_METRIC_EXPORT_INTERVAL" => Some("500".into()),
        _ => None,
    });
    Pusher::start(destination.unwrap()).unwrap()
}

/// The outcome of one request with this answer.
fn outcome(reply: Vec<u8>) -> Result<(), String> {
    let (url, requests) = collector(vec![reply]);
    let outcome = pusher(&url).finish(&snapshot(1.0));
    drop(requests);
    outcome
}

#[test]
fn a_request_has_metrics_and_headers() {
    let (url, requests) = collector(vec![answer("200 OK", "{}")]);
    pusher(&url).finish(&snapshot(1_700_000_000.0)).unwrap();
    let (head, body) = requests.recv().unwrap();
    assert!(head.starts_with("POST /v1/metrics HTTP/1.1\r\n"), "{head}");
    let lower = head.to_lowercase();
    assert!(
        lower.contains("\r\ncontent-type: application/json\r\n"),
        "{head}"
    );
    assert!(lower.contains("\r\nx-key: top-secret\r\n"), "{head}");
    let body: Value = serde_json::from_slice(&body).unwrap();
    let resource = body["resourceMetrics"][0]["resource"]["attributes"].as_array();
    assert!(
        resource
            .unwrap()
            .iter()
            .any(|one| one["key"] == "host.name")
    );
    let metrics = &body["resourceMetrics"][0]["scopeMetrics"][0]["metrics"];
    let metrics = metrics.as_array().unwrap();
    let of = |name: &str| metrics.iter().find(|one| one["name"] == name).unwrap();
    let sent = of("fullpipe.tcp.acknowledged");
    assert_eq!(sent["unit"], "By");
    assert_eq!(sent["sum"]["aggregationTemporality"], 2);
    let point = &sent["sum"]["dataPoints"][0];
    let acknowledged = connection(1).seen.since.unwrap().acknowledged.get();
    assert_eq!(point["asInt"], acknowledged.to_string());
    assert_eq!(point["timeUnixNano"], "1700000000000000000");
    assert_eq!(point["startTimeUnixNano"], "1700000000000000000");
    assert_eq!(point["attributes"][0]["key"], "port");
    assert_eq!(point["attributes"][0]["value"]["stringValue"], "443");
    let rtt = of("fullpipe.tcp.rtt")["gauge"]["dataPoints"]
        .as_array()
        .unwrap();
    assert_eq!(rtt.len(), 3);
    assert_eq!(rtt[0]["asDouble"], 0.04);
    assert_eq!(rtt[0]["attributes"][1]["value"]["stringValue"], "0.5");
    // Unknown values are left out.
    assert!(
        metrics
            .iter()
            .all(|one| one["gauge"]["dataPoints"] != Value::Array(Vec::new()))
    );
}

#[test]
fn what_a_collector_refuses_is_told_in_a_line_without_secrets() {
    for (reply, told) in [
        (answer("500 Oops", "top-secret"), "500"),
        (answer("503 Busy\r\nRetry-After: 1", ""), "503"),
        (
            answer("400 Bad Request", "{\"message\":\"x-key top-secret\"}"),
            "400",
        ),
        (answer("401 Unauthorized", ""), destination::HEADERS),
        (answer("404 Not Found", ""), "OTLP over HTTP"),
        (
            answer(
                "200 OK",
                "{\"partialSuccess\":{\"rejectedDataPoints\":\"3\",\"errorMessage\":\"top-secret\"}}",
            ),
            "all but 3 data points",
        ),
        (
            answer("200 OK", "{\"partialSuccess\":{\"rejectedDataPoints\":7}}"),
            "all but 7 data points",
        ),
        (
            b"\x16\x03\x01 nonsense\r\n\r\n".to_vec(),
            "cannot be reached",
        ),
        (Vec::new(), "did not answer within 500 ms"),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n".to_vec(),
            "collector",
        ),
    ] {
        let shown = String::from_utf8_lossy(&reply).into_owned();
        let error = outcome(reply).expect_err(&shown);
        assert!(error.contains(told), "{shown}: {error}");
        assert!(
            !error.contains("top-secret") && !error.contains('\n'),
            "{error}"
        );
    }
    let taken = [
        answer("200 OK", ""),
        answer("202 Accepted", "no JSON"),
        answer("200 OK", &"x".repeat(1 << 20)),
        answer(
            "200 OK",
            "{\"partialSuccess\":{\"errorMessage\":\"a warning\"}}",
        ),
    ];
    for reply in taken {
        outcome(reply).unwrap();
    }
}

#[test]
fn a_redirection_takes_no_secret_anywhere() {
    let (other, requests) = collector(vec![answer("200 OK", "{}")]);
    let moved = answer(&format!("307 Moved\r\nLocation: {other}/v1/metrics"), "");
    let error = outcome(moved).unwrap_err();
    assert!(error.contains("307") && error.contains("moved"), "{error}");
    assert!(requests.try_recv().is_err());
}

#[test]
fn a_collector_that_hangs_delays_no_look_and_misses_nothing() {
    let (url, requests) = collector(vec![Vec::new(), answer("200 OK", "{}")]);
    let pusher = pusher(&url);
    // While the first request hangs, samples go on, and their snapshots are dropped.
    let first = snapshot(1.0);
    for _ in 0..100_000 {
        pusher.offer(&first);
    }
    assert!(requests.recv().unwrap().0.starts_with("POST"));
    let last = snapshot(9.0);
    pusher.finish(&last).unwrap();
    let (_, body) = requests.recv().unwrap();
    let body = String::from_utf8(body).unwrap();
    assert!(body.contains("\"timeUnixNano\":\"9000000000\""), "{body}");
}

#[test]
fn nobody_there_is_trouble_that_passes() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let error = pusher(&url).finish(&snapshot(1.0)).unwrap_err();
    assert!(error.contains("cannot be reached"), "{error}");
}
