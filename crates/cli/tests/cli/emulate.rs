//! `fullpipe emulate` under real datagrams.

use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{Running, TEST_TIMEOUT, refused};

/// Starts a server that echoes every datagram. Returns its address.
fn echo() -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let address = socket.local_addr().expect("bound");
    thread::spawn(move || {
        let mut buffer = [0; 2048];
        while let Ok((length, from)) = socket.recv_from(&mut buffer) {
            let _ = socket.send_to(&buffer[..length], from);
        }
    });
    address
}

/// Starts a relay to `to`. Returns it and the address that it listens on.
fn relay(to: SocketAddr, options: &[&str]) -> (Running, SocketAddr) {
    let to = to.to_string();
    let arguments = ["emulate", "--listen", "127.0.0.1:0", "--to", &to];
    let mut relay = Running::start(Path::new("."), arguments.iter().chain(options).copied());
    let line = relay.stderr_line_with("relaying");
    let listen = line.split_whitespace().nth(1).expect("an address");
    (relay, listen.parse().expect("an address"))
}

fn client() -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    socket
        .set_read_timeout(Some(TEST_TIMEOUT))
        .expect("a timeout");
    socket
}

/// Waits for a datagram, despite signals from other tests' children.
fn receive(socket: &UdpSocket, buffer: &mut [u8]) -> (usize, SocketAddr) {
    loop {
        match socket.recv_from(buffer) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            received => return received.expect("a datagram"),
        }
    }
}

#[test]
fn counters_add_up_when_ctrl_c_ends_it() {
    let options = [
        "--rate", "10mbit", "--rtt", "10ms", "--buffer", "100kb", "--json",
    ];
    let (relay, address) = relay(echo(), &options);
    let clients = [client(), client()];
    for index in 0..20u8 {
        let client = &clients[usize::from(index % 2)];
        client.send_to(&[index; 100], address).expect("sent");
        let mut buffer = [0; 200];
        let (length, from) = receive(client, &mut buffer);
        assert_eq!((&buffer[..length], from), (&[index; 100][..], address));
    }
    relay.signal(Signal::INT);
    let (stdout, _) = relay.finish_with(0);
    let counters: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(counters["clients_seen"], 2);
    for direction in ["forward", "reverse"] {
        let counters = &counters[direction];
        assert_eq!(counters["entered_packets"], 20, "{direction}");
        assert_eq!(counters["delivered_packets"], 20, "{direction}");
        assert_eq!(counters["delivered_bytes"], 20 * (100 + 28), "{direction}");
        assert_eq!(counters["random_losses"], 0, "{direction}");
    }
}

#[test]
fn losses_are_counted_and_sigterm_ends_it_too() {
    let (relay, address) = relay(echo(), &["--loss", "50%", "--per-client", "--seed", "7"]);
    let client = client();
    for _ in 0..100 {
        client.send_to(b"perhaps", address).expect("sent");
    }
    // The relay has read every datagram that was sent before an answered one.
    let retry = Some(Duration::from_millis(200));
    client.set_read_timeout(retry).expect("a timeout");
    let mut sent = 100;
    let mut answer = [0; 8];
    while !matches!(client.recv_from(&mut answer), Ok((4, _))) {
        client.send_to(b"last", address).expect("sent");
        sent += 1;
    }
    relay.signal(Signal::TERM);
    let (stdout, _) = relay.finish_with(0);
    let row = |name: &str| -> Vec<u64> {
        let line = stdout.lines().find_map(|line| line.strip_prefix(name));
        let numbers = line.unwrap_or_else(|| panic!("{name} is not in {stdout}"));
        numbers
            .split_whitespace()
            .map(|number| number.parse().expect("a number"))
            .collect()
    };
    let (entered, lost) = (row("entered packets")[0], row("random losses")[0]);
    assert!((100..=sent).contains(&entered), "{stdout}");
    assert!((20..=80).contains(&lost), "{stdout}");
    assert_eq!(row("delivered packets")[0] + lost, entered, "{stdout}");
    assert_eq!(row("random losses")[1], 0, "{stdout}");
    assert_eq!(row("clients"), [1], "{stdout}");
}

