//! Helpers of several tests.

use std::time::{Duration, Instant};

use linux::{Error, Host, Network, NetworkConfig};

/// A network with default settings.
pub fn network() -> Network {
    Network::create(&NetworkConfig::default()).expect("as at the start")
}

/// Retries while `attempt` fails, at growing intervals: the kernel removes namespaces in the background, including
/// those of failed attempts.
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

/// The content of a file inside a host.
pub fn read(host: &Host, file: &str) -> String {
    host.inside(|| std::fs::read_to_string(file))
        .expect("inside")
        .expect(file)
}

/// The text of an error, which must be one line.
pub fn line(error: &Error) -> String {
    let line = error.to_string();
    assert!(!line.contains('\n'), "{line:?}");
    line
}
