//! The relay's thread: waits for datagrams and release times, and moves packets.

use std::io::{self, PipeReader};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;

use noq_udp::EcnCodepoint;
use path::{Ecn, Parcel, Queued};
use rustix::event::{PollFd, PollFlags};
use units::{Bytes, Duration, Time};

use crate::clients::{Clients, Newcomer, Refused};
use crate::clock::Clock;
use crate::counters::{Observed, RelayCounters};
use crate::ends::Ends;
use crate::entry::{Entry, Way, enter};
use crate::kernel::overflows;
use crate::routes::{Datagram, Routes};
use crate::socket::{Inbox, Received, Socket};
use crate::view::View;
use crate::wakeup::{MAX_VIEW_AGE, ask_for_precise_wakeups, timespec};

/// The interval at which idle clients are searched for.
const EXPIRY_INTERVAL: Duration = Duration::from_secs(1);

/// The maximum number of datagrams that are read from all sockets before packets are released, in shares that end with
/// a whole batch. They take a millisecond or two, and are about the full packets of one socket's buffer. Further
/// datagrams enter late.
const MAX_READ_DATAGRAMS: usize = 1024;

/// The maximum memory of all packets on the path, over both directions and all clients.
const MAX_PATH_MEMORY: Bytes = Bytes::new(256 << 20);

/// The memory of a packet in addition to its bytes: its place on the link, which may be half empty or being moved to a
/// larger one, its place in a queue, and the allocator's overhead.
const PACKET_MEMORY: Bytes = Bytes::new(512);

/// The state of the relay's thread.
pub(crate) struct Worker {
    clock: Clock,
    listen: Socket,
    ends: Ends,
    overhead: Bytes,
    routes: Routes,
    clients: Clients,
    inbox: Inbox,
    /// Clients whose upstream sockets have something to read.
    ready: Vec<SocketAddr>,
    /// The datagrams that were read and have not entered the path yet.
    entries: Vec<Entry>,
    next_expiry: Time,
    /// Counters of events outside the paths, and of paths that are gone.
    counters: RelayCounters,
    observed: View<Observed>,
    /// True if packets wait at a bottleneck.
    queueing: bool,
    /// The memory of the packets on the path at the last check, and of those that have entered since.
    memory: Bytes,
    stop: PipeReader,
}

/// The result of a wait.
struct Woken {
    stopped: bool,
    clients_wrote: bool,
}

impl Worker {
    /// Returns a worker between the clients of `listen` and the server of `ends`. It shows its state in `observed` and
    /// runs until the other end of `stop` is closed.
    pub(crate) fn new(
        listen: Socket,
        ends: Ends,
        routes: Routes,
        observed: View<Observed>,
        stop: PipeReader,
    ) -> Worker {
        Worker {
            clock: Clock::start(),
            listen,
            ends,
            overhead: header_bytes(ends.to),
            routes,
            clients: Clients::new(),
            inbox: Inbox::new(),
            ready: Vec::new(),
            entries: Vec::new(),
            next_expiry: Time::ZERO + EXPIRY_INTERVAL,
            counters: RelayCounters::default(),
            observed,
            queueing: false,
            memory: Bytes::ZERO,
            stop,
        }
    }

    /// Relays until told to stop.
    pub(crate) fn run(mut self) {
        ask_for_precise_wakeups();
        loop {
            let woken = self.wait();
            if woken.stopped {
                break;
            }
            // The paths advance before the read, however long that takes, so nothing unread is older.
            let now = self.clock.now();
            self.read(woken.clients_wrote);
            self.release(now);
            self.expire_clients(now);
            self.publish();
        }
        let upstreams = self.clients.iter().map(|(_, client)| &client.upstream);
        let sockets = upstreams.chain([&self.listen]).map(AsFd::as_fd);
        self.counters.socket_overflows += overflows(sockets);
        self.publish();
    }

