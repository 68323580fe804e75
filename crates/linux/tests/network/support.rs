//! What several tests need.

use std::time::{Duration, Instant};

use linux::{Error, Host, Network, NetworkConfig};

/// A network with everything left as it is by default.
pub fn network() -> Network {
    Network::create(&NetworkConfig::default()).expect("as at the start")
}

/// Tries again while `attempt` fails, ever more rarely: the kernel clears namespaces away in the background, those of
/// failed attempts too.
pub fn eventually<T, E>(mut attempt: impl FnMut() -> Result<T, E>) -> Result<T, E> {
    let start = Instant::now();
    let mut pause = Duration::from_millis(5);
    loop {
        match attempt() {
            Err(_) if start.elapsed() < Duration::from_secs(30) => {
                std::thread::sleep(pause);
                pause = pause.saturating_mul(2);
            }
            outcome => return outcome,
        }
    }
}

/// What a file says inside a host.
pub fn read(host: &Host, file: &str) -> String {
    host.inside(|| std::fs::read_to_string(file))
        .expect("inside")
        .expect(file)
}

/// The one line that an error is.
pub fn line(error: &Error) -> String {
    let line = error.to_string();
    assert!(!line.contains('\n'), "{line:?}");
    line
}
