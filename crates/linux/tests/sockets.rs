//! Kernel TCP over the loopback device of a host: sock_diag reports what was set.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::thread;
use std::time::Duration;

use linux::diag::{CounterReader, Diag, Ends, Filter, SocketState, TcpState};
use linux::socket::{
    ConnectOptions, Listener, connect_here, discard, established, listen_here, send, set_controller,
};
use linux::{Error, Host, Network, NetworkConfig};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

const LOCALHOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

const RENO: ConnectOptions = ConnectOptions {
    controller: "reno",
    mss: None,
};

/// Runs `test` in a namespace of its own; if none is possible, in the current one, with a message.
fn in_a_namespace(test: impl FnOnce() + Send) {
    match Network::create(&NetworkConfig::default()) {
        Ok(network) => network.near.inside(test).expect("the namespace was made"),
        Err(error) => {
            eprintln!("NOT in a namespace of its own: {error}");
            test();
        }
    }
}

/// The loopback addresses of both IP versions; only that of IPv4, with a message, if there is no IPv6.
fn loopback() -> Vec<IpAddr> {
    let both = [LOCALHOST, Ipv6Addr::LOCALHOST.into()];
    let listens = |address: &IpAddr| {
        listen_here(SocketAddr::new(*address, 0))
            .inspect_err(|error| eprintln!("NOT tried with {address}: {error}"))
            .is_ok()
    };
    both.into_iter().filter(listens).collect()
}

/// Waits until a socket can be written or read.
fn wait(socket: &impl AsFd, flags: PollFlags) {
    poll(&mut [PollFd::new(socket.as_fd(), flags)], PollTimeout::NONE).expect("poll");
}

/// Both ends of a connection from `address` to a listener there.
fn pair(listener: &Listener, options: &ConnectOptions) -> (TcpStream, TcpStream) {
    let near = connect_here(listener.address().ip(), listener.address(), options).expect("connect");
    wait(&near, PollFlags::POLLOUT);
    assert!(established(&near).expect("established"));
    wait(listener, PollFlags::POLLIN);
    let (far, from) = listener.accept().expect("accept");
    assert_eq!(from, near.local_addr().expect("local address"));
    (near, far)
}

fn listener(address: IpAddr) -> Listener {
    listen_here(SocketAddr::new(address, 0)).expect("listen")
}

/// The connections that pass `filter`.
fn sockets(filter: &Filter) -> Vec<SocketState> {
    let mut all = Vec::new();
    Diag::open_here()
        .and_then(|mut diag| diag.sockets(filter, |socket| all.push(*socket)))
        .expect("dump");
    all
}

/// The connecting sides of all connections to `listener`.
fn senders(listener: &Listener) -> Vec<SocketState> {
    let port = listener.address().port();
    sockets(&Filter {
        remote_ports: Some(port..=port),
        ..Filter::default()
    })
}

/// The controllers that the kernel offers here.
fn offered() -> Vec<String> {
    std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control")
        .expect("sysctl")
        .split_whitespace()
        .map(str::to_owned)
        .collect()
}

/// The controllers that this user may choose: all of them in a namespace of its own. The others are named.
fn permitted() -> Vec<String> {
    let socket = listener(LOCALHOST);
    let chosen = |name: &String| {
        set_controller(&socket, name)
            .inspect_err(|error| eprintln!("NOT tried with {name}: {error}"))
            .is_ok()
    };
    offered().into_iter().filter(chosen).collect()
}

/// Sends `bytes` from one end to the other, by turns.
fn transfer(near: &TcpStream, far: &TcpStream, bytes: usize) {
    let (mut sent, mut received) = (0, 0);
    while received < bytes {
        match send(near, bytes - sent) {
            Ok(some) => sent += some,
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
        }
        wait(far, PollFlags::POLLIN);
        received += discard(far, usize::MAX).expect("discard");
    }
    assert_eq!((sent, received), (bytes, bytes));
}