#[test]
fn a_reader_that_has_gone_is_no_failure() {
    let to = echo().to_string();
    let arguments = ["emulate", "--listen", "127.0.0.1:0", "--to", &to, "--json"];
    let mut relay = Running::start_unread(Path::new("."), arguments);
    relay.stderr_line_with("relaying");
    relay.signal(Signal::INT);
    let (status, stdout, stderr) = relay.finish();
    assert_eq!((status.code(), stdout.as_str()), (Some(0), ""), "{stderr}");
    assert!(stderr.starts_with("relayed 0 packets"), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
}

#[test]
fn a_bottleneck_without_a_buffer_gets_one_and_says_so() {
    let server = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let to = server.local_addr().expect("bound");
    // At 8 kbit/s hardly anything leaves the queue meanwhile.
    let (mut relay, address) = relay(to, &["--rate", "8kbit", "--json"]);
    let said = relay.stderr_line_with("without --buffer");
    assert_eq!(said, "without --buffer, the buffer is 1.5mb");
    let client = client();
    for _ in 0..100 {
        client.send_to(&[0; 60_000], address).expect("sent");
        // Sends no faster than the relay reads.
        thread::sleep(Duration::from_millis(1));
    }
    relay.signal(Signal::INT);
    let (_, stdout, stderr) = relay.finish();
    let counters: Value = serde_json::from_str(&stdout).expect("JSON");
    let count = |name: &str| counters["forward"][name].as_u64().expect("a number");
    let inside = count("in_transit_packets") + count("delivered_packets");
    // One more is being transmitted.
    assert!(inside * 60_028 <= 1_500_000 + 2 * 60_028, "{stdout}");
    assert_eq!(count("entered_packets") - inside, count("buffer_drops"));
    assert!(stderr.contains("relayed"), "{stderr}");
}

#[test]
fn impossible_paths_are_refused() {
    for (options, parts) in [
        (&["--rate", "0"][..], ["--rate", "20mbit"]),
        (&["--rate", "20"], ["--rate", "20mbit"]),
        (&["--rtt", "forty"], ["--rtt", "40ms"]),
        (&["--loss", "101%"], ["--loss", "100%"]),
        (&["--loss", "-1%"], ["--loss", "-1%"]),
        (&["--ack-loss", "2"], ["--ack-loss", "100%"]),
        (
            &["--rate", "1mbit", "--buffer", "100b"],
            ["--buffer", "packet"],
        ),
        (&["--buffer", "4bdp"], ["--buffer", "--rate"]),
        (
            &["--policer", "rate=1mbit"],
            ["--policer: burst is missing", ""],
        ),
        (
            &["--policer", "1mbit"],
            ["--policer", "expected rate=10mbit,burst=100kb"],
        ),
        (&["--trace", "no-such.trace"], ["--trace", "no-such.trace"]),
    ] {
        let arguments = ["emulate", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:9"];
        refused(
            arguments.into_iter().chain(options.iter().copied()),
            2,
            &parts,
        );
    }
}

#[test]
fn a_busy_port_is_named() {
    let taken = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("bound").to_string();
    let arguments = ["emulate", "--listen", &address, "--to", "127.0.0.1:9"];
    refused(arguments, 1, &["cannot listen on", &address]);
}

#[test]
fn addresses_that_are_none_are_refused() {
    let arguments = ["emulate", "--listen", "4433", "--to", "127.0.0.1:9"];
    refused(arguments, 2, &["--listen", "127.0.0.1:4433"]);
    let address = std::net::UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.local_addr());
    let address = address.expect("a port").to_string();
    let arguments = ["emulate", "--listen", &address, "--to", &address];
    refused(arguments, 2, &["--to", "own address"]);
}
