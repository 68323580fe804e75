//! The handle of a running relay.

use std::io;
use std::net::SocketAddr;

use path::Queued;

use crate::config::RelayConfig;
use crate::counters::{Observed, RelayCounters};
use crate::ends::{Ends, reaches};
use crate::error::RelayError;
use crate::routes::Routes;
use crate::running::Running;
use crate::socket::Socket;
use crate::view::View;
use crate::worker::Worker;

/// A running relay. It stops at [`stop`](Relay::stop), or when it is dropped.
#[derive(Debug)]
pub struct Relay {
    local_addr: SocketAddr,
    observed: View<Observed>,
    thread: Running,
}

impl Relay {
    /// Starts a relay on its own thread. When this returns, clients can send.
    ///
    /// # Errors
    /// See [`RelayError`].
    pub fn start(config: RelayConfig) -> Result<Relay, RelayError> {
        let RelayConfig {
            listen: address,
            to,
            path,
            seed,
            sharing,
        } = config;
        let routes = Routes::new(path, seed, sharing)?;
        let listen_error = |source| RelayError::Listen { address, source };
        let listen = Socket::listening(address).map_err(listen_error)?;
        let local_addr = listen.local_addr().map_err(listen_error)?;
        if reaches(to, local_addr) {
            return Err(RelayError::OwnAddress { address: to });
        }
        check_reachable(to).map_err(|source| RelayError::Unreachable {
            address: to,
            source,
        })?;
        let observed = View::<Observed>::default();
        let shown = observed.clone();
        let work = |stop| {
            let ends = Ends {
                listen: local_addr,
                to,
            };
            let worker = Worker::new(listen, ends, routes, shown, stop);
            move || worker.run()
        };
        let thread = Running::start("relay", work).map_err(RelayError::System)?;
        Ok(Relay {
            local_addr,
            observed,
            thread,
        })
    }

    /// The address for clients.
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// The counters so far. This is cheap: it copies a small structure under a short lock.
    pub fn counters(&self) -> RelayCounters {
        self.observed().counters
    }

    /// The packets that wait at the bottleneck toward the server, at most some milliseconds ago. If clients have their
    /// own paths, the sum of the packets, and the longest delay. As cheap as [`counters`](Relay::counters).
    pub fn queued(&self) -> Queued {
        self.observed().queued
    }

    /// Stops at once, discards the packets on the path, and returns the final counters.
    ///
    /// # Panics
    /// A thread of it has panicked, which was reported then: what it has counted is not to be believed.
    pub fn stop(mut self) -> RelayCounters {
        self.thread.halt();
        self.counters()
    }

    fn observed(&self) -> Observed {
        *self.observed.lock()
    }
}

/// Checks that a socket can be connected to the server, as each client's will be.
fn check_reachable(to: SocketAddr) -> io::Result<()> {
    if to.port() == 0 {
        // Linux connects to port 0, and fails later.
        return Err(io::Error::other("there is no port 0"));
    }
    Socket::connected(to).map(drop)
}