#[test]
fn what_was_sent_is_acknowledged_byte_for_byte() {
    const SENT: usize = 10_000_019;
    in_a_namespace(|| {
        for address in loopback() {
            let listener = listener(address);
            for controller in permitted() {
                let (near, far) = pair(
                    &listener,
                    &ConnectOptions {
                        controller: &controller,
                        mss: None,
                    },
                );
                transfer(&near, &far, SENT);
                let mut state = senders(&listener).pop().expect("the connection");
                while state.info.unacked > 0 {
                    thread::sleep(Duration::from_millis(1));
                    state = senders(&listener).pop().expect("the connection");
                }

                assert_eq!(state.controller.as_str(), controller);
                assert_eq!(state.state, TcpState::Established);
                assert_eq!(state.local, near.local_addr().expect("local address"));
                assert_eq!(state.remote, listener.address());
                assert_eq!(state.bbr.is_some(), controller == "bbr");
                assert_eq!(
                    state.info.bytes_acked.get(),
                    SENT as u64 + 1,
                    "the SYN counts as one"
                );
                assert_eq!(
                    state.info.bytes_sent.get() - state.info.bytes_retrans.get(),
                    SENT as u64
                );
                assert_eq!(state.unacknowledged.get(), 0);
                assert_eq!(state.info.inflight(), 0);
                assert!(state.info.min_rtt.is_some());
                assert!(!state.info.delivery_rate.is_zero());
                assert!(!state.memory.send_buffer.is_zero());
                drop((near, far));
                while !senders(&listener).is_empty() {
                    thread::sleep(Duration::from_millis(1));
                }
            }
        }
    });
}

#[test]
fn an_unknown_controller_is_answered_with_those_that_there_are() {
    in_a_namespace(|| {
        for address in loopback() {
            let listener = listener(address);
            let options = ConnectOptions {
                controller: "no_such",
                mss: None,
            };
            let error = connect_here(address, listener.address(), &options)
                .expect_err("no such controller");
            assert!(matches!(error, Error::UnknownController { .. }), "{error}");
            for name in offered() {
                assert!(error.to_string().contains(&name), "{error}");
            }
        }
    });
}

#[test]
fn the_mss_bounds_both_directions() {
    const MSS: u16 = 1_000;
    in_a_namespace(|| {
        for address in loopback() {
            let listener = listener(address);
            let options = ConnectOptions {
                mss: Some(MSS),
                ..RENO
            };
            let (near, far) = pair(&listener, &options);
            transfer(&near, &far, 100_000);
            transfer(&far, &near, 100_000);
            let port = listener.address().port();
            let mut states = senders(&listener);
            states.extend(sockets(&Filter {
                local_ports: Some(port..=port),
                ..Filter::default()
            }));
            assert_eq!(states.len(), 2);
            for state in states {
                assert!(state.info.snd_mss.get() <= MSS.into(), "{state:?}");
                assert!(state.info.data_segs_out >= 100, "{state:?}");
            }
        }
    });
}

#[test]
fn a_dump_of_hundreds_leaves_none_out() {
    const CONNECTIONS: usize = 200;
    in_a_namespace(|| {
        let listeners: Vec<_> = loopback().into_iter().map(listener).collect();
        let pairs: Vec<_> = (0..CONNECTIONS)
            .map(|index| pair(&listeners[index % listeners.len()], &RENO))
            .collect();
        let expected: HashSet<_> = pairs
            .iter()
            .map(|(near, _)| near.local_addr().expect("local address"))
            .collect();

        let dumped: Vec<_> = listeners.iter().flat_map(senders).collect();
        assert_eq!(dumped.len(), CONNECTIONS);
        let locals: HashSet<_> = dumped.iter().map(|state| state.local).collect();
        assert_eq!(locals, expected);
        let cookies: HashSet<_> = dumped.iter().map(|state| state.cookie).collect();
        assert_eq!(cookies.len(), CONNECTIONS);

        let ports: Vec<_> = listeners
            .iter()
            .map(|listener| listener.address().port())
            .collect();
        let everything = sockets(&Filter::default());
        let ours = everything.iter().filter(|state| {
            ports.contains(&state.local.port()) || ports.contains(&state.remote.port())
        });
        assert_eq!(ours.count(), 2 * CONNECTIONS);
    });
}

#[test]
fn a_port_filter_passes_its_ends_and_nothing_else() {
    in_a_namespace(|| {
        let listener = listener(LOCALHOST);
        let _pair = pair(&listener, &RENO);
        let port = listener.address().port();
        let passes = |ports: std::ops::RangeInclusive<u16>| {
            let filter = Filter {
                remote_ports: Some(ports.clone()),
                ..Filter::default()
            };
            let states = sockets(&filter);
            assert!(
                states
                    .iter()
                    .all(|state| ports.contains(&state.remote.port()))
            );
            states
                .iter()
                .any(|state| state.remote == listener.address())
        };
        assert!(passes(port..=port));
        assert!(passes(port - 1..=port));
        assert!(passes(port..=u16::MAX));
        assert!(!passes(0..=port - 1));
        assert!(!passes(port..=port - 1));
    });
}

