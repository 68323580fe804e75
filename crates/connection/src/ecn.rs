//! The meaning of CWR and ECE. With RFC 3168, CWR says that the sender has reduced its window. With Accurate ECN (RFC 9768), AE, CWR
//! and ECE together count the marks that the sender has received as a receiver, and say nothing of its own window.

use capture::packet::{Flags, Segment};
use congestion::Bytes;

/// The meaning of the flags in a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Meaning {
    /// The handshake was not captured, or tells nothing.
    #[default]
    Unknown,
    /// The SYN offers RFC 9768, and no answer was captured that tells.
    Offered,
    /// RFC 3168.
    Classic,
    /// RFC 9768.
    Accurate,
}

/// The three flags as a number, AE first.
fn bits(segment: &Segment) -> u8 {
    let bit = |flag, value: u8| value * u8::from(segment.flags.has(flag));
    bit(Flags::AE, 4) + bit(Flags::CWR, 2) + bit(Flags::ECE, 1)
}

impl Meaning {
    /// Takes in a segment of either side.
    #[inline]
    pub fn on_segment(&mut self, segment: &Segment) {
        if segment.flags.has(Flags::SYN) {
            *self = self.at_syn(segment);
        } else if matches!(self, Meaning::Unknown | Meaning::Offered)
            && (segment.has_accurate_ecn || segment.flags.has(Flags::AE.with(Flags::ACK)))
        {
            // No other protocol uses AE. The counter begins with 5, so AE is among the first that are set.
            *self = Meaning::Accurate;
        }
    }

    fn at_syn(self, segment: &Segment) -> Meaning {
        // The server's answer decides. With Accurate ECN, it has the ECN field of the SYN (RFC 9768, section 3.1.1). With RFC
        // 3168, it has ECE alone. A SYN with CWR and ECE alone offers RFC 3168 only. 101 is reserved, and enables Accurate ECN
        // if the SYN offers it (section 3.1.3).
        match (segment.flags.has(Flags::ACK), bits(segment), self) {
            (false, 0b111, Meaning::Unknown) => Meaning::Offered,
            (false, 0b011, Meaning::Unknown) => Meaning::Classic,
            (true, 0b010 | 0b011 | 0b100 | 0b110, Meaning::Unknown | Meaning::Offered)
            | (true, 0b101, Meaning::Offered) => Meaning::Accurate,
            (true, 0b001, _) => Meaning::Classic,
            _ => self,
        }
    }
}

/// A reduction of the window that CWR may tell: the end of the data sent before, and the data in flight.
pub type Reduction = (u64, Bytes);

/// The reductions that CWR tells. While its meaning is unknown, a reduction waits for the next new data: RFC 3168 sets CWR once
/// a window (section 6.1.2), so a second one in a row is a counter.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reductions {
    waiting: Option<Reduction>,
    is_counter: bool,
}

impl Reductions {
    /// New data are sent, and `reduction` is what CWR in them would tell. Returns what the flags tell of the window.
    #[inline]
    pub fn on_new_data(
        &mut self,
        meaning: Meaning,
        segment: &Segment,
        reduction: impl FnOnce() -> Reduction,
    ) -> Option<Reduction> {
        let has_cwr = segment.flags.has(Flags::CWR);
        if !has_cwr && self.waiting.is_none() {
            return None;
        }
        match meaning {
            Meaning::Classic => has_cwr.then(reduction),
            Meaning::Unknown | Meaning::Offered if !self.is_counter => {
                self.is_counter = has_cwr && self.waiting.is_some();
                let waiting = self.waiting.take();
                if has_cwr && !self.is_counter {
                    self.waiting = Some(reduction());
                }
                waiting.filter(|_| !has_cwr)
            }
            Meaning::Unknown | Meaning::Offered | Meaning::Accurate => {
                self.waiting = None;
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(flags: Flags) -> Segment {
        Segment {
            flags,
            ..Segment::default()
        }
    }

    /// The flags of ACE, and others.
    fn with(bits: u16, flags: Flags) -> Segment {
        segment(flags.with(Flags::new(bits << 6)))
    }

    #[test]
    fn the_handshake_tells_the_meaning() {
        let answer = Flags::SYN.with(Flags::ACK);
        for (syn, reply, meaning, alone) in [
            (0b111, 0b010, Meaning::Accurate, Meaning::Accurate),
            (0b111, 0b011, Meaning::Accurate, Meaning::Accurate),
            (0b111, 0b100, Meaning::Accurate, Meaning::Accurate),
            (0b111, 0b110, Meaning::Accurate, Meaning::Accurate),
            (0b111, 0b101, Meaning::Accurate, Meaning::Unknown),
            (0b111, 0b001, Meaning::Classic, Meaning::Classic),
            (0b011, 0b001, Meaning::Classic, Meaning::Classic),
            (0b011, 0b011, Meaning::Classic, Meaning::Accurate),
            (0b011, 0b101, Meaning::Classic, Meaning::Unknown),
            (0b111, 0b000, Meaning::Offered, Meaning::Unknown),
            // A server that reflects the flags (RFC 9768, section 3.1.2).
            (0b111, 0b111, Meaning::Offered, Meaning::Unknown),
            (0b000, 0b000, Meaning::Unknown, Meaning::Unknown),
            (0b000, 0b101, Meaning::Unknown, Meaning::Unknown),
        ] {
            let mut ecn = Meaning::default();
            ecn.on_segment(&with(syn, Flags::SYN));
            ecn.on_segment(&with(reply, answer));
            assert_eq!(ecn, meaning, "{syn:b} {reply:b}");
            let mut ecn = Meaning::default();
            ecn.on_segment(&with(reply, answer));
            assert_eq!(ecn, alone, "{reply:b}");
        }
        let mut ecn = Meaning::default();
        ecn.on_segment(&with(0b111, Flags::SYN));
        assert_eq!(ecn, Meaning::Offered);
        ecn.on_segment(&with(0b010, Flags::ACK));
        assert_eq!(ecn, Meaning::Offered);
        ecn.on_segment(&with(0b101, Flags::ACK));
        assert_eq!(ecn, Meaning::Accurate);
        let mut ecn = Meaning::default();
        let mut option = with(0b001, Flags::ACK);
        option.has_accurate_ecn = true;
        ecn.on_segment(&option);
        assert_eq!(ecn, Meaning::Accurate);
    }

    #[test]
    fn cwr_in_each_segment_is_a_counter() {
        let told = |meaning, row: &[bool]| {
            let mut reductions = Reductions::default();
            let mut told = Vec::new();
            for (place, has_cwr) in (0..).zip(row) {
                let flags = if *has_cwr { Flags::CWR } else { Flags::ACK };
                let now = || (place, Bytes::new(1));
                let one = reductions.on_new_data(meaning, &segment(flags), now);
                told.extend(one.map(|(place, _)| place));
            }
            told
        };
        let once = [false, true, false, false, true, false];
        assert_eq!(told(Meaning::Classic, &once), [1, 4]);
        assert_eq!(told(Meaning::Unknown, &once), [1, 4]);
        let always = [false, true, true, true, false, true, false];
        assert!(told(Meaning::Unknown, &always).is_empty());
        assert!(told(Meaning::Accurate, &always).is_empty());
    }
}
