//! The cost of one dump of a host's connections, by their number.
//!
//! The kernel walks the namespace's whole table of connections for each dump, so the first connection costs the most.
//! The size of the table is printed before the results.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::fd::AsFd;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use linux::diag::{Diag, Filter};
use linux::socket::{ConnectOptions, Listener, connect, listen};
use linux::{Host, Network, NetworkConfig};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// Both ends of a connection over the loopback device of `host`.
fn pair(host: &Host, listener: &Listener) -> (TcpStream, TcpStream) {
    let options = ConnectOptions {
        controller: "bbr",
        mss: None,
    };
    let to = listener.address();
    let near = connect(host, to.ip(), to, &options).expect("connect");
    let mut arrival = [PollFd::new(listener.as_fd(), PollFlags::POLLIN)];
    poll(&mut arrival, PollTimeout::NONE).expect("poll");
    (near, listener.accept().expect("accept").0)
}

fn dump(criterion: &mut Criterion) {
    let network = Network::create(&NetworkConfig::default()).expect("a network");
    let host = &network.near;
    let table = host
        .inside(|| fs::read_to_string("/proc/sys/net/ipv4/tcp_ehash_entries"))
        .expect("the namespace was made");
    eprintln!("tcp_ehash_entries: {}", table.unwrap_or_default().trim());

    let listener = listen(host, SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0)).expect("listen");
    let port = listener.address().port();
    let senders = Filter {
        remote_ports: Some(port..=port),
        ..Filter::default()
    };
    let mut diag = Diag::open(host).expect("diag");
    let mut pairs = Vec::new();
    let mut group = criterion.benchmark_group("dump");
    for connections in [1, 10, 200] {
        pairs.resize_with(connections, || pair(host, &listener));
        group.bench_function(BenchmarkId::from_parameter(connections), |bencher| {
            bencher.iter(|| {
                let mut told = 0;
                diag.sockets(&senders, |_| told += 1).expect("dump");
                assert_eq!(told, connections);
            });
        });
    }
}

criterion_group!(benches, dump);
criterion_main!(benches);
