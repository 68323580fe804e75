//! Probes: reading, paths in virtual time, hosts over loopback, receivers of garbage, and files on disk.

use std::convert::Infallible;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::time::Duration;

use lab::Cancel;
use lab::Sim;
use parquet::file::reader::{FileReader, SerializedFileReader};
use quic::endpoint::Identity;
use quic::probe::Token;
use studies::probe::{self, Dataset, Host, Over, Results, Row, Spec, Target, TcpServer};
use studies::runs::Execution;

const PATHS: &str = r#"name = "few"
bytes = "500kb"
interval = "10s"
rounds = 3
[path]
rate = "50mbit"
rtt = "40ms"
buffer = "0.25bdp"
[axes]
"path.loss" = ["0%", "1%"]
"#;

const HOSTS: &str = r#"name = "hosts"
[[destination]]
address = "192.0.2.1:4440"
over = "tcp"
[[destination]]
name = "far"
address = "[2001:db8::1]:4440"
over = "quic"
fingerprint = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
"#;

const RECEIVE_TIMEOUT: Duration = Duration::from_secs(60);

fn spec(text: &str) -> Spec {
    Spec::parse(text, Path::new("")).unwrap()
}

fn refusal(text: &str) -> String {
    let refused =
        Spec::parse(text, Path::new("")).and_then(|spec| probe::paths(&spec, Path::new(""), 0));
    match refused {
        Ok(_) => panic!("not refused: {text}"),
        Err(error) => error.to_string(),
    }
}

fn probe_paths(text: &str, first: u64, jobs: usize) -> Vec<Row> {
    let spec = spec(text);
    let plan = probe::paths(&spec, Path::new(""), first).unwrap();
    let (rows, failed) = probe::run_paths(
        &spec,
        &plan,
        first,
        &Execution::unwatched(&Sim::new(), jobs, &Cancel::new()),
    );
    assert!(failed.is_empty(), "{failed:?}");
    rows
}

#[test]
fn what_is_not_given_is_as_the_paper_has_it() {
    let spec = spec("name = \"b4\"\npath = { rate = \"1gbit\" }\n");
    assert_eq!((spec.bytes.get(), spec.rounds), (8_000_000, None));
    assert_eq!(spec.interval, units::Duration::from_secs(60));
    let names: Vec<String> = spec.controllers.iter().map(ToString::to_string).collect();
    assert_eq!(names, ["bbr1", "cubic"]);
    let Target::Hosts(hosts) = self::spec(HOSTS).target else {
        panic!("hosts");
    };
    assert_eq!(
        (hosts[0].name.as_str(), hosts[0].over),
        ("192.0.2.1:4440", Over::Tcp)
    );
    assert_eq!(
        (hosts[1].name.as_str(), hosts[1].over.name()),
        ("far", "quic")
    );
}

