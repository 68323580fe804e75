//! Earliest departure times of one connection.
//!
//! ```text
//! departure = max(now, next)
//! next      = departure + bytes / rate − min(lateness, half of bytes / rate)
//! ```
//!
//! where lateness is how long ago the connection could have sent already: a host that was busy, or an ACK that came
//! late, is made up for over the following bursts, not at once (Linux `tcp_update_skb_after_send`).

use congestion::{Bytes, Rate, Time};

/// The first packets of a connection are not paced: the initial window leaves as one burst (Linux: "Original sch_fq does
/// not pace first 10 MSS").
const UNPACED_PACKETS: u32 = 10;

/// When a connection's next burst may leave: Linux's `tcp_wstamp_ns`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pacer {
    next: Time,
    packets: u32,
}

impl Pacer {
    /// When a burst that is made now may leave.
    pub fn departure(&self, now: Time) -> Time {
        self.next.max(now)
    }

    /// Accounts for a burst made now, of `bytes` of payload in `packets` packets, while the pacing rate is `rate`; zero
    /// and [`Rate::MAX`] pace nothing. Returns the burst's departure.
    pub fn on_burst(&mut self, now: Time, bytes: Bytes, packets: u32, rate: Rate) -> Time {
        let departure = self.departure(now);
        let lateness = departure.since(self.next);
        self.packets = self.packets.saturating_add(packets);
        self.next = departure;
        if self.packets >= UNPACED_PACKETS && !rate.is_zero() && rate != Rate::MAX {
            let span = rate.time_for(bytes);
            self.next += span.saturating_sub(lateness.min(span / 2));
        }
        debug_assert!(self.next >= departure && departure >= now);
        departure
    }
}
