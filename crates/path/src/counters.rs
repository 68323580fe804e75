//! The counters of a link.

use std::ops::AddAssign;

use units::{Bytes, Duration};

/// A number of packets and their bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Count {
    /// Packets.
    pub packets: u64,
    /// The sum of their sizes.
    pub bytes: Bytes,
}

impl Count {
    pub(crate) fn add(&mut self, size: Bytes) {
        self.packets = self.packets.saturating_add(1);
        self.bytes += size;
    }

    pub(crate) fn sub(&mut self, size: Bytes) {
        self.packets = self.packets.saturating_sub(1);
        self.bytes -= size;
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Count) {
        self.packets = self.packets.saturating_add(other.packets);
        self.bytes += other.bytes;
    }
}

/// The counters of a link. At any time, in packets and, as long as no sum saturates, in bytes,
///
/// `entered + duplicates = delivered + too_big + policer_drops + drops + random_losses + inside`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Packets given to [`Link::send`](crate::Link::send).
    pub entered: Count,
    /// Packets dropped at the entry because they exceeded the MTU.
    pub too_big: Count,
    /// Packets dropped by the policer.
    pub policer_drops: Count,
    /// Packets dropped by the queue: by a full buffer, or early by its discipline, on arrival or after a wait.
    pub drops: Count,
    /// Packets that the queue marked (ECN) in place of dropping them. Packets that came with a mark count again.
    pub marks: Count,
    /// Packets that left the bottleneck. Divided by the elapsed time, they give its utilization.
    pub transmitted: Count,
    /// Packets lost at random after the bottleneck.
    pub random_losses: Count,
    /// Packets damaged after the bottleneck, copies included. They also count as delivered: their receivers discard
    /// them.
    pub corrupted: Count,
    /// Copies made of packets.
    pub duplicates: Count,
    /// Packets returned by [`Link::receive`](crate::Link::receive).
    pub delivered: Count,
    /// Packets still on the link: waiting, in transmission, or in flight.
    pub inside: Count,
    /// The time for which the bottleneck had something to send. At a steady rate, the share of the elapsed time is its
    /// utilization. With a trace, it includes the wait for opportunities.
    pub busy: Duration,
}

impl Counters {
    /// True if the counters account for every packet.
    pub(crate) fn add_up(&self) -> bool {
        let came = [self.entered, self.duplicates];
        let went = [
            self.delivered,
            self.too_big,
            self.policer_drops,
            self.drops,
            self.random_losses,
            self.inside,
        ];
        let packets = |counts: &[Count]| counts.iter().map(|count| count.packets).sum::<u64>();
        packets(&came) == packets(&went)
    }
}