#[test]
fn nobody_listening_is_an_error() {
    in_a_namespace(|| {
        let address = listener(LOCALHOST).address();
        let refused = match connect_here(address.ip(), address, &RENO) {
            Ok(stream) => {
                wait(&stream, PollFlags::POLLOUT);
                established(&stream)
                    .map(|_| ())
                    .map_err(|error| error.kind())
            }
            Err(Error::System { source, .. }) => Err(source.kind()),
            Err(other) => panic!("{other}"),
        };
        assert_eq!(refused, Err(ErrorKind::ConnectionRefused));
    });
}

#[test]
fn sending_and_discarding_end_where_the_connection_does() {
    in_a_namespace(|| {
        let (near, far) = pair(&listener(LOCALHOST), &RENO);
        assert_eq!(
            discard(&far, 1).expect_err("nothing yet").kind(),
            ErrorKind::WouldBlock
        );
        assert_eq!(send(&near, 0).expect("nothing to send"), 0);
        assert_eq!(send(&near, 100_001).expect("send"), 100_001);
        near.shutdown(std::net::Shutdown::Write).expect("shutdown");
        let mut received = 0;
        loop {
            wait(&far, PollFlags::POLLIN);
            match discard(&far, 30_000).expect("discard") {
                0 => break,
                some => received += some,
            }
        }
        assert_eq!(received, 100_001);
    });
}

#[test]
fn what_was_opened_in_a_host_tells_of_that_host_from_anywhere() {
    let network = match Network::create(&NetworkConfig::default()) {
        Ok(network) => network,
        Err(error) => {
            skipping::skip!("sockets of other hosts: no namespaces: {error}");
            return;
        }
    };
    let open = |host: &Host| {
        let diag = Diag::open(host).expect("diag");
        let counters = CounterReader::open(host).expect("counters");
        (diag, counters)
    };
    let (mut near_diag, mut near_counters) = open(&network.near);
    let (mut far_diag, mut far_counters) = open(&network.far);
    let before = (
        near_counters.read().expect("counters"),
        far_counters.read().expect("counters"),
    );
    let _ends = network
        .near
        .inside(|| {
            let listener = listener(LOCALHOST);
            let (near, far) = pair(&listener, &RENO);
            transfer(&near, &far, 1_000_000);
            (near, far)
        })
        .expect("the namespace was made");

    let count = |diag: &mut Diag| {
        let mut count = 0;
        diag.sockets(&Filter::default(), |_| count += 1)
            .expect("dump");
        count
    };
    assert_eq!(count(&mut near_diag), 2);
    assert_eq!(count(&mut far_diag), 0);
    let near = near_counters.read().expect("counters").since(&before.0);
    let far = far_counters.read().expect("counters").since(&before.1);
    assert!(near.get("TCPOrigDataSent") > Some(0));
    assert!(near.get("OutSegs") > Some(0));
    assert_eq!(far.get("TCPOrigDataSent"), Some(0));
    assert_eq!(far.get("OutSegs"), Some(0));
}

#[test]
fn a_connection_that_goes_is_told_with_what_it_carried() {
    in_a_namespace(|| {
        for address in loopback() {
            let mut ends = Ends::listen_here().expect("sock_diag");
            let (near, far) = pair(&listener(address), &RENO);
            assert_eq!(send(&near, 10_000).expect("send"), 10_000);
            wait(&far, PollFlags::POLLIN);
            assert_eq!(discard(&far, 20_000).expect("what was sent"), 10_000);
            let own = near.local_addr().expect("an address");
            let mut cookie = None;
            let mut diag = Diag::open_here().expect("sock_diag");
            let looked = diag.sockets(&Filter::default(), |socket| {
                if socket.local == own {
                    cookie = Some(socket.cookie);
                }
            });
            looked.expect("a look");
            drop((near, far));
            let begin = std::time::Instant::now();
            let mut found = Vec::new();
            while found.is_empty() {
                let is_all = ends.ended(|one| found.extend((one.local == own).then_some(*one)));
                assert!(is_all.expect("sock_diag"));
                assert!(begin.elapsed() < Duration::from_secs(60), "{address}");
                thread::sleep(Duration::from_millis(5));
            }
            assert_eq!(Some(found[0].cookie), cookie);
            // Includes the SYN, which its side has sent, and possibly a FIN.
            let acknowledged = found[0].info.bytes_acked.get();
            assert!((10_000..=10_002).contains(&acknowledged), "{acknowledged}");
        }
    });
}