#[test]
fn what_makes_no_sense_is_answered_with_its_place() {
    let mut wrong = Vec::new();
    for (from, to, expected) in [
        (
            "bytes",
            "byte",
            "line 2: byte: unknown key; did you mean `bytes`?",
        ),
        ("500kb", "2gb", "line 2: bytes: 2gb is more than"),
        ("\"10s\"", "\"1h\"", "line 3: interval: 1h is more than"),
        (
            "\"10s\"",
            "\"11min\"",
            "line 3: interval: 11min is more than",
        ),
        (
            "rounds = 3",
            "rounds = 0",
            "line 4: rounds: 0 rounds are out of range",
        ),
        (
            "rounds = 3",
            "engine = \"quic\"",
            "line 4: engine: quic has no connections that wait",
        ),
        (
            "rounds = 3",
            "controllers = []",
            "line 4: controllers: is empty",
        ),
        (
            "rounds = 3",
            "controllers = [\"bbr1\", \"bbr1\"]",
            "line 4: controllers: has bbr1 twice",
        ),
        (
            "rounds = 3",
            "controllers = [\"bbr9\"]",
            "line 4: controllers: \"bbr9\": unknown controller",
        ),
        (
            "rtt =",
            "rrt =",
            "line 7: path.rrt: unknown key; did you mean `path.rtt`?",
        ),
        ("0.25bdp", "1b", "line 8: path.buffer: 1b is smaller"),
        ("\"1%\"", "\"101%\"", "line 10: path.loss=101%: "),
        ("[path]", "[road]", "line 5: road: unknown key"),
    ] {
        let error = refusal(&PATHS.replace(from, to));
        if !error.starts_with(expected) {
            wrong.push(format!("{to}: {error}"));
        }
    }
    let without = PATHS.split("[path]").next().unwrap();
    assert!(refusal(without).starts_with("path: is missing; give [path] for paths"));
    for (from, to, expected) in [
        (
            ":4440\"\nover = \"tcp\"",
            "\"\nover = \"tcp\"",
            "line 3: destination[0].address: 192.0.2.1 has no port",
        ),
        (
            "\"tcp\"",
            "\"udp\"",
            "line 4: destination[0].over: udp is not a known way to it; known: tcp, quic",
        ),
        (
            "\"quic\"",
            "\"tcp\"",
            "line 9: destination[1].fingerprint: is of a receiver over quic",
        ),
        (
            "\"tcp\"",
            "\"quic\"",
            "line 3: destination[0].fingerprint: is missing",
        ),
        (
            "name = \"far\"",
            "name = \"192.0.2.1:4440\"",
            "line 6: destination[1].name: there is a 192.0.2.1:4440 already",
        ),
        ("0011", "001", "line 9: destination[1].fingerprint: "),
        (
            "[[destination]]\naddress",
            "path = { rate = \"1mbit\" }\n[[destination]]\naddress",
            "line 3: destination: there is also a path",
        ),
        (
            "[[destination]]\naddress",
            "seed = 1\n[[destination]]\naddress",
            "line 2: seed: is only for paths",
        ),
        (
            "[[destination]]\naddress",
            "controllers = [\"kernel:bbr\"]\n[[destination]]\naddress",
            "line 2: controllers: kernel:bbr is a kernel's",
        ),
    ] {
        let error = refusal(&HOSTS.replacen(from, to, 1));
        if !error.starts_with(expected) {
            wrong.push(format!("{to}: {error}"));
        }
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn paths_are_probed_round_by_round_the_same_on_any_number_of_threads() {
    let rows = probe_paths(PATHS, 0, 2);
    assert_eq!(probe_paths(PATHS, 0, 1), rows);
    let order: Vec<(u64, &str, &str)> = rows
        .iter()
        .map(|row| (row.round, row.destination.as_str(), row.controller.as_str()))
        .collect();
    let mut expected = Vec::new();
    for round in 0..3 {
        for destination in ["path.loss=0%", "path.loss=1%"] {
            expected.extend(["bbr1", "cubic"].map(|controller| (round, destination, controller)));
        }
    }
    assert_eq!(order, expected);
    for row in &rows {
        assert_eq!(
            (row.over.as_str(), row.bytes, row.unix_ms),
            ("sim", 500_000, None)
        );
        assert_eq!(
            (row.is_first, row.failure.as_deref()),
            (row.round == 0, None)
        );
        // At most the link's rate, and at least ten seconds from one probe to the next.
        assert!(
            row.goodput_bps.unwrap() < 50e6 && row.took_ms.unwrap() > 80.0,
            "{row:?}"
        );
        assert!(row.at_s >= 10.0 * row.round as f64, "{row:?}");
    }
    // The rounds after these have other seeds.
    let later = probe_paths(PATHS, 3, 2);
    assert_eq!(later[0].round, 3);
    assert!(
        rows.iter()
            .zip(&later)
            .all(|(row, later)| row.seed != later.seed)
    );
    let mut results = Results::new(["bbr1", "cubic"].map(String::from));
    results.add(&rows);
    let destinations = results.destinations();
    assert_eq!(destinations[0].probes, [3, 3]);
    // With a shallow buffer and 1 % loss, the loss-based controller is slower.
    assert!(destinations[1].ratio.unwrap() > 1.5, "{destinations:?}");
}

#[test]
fn rows_say_what_limited_the_sender() {
    let shares = |more: &str| {
        let text = PATHS.replace("[axes]", &format!("{more}\n[axes]"));
        let rows = probe_paths(&text, 0, 1);
        let clean = rows
            .into_iter()
            .filter(|row| row.destination == "path.loss=0%");
        let shares: Vec<_> = clean.map(|row| row.limited_by.expect("in each")).collect();
        for by in &shares {
            let sum = by.application + by.receiver + by.send_buffer + by.congestion;
            assert!((sum - 1.0).abs() < 1e-9, "{by:?}");
        }
        // Three rounds with either controller.
        assert_eq!(shares.len(), 6);
        shares
    };
    // A request crosses the network while the sender is idle, ten seconds of pause are not the probe's, and the last data
    // wait for their ACK. The rest of a third of a second or less is congestion control's.
    for by in shares("") {
        assert!(by.application > 0.1 && by.application < 0.9, "{by:?}");
        assert!(by.congestion > 0.1 && by.receiver < 0.2, "{by:?}");
    }
    // 16 kB a round trip of 40 ms.
    let small = "[host]\nreceive_buffer = \"16kb\"\ninitial_receive_buffer = \"16kb\"";
    for by in shares(small) {
        assert!(by.receiver > 0.8, "{by:?}");
    }
}

#[test]
fn a_path_that_lets_nothing_through_is_rows_with_a_reason() {
    let text = PATHS.replace("[\"0%\", \"1%\"]", "[\"0%\", \"100%\"]");
    let spec = spec(&text);
    let plan = probe::paths(&spec, Path::new(""), 0).unwrap();
    let (rows, failed) = probe::run_paths(
        &spec,
        &plan,
        0,
        &Execution::unwatched(&Sim::new(), 2, &Cancel::new()),
    );
    assert_eq!((rows.len(), failed.len()), (12, 0));
    let lost = rows
        .iter()
        .filter(|row| row.destination == "path.loss=100%");
    assert!(
        lost.clone()
            .all(|row| row.goodput_bps.is_none() && row.failure.is_some())
    );
    let mut results = Results::new(["bbr1", "cubic"].map(String::from));
    results.add(&rows);
    assert_eq!(results.destinations()[1].failed, [3, 3]);
    let failures = &results.destinations()[1].failures;
    assert_eq!(failures.len(), 4, "{failures:?}");
    assert_eq!(results.ratios().values().len(), 1);
    assert!(probe::table(&results, None).contains("–"));
    // Successful probes report the sender's limits.
    let limits: Vec<_> = results
        .destinations()
        .into_iter()
        .map(|one| one.limited_by)
        .collect();
    assert!(
        limits[0].iter().all(Option::is_some) && limits[1] == [None, None],
        "{limits:?}"
    );
    let (most, _) = limits[0][0].expect("told").largest();
    assert!(probe::table(&results, None).contains(most), "{most}");
}

fn row(destination: &str, controller: &str, goodput: Option<f64>) -> Row {
    Row {
        round: 0,
        destination: destination.to_string(),
        over: "tcp".to_string(),
        controller: controller.to_string(),
        at_s: 0.5,
        unix_ms: Some(1),
        bytes: 8,
        took_ms: None,
        goodput_bps: goodput,
        is_first: true,
        limited_by: None,
        seed: None,
        failure: None,
    }
}

#[test]
fn ratios_are_of_medians_and_their_distribution_counts_destinations() {
    let mut results = Results::new(["bbr1", "cubic"].map(String::from));
    for (destination, fast, slow) in [
        ("a", 4.0, 2.0),
        ("b", 9.0, 3.0),
        ("c", 8.0, 1.0),
        ("d", 1.0, 1.0),
    ] {
        for round in [0.5, 1.0, 40.0] {
            results.add(&[
                row(destination, "bbr1", Some(fast * round)),
                row(destination, "cubic", Some(slow * round)),
            ]);
        }
    }
    results.add(&[row("e", "bbr1", Some(1.0)), row("e", "cubic", None)]);
    assert_eq!(results.ratios().values(), [1.0, 2.0, 3.0, 8.0]);
    let at = [0.0, 0.25, 0.26, 0.5, 1.0].map(|share| results.ratios().quantile(share));
    assert_eq!(at, [1.0, 1.0, 2.0, 2.0, 8.0].map(Some));
    let json = results.json("x");
    assert_eq!(
        json["cdf"][1],
        serde_json::json!({ "ratio": 2.0, "share": 0.5 })
    );
    assert_eq!(json["destinations"][4]["failed"], serde_json::json!([0, 1]));
    assert_eq!(json["destinations"][4]["ratio"], serde_json::Value::Null);
}

#[test]
fn rounds_are_appended_and_never_rewritten() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("probes");
    let mut dataset = Dataset::open(&place).unwrap();
    let rows = [row("a", "bbr1", Some(4.0)), row("a", "cubic", None)];
    dataset
        .append(&rows, &[("fullpipe.probe", "text".to_string())])
        .unwrap();
    dataset.append(&rows, &[]).unwrap();
    // A round that another process is writing is no round yet, and what a killed process left is removed.
    let killed = format!("round-000002.parquet.{}.part", i32::MAX);
    let killed_earlier = format!(".round-000002.{}.part", i32::MAX);
    for part in [
        "round-000002.parquet.1.part",
        &killed,
        ".round-000002.1.part",
        &killed_earlier,
    ] {
        fs::write(place.join(part), b"PAR1").unwrap();
    }
    let mut again = Dataset::open(&place).unwrap();
    assert_eq!(again.next_round(), 2);
    again.append(&rows[..1], &[]).unwrap();
    // The first dataset does not know of the file, and must not replace it.
    let before = fs::read(place.join("round-000002.parquet")).unwrap();
    assert!(matches!(
        dataset.append(&rows, &[]),
        Err(report::DirectoryError::System { .. })
    ));
    assert_eq!(
        fs::read(place.join("round-000002.parquet")).unwrap(),
        before
    );
    let mut names: Vec<String> = fs::read_dir(&place)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            ".round-000002.1.part",
            "round-000000.parquet",
            "round-000001.parquet",
            "round-000002.parquet",
            "round-000002.parquet.1.part"
        ]
    );
    let file =
        SerializedFileReader::new(File::open(place.join("round-000000.parquet")).unwrap()).unwrap();
    let read: Vec<String> = file
        .get_row_iter(None)
        .unwrap()
        .map(|row| row.unwrap().to_string())
        .collect();
    assert_eq!(read.len(), 2);
    assert!(
        read[0].contains("destination: \"a\"") && read[0].contains("goodput_bps: 4.0"),
        "{}",
        read[0]
    );
    assert!(read[1].contains("goodput_bps: null"), "{}", read[1]);
    fs::write(place.join("notes.txt"), "").unwrap();
    let error = Dataset::open(&place).unwrap_err().to_string();
    assert!(error.contains("such as notes.txt"), "{error}");
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
}

