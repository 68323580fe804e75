//! The counters of a relay.

use std::io;

use path::{Arrival, Queued};
use rustix::io::Errno;
use serde::Serialize;
use units::{Duration, Time};

/// The counters of one direction's packets. Bytes include IP and UDP headers, as on a link.
///
/// `entered_packets + duplicated_packets` is `delivered_packets`, plus all drops and losses, plus
/// `in_transit_packets`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct DirectionCounters {
    /// Packets that entered the path.
    pub entered_packets: u64,
    /// Their bytes.
    pub entered_bytes: u64,
    /// Packets that passed the bottleneck, those lost after it included.
    pub transmitted_packets: u64,
    /// Their bytes.
    pub transmitted_bytes: u64,
    /// Packets that came out of the path.
    pub delivered_packets: u64,
    /// Their bytes.
    pub delivered_bytes: u64,
    /// Packets dropped by the bottleneck's queue: by a full buffer, or early by its discipline.
    pub buffer_drops: u64,
    /// Packets that the bottleneck's queue marked (ECN) in place of dropping them.
    pub marked_packets: u64,
    /// Packets lost at random.
    pub random_losses: u64,
    /// Packets dropped by the policer.
    pub policer_drops: u64,
    /// Packets dropped because they exceeded the MTU.
    pub too_big_packets: u64,
    /// Delivered packets that the path damaged. A relay discards them in place of the receiving system, whose checksum
    /// would; a tunnel delivers them with a wrong checksum.
    pub corrupted_packets: u64,
    /// Copies that the path made.
    pub duplicated_packets: u64,
    /// Packets still on the path. They are discarded if the relay stops.
    pub in_transit_packets: u64,
    /// Delivered packets that the system then refused to send: too large for the real link, or no route.
    pub send_errors: u64,
    /// Delivered packets for which the relay's socket had no room. A value above zero shows that the real link was
    /// slower than the emulated path, or the machine too slow.
    pub send_overflows: u64,
    /// Delivered packets whose client had been forgotten.
    pub orphaned_packets: u64,
    /// The time for which the bottleneck had something to send, in nanoseconds.
    pub busy_ns: u64,
    /// The total queueing delay of the delivered packets, in nanoseconds. Divided by `delivered_packets`, it is the
    /// mean.
    pub queueing_total_ns: u64,
    /// The maximum queueing delay of a delivered packet, in nanoseconds.
    pub queueing_max_ns: u64,
    /// Delivered packets that this machine released more than a millisecond after the path's time. If they are not a
    /// small share of `delivered_packets`, the machine was too busy to emulate the path.
    pub late_packets: u64,
    /// The maximum lateness of a release, in nanoseconds.
    pub lateness_max_ns: u64,
    /// The total lateness of the delivered packets, in nanoseconds.
    pub lateness_total_ns: u64,
}

/// True if a socket had no room for a datagram.
fn is_full(error: &io::Error) -> bool {
    let no_buffers = Errno::NOBUFS.raw_os_error();
    error.kind() == io::ErrorKind::WouldBlock || error.raw_os_error() == Some(no_buffers)
}

/// A packet is late if it is released this much after its time.
pub(crate) const LATE_AFTER: Duration = Duration::from_millis(1);

impl DirectionCounters {
    /// Counts the release at `now` of a packet that arrived.
    pub(crate) fn count_release<P>(&mut self, arrival: &Arrival<P>, now: Time) {
        let waited = arrival.queued.as_nanos();
        self.queueing_total_ns = self.queueing_total_ns.saturating_add(waited);
        self.queueing_max_ns = self.queueing_max_ns.max(waited);
        let late = now.since(arrival.at);
        self.late_packets += u64::from(late > LATE_AFTER);
        self.lateness_max_ns = self.lateness_max_ns.max(late.as_nanos());
        self.lateness_total_ns = self.lateness_total_ns.saturating_add(late.as_nanos());
    }

    /// Counts packets that enter within a large one, in addition to the one that the link counts.
    pub(crate) fn enter_within(&mut self, packets: u64, bytes: u64) {
        self.entered_packets += packets;
        self.entered_bytes += bytes;
        self.in_transit_packets += packets;
    }

    /// Counts packets that arrive within a large one, in addition to the one that the link counts.
    pub(crate) fn arrive_within(&mut self, packets: u64, bytes: u64) {
        self.transmitted_packets += packets;
        self.transmitted_bytes += bytes;
        self.delivered_packets += packets;
        self.delivered_bytes += bytes;
        self.in_transit_packets = self.in_transit_packets.saturating_sub(packets);
    }

    /// Counts the result of sending a delivered packet.
    pub(crate) fn count_send(&mut self, sent: &io::Result<()>) {
        match sent {
            Ok(()) => {}
            Err(error) if is_full(error) => self.send_overflows += 1,
            Err(_) => self.send_errors += 1,
        }
    }

