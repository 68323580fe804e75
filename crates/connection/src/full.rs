//! The payload of a full packet. The handshake bounds it. The path may take less (RFC 8899), and then the sender sends
//! less.
//!
//! If the sender did not set PSH on a segment, it had more to send. So the segment is full, or segmentation offload has
//! merged full packets into it.

/// The number of contradicting segments that change a believed size.
const VOTES_OF_TOLD: u8 = 4;

/// The same if no handshake told the size.
const VOTES_OF_UNTOLD: u8 = 1;

/// The most agreeing segments that are counted.
const MAX_VOTES: u8 = 16;

/// A shorter segment shows no limit of a path (RFC 791: every host accepts IP packets of 576 bytes).
const MIN_LIMIT_BYTES: u64 = 500;

/// The smallest payload that a handshake can set: senders do not go below about this (Linux `TCP_MIN_SND_MSS` is 48).
const MIN_TOLD_BYTES: u64 = 64;

/// If the handshake was not captured: the default (RFC 9293, section 3.7.1), the most that is taken for one packet, and the
/// most for jumbo frames, where no smaller size divides the segments.
const DEFAULT_BYTES: u64 = 536;
const MAX_UNTOLD_BYTES: u64 = 1460;
const MAX_JUMBO_BYTES: u64 = 8960;

/// The payload of a full packet.
#[derive(Debug, Clone, Copy)]
pub struct Full {
    size: u64,
    /// The size that the handshake allows; 0 if it was not captured.
    told: u64,
    /// True if the size is known, from the handshake or from a segment without PSH.
    is_known: bool,
    /// The number of recent segments that agreed.
    votes: u8,
    /// The length of the latest segment without PSH that did not agree.
    last: u64,
}

impl Full {
    /// `told` is the size that the handshake allows.
    pub fn new(told: Option<u64>) -> Full {
        let told = told.map(|told| told.max(MIN_TOLD_BYTES));
        Full {
            size: told.unwrap_or(DEFAULT_BYTES),
            told: told.unwrap_or(0),
            is_known: told.is_some(),
            votes: VOTES_OF_TOLD,
            last: 0,
        }
    }

    /// The payload of a full packet; never 0.
    #[inline]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The number of packets for this many bytes.
    #[inline]
    pub fn packets(&self, bytes: u64) -> u64 {
        if bytes <= self.size {
            1
        } else {
            bytes.div_ceil(self.size)
        }
    }

    /// Takes in a segment of new data.
    #[inline]
    pub fn see(&mut self, len: u64, is_pushed: bool) {
        if len == self.size {
            self.votes = (self.votes + 1).min(MAX_VOTES);
            self.is_known |= !is_pushed;
        } else if !is_pushed && len >= MIN_LIMIT_BYTES {
            self.weigh(len);
        } else if !self.is_known && len <= MAX_UNTOLD_BYTES {
            self.size = self.size.max(len);
        }
    }

    fn weigh(&mut self, len: u64) {
        let last = std::mem::replace(&mut self.last, len);
        if self.is_known && len.is_multiple_of(self.size) {
            self.votes = (self.votes + 1).min(MAX_VOTES);
        } else if self.is_known && self.votes > 0 {
            self.votes -= 1;
        } else {
            let most = if self.told > 0 {
                self.told
            } else {
                MAX_UNTOLD_BYTES
            };
            let common =
                Some(common_divisor(len, last)).filter(|common| *common >= MIN_LIMIT_BYTES);
            let len = common.unwrap_or(len);
            let mut parts = len.div_ceil(most)..=len / MIN_LIMIT_BYTES;
            let parts = parts.find(|parts| len.is_multiple_of(*parts));
            let else_size = match self.told {
                0 if len <= MAX_JUMBO_BYTES => len,
                0 => self.size,
                told => told,
            };
            self.size = parts.map_or(else_size, |parts| len / parts);
            self.is_known = true;
            self.votes = if self.told > 0 {
                VOTES_OF_TOLD
            } else {
                VOTES_OF_UNTOLD
            };
        }
    }
}

/// The greatest common divisor.
fn common_divisor(mut one: u64, mut other: u64) -> u64 {
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one
}

#[cfg(test)]
mod tests {
    use super::{Full, MIN_TOLD_BYTES};

    fn after(told: Option<u64>, segments: &[(u64, bool)]) -> u64 {
        let mut full = Full::new(told);
        for (len, is_pushed) in segments {
            full.see(*len, *is_pushed);
        }
        full.size()
    }

    #[test]
    fn what_is_sent_counts_and_not_what_might_be() {
        let told = Some(1448);
        assert_eq!(after(told, &[]), 1448);
        // A path with an MTU of 1280 bytes, with and without segmentation offload.
        let single = [(1228, false), (1228, true)];
        assert_eq!(after(told, &single.repeat(10)), 1228);
        let large = [10, 4, 7, 53, 12, 40].map(|packets| (packets * 1228, false));
        assert_eq!(after(told, &large), 1228);
        // The handshake allows jumbo frames, but the path does not.
        assert_eq!(after(Some(8948), &[(1448, false)].repeat(8)), 1448);
    }

    #[test]
    fn nobody_sends_a_byte_at_a_time() {
        assert_eq!(after(Some(1), &[]), MIN_TOLD_BYTES);
        assert_eq!(after(Some(0), &[(10, false)]), MIN_TOLD_BYTES);
    }

    #[test]
    fn short_writes_are_no_full_packets() {
        let told = Some(1448);
        assert_eq!(after(told, &[(1000, true)].repeat(100)), 1448);
        assert_eq!(after(told, &[(100, false)].repeat(100)), 1448);
        let mut few = [(1448, false)].repeat(20);
        few.extend([(700, false), (900, false)]);
        assert_eq!(after(told, &few), 1448);
    }

    #[test]
    fn a_path_may_take_more_again() {
        let mut sizes = [(1228, false)].repeat(30);
        sizes.extend([(1448, false)].repeat(30));
        assert_eq!(after(Some(1448), &sizes), 1448);
    }

    #[test]
    fn without_a_handshake_what_is_not_pushed_counts() {
        assert_eq!(after(None, &[(100, true)]), 536);
        assert_eq!(after(None, &[(1448, false), (14_480, true)]), 1448);
        assert_eq!(after(None, &[(14_480, false), (1_000, true)]), 1448);
        assert_eq!(after(None, &[(8_948, false), (26_844, true)]), 8_948);
        let mixed = [7, 6, 9, 10, 11, 6, 7, 8, 9].map(|packets| (packets * 1200, false));
        assert_eq!(after(None, &mixed.repeat(4)), 1200);
        // Only short writes: the longest is taken for a full packet.
        assert_eq!(after(None, &[(100, true), (1_000, true)]), 1_000);
    }
}
