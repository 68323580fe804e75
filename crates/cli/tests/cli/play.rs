//! `fullpipe play`: who may use it, and what it answers.

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::Path;

use rustix::process::Signal;

use crate::support::{Running, fullpipe};

const SCENARIO: &str = "name='x'\nduration='3s'\npath={rate='20mbit',rtt='40ms'}\nflow=[{controller='bbr1'},{controller='cubic'}]";

/// A server, with its host and its secret.
struct Server {
    running: Running,
    host: String,
    secret: String,
}

impl Server {
    fn start() -> Server {
        Server::of(Running::start(Path::new("."), ["play"]))
    }

    fn of(mut running: Running) -> Server {
        let address = running.stdout_line();
        let rest = address.strip_prefix("http://").expect("an address");
        let (host, secret) = rest.split_once('/').expect("a path");
        Server {
            host: host.to_owned(),
            secret: secret.trim_end_matches('/').to_owned(),
            running,
        }
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(&self.host).expect("listens")
    }

    /// The answer to these bytes.
    fn told(&self, request: &[u8]) -> Vec<u8> {
        let mut stream = self.connect();
        // The server may close the connection on invalid input at any time.
        let _ = stream.write_all(request);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        answer
    }

    /// The status, and the body.
    fn ask(&self, method: &str, path: &str, headers: &str, body: &str) -> (String, Vec<u8>) {
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
        );
        let answer = self.told(request.as_bytes());
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n");
        let (head, rest) = answer.split_at(end.expect("a head") + 4);
        let head = String::from_utf8_lossy(head).into_owned();
        let status = head.split(' ').nth(1).unwrap_or_default().to_owned();
        let is_chunked = head.to_ascii_lowercase().contains("chunked");
        let body = if is_chunked {
            joined(rest)
        } else {
            rest.to_vec()
        };
        (status, body)
    }

    /// The status of an answer to the page itself.
    fn status(&self, path: &str, headers: &str) -> String {
        self.ask("GET", path, headers, "").0
    }

    fn own(&self) -> String {
        format!("Host: {}\r\nOrigin: http://{}\r\n", self.host, self.host)
    }

    /// The messages of an answer: their kinds and bytes.
    fn messages(&self, path: &str, text: &str) -> Vec<(u32, Vec<u8>)> {
        let path = format!("/{}/{path}", self.secret);
        let (status, body) = self.ask("POST", &path, &self.own(), text);
        assert_eq!(status, "200");
        let mut rest = &body[..];
        let mut messages = Vec::new();
        while let Some((head, after)) = rest.split_first_chunk::<8>() {
            let [length, kind] = [&head[..4], &head[4..]]
                .map(|word| u32::from_le_bytes(word.try_into().expect("four")));
            let (bytes, after) = after.split_at(length as usize);
            messages.push((kind, bytes.to_vec()));
            rest = after;
        }
        messages
    }
}

/// A body of chunks.
fn joined(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = rest.windows(2).position(|two| two == b"\r\n") {
        let length = std::str::from_utf8(&rest[..end]).expect("digits");
        let length = usize::from_str_radix(length, 16).expect("a length");
        body.extend(&rest[end + 2..end + 2 + length]);
        rest = &rest[end + 2 + length + 2..];
    }
    body
}

#[test]
fn only_who_knows_the_secret_may_use_it() {
    let server = Server::start();
    let Server { host, secret, .. } = &server;
    let page = format!("/{secret}/");
    let (status, index) = server.ask("GET", &page, &format!("Host: {host}\r\n"), "");
    assert_eq!(status, "200");
    let index = String::from_utf8_lossy(&index);
    assert!(index.contains("name=\"fullpipe-engine\" content=\"native\""));
    let port = host.rsplit(':').next().expect("a port");
    assert_eq!(
        server.status(&page, &format!("Host: localhost:{port}\r\n")),
        "200"
    );
    assert_eq!(
        server.status(&format!("/{secret}/engine.js"), &server.own()),
        "200"
    );

    let wrong = secret.replace(['0', '1', '2'], "3");
    for path in [
        "/",
        "/run",
        "/index.html",
        "//",
        &format!("/{wrong}/"),
        &format!("/{secret}"),
    ] {
        assert_eq!(server.status(path, &server.own()), "403", "{path}");
    }
    for headers in [
        "Host: rebound.example\r\n".to_owned(),
        format!("Host: rebound.example:{port}\r\n"),
        String::new(),
        format!("Host: {host}\r\nHost: {host}\r\n"),
    ] {
        let status = server.status(&page, &headers);
        assert!(
            ["400", "421"].contains(&status.as_str()),
            "{headers}: {status}"
        );
    }
    for origin in [
        "http://rebound.example",
        "null",
        "http://127.0.0.1:1",
        "https://127.0.0.1",
    ] {
        let headers = format!("Host: {host}\r\nOrigin: {origin}\r\n");
        assert_eq!(server.status(&page, &headers), "403", "{origin}");
    }
    for path in ["../Cargo.toml", "%2e%2e/Cargo.toml", "nothing", "views"] {
        assert_eq!(
            server.status(&format!("{page}{path}"), &server.own()),
            "404",
            "{path}"
        );
    }
}