const HERE: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

fn hosts_spec(hosts: &[Host], rounds: u64) -> Spec {
    Spec {
        name: "loopback".to_string(),
        // The controllers that every kernel has.
        controllers: ["cubic", "reno"].map(|name| name.parse().unwrap()).to_vec(),
        bytes: units::Bytes::new(300_000),
        interval: units::Duration::from_millis(20),
        rounds: Some(rounds),
        seed: 1,
        target: Target::Hosts(hosts.to_vec()),
    }
}

async fn probe_hosts(hosts: &[Host], rounds: u64) -> Vec<Row> {
    let mut rows = Vec::new();
    let keep = |new: Vec<Row>| {
        rows.extend(new);
        Ok::<(), Infallible>(())
    };
    let spec = hosts_spec(hosts, rounds);
    let cancel = Cancel::new();
    let probing = probe::run_hosts(&spec, hosts, 5, &cancel, keep);
    tokio::time::timeout(RECEIVE_TIMEOUT, probing)
        .await
        .unwrap()
        .unwrap();
    rows
}

#[test]
fn hosts_are_probed_over_connections_that_stay_open() {
    runtime().block_on(async {
        let tcp = TcpServer::bind(HERE, &Token::none()).await.unwrap();
        let identity = Identity::generate().unwrap();
        let quic = quic::probe::serve(HERE, &identity, &Token::none()).unwrap();
        let host = |name: &str, address: SocketAddr, over: Over| Host {
            name: name.to_string(),
            address: address.to_string(),
            over,
            token: Token::none(),
        };
        let hosts = [
            host("one", tcp.address().unwrap(), Over::Tcp),
            host("other", quic.address(), Over::Quic(quic.fingerprint())),
            host("nobody", (Ipv4Addr::LOCALHOST, 9).into(), Over::Tcp),
        ];
        let serving = tokio::spawn(tcp.run());
        let rows = probe_hosts(&hosts, 3).await;
        assert_eq!(rows.len(), 3 * 3 * 2);
        for row in &rows {
            let is_there = row.destination != "nobody";
            assert_eq!(row.goodput_bps.is_some(), is_there, "{row:?}");
            assert_eq!(row.failure.is_none(), is_there, "{row:?}");
            assert_eq!(row.is_first, row.round == 5 || !is_there, "{row:?}");
            // The kernel reports limits of TCP if it has sock_diag; QUIC always does.
            let told = (is_there && row.over == "quic", is_there);
            let is_told = row.limited_by.is_some();
            assert!(is_told >= told.0 && is_told <= told.1, "{row:?}");
            let sum = row.limited_by.map_or(1.0, |by| {
                by.application + by.receiver + by.send_buffer + by.congestion
            });
            assert!((sum - 1.0).abs() < 1e-9, "{row:?}");
        }
        let refused = rows.iter().find(|row| row.destination == "nobody").unwrap();
        let reason = refused.failure.as_deref().unwrap();
        assert!(
            reason.starts_with("cannot connect to 127.0.0.1:9: "),
            "{reason}"
        );
        // Each round begins with another controller.
        let of_one = rows.iter().filter(|row| row.destination == "one");
        let order: Vec<&str> = of_one.map(|row| row.controller.as_str()).collect();
        assert_eq!(order, ["reno", "cubic", "cubic", "reno", "reno", "cubic"]);
        serving.abort();
    });
}

