//! A path between two TUN devices, in real time: the kernel's own traffic on an emulated path.
//!
//! A [`Tunnel`] reads IP packets from each of two devices, sends them over links ([`path::Link`]) and writes what arrives
//! to the other one. Each direction ([`Way`]) has links and routes of its own, and a thread of its own: a small network
//! in which a packet crosses the links of its destination's [`Route`] one after the other.
//!
//! ```text
//!             ┌─ thread ──────────────────────────────────────────────┐
//!  near ─► read ─► route ─► link ─► (cut) ─► link ─► … ─► (join) ─► write ─► far
//!             └───────────────────────────────────────────────────────┘
//!  near ◄─ the same the other way ◄─ far
//! ```
//!
//! # Large packets
//! With `IFF_VNET_HDR`, the kernel hands over TCP's large sends uncut, and without checksums. Links that only delay pass
//! them as they are. Before the first link of a route that does more, they are cut into the packets that a network card
//! would have made of them: by reference, as indices into the memory that they were read to. Neighbours that leave
//! together are written as one large packet again. So nothing but headers is ever touched: no payload is copied between
//! the two devices, no checksum over it is computed. Only a packet that a link has damaged is copied, and gets a checksum that
//! is wrong, so that the kernel that receives it discards it.
//!
//! # MTU
//! The sender of a packet that is larger than a link's MTU gets an ICMP message at once, from the packet's destination. Of a
//! large packet, that is one for all its segments. Nothing is fragmented.
//!
//! # Time
//! A packet enters its first link when it is read: a TUN device does not tell when it got a packet. From there on, all
//! times are the links' own: links hand over to each other at their exact times, in the order of these times, however late
//! the thread is; and it writes nothing before its time. [`TunCounters::late_packets`] tells whether it was on time. As in a
//! [`Relay`](crate::Relay), the threads ask for precise timers, and to run before all normal threads.
//!
//! # Limits
//! - What the device drops before it can be read (its queue is full) is not seen here, but in the device's statistics.
//! - Large packets of UDP are not cut: do not ask the device for them (`TUN_F_USO4`, `TUN_F_USO6`).
//! - Packets larger than 64 KiB are not asked for, and not understood.
//! - A link with an unlimited buffer may hold any number of packets. Each takes 2 KiB, and in a large packet 8 KiB more
//!   for every 8 KiB that it has, until the last of its segments is gone.

mod config;
mod counters;
mod error;
mod frame;
mod network;
mod outbox;
mod worker;

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Instant;

use path::Queued;

pub use config::{Direction, Route, TunnelConfig, Way};
pub use counters::{TunCounters, TunnelCounters, WayCounters};
pub use error::TunnelError;
#[cfg(any(test, fuzzing))]
pub use frame::fuzz;

use crate::clock::Clock;
use crate::running::Running;
use crate::shown::Shown;
use network::Network;
use worker::{ObservedWay, Worker};

/// A running tunnel. It stops when it is told to or dropped.
#[derive(Debug)]
pub struct Tunnel {
    clock: Clock,
    forward: Thread,
    reverse: Thread,
}

/// The thread of one way.
#[derive(Debug)]
struct Thread {
    observed: Shown<ObservedWay>,
    running: Running,
}

impl Tunnel {
    /// Starts a tunnel on two threads of its own. The devices are made non-blocking, and closed when the tunnel stops.
    ///
    /// # Errors
    /// See [`TunnelError`].
    pub fn start(config: TunnelConfig) -> Result<Tunnel, TunnelError> {
        let TunnelConfig {
            near,
            far,
            forward,
            reverse,
            seed,
        } = config;
        let forward = Network::new(forward, Direction::Forward, seed)?;
        let reverse = Network::new(reverse, Direction::Reverse, seed)?;
        for device in [&near, &far] {
            rustix::io::ioctl_fionbio(device, true).map_err(std::io::Error::from)?;
        }
        let (near, far) = (Arc::new(near), Arc::new(far));
        let clock = Clock::start();
        Ok(Tunnel {
            forward: Thread::start(clock, "tunnel forward", &near, &far, forward)?,
            reverse: Thread::start(clock, "tunnel reverse", &far, &near, reverse)?,
            clock,
        })
    }

    /// When it started: the zero of the links' [changes](path::Change).
    pub fn started(&self) -> Instant {
        self.clock.epoch()
    }

    /// What waits at a link, as it was some milliseconds ago at most; nothing if there is no such link. Cheap: copies a
    /// small structure under a lock that is held for no longer.
    pub fn queued(&self, direction: Direction, link: usize) -> Queued {
        let observed = self.thread(direction).observed.lock();
        observed.queued.get(link).copied().unwrap_or_default()
    }

    /// What the tunnel has done, up to some milliseconds ago at most.
    pub fn counters(&self) -> TunnelCounters {
        TunnelCounters {
            forward: self.forward.counters(),
            reverse: self.reverse.counters(),
        }
    }

    /// True if a direction still works: not if one of the devices is gone.
    pub fn is_running(&self, direction: Direction) -> bool {
        self.thread(direction).running.is_running()
    }

    /// Stops at once, throws away what is still on the way, and returns the final counters.
    pub fn stop(mut self) -> TunnelCounters {
        self.forward.running.halt();
        self.reverse.running.halt();
        self.counters()
    }

    fn thread(&self, direction: Direction) -> &Thread {
        match direction {
            Direction::Forward => &self.forward,
            Direction::Reverse => &self.reverse,
        }
    }
}

impl Thread {
    fn start(
        clock: Clock,
        name: &str,
        from: &Arc<OwnedFd>,
        to: &Arc<OwnedFd>,
        network: Network,
    ) -> Result<Thread, TunnelError> {
        let observed = Shown::<ObservedWay>::default();
        let (from, to, shown) = (from.clone(), to.clone(), observed.clone());
        let running = Running::start(name, |stop| {
            let worker = Worker::new(clock, from, to, network, shown, stop);
            move || worker.run()
        })?;
        Ok(Thread { observed, running })
    }

    fn counters(&self) -> WayCounters {
        self.observed.lock().counters.clone()
    }
}
