//! What all tests of the relay need.

use std::net::{SocketAddr, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use emulator::{Relay, RelayConfig, RelayCounters, Sharing};
use path::{LinkConfig, PathConfig};

/// Long enough for any machine; reached only when a test fails.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// A socket on a free port of `ip` that gives up reading after [`PATIENCE`].
pub fn socket(ip: &str) -> UdpSocket {
    let socket = UdpSocket::bind((ip, 0)).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket
}

/// A relay with seed 1.
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

/// A path that only delays, half of it each way.
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

/// Waits until `condition` holds of the counters.
pub fn wait_for(relay: &Relay, condition: impl Fn(&RelayCounters) -> bool) {
    let start = Instant::now();
    while !condition(&relay.counters()) {
        assert!(start.elapsed() < PATIENCE, "{:?}", relay.counters());
        thread::sleep(Duration::from_micros(100));
    }
}
