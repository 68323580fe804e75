//! A sample connection for tests.

use std::sync::Arc;

use linux::diag::SocketState;
use serde_json::Value;
use tables::Json;
use units::{Bytes, Duration, Rate};

use crate::connection::{Connection, ConnectionState, Moment, Since};
use crate::systems::System;
use crate::table::{Table, nameless};
use crate::who::Process;

/// The answer of Linux 6.18 about a BBR connection, as `crates/linux` has it.
const CAPTURED: &str = include_str!("captured.hex");

fn captured() -> SocketState {
    let digits: Vec<u8> = CAPTURED
        .bytes()
        .filter(|byte| !byte.is_ascii_whitespace())
        .collect();
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    let payload: Vec<u8> = digits.chunks(2).map(byte).collect();
    SocketState::parse(&payload).unwrap().unwrap()
}

/// The fields of a connection as JSON.
pub fn json(seen: &ConnectionState) -> Value {
    let json = Json {
        columns: &crate::fields(),
        row: &seen,
    };
    serde_json::to_value(json).expect("numbers and texts")
}

fn moment(second: u64) -> Moment {
    Moment {
        at: Duration::from_secs(second),
        unix_s: 0.0,
    }
}

/// nginx's connection from 192.0.2.1:443 to 198.51.100.7:50000 with BBR: 8 Mbit/s, an RTT of 40 ms with a minimum of 20
/// ms, limited by congestion control for 0.9 s.
pub fn seen() -> ConnectionState {
    let mut socket = captured();
    socket.local = "192.0.2.1:443".parse().unwrap();
    socket.remote = "198.51.100.7:50000".parse().unwrap();
    socket.info.rtt = Duration::from_millis(40);
    socket.info.min_rtt = Some(Duration::from_millis(20));
    socket.info.snd_mss = Bytes::new(1448);
    socket.info.unacked = 10;
    socket.info.delivery_rate = Rate::from_bits_per_sec(9_600_000);
    socket.info.pacing_rate = Some(Rate::from_bits_per_sec(10_000_000));
    let second = Duration::from_secs(1);
    let since = Since {
        span: second,
        acknowledged: Bytes::new(1_000_000),
        received: Bytes::ZERO,
        packets: 700,
        retransmitted: 70,
        busy: Duration::from_millis(900),
        ..Since::default()
    };
    ConnectionState {
        since: Some(since),
        process: Some(Arc::new(Process {
            pid: 17,
            name: "nginx".to_owned(),
        })),
        cgroup: Some("/web".into()),
        system: Some(Arc::new(System {
            number: 64500,
            name: "Example".to_owned(),
        })),
        ..nameless(moment(1), &socket, "host".into())
    }
}

/// The same connection with this cookie, first seen a second ago.
pub fn connection(cookie: u64) -> Connection {
    let mut seen = seen();
    seen.socket.cookie = cookie;
    let mut connection = Connection::new(seen, 1);
    connection.first = Duration::ZERO;
    connection
}

#[test]
fn what_a_look_does_not_show_is_gone_and_the_rest_goes_on() {
    let mut table = Table::default();
    let look = |table: &mut Table, second: u64, cookies: &[u64]| {
        let when = moment(second);
        table.begin(when);
        for &cookie in cookies {
            let mut socket = seen().socket;
            socket.cookie = cookie;
            socket.info.bytes_acked = Bytes::new(second * 1000);
            socket.info.bytes_sent = socket.info.bytes_acked + socket.info.bytes_retrans;
            table.see(&socket, |socket| nameless(when, socket, "host".into()));
        }
        table.end();
        let mut all: Vec<u64> = table
            .all()
            .iter()
            .map(|one| one.seen.socket.cookie)
            .collect();
        all.sort_unstable();
        all
    };
    assert_eq!(look(&mut table, 1, &[1, 2, 3]), [1, 2, 3]);
    assert_eq!(table.by_cookie(2).unwrap().seen.since, None);
    // In another order, without one, and with a new one.
    assert_eq!(look(&mut table, 2, &[4, 3, 1]), [1, 3, 4]);
    assert!(table.by_cookie(2).is_none());
    for cookie in [1, 3] {
        let one = table.by_cookie(cookie).unwrap();
        assert_eq!(one.seen.send_rate(), Some(Rate::from_bytes_per_sec(1000)));
        assert_eq!(one.history().len(), 1);
        assert_eq!(one.first, Duration::from_secs(1));
    }
    for second in 3..200 {
        look(&mut table, second, &[3, 1]);
    }
    assert_eq!(
        table.by_cookie(1).unwrap().history().len(),
        crate::MAX_HISTORY
    );
}