/// Takes one probe over each connection, answers it, and hangs up.
fn forgetful(listener: &TcpListener) {
    for stream in listener.incoming() {
        let mut stream = stream.unwrap();
        stream.read_exact(&mut [0; 8]).unwrap();
        stream.write_all(&[7; 32]).unwrap();
        stream.read_exact(&mut [0; 32]).unwrap();
        stream.write_all(&[0]).unwrap();
        let mut length = [0; 8];
        stream.read_exact(&mut length).unwrap();
        let bytes = u64::from_be_bytes(length);
        std::io::copy(&mut (&stream).take(bytes), &mut std::io::sink()).unwrap();
        stream.write_all(&bytes.to_be_bytes()).unwrap();
    }
}

#[test]
fn a_connection_that_breaks_costs_a_probe_and_is_made_anew() {
    let listener = TcpListener::bind(HERE).unwrap();
    let hosts = [Host {
        name: "forgetful".to_string(),
        address: listener.local_addr().unwrap().to_string(),
        over: Over::Tcp,
        token: Token::none(),
    }];
    std::thread::spawn(move || forgetful(&listener));
    let rows = runtime().block_on(probe_hosts(&hosts, 4));
    let cubic: Vec<(bool, bool)> = rows
        .iter()
        .filter(|row| row.controller == "cubic")
        .map(|row| (row.is_first, row.failure.is_none()))
        .collect();
    assert_eq!(
        cubic,
        [(true, true), (false, false), (true, true), (false, false)]
    );
}

