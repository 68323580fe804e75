//! Parts that all tests of the relay use.

use std::net::{SocketAddr, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use emulator::{Relay, RelayConfig, RelayCounters, Sharing};
use path::{LinkConfig, PathConfig};

/// A limit that only a failing test reaches, on any machine.
pub const TIMEOUT: Duration = Duration::from_secs(20);

/// Opens a socket on a free port of `ip` whose reads time out after [`TIMEOUT`].
pub fn socket(ip: &str) -> UdpSocket {
    let socket = UdpSocket::bind((ip, 0)).unwrap();
    socket.set_read_timeout(Some(TIMEOUT)).unwrap();
    socket
}

/// Starts a relay with seed 1.
pub fn start(listen: &str, to: SocketAddr, path: PathConfig, sharing: Sharing) -> Relay {
    Relay::start(RelayConfig {
        listen: listen.parse().unwrap(),
        to,
        path,
        seed: 1,
        sharing,
    })
    .unwrap()
}

/// A path that only delays, by half of `millis` each way.
pub fn rtt(millis: u64) -> PathConfig {
    let link = LinkConfig {
        delay: units::Duration::from_millis(millis / 2),
        ..LinkConfig::default()
    };
    PathConfig {
        forward: link.clone(),
        reverse: link,
    }
}

/// Waits until the counters satisfy `condition`.
pub fn wait_for(relay: &Relay, condition: impl Fn(&RelayCounters) -> bool) {
    let start = Instant::now();
    while !condition(&relay.counters()) {
        assert!(start.elapsed() < TIMEOUT, "{:?}", relay.counters());
        thread::sleep(Duration::from_micros(100));
    }
}
