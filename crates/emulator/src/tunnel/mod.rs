//! A path between two TUN devices, in real time: the kernel's own traffic on an emulated path.
//!
//! A [`Tunnel`] reads IP packets from each of two devices, sends them over links ([`path::Link`]) and writes those that
//! arrive to the other device. Each direction ([`Way`]) has its own links and routes: a small network in which a packet
//! crosses the links of its destination's [`Route`] one after the other. Each direction also has its own thread, unless
//! a route crosses links of the opposite way ([`Hop::Opposite`]). Then one thread serves both, so that all packets pass
//! a link in the order of its own time.
//!
//! ```text
//!             ┌─ thread ──────────────────────────────────────────────┐
//!  near ─► read ─► route ─► link ─► (cut) ─► link ─► … ─► (join) ─► write ─► far
//!             └───────────────────────────────────────────────────────┘
//!  near ◄─ the same the other way ◄─ far
//! ```
//!
//! # Large packets
//! With `IFF_VNET_HDR`, the kernel passes on TCP's large sends undivided, and without checksums. Links that only delay
//! pass them unchanged. Before the first other link of a route, they are divided into the packets that a network card
//! would make of them: by reference, as indices into the memory of the frame. Adjacent segments that leave together are
//! written as one large packet again. So only headers are ever changed: no payload is copied between the two devices,
//! and no checksum over it is computed. Only a packet that a link has damaged is copied, and gets a wrong checksum, so
//! that the receiving kernel discards it.
//!
//! # MTU
//! The sender of a packet that exceeds a link's MTU gets an ICMP message at once, from the packet's destination. A
//! large packet causes one message for all its segments. Nothing is fragmented.
//!
//! # Time
//! A packet enters its first link when it is read, because a TUN device does not report when it got a packet. From
//! there on, all times are the links' own: links pass packets on at their exact times, in the order of these times,
//! however late the thread is. The thread writes nothing before its time. [`TunCounters::late_packets`] shows whether
//! it was on time. As in a [`Relay`](crate::Relay), the threads ask for precise timers, and for priority over normal
//! threads.
//!
//! # Limits
//! - Packets that the device drops before they can be read (its queue is full) are only in the device's statistics.
//! - Large packets of UDP are not divided. The device must not be asked for them (`TUN_F_USO4`, `TUN_F_USO6`).
//! - Packets larger than 64 KiB are not supported.
//! - A link with an unlimited buffer may hold any number of packets. Each takes 2 KiB, and in a large packet 8 KiB more
//!   for every 8 KiB that it has, until the last of its segments is gone.

mod config;
mod counters;
mod error;
mod frame;
mod network;
mod outbox;
mod worker;

use std::sync::Arc;
use std::time::Instant;

use path::Queued;

pub use config::{Direction, Hop, Route, TunnelConfig, Way};
pub use counters::{TunCounters, TunnelCounters, WayCounters};
pub use error::TunnelError;
#[cfg(any(test, fuzzing))]
pub use frame::fuzz;

use crate::clock::Clock;
use crate::running::Running;
use crate::view::View;
use network::Network;
use worker::{Carried, ObservedWay, Worker};

/// A running tunnel. It stops at [`stop`](Tunnel::stop), or when it is dropped.
#[derive(Debug)]
pub struct Tunnel {
    clock: Clock,
    forward: View<ObservedWay>,
    reverse: View<ObservedWay>,
    /// The threads of the two directions, or the one of both.
    threads: Vec<Running>,
}

impl Tunnel {
    /// Starts a tunnel on threads of its own. The devices become non-blocking, and are closed when the tunnel stops.
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
        let is_shared = forward.has_opposite_hops() || reverse.has_opposite_hops();
        let (near, far) = (Arc::new(near), Arc::new(far));
        let there = Carried::new(near.clone(), far.clone());
        let back = Carried::new(far.clone(), near.clone());
        let views = [there.observed.clone(), back.observed.clone()];
        let forward = (Direction::Forward, forward);
        let reverse = (Direction::Reverse, reverse);
        let shares = if is_shared {
            let network = Network::new(vec![forward, reverse], seed)?;
            vec![("tunnel", network, vec![there, back])]
        } else {
            let forward = Network::new(vec![forward], seed)?;
            let reverse = Network::new(vec![reverse], seed)?;
            vec![
                ("tunnel forward", forward, vec![there]),
                ("tunnel reverse", reverse, vec![back]),
            ]
        };
        for device in [&near, &far] {
            rustix::io::ioctl_fionbio(device, true).map_err(std::io::Error::from)?;
        }
        let clock = Clock::start();
        let threads = shares.into_iter().map(|(name, network, ways)| {
            Running::start(name, |stop| {
                let worker = Worker::new(clock, network, ways, stop);
                move || worker.run()
            })
        });
        let threads = threads.collect::<Result<_, _>>()?;
        let [forward, reverse] = views;
        Ok(Tunnel {
            clock,
            forward,
            reverse,
            threads,
        })
    }

    /// The time of its start: the zero of the links' [changes](path::Change).
    pub fn started(&self) -> Instant {
        self.clock.epoch()
    }

    /// The packets that wait at a link, at most some milliseconds ago; nothing if there is no such link. This is cheap:
    /// it copies a small structure under a short lock.
    pub fn queued(&self, direction: Direction, link: usize) -> Queued {
        let observed = match direction {
            Direction::Forward => self.forward.lock(),
            Direction::Reverse => self.reverse.lock(),
        };
        observed.queued.get(link).copied().unwrap_or_default()
    }

    /// The counters, at most some milliseconds old.
    pub fn counters(&self) -> TunnelCounters {
        TunnelCounters {
            forward: self.forward.lock().counters.clone(),
            reverse: self.reverse.lock().counters.clone(),
        }
    }

    /// True if a direction is still working, and none of its devices is gone.
    pub fn is_running(&self, direction: Direction) -> bool {
        let thread = match direction {
            Direction::Forward => self.threads.first(),
            Direction::Reverse => self.threads.last(),
        };
        thread.is_some_and(Running::is_running)
    }

    /// Stops at once, discards the packets on the links, and returns the final counters.
    ///
    /// # Panics
    /// A thread of it has panicked, which was reported then: what it has counted is not to be believed.
    pub fn stop(mut self) -> TunnelCounters {
        self.threads.iter_mut().for_each(Running::halt);
        self.counters()
    }
}