#[test]
fn what_keep_refuses_and_what_is_cancelled_ends_the_rounds() {
    runtime().block_on(async {
        let hosts = [Host {
            name: "nobody".to_string(),
            address: "127.0.0.1:9".to_string(),
            over: Over::Tcp,
            token: Token::none(),
        }];
        let spec = hosts_spec(&hosts, 100);
        let full = probe::run_hosts(&spec, &hosts, 0, &Cancel::new(), |_| Err("full")).await;
        assert_eq!(full, Err("full"));
        let cancel = Cancel::new();
        cancel.cancel();
        let mut rounds = 0;
        let keep = |_| {
            rounds += 1;
            Ok::<(), Infallible>(())
        };
        probe::run_hosts(&spec, &hosts, 0, &cancel, keep)
            .await
            .unwrap();
        // A round that is due when it is cancelled may or may not run.
        assert!(rounds <= 1, "{rounds}");
    });
}

/// A receiver over TCP in a runtime of its own.
fn tcp_receiver(token: &Token) -> (tokio::runtime::Runtime, SocketAddr) {
    let runtime = runtime();
    let server = runtime.block_on(TcpServer::bind(HERE, token)).unwrap();
    let address = server.address().unwrap();
    runtime.spawn(server.run());
    (runtime, address)
}