    /// Forwards the packets that have reached the ends of their paths by `now`. Damaged ones are dropped: the receiving
    /// kernel would discard them for their UDP checksums, but the kernel that sends for us computes these anew.
    fn release(&mut self, now: Time) {
        let Worker {
            clock,
            listen,
            ends,
            routes,
            clients,
            counters,
            ..
        } = self;
        for path in routes.iter_mut() {
            while let Some(arrival) = path.forward.receive(now) {
                let counters = &mut counters.forward;
                counters.count_release(&arrival, clock.now());
                if arrival.corrupted {
                    continue;
                }
                let Some(client) = clients.active(arrival.packet.client, now) else {
                    counters.orphaned_packets += 1;
                    continue;
                };
                let Datagram { ecn, payload, .. } = arrival.packet;
                let ecn = ecn_after(arrival.ecn, ecn);
                let sent = client.upstream.send(ends.to, None, ecn, &payload);
                counters.count_send(&sent);
            }
            while let Some(arrival) = path.reverse.receive(now) {
                let counters = &mut counters.reverse;
                counters.count_release(&arrival, clock.now());
                if arrival.corrupted {
                    continue;
                }
                let Datagram {
                    client: address,
                    ecn,
                    payload,
                } = arrival.packet;
                let Some(client) = clients.active(address, now) else {
                    counters.orphaned_packets += 1;
                    continue;
                };
                let ecn = ecn_after(arrival.ecn, ecn);
                let sent = listen.send(address, client.our_address, ecn, &payload);
                counters.count_send(&sent);
            }
        }
    }

    /// Lets the sockets' datagrams enter the paths before any packet is released: a release brings the paths to the
    /// present, and datagrams that are read afterwards cannot enter at their arrival times.
    fn read(&mut self, clients_wrote: bool) {
        // Each socket gets a share, so that none delays the others, and no direction delays the other.
        let share = (MAX_READ_DATAGRAMS / (self.ready.len() + 1)).max(1);
        if clients_wrote {
            self.read_clients(share);
        }
        self.read_upstreams(share);
        self.counters.refused_packets += enter(&mut self.entries, &mut self.routes);
    }

    /// Reads `share` of the clients' datagrams, and the rest of the last one's batch.
    fn read_clients(&mut self, share: usize) {
        let Worker {
            clock,
            listen,
            ends,
            overhead,
            routes,
            clients,
            inbox,
            entries,
            counters,
            memory,
            ..
        } = self;
        let (mut last, mut left) = (Time::ZERO, share);
        while left > 0 {
            let batch = match inbox.read(listen) {
                Ok(batch) => batch,
                Err(error) if is_report(&error) => {
                    counters.unreachable_reports += 1;
                    left -= 1;
                    continue;
                }
                Err(_) => break,
            };
            let now = clock.now();
            for datagram in batch {
                left = left.saturating_sub(1);
                let from = datagram.from;
                let flow = if let Some(client) = clients.active(from, now) {
                    // A client may use several of our addresses, and is answered from the last one.
                    client.our_address = datagram.to;
                    client.number
                } else {
                    if ends.include(from, clients.ports()) {
                        counters.loop_drops += 1;
                        continue;
                    }
                    let newcomer = Newcomer {
                        address: from,
                        our_address: datagram.to,
                        payload: datagram.payload,
                    };
                    let (number, evicted) = match clients.admit(&newcomer, ends.to, now) {
                        Ok(admitted) => admitted,
                        Err(Refused::Loop) => {
                            counters.loop_drops += 1;
                            continue;
                        }
                        Err(Refused::NoPlace) => {
                            counters.refused_packets += 1;
                            continue;
                        }
                    };
                    // The losses of its socket are not read: anybody can cause this, and the table is long.
                    if let Some((evicted, _)) = evicted {
                        counters.clients_evicted += 1;
                        close(evicted, routes, counters);
                    }
                    if routes.open(from).is_err() {
                        counters.refused_packets += 1;
                        continue;
                    }
                    number
                };
                last = last.max(came_at(&datagram, now));
                let parcel = parcel(flow, *overhead, &datagram);
                let entry = take(memory, last, Way::Forward, from, parcel, &datagram);
                counters.overload_drops += u64::from(entry.is_none());
                entries.extend(entry);
            }
        }
    }