/// A sample of connections with so many kilobytes acknowledged. `is_whole` tells if the kernel's answer was complete.
fn look(table: &mut Table, second: u64, sockets: &[(u64, u64)], is_whole: bool) {
    let namespace = std::sync::Arc::from("host");
    table.begin(moment(second));
    for &(cookie, kilobytes) in sockets {
        let mut socket = seen().socket;
        socket.cookie = cookie;
        socket.info.bytes_acked = Bytes::new(kilobytes * 1000);
        socket.info.bytes_sent = socket.info.bytes_acked + socket.info.bytes_retrans;
        // A connection without new packets is idle.
        socket.info.segs_in = u32::try_from(kilobytes).unwrap();
        table.see_in(&socket, &namespace);
    }
    table.told(&namespace, is_whole);
    table.end();
}

/// The kilobytes of all samples, as exported and recorded.
fn counted(table: &Table) -> u64 {
    let all = table.all().iter().filter_map(|one| one.seen.since);
    all.map(|since| since.acknowledged.get() / 1000).sum()
}

#[test]
fn a_connection_that_comes_counts_from_zero() {
    let mut table = Table::default();
    look(&mut table, 1, &[(1, 500)], true);
    // Traffic before the first sample is not counted.
    assert_eq!(counted(&table), 0);
    assert_eq!(table.by_cookie(1).unwrap().seen.since, None);
    let mut metrics = crate::Metrics::new(crate::GroupBy::Controller, 1);
    metrics.look(table.when(), table.all(), [0; 3]);
    let mut total = 0;
    // Five connections of 1.5 s with 1 MB each are seen once or twice.
    for (second, sockets) in [
        (2, vec![(1, 500), (2, 700), (3, 300)]),
        (3, vec![(2, 1000), (4, 1000), (5, 10)]),
        (4, vec![(5, 1000), (6, 1000), (3, 1000)]),
    ] {
        look(&mut table, second, &sockets, true);
        total += counted(&table);
        metrics.look(table.when(), table.all(), [0; 3]);
    }
    assert_eq!(total, 5000);
    let text = metrics.snapshot().text();
    let line = "fullpipe_tcp_acknowledged_bytes_total{controller=\"bbr\"} 5000000\n";
    assert!(text.contains(line), "{text}");
    let new = &table.by_cookie(6).unwrap().seen;
    assert_eq!(new.send_rate(), Some(Rate::from_bytes_per_sec(1_000_000)));
    assert_eq!(table.by_cookie(6).unwrap().history().len(), 1);
}

#[test]
fn what_a_dump_misses_or_tells_twice_counts_once() {
    let mut table = Table::default();
    look(&mut table, 1, &[(1, 100), (2, 100)], true);
    look(&mut table, 2, &[(1, 200), (1, 250), (1, 250)], true);
    assert_eq!(counted(&table), 100);
    assert!(table.by_cookie(2).is_none());
    look(&mut table, 3, &[(1, 250), (2, 400)], true);
    assert_eq!(counted(&table), 50 + 300);
    assert_eq!(table.came(), 0);
    let back = table.by_cookie(2).unwrap();
    assert_eq!(back.first, Duration::from_secs(1));
    assert_eq!(back.seen.since.unwrap().span, Duration::from_secs(2));
    // A reconnected socket counts from zero.
    look(&mut table, 4, &[(1, 70), (2, 400)], true);
    assert_eq!(counted(&table), 70);
}