/// Greets a receiver, and returns its challenge.
fn greet(address: SocketAddr) -> (TcpStream, [u8; 32]) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(RECEIVE_TIMEOUT)).unwrap();
    stream.write_all(b"fpprobe2").unwrap();
    let mut challenge = [0; 32];
    stream.read_exact(&mut challenge).unwrap();
    (stream, challenge)
}

/// The bytes that a receiver sends until it closes the connection.
fn rest(mut stream: TcpStream) -> Vec<u8> {
    let mut answer = Vec::new();
    // A reset closes the connection, too.
    let _ = stream.read_to_end(&mut answer);
    answer
}

#[test]
fn garbage_is_hung_up_on_and_others_are_served() {
    let (_runtime, address) = tcp_receiver(&Token::none());
    for garbage in [
        &b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"[..],
        b"fpprobe1",
        &[0xff; 4096],
    ] {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(RECEIVE_TIMEOUT)).unwrap();
        stream.write_all(garbage).unwrap();
        assert_eq!(rest(stream), b"");
    }
    let proven = || {
        let (mut stream, challenge) = greet(address);
        stream.write_all(&Token::none().proof(&challenge)).unwrap();
        let mut answer = [9];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(answer, [0]);
        stream
    };
    let mut stream = proven();
    stream.write_all(&[0xff; 8]).unwrap();
    assert_eq!(rest(stream), b"", "too large");
    let mut whole = 3u64.to_be_bytes().to_vec();
    whole.extend([0; 3]);
    // Half of the next number, and nothing more.
    let mut stream = proven();
    stream
        .write_all(&[whole.as_slice(), &[0, 0, 0]].concat())
        .unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(rest(stream), 3u64.to_be_bytes());
}