    /// Reads `share` datagrams from each server socket.
    fn read_upstreams(&mut self, share: usize) {
        for address in self.ready.drain(..) {
            let Some(client) = self.clients.active(address, self.clock.now()) else {
                continue;
            };
            let (mut last, mut left) = (Time::ZERO, share);
            while left > 0 {
                let batch = match self.inbox.read(&client.upstream) {
                    Ok(batch) => batch,
                    Err(error) if is_report(&error) => {
                        self.counters.unreachable_reports += 1;
                        left -= 1;
                        continue;
                    }
                    Err(_) => break,
                };
                let now = self.clock.now();
                for datagram in batch {
                    left = left.saturating_sub(1);
                    last = last.max(came_at(&datagram, now));
                    let parcel = parcel(client.number, self.overhead, &datagram);
                    let (memory, way) = (&mut self.memory, Way::Reverse);
                    let entry = take(memory, last, way, address, parcel, &datagram);
                    self.counters.overload_drops += u64::from(entry.is_none());
                    self.entries.extend(entry);
                }
            }
            if last > Time::ZERO {
                self.clients.set_answered(address, last);
            }
        }
    }

    /// Removes idle clients, and keeps the counters of their paths.
    fn expire_clients(&mut self, now: Time) {
        if now < self.next_expiry {
            return;
        }
        self.next_expiry = now + EXPIRY_INTERVAL;
        let expired = self.clients.expire(now);
        let sockets = expired.iter().map(|(_, client)| client.upstream.as_fd());
        self.counters.socket_overflows += overflows(sockets);
        for (address, _) in expired {
            close(address, &mut self.routes, &mut self.counters);
        }
    }

    /// Updates the state that observers can read.
    fn publish(&mut self) {
        let mut counters = self.counters;
        counters.clients_seen = self.clients.seen();
        counters.clients_now = self.clients.len() as u64;
        let mut memory = Bytes::ZERO;
        let mut queued = Queued::default();
        for path in self.routes.iter_mut() {
            let (forward, reverse) = (path.forward.counters(), path.reverse.counters());
            counters.forward.add(&forward);
            counters.reverse.add(&reverse);
            for inside in [forward.inside, reverse.inside] {
                memory = memory + inside.bytes + PACKET_MEMORY * inside.packets;
            }
            let waiting = path.forward.queued();
            queued.bytes += waiting.bytes;
            queued.packets += waiting.packets;
            queued.delay = queued.delay.max(waiting.delay);
        }
        self.queueing = queued.packets > 0;
        self.memory = memory;
        *self.observed.lock() = Observed { counters, queued };
    }

    /// Waits until a socket can be read, the next packet is due, or the relay is told to stop.
    fn wait(&mut self) -> Woken {
        let now = self.clock.now();
        let due = self.routes.next_event();
        let look = self.queueing.then(|| now + MAX_VIEW_AGE);
        let wake = due.into_iter().chain(look).min();
        let timeout = wake.map(|wake| timespec(wake.since(now)));
        let mut sockets = Vec::with_capacity(2 + self.clients.len());
        sockets.push(PollFd::new(&self.stop, PollFlags::IN));
        sockets.push(PollFd::new(&self.listen, PollFlags::IN));
        sockets.extend(
            self.clients
                .iter()
                .map(|(_, client)| PollFd::new(&client.upstream, PollFlags::IN)),
        );
        // A failed wait (a signal, or a temporary lack of memory) leaves all flags empty, and the loop continues.
        let _ = rustix::event::poll(&mut sockets, timeout.as_ref());
        let mut flagged = sockets.iter().map(|socket| !socket.revents().is_empty());
        let woken = Woken {
            stopped: flagged.next().unwrap_or(true),
            clients_wrote: flagged.next().unwrap_or(false),
        };
        self.ready.extend(
            self.clients
                .iter()
                .zip(flagged)
                .filter_map(|((address, _), flagged)| flagged.then_some(*address)),
        );
        woken
    }
}

/// Returns a datagram with its headers, as a link's packet.
fn parcel(flow: u64, overhead: Bytes, received: &Received<'_>) -> Parcel {
    Parcel {
        size: Bytes::new(received.payload.len() as u64) + overhead,
        flow,
        ecn: match received.ecn {
            None => Ecn::NotCapable,
            Some(EcnCodepoint::Ect0) => Ecn::Capable,
            Some(EcnCodepoint::Ect1) => Ecn::L4s,
            Some(EcnCodepoint::Ce) => Ecn::Marked,
        },
    }
}

