//! A host's TCP settings, and their effect on connections.

use std::net::SocketAddr;

use libtest_mimic::Trial;
use linux::diag::{Diag, Filter, TcpInfo};
use linux::socket::{ConnectOptions, connect, listen};
use linux::{Family, Network, NetworkConfig, Settings};
use units::{Bytes, Duration};

use crate::support::{eventually, line, network, read};
use crate::traffic::Joined;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("buffers grow as far as asked", buffers),
        trial("ECN is negotiated only if asked for", ecn),
        trial(
            "connections take the route's initial window and least timeout",
            metrics,
        ),
        trial("a sysctl that cannot be set is named", impossible_sysctls),
        trial("a sysctl by name is set", named_sysctl),
        trial("every controller that is offered can be had", controllers),
    ]
}

fn with(host: Settings) -> Network {
    Network::create(&NetworkConfig {
        host,
        ..NetworkConfig::default()
    })
    .expect("settings that can be had")
}

fn buffers() {
    let settings = Settings {
        send_buffer: Bytes::new(5_000_000),
        receive_buffer: Bytes::MAX,
        ..Settings::default()
    };
    let network = with(settings);
    for host in [&network.near, &network.far] {
        let most = |file| {
            read(host, file)
                .split_whitespace()
                .last()
                .map(str::to_owned)
        };
        assert_eq!(
            most("/proc/sys/net/ipv4/tcp_wmem").as_deref(),
            Some("5000000")
        );
        assert_eq!(
            most("/proc/sys/net/ipv4/tcp_rmem").as_deref(),
            Some("2147483647")
        );
        assert_eq!(
            read(host, "/proc/sys/net/ipv4/tcp_no_metrics_save").trim(),
            "1"
        );
    }
}

/// TCP's state of a new connection over `network`.
fn connection(network: &Network) -> TcpInfo {
    let _joined = Joined::new(network);
    let to = SocketAddr::new(network.far.address(0, Family::V4), 7000);
    let listener = listen(&network.far, to).expect("listen");
    let from = network.near.address(0, Family::V4);
    let _stream = connect(
        &network.near,
        from,
        to,
        &ConnectOptions {
            controller: "reno",
            mss: None,
        },
    )
    .expect("connect");
    let _other = eventually(|| listener.accept()).expect("accept");
    let mut diag = Diag::open(&network.near).expect("sock_diag");
    let mut info = None;
    diag.sockets(&Filter::default(), |socket| info = Some(socket.info))
        .expect("sockets");
    info.expect("one connection")
}

fn ecn() {
    for ecn in [false, true] {
        let network = with(Settings {
            ecn,
            ..Settings::default()
        });
        assert_eq!(connection(&network).negotiated.ecn, ecn);
    }
}

fn metrics() {
    let seconds = Duration::from_secs(5);
    let network = with(Settings {
        initial_cwnd: Some(33),
        min_rto: Some(seconds),
        ..Settings::default()
    });
    let info = connection(&network);
    assert_eq!(info.snd_cwnd, 33);
    assert!(info.rto >= seconds, "{}", info.rto);

    let network = with(Settings::default());
    let info = connection(&network);
    assert_eq!(info.snd_cwnd, 10);
    assert!(info.rto < seconds, "{}", info.rto);
}

fn impossible_sysctls() {
    for (name, expected) in [
        ("net.ipv4.tcp_frobnicate", "no such sysctl"),
        ("kernel.hostname", "not of a network namespace"),
        ("net/../kernel/hostname", "not of a network namespace"),
    ] {
        let settings = Settings {
            sysctls: vec![(name.to_owned(), "1".to_owned())],
            ..Settings::default()
        };
        let error = Network::create(&NetworkConfig {
            host: settings,
            ..NetworkConfig::default()
        })
        .expect_err(name);
        assert!(line(&error).contains(name), "{error}");
        assert!(line(&error).contains(expected), "{error}");
    }
}

fn named_sysctl() {
    let settings = Settings {
        sysctls: vec![("net.ipv4.tcp_sack".into(), "0".into())],
        ..Settings::default()
    };
    let network = with(settings);
    assert_eq!(
        read(&network.near, "/proc/sys/net/ipv4/tcp_sack").trim(),
        "0"
    );
    assert!(!connection(&network).negotiated.sack);
}

fn controllers() {
    let network = network();
    let offered = linux::controllers(&network.near).expect("controllers");
    assert!(offered.iter().any(|name| name == "reno"), "{offered:?}");
    for name in &offered {
        let from = network.near.address(0, Family::V4);
        let to = SocketAddr::new(network.far.address(0, Family::V4), 9);
        let options = ConnectOptions {
            controller: name,
            mss: None,
        };
        connect(&network.near, from, to, &options).expect("a controller that the kernel offers");
    }
}
