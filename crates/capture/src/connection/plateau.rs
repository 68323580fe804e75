//! Where what is in flight stays, round after round, without a loss and without a queue. No congestion control does that below what the
//! path holds: it grows until it finds that. So it is a window that does not grow, as with a send buffer that is too small (Zhang et
//! al., "On the Characteristics and Origins of Internet Flow Rates", SIGCOMM 2002, "sender/receiver window limited").

use congestion::Bytes;

/// It must stay for so many rounds for each packet by which it may differ: Reno's window, with every second packet acknowledged, grows
/// by half a packet a round.
const ROUNDS: u64 = 4;

/// The most in flight of late.
#[derive(Debug, Clone, Copy, Default)]
pub struct Plateau {
    at: Bytes,
    rounds: u64,
}

/// By how much it may differ.
#[derive(Debug, Clone, Copy)]
pub struct Slack {
    /// In packets.
    pub packets: u64,
    /// Payload of a full packet.
    pub full: u64,
}

impl Slack {
    fn bytes(self) -> Bytes {
        Bytes::new(self.packets * self.full)
    }
}

impl Plateau {
    /// A round had so much in flight at most. Less is a dip, and then it may come back.
    pub fn on_round(&mut self, most: Bytes, slack: Slack) {
        let is_above = most > self.at + slack.bytes();
        let is_below = most + slack.bytes() < self.at;
        if is_above || is_below && !self.is_found(slack) {
            *self = Plateau {
                at: most,
                rounds: 0,
            };
        } else if !is_below {
            self.rounds += 1;
        }
    }

    /// The most in flight, as long as it stays.
    pub fn at(&self) -> Bytes {
        self.at
    }

    /// Whether so much is near what there ever is. Whoever waits until a third of a send buffer is free has less in between (Linux
    /// `sk_stream_is_writeable`).
    #[inline]
    pub fn has(&self, flight: Bytes, slack: Slack) -> bool {
        self.is_found(slack) && (flight + slack.bytes()) * 3 >= self.at * 2
    }

    fn is_found(&self, slack: Slack) -> bool {
        self.rounds >= slack.packets * ROUNDS
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
    fn what_stays_is_one_and_survives_a_dip() {
        let stays = [10_000, 20_000, 40_000].into_iter().chain([60_000; 10]);
        let plateau = after(stays.clone().chain([4_000, 4_000, 60_000]));
        assert!(plateau.has(Bytes::new(59_000), SLACK));
        assert!(!plateau.has(Bytes::new(30_000), SLACK));
        assert!(!after(stays.chain([90_000])).has(Bytes::new(90_000), SLACK));
    }
}