#[test]
fn a_proof_is_of_the_receivers_token_and_challenge() {
    let token = Token::parse("sixteen letters!").unwrap();
    let (runtime, address) = tcp_receiver(&token);
    let (_, earlier) = greet(address);
    for (token, replayed) in [(&token, true), (&Token::none(), false)] {
        let (mut stream, challenge) = greet(address);
        assert_ne!(challenge, earlier);
        let of = if replayed { &earlier } else { &challenge };
        stream.write_all(&token.proof(of)).unwrap();
        assert_eq!(rest(stream), [1]);
    }
    let host = |name: &str, token: &Token| Host {
        name: name.to_string(),
        address: address.to_string(),
        over: Over::Tcp,
        token: token.clone(),
    };
    let hosts = [host("right", &token), host("none", &Token::none())];
    for row in runtime.block_on(probe_hosts(&hosts, 2)) {
        let reason = row.failure.unwrap_or_default();
        let is_refused = reason.contains("another token");
        assert_eq!(is_refused, row.destination == "none", "{reason}");
    }
}

#[test]
fn many_idle_connections_of_one_address_shut_nobody_out() {
    let (runtime, address) = tcp_receiver(&Token::none());
    let mut crowd = Vec::new();
    let socket = || {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket
            .bind((Ipv4Addr::new(127, 0, 0, 2), 0).into())
            .unwrap();
        socket.connect(address)
    };
    // Twice as many connections as there are places; this process has both ends.
    let most = 500;
    runtime.block_on(async {
        for _ in 0..most {
            crowd.extend(socket().await.ok());
        }
    });
    assert!(crowd.len() > 256, "{}", crowd.len());
    let hosts = [Host {
        name: "crowded".to_string(),
        address: address.to_string(),
        over: Over::Tcp,
        token: Token::none(),
    }];
    for row in runtime.block_on(probe_hosts(&hosts, 2)) {
        assert_eq!(row.failure, None);
    }
}

#[test]
fn tokens_are_read_from_files_beside_the_probe() {
    let directory = tempfile::tempdir().unwrap();
    let text = HOSTS.replace("over = \"tcp\"", "over = \"tcp\"\ntoken = \"secret\"");
    let read = || Spec::parse(&text, directory.path()).map_err(|error| error.to_string());
    let error = read().unwrap_err();
    assert!(
        error.starts_with("line 5: destination[0].token: "),
        "{error}"
    );
    fs::write(directory.path().join("secret"), "too short\n").unwrap();
    let error = read().unwrap_err();
    assert!(error.contains("at least 16 characters"), "{error}");
    fs::write(directory.path().join("secret"), "sixteen letters!\n").unwrap();
    let Target::Hosts(hosts) = read().unwrap().target else {
        panic!("hosts");
    };
    assert_eq!(hosts[0].token, Token::parse("sixteen letters!").unwrap());
    assert!(hosts[1].token.is_none());
    assert!(!format!("{hosts:?}").contains("sixteen"));
}

#[test]
fn reasons_of_failures_are_told() {
    let mut results = Results::new(["bbr1", "cubic"].map(String::from));
    let failed = |destination: &str, reason: &str| Row {
        failure: Some(reason.to_string()),
        ..row(destination, "cubic", None)
    };
    results.add(&[row("a", "bbr1", Some(1e6)), failed("a", "no route")]);
    results.add(&[failed("a", "no route"), failed("a", "refused")]);
    for number in 0..9 {
        results.add(&[failed("b", &format!("reason {number}"))]);
    }
    assert_eq!(
        results.json("x")["destinations"][0]["failures"],
        serde_json::json!([
            { "controller": "cubic", "reason": "no route", "count": 2 },
            { "controller": "cubic", "reason": "refused", "count": 1 },
        ])
    );
    let table = probe::failures(&results);
    let told: Vec<&str> = table
        .lines()
        .filter(|line| line.starts_with("failed ") || line.starts_with("failed:"))
        .collect();
    assert_eq!(told.len(), 10, "{table}");
    assert_eq!(told[0], "failed 2 times: a cubic: no route");
    assert_eq!(told[1], "failed: a cubic: refused");
    assert_eq!(table.lines().last(), Some("and 1 more reason"));
}
