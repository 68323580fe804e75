//! A plateau: the data in flight stay the same for many rounds, without a loss and without a queue. Congestion control does
//! not do that below the path's capacity, because it grows until it finds the capacity. So a window that does not grow
//! limits the flow, as with a send buffer that is too small (Zhang et al., "On the Characteristics and Origins of Internet
//! Flow Rates", SIGCOMM 2002, "sender/receiver window limited"). An application that writes at a steady rate keeps the data in
//! flight constant, too. It begins its writes of its own accord, and a send buffer waits for acknowledgements.

use congestion::Bytes;

/// The rounds of a plateau for each packet of slack. Reno's window grows by half a packet a round if every second packet is
/// acknowledged.
const ROUNDS_PER_PACKET: u64 = 4;

/// The plateau of the data in flight.
#[derive(Debug, Clone, Copy, Default)]
pub struct Plateau {
    at: Bytes,
    rounds: u64,
    /// True if a write began in the present round of its own accord.
    has_write: bool,
}

/// How much the data in flight may vary on a plateau.
#[derive(Debug, Clone, Copy)]
pub struct Slack {
    /// The number of packets.
    pub packets: u64,
    /// The payload of a full packet.
    pub full: u64,
}

impl Slack {
    fn bytes(self) -> Bytes {
        Bytes::new(self.packets * self.full)
    }
}

impl Plateau {
    /// The application begins a write, and has not waited for an acknowledgement.
    pub fn on_write(&mut self) {
        self.has_write = true;
    }

    /// A round ends; `most` is its most data in flight. A lower value is a dip, from which the flow may return.
    pub fn on_round(&mut self, most: Bytes, slack: Slack) {
        let has_write = std::mem::take(&mut self.has_write);
        let is_above = most > self.at + slack.bytes();
        let is_below = most + slack.bytes() < self.at;
        if is_above || is_below && !self.is_found(slack) {
            *self = Plateau {
                at: most,
                ..Plateau::default()
            };
        } else if !is_below && !has_write {
            self.rounds += 1;
        }
    }

    /// The data in flight on the plateau.
    pub fn at(&self) -> Bytes {
        self.at
    }

    /// True if the flow is on a plateau, and `flight` is near it. A sender that waits until a third of its send buffer is
    /// free has less in flight in between (Linux `sk_stream_is_writeable`).
    #[inline]
    pub fn has(&self, flight: Bytes, slack: Slack) -> bool {
        self.is_found(slack) && (flight + slack.bytes()) * 3 >= self.at * 2
    }

    fn is_found(&self, slack: Slack) -> bool {
        self.rounds >= slack.packets * ROUNDS_PER_PACKET
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLACK: Slack = Slack {
        packets: 2,
        full: 1_000,
    };

    fn after(rounds: impl IntoIterator<Item = u64>) -> Plateau {
        let mut plateau = Plateau::default();
        for most in rounds {
            plateau.on_round(Bytes::new(most), SLACK);
        }
        plateau
    }

    #[test]
    fn what_grows_is_none() {
        let reno = (0..200).map(|round| 50_000 + round * 500);
        assert!(!after(reno).has(Bytes::MAX, SLACK));
        let start = [10_000, 20_000, 40_000, 60_000];
        assert!(!after(start).has(Bytes::MAX, SLACK));
    }

    #[test]
    fn writes_of_a_steady_rate_are_none() {
        let after = |period| {
            let mut plateau = Plateau::default();
            for round in 0..20 {
                if round % period == 0 {
                    plateau.on_write();
                }
                plateau.on_round(Bytes::new(60_000), SLACK);
            }
            plateau.has(Bytes::new(60_000), SLACK)
        };
        assert!(!after(1));
        assert!(after(10), "writes of many rounds show a send buffer");
    }

    #[test]
    fn what_stays_is_one_and_survives_a_dip() {
        let stays = [10_000, 20_000, 40_000].into_iter().chain([60_000; 10]);
        let plateau = after(stays.clone().chain([4_000, 4_000, 60_000]));
        assert!(plateau.has(Bytes::new(59_000), SLACK));
        assert!(!plateau.has(Bytes::new(30_000), SLACK));
        assert!(!after(stays.chain([90_000])).has(Bytes::new(90_000), SLACK));
    }
}