#[test]
fn it_runs_and_checks_scenarios() {
    let server = Server::start();
    let messages = server.messages("run?seed=7", SCENARIO);
    let (kind, last) = messages.last().expect("a record");
    assert_eq!(*kind, 1);
    let mut own = play::Play::begin(SCENARIO, Some(7)).expect("a scenario");
    while own.step(100).expect("runs") {}
    assert!(*last == own.record(), "the record is that of the module");
    assert_eq!(server.messages("check", SCENARIO), [(1, Vec::new())]);
    for query in ["", "seed=", "seed=-1", "seed=1&seed=2", "sed=1"] {
        let path = format!("/{}/run?{query}", server.secret);
        let (status, _) = server.ask("POST", &path, &server.own(), SCENARIO);
        assert_eq!(status, "400", "{query}");
    }
    let told = "line 3: path.trace: no file is read here; give a rate";
    let refused = "name='x'\nduration='1s'\npath={trace='/etc/passwd'}\nflow=[{controller='bbr1'}]";
    for path in ["run", "check", "advise"] {
        assert_eq!(server.messages(path, refused), [(2, told.into())], "{path}");
    }
}

/// The page draws what the program prints.
#[test]
fn its_advice_is_that_of_the_command() {
    let server = Server::start();
    let slow = SCENARIO.replace("20mbit", "300kbit");
    let messages = server.messages("advise", &slow);
    let (kind, last) = messages.last().expect("an answer");
    assert_eq!(*kind, 1, "{}", String::from_utf8_lossy(last));
    let answer: serde_json::Value = serde_json::from_slice(last).expect("JSON");
    let file = tempfile::NamedTempFile::new().expect("a file");
    fs::write(&file, slow).expect("a file");
    let advise = |more: &[&str]| {
        let from = file.path().to_str().expect("a path");
        let ended = fullpipe([&["advise", "--from", from, "--quiet"], more].concat())
            .output()
            .expect("runs");
        assert!(ended.status.success());
        String::from_utf8(ended.stdout).expect("text")
    };
    let summary: serde_json::Value = serde_json::from_str(&advise(&["--json"])).expect("JSON");
    assert_eq!(answer["summary"], summary);
    let goals = answer["goals"].as_array().expect("goals");
    assert_eq!(goals.len(), summary["goals"].as_array().map_or(0, Vec::len));
    for of in goals {
        let text = advise(&["--goal", of["goal"].as_str().expect("a name")]);
        for line in of["sentences"].as_array().expect("sentences") {
            let line = line.as_str().expect("text");
            let (_, rest) = line.split_at(1);
            let rest = rest.strip_suffix('.').expect("a sentence");
            assert!(text.contains(rest), "{line} in {text}");
        }
        let tables = [&of["rivals"], &answer["candidates"]];
        let rows = tables.map(|of| of["rows"].as_array().expect("rows"));
        for row in rows.into_iter().flatten() {
            let cells = row.as_array().expect("cells").iter();
            let cells: Vec<&str> = cells.map(|cell| cell.as_str().expect("text")).collect();
            let is_printed = |line: &str| cells.iter().all(|cell| line.contains(cell));
            assert!(text.lines().any(is_printed), "{cells:?} in {text}");
        }
    }
}

#[test]
fn strangers_and_garbage_do_not_hold_it_up() {
    let server = Server::start();
    let path = format!("/{}/run", server.secret);
    let huge = "x".repeat(play::MAX_TEXT_BYTES + 1);
    let (status, _) = server.ask("POST", &path, &server.own(), &huge);
    assert_eq!(status, "413");
    for garbage in [
        &b"\0\xff\r\n\r\n"[..],
        b"GET",
        b"\r\n\r\n\r\n",
        &[b'a'; 100_000],
    ] {
        let mut stream = server.connect();
        let _ = stream.write_all(garbage);
        let _ = stream.shutdown(Shutdown::Write);
        let _ = stream.read_to_end(&mut Vec::new());
    }
    // More than the server keeps: silent ones, and some that begin a run and do not read it.
    let long = SCENARIO.replace("3s", "1000s");
    let begin = format!(
        "POST {path} HTTP/1.1\r\nContent-Length: {}\r\n{}\r\n{long}",
        long.len(),
        server.own()
    );
    let mut slow: Vec<TcpStream> = (0..4).map(|_| server.connect()).collect();
    for stream in &mut slow {
        stream.write_all(begin.as_bytes()).expect("sent");
    }
    let silent: Vec<TcpStream> = (0..400).map(|_| server.connect()).collect();
    assert_eq!(
        server.status(&format!("/{}/", server.secret), &server.own()),
        "200"
    );
    // Their runs end with their connections, and make room for others.
    drop(slow);
    let messages = server.messages("run", SCENARIO);
    assert_eq!(messages.last().map(|(kind, _)| *kind), Some(1));
    drop(silent);
    server.running.signal(Signal::INT);
    let (status, _, stderr) = server.running.finish();
    assert!(status.success(), "{stderr}");
}

/// Fewer files may be open than it keeps connections.
#[test]
fn strangers_hold_no_files_that_the_page_needs() {
    let running = Running::start_after(Path::new("."), "ulimit -n 64", ["play"]);
    let server = Server::of(running);
    let silent: Vec<TcpStream> = (0..400).map(|_| server.connect()).collect();
    let path = format!("/{}/", server.secret);
    assert_eq!(server.status(&path, &server.own()), "200");
    assert_eq!(
        server.messages("check", SCENARIO),
        [(1, Vec::new())],
        "and has a thread"
    );
    drop(silent);
}
