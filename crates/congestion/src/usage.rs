//! The use of the window.

use units::Bytes;

/// The most that was in flight at once since everything that had been sent before was settled: acknowledged or declared lost
/// (Linux `tcp_cwnd_validate`, `max_packets_out`).
///
/// A window that is not used should not grow (RFC 9002, "Underutilizing the Congestion Window"). But an application that sends
/// less than a window at a time, again and again, would so keep the initial window for ever. In slow start the window may grow
/// to twice what was in flight and has been acknowledged: half of a window is use enough (RFC 7661; Linux
/// `tcp_is_cwnd_limited`). Linux also shrinks a window that was used in part for longer than a timeout
/// (`tcp_cwnd_application_limited`); that is not done here.
#[derive(Debug, Clone, Copy, Default)]
pub struct Usage {
    /// The bytes sent, retransmissions included.
    sent: Bytes,
    /// The bytes sent when `most` was last raised.
    end: Bytes,
    most: Bytes,
}

impl Usage {
    /// Records a packet that left, with the bytes then in flight.
    pub fn on_sent(&mut self, bytes: Bytes, inflight: Bytes) {
        self.sent += bytes;
        let settled = self.sent - inflight;
        if settled >= self.end || inflight > self.most {
            self.most = inflight;
            self.end = self.sent;
        }
    }

    /// The most that was in flight.
    pub fn most(&self) -> Bytes {
        self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: Bytes = Bytes::new(1_000);

    #[test]
    fn the_most_is_kept_until_that_flight_is_settled() {
        let mut usage = Usage::default();
        for packets in 1..=8 {
            usage.on_sent(MSS, MSS * packets);
        }
        assert_eq!(usage.most(), MSS * 8);
        // Six of them are acknowledged: the rest is still that flight's.
        usage.on_sent(MSS, MSS * 3);
        assert_eq!(usage.most(), MSS * 8);
        // All of it is.
        usage.on_sent(MSS, MSS * 1);
        assert_eq!(usage.most(), MSS);
    }
}