/// Returns the codepoint of a datagram that came with `before` and left the link as `after`.
fn ecn_after(after: Ecn, before: Option<EcnCodepoint>) -> Option<EcnCodepoint> {
    match after {
        Ecn::Marked => Some(EcnCodepoint::Ce),
        Ecn::NotCapable | Ecn::Capable | Ecn::L4s => before,
    }
}

/// Returns the time at which the kernel received a datagram that was read at `now`; if it is unknown, the time of the
/// read.
fn came_at(received: &Received<'_>, now: Time) -> Time {
    now - received.age.unwrap_or(Duration::ZERO)
}

/// Takes a datagram that is to enter the path, if there is memory for it.
fn take(
    memory: &mut Bytes,
    at: Time,
    way: Way,
    client: SocketAddr,
    parcel: Parcel,
    received: &Received<'_>,
) -> Option<Entry> {
    let taken = *memory + parcel.size + PACKET_MEMORY;
    if taken > MAX_PATH_MEMORY {
        return None;
    }
    *memory = taken;
    Some(Entry {
        at,
        way,
        parcel,
        datagram: Datagram {
            client,
            ecn: received.ecn,
            payload: received.payload.into(),
        },
    })
}

/// Removes a client's path, and keeps its counters.
fn close(client: SocketAddr, routes: &mut Routes, counters: &mut RelayCounters) {
    if let Some(path) = routes.close(client) {
        counters.forward.add(&path.forward.counters());
        counters.reverse.add(&path.reverse.counters());
    }
}

/// The bytes of headers that each datagram has on an IP link to `peer`: UDP's 8 bytes and IPv4's 20 or IPv6's 40.
fn header_bytes(peer: SocketAddr) -> Bytes {
    match peer.ip().to_canonical() {
        IpAddr::V4(_) => Bytes::new(28),
        IpAddr::V6(_) => Bytes::new(48),
    }
}

/// True if a failed read reports an error of the peer, rather than that there was nothing to read.
fn is_report(error: &io::Error) -> bool {
    error.kind() != io::ErrorKind::WouldBlock
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use path::PathConfig;

    use super::*;
    use crate::config::Sharing;

    /// Far more than a batch, from several sockets and in both directions, enters the path at once.
    #[test]
    fn all_that_waits_enters_before_anything_leaves() {
        let server = UdpSocket::bind("127.0.0.1:0").unwrap();
        let listen = Socket::listening("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = listen.local_addr().unwrap();
        let routes = Routes::new(PathConfig::default(), 1, Sharing::OneBottleneck).unwrap();
        let (stop, _open) = io::pipe().unwrap();
        let to = server.local_addr().unwrap();
        let ends = Ends {
            listen: address,
            to,
        };
        let mut worker = Worker::new(listen, ends, routes, View::default(), stop);
        let client = UdpSocket::bind("127.0.0.1:0").unwrap();
        let other = UdpSocket::bind("127.0.0.1:0").unwrap();
        for number in 0..60_u8 {
            client.send_to(&[number], address).unwrap();
            other.send_to(&[number], address).unwrap();
        }
        let woken = worker.wait();
        assert!(woken.clients_wrote);
        worker.read(woken.clients_wrote);
        let upstreams = worker.clients.iter().map(|(_, client)| &client.upstream);
        for upstream in upstreams.map(|socket| socket.local_addr().unwrap()) {
            for number in 0..60_u8 {
                server
                    .send_to(&[number], (to.ip(), upstream.port()))
                    .unwrap();
            }
        }
        let woken = worker.wait();
        worker.read(woken.clients_wrote);
        worker.publish();
        let counters = worker.observed.lock().counters;
        assert_eq!(counters.forward.entered_packets, 120);
        assert_eq!(counters.reverse.entered_packets, 120);
        assert_eq!(counters.refused_packets + counters.overload_drops, 0);
    }
}