    /// Adds the counters of one path's link.
    pub(crate) fn add(&mut self, link: &path::Counters) {
        self.entered_packets += link.entered.packets;
        self.entered_bytes += link.entered.bytes.get();
        self.transmitted_packets += link.transmitted.packets;
        self.transmitted_bytes += link.transmitted.bytes.get();
        self.delivered_packets += link.delivered.packets;
        self.delivered_bytes += link.delivered.bytes.get();
        self.buffer_drops += link.drops.packets;
        self.marked_packets += link.marks.packets;
        self.random_losses += link.random_losses.packets;
        self.policer_drops += link.policer_drops.packets;
        self.too_big_packets += link.too_big.packets;
        self.corrupted_packets += link.corrupted.packets;
        self.duplicated_packets += link.duplicates.packets;
        self.in_transit_packets += link.inside.packets;
        self.busy_ns = self.busy_ns.saturating_add(link.busy.as_nanos());
    }
}

/// The counters of a relay, in both directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct RelayCounters {
    /// From the clients to the server.
    pub forward: DirectionCounters,
    /// From the server to the clients.
    pub reverse: DirectionCounters,
    /// Clients served so far. A client that returns after two idle minutes counts again.
    pub clients_seen: u64,
    /// Known clients.
    pub clients_now: u64,
    /// Clients that lost their places to others.
    pub clients_evicted: u64,
    /// Datagrams of clients for which the relay had no place. They never entered the path.
    pub refused_packets: u64,
    /// Datagrams that never entered the path because they or their answers would come back to the relay for ever: those
    /// with the relay's own address or the server's as their source, and the first datagrams of new clients that equal
    /// those of many unanswered clients.
    pub loop_drops: u64,
    /// Packets that never entered the path because those on it took the maximum memory of 256 MiB.
    pub overload_drops: u64,
    /// The number of times that the system reported an absent server or client (ICMP "port unreachable"), or another
    /// error on reading.
    pub unreachable_reports: u64,
    /// Datagrams that the kernel dropped before the relay could read them, as far as the system reports them (Linux
    /// only). They are counted when the relay has stopped, and for clients that were silent for too long. A value above
    /// zero shows that this machine was too slow to emulate the path.
    pub socket_overflows: u64,
}

impl RelayCounters {
    /// The packets that were lost on this machine, before the path or after it.
    pub fn overflows(&self) -> u64 {
        self.socket_overflows + self.forward.send_overflows + self.reverse.send_overflows
    }
}

/// The state that observers of a running relay can read.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Observed {
    pub(crate) counters: RelayCounters,
    pub(crate) queued: Queued,
}

#[cfg(test)]
mod tests {
    use path::{Capacity, Link, LinkConfig};
    use units::{Bytes, Rate};

    use super::*;

    #[test]
    fn no_room_is_not_a_refusal() {
        let error = |errno: Errno| Err(io::Error::from_raw_os_error(errno.raw_os_error()));
        let mut counters = RelayCounters::default();
        let sent = [Ok(()), error(Errno::AGAIN), error(Errno::MSGSIZE)];
        for sent in sent.into_iter().chain([error(Errno::NOBUFS)]) {
            counters.reverse.count_send(&sent);
        }
        assert_eq!(counters.reverse.send_errors, 1);
        assert_eq!(counters.reverse.send_overflows, 2);
        counters.socket_overflows = 3;
        assert_eq!(counters.overflows(), 5);
    }

    /// A packet arrives each millisecond, and the machine checks ten times as often, but stands still from 10 to 16 ms.
    #[test]
    fn a_stall_makes_late_what_came_due_in_it() {
        let config = LinkConfig {
            capacity: Capacity::Rate(Rate::from_bits_per_sec(12_000_000)),
            ..LinkConfig::default()
        };
        let mut link = Link::new(config, 1).unwrap();
        for _ in 0..20 {
            link.send(Time::ZERO, Bytes::new(1_500), ());
        }
        let mut counters = DirectionCounters::default();
        let looks = (0..300).map(|look| Time::from_nanos(look * 100_000 + 50_000));
        for now in looks.filter(|now| !(10..16).contains(&(now.as_nanos() / 1_000_000))) {
            while let Some(arrival) = link.receive(now) {
                counters.count_release(&arrival, now);
            }
        }
        counters.add(&link.counters());
        assert_eq!(counters.delivered_packets, 20);
        // Those of 10 to 15 ms leave at 16.05 ms, 1.05 to 6.05 ms late. The others wait 50 µs for a check.
        assert_eq!(counters.late_packets, 6);
        assert_eq!(counters.lateness_max_ns, 6_050_000);
        assert_eq!(counters.lateness_total_ns, 14 * 50_000 + 6 * 3_550_000);
    }
}