#[test]
fn a_dump_that_fails_costs_no_counts() {
    let mut table = Table::default();
    look(&mut table, 1, &[(1, 100), (2, 100)], true);
    look(&mut table, 2, &[(1, 200), (2, 200)], true);
    look(&mut table, 3, &[(2, 300)], false);
    assert_eq!((counted(&table), table.all().len()), (100, 2));
    assert_eq!(table.by_cookie(1).unwrap().seen.send_rate(), None);
    look(&mut table, 4, &[], false);
    assert_eq!((counted(&table), table.all().len()), (0, 2));
    look(&mut table, 5, &[(1, 500), (2, 300), (3, 60)], true);
    assert_eq!(counted(&table), 300 + 60);
    let new = table.by_cookie(3).unwrap().seen.since.unwrap();
    assert_eq!(new.span, Duration::from_secs(3), "since the last whole one");
    // A namespace that no longer answers is forgotten.
    for second in 6..80 {
        look(&mut table, second, &[], false);
    }
    assert_eq!(table.all().len(), 0);
}

/// A SYN that was sent five times, and then one packet: `ss` calls that 4 of 1.
#[test]
fn a_syn_is_no_payload_and_no_packet_with_data() {
    let (mut before, mut now) = (seen().socket, seen().socket);
    let span = Duration::from_secs(1);
    for (socket, payload) in [(&mut before, 0), (&mut now, 100)] {
        let info = &mut socket.info;
        (info.bytes_sent, info.bytes_retrans) = (Bytes::new(payload), Bytes::ZERO);
        info.bytes_acked = Bytes::new(payload + 1);
        info.data_segs_out = u32::from(payload > 0);
        info.total_retrans = 4;
    }
    let first = Since::beginning(&now, span);
    assert_eq!(first.acknowledged, Bytes::new(100));
    assert_eq!(first.resent(), Some(0.0));
    assert_eq!(Since::beginning(&before, span).acknowledged, Bytes::ZERO);
    assert_eq!(
        Since::between(&before, &now, span).acknowledged,
        Bytes::new(100)
    );
    let named = nameless(moment(1), &now, "host".into());
    let fields = json(&named);
    assert_eq!(
        (
            &fields["acknowledged_bytes"],
            &fields["retransmitted_packets"]
        ),
        (&100.into(), &0.into())
    );
    // The packet was lost, too. The number of retransmissions cannot exceed that of transmissions.
    let mut again = now;
    again.info.bytes_sent += Bytes::new(100);
    again.info.bytes_retrans += Bytes::new(100);
    again.info.data_segs_out += 1;
    again.info.total_retrans += 1;
    assert_eq!(Since::between(&now, &again, span).resent(), Some(1.0));
    assert_eq!(Since::beginning(&again, span).resent(), Some(1.0));
}

#[test]
fn an_address_of_ipv4_in_a_socket_of_ipv6_is_one_of_ipv4() {
    let mut connection = connection(1);
    connection.seen.socket.local = "[::ffff:192.0.2.1]:443".parse().unwrap();
    connection.seen.socket.remote = "[::ffff:198.51.100.7]:50000".parse().unwrap();
    let (local, remote) = ("192.0.2.1:443", "198.51.100.7:50000");
    assert_eq!(crate::Column::Local.cell(&connection), local);
    assert_eq!(crate::Column::Remote.cell(&connection), remote);
    let fields = json(&connection.seen);
    assert_eq!(
        (&fields["local"], &fields["remote"]),
        (&local.into(), &remote.into())
    );
    let filter: crate::Filter = "198.51.100.7:50000 prefix=198.51.100.0/24".parse().unwrap();
    assert!(filter.passes(&connection.seen));
}

#[test]
fn parts_of_the_time_add_up_whatever_the_clocks_say() {
    let millis = Duration::from_millis;
    for [span, busy, receiver, send_buffer] in [
        [1000, 900, 0, 0],
        [100, 104, 50, 104],
        [100, 4, 50, 50],
        [7, 0, 0, 0],
    ] {
        let since = Since {
            span: millis(span),
            busy: millis(busy),
            receiver: millis(receiver),
            send_buffer: millis(send_buffer),
            ..Since::default()
        };
        let shares = since.shares().unwrap();
        let parts = [
            shares.application,
            shares.receiver,
            shares.send_buffer,
            shares.congestion,
        ];
        assert!((parts.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{shares:?}");
        assert!(parts.iter().all(|part| *part >= 0.0), "{shares:?}");
    }
    assert_eq!(Since::default().shares(), None);
}
