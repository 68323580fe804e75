//! TCP segments (RFC 9293), with the options that matter: RFC 7323, RFC 2018.

use super::bytes::{half, word};

/// The length of the header without options.
const HEADER: usize = 20;

/// The kinds of options (TCP Option Kind Numbers of IANA).
mod kind {
    pub const END: u8 = 0;
    pub const NO_OPERATION: u8 = 1;
    pub const MSS: u8 = 2;
    pub const WINDOW_SCALE: u8 = 3;
    pub const SACK_PERMITTED: u8 = 4;
    pub const SACK: u8 = 5;
    pub const TIMESTAMPS: u8 = 8;
    /// Accurate ECN, in either order of its counters.
    pub const ACC_ECN_0: u8 = 172;
    pub const ACC_ECN_1: u8 = 174;
}

/// The options of a header with a timestamp alone, behind two NOPs, as nearly all segments have them (RFC 7323, appendix
/// A).
const ALIGNED_TIMESTAMP: [u8; 4] = [1, 1, 8, 10];

/// The fields of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Segment {
    /// The sequence number of its first byte, or of its SYN.
    pub seq: u32,
    /// The acknowledgement number, valid with [`Flags::ACK`].
    pub ack: u32,
    /// The flags.
    pub flags: Flags,
    /// The unscaled receive window.
    pub window: u16,
    /// The length of its payload.
    pub len: u32,
    /// TSval and TSecr.
    pub timestamps: Option<(u32, u32)>,
    /// The SACK blocks, four at most.
    pub sacks: [(u32, u32); 4],
    /// The number of SACK blocks.
    pub sack_count: u8,
    /// The MSS option of a SYN.
    pub mss: Option<u16>,
    /// The window scale option of a SYN.
    pub window_scale: Option<u8>,
    /// True if a SYN has the SACK-permitted option.
    pub is_sack_permitted: bool,
    /// True if its options were not captured completely. An option that is absent here may still have been sent.
    pub is_cut: bool,
    /// True if it has the option of Accurate ECN (RFC 9768, section 3.2.3).
    pub has_accurate_ecn: bool,
    /// True if an option has an impossible length. Its receiver reads no option behind it, either.
    pub is_damaged: bool,
}

/// The flags of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(u16);

impl Flags {
    /// The sender has closed.
    pub const FIN: Flags = Flags(1);
    /// A connection request, or the answer to one.
    pub const SYN: Flags = Flags(2);
    /// The connection does not exist, or is aborted.
    pub const RST: Flags = Flags(4);
    /// The sender had no more data to send at this time.
    pub const PSH: Flags = Flags(8);
    /// The acknowledgement number is valid.
    pub const ACK: Flags = Flags(16);
    /// The receiver echoes a congestion mark (RFC 3168).
    pub const ECE: Flags = Flags(64);
    /// The sender has reduced its window after an echo (RFC 3168).
    pub const CWR: Flags = Flags(128);
    /// Accurate ECN. With it, CWR and ECE are the lower bits of a counter (RFC 9768).
    pub const AE: Flags = Flags(256);

    /// The flags with these bits.
    pub const fn new(bits: u16) -> Flags {
        Flags(bits)
    }

    /// Both sets of flags together.
    #[must_use]
    pub const fn with(self, flags: Flags) -> Flags {
        Flags(self.0 | flags.0)
    }

    /// True if all of `flags` are set.
    #[inline]
    pub const fn has(self, flags: Flags) -> bool {
        self.0 & flags.0 == flags.0
    }
}

impl Segment {
    /// Decodes the segment in the payload of an IP packet. The payload is `len` long, and `data` is its captured part.
    /// `None` if the TCP header was not captured completely.
    #[inline]
    pub fn parse(data: &[u8], len: u32) -> Option<Segment> {
        let (fixed, rest) = data.split_first_chunk::<HEADER>()?;
        let header = usize::from(fixed[12] >> 4) * 4;
        if header < HEADER {
            return None;
        }
        let mut segment = Segment {
            seq: word(fixed, 4)?,
            ack: word(fixed, 8)?,
            flags: Flags(u16::from(fixed[12] & 1) << 8 | u16::from(fixed[13])),
            window: half(fixed, 14)?,
            len: len.saturating_sub(u32::try_from(header).ok()?),
            ..Segment::default()
        };
        let options = rest.get(..header - HEADER).unwrap_or(rest);
        segment.is_cut = options.len() < header - HEADER;
        if options.starts_with(&ALIGNED_TIMESTAMP) && options.len() == 12 {
            segment.timestamps = word(options, 4).zip(word(options, 8));
        } else {
            segment.read(options);
        }
        Some(segment)
    }

    /// The SACK blocks.
    #[inline]
    pub fn sack_blocks(&self) -> &[(u32, u32)] {
        &self.sacks[..usize::from(self.sack_count)]
    }

    /// Reads the options. Each has its length, except the first two kinds; what is unknown is passed over (RFC 9293, section
    /// 3.1).
    fn read(&mut self, mut options: &[u8]) {
        while let [kind, rest @ ..] = options {
            match *kind {
                kind::END => return,
                kind::NO_OPERATION => {
                    options = rest;
                    continue;
                }
                _ => {}
            }
            let len = rest.first().copied().map_or(0, usize::from);
            let Some((option, behind)) = options.split_at_checked(len).filter(|_| len >= 2) else {
                // What the capture has cut off is no damage.
                let is_missing = rest.is_empty() || len >= 2;
                self.is_damaged = !(self.is_cut && is_missing);
                return;
            };
            match *option {
                [kind::MSS, _, a, b] => self.mss = Some(u16::from_be_bytes([a, b])),
                [kind::WINDOW_SCALE, _, shift] => self.window_scale = Some(shift.min(14)),
                [kind::SACK_PERMITTED, _] => self.is_sack_permitted = true,
                [kind::ACC_ECN_0 | kind::ACC_ECN_1, ..] => self.has_accurate_ecn = true,
                [kind::SACK, _, ref blocks @ ..] if blocks.len().is_multiple_of(8) => {
                    self.sack_count = 0;
                    let blocks = blocks.as_chunks::<8>().0;
                    for (place, block) in self.sacks.iter_mut().zip(blocks) {
                        let [a, b, c, d, e, f, g, h] = *block;
                        *place = (
                            u32::from_be_bytes([a, b, c, d]),
                            u32::from_be_bytes([e, f, g, h]),
                        );
                        self.sack_count += 1;
                    }
                }
                [kind::TIMESTAMPS, _, a, b, c, d, e, f, g, h] => {
                    let value = u32::from_be_bytes([a, b, c, d]);
                    self.timestamps = Some((value, u32::from_be_bytes([e, f, g, h])));
                }
                _ => {}
            }
            options = behind;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A segment with these options, padded with the end of the list.
    fn with(options: &[u8]) -> Segment {
        let mut options = options.to_vec();
        options.resize(options.len().next_multiple_of(4), kind::END);
        let words = u8::try_from(options.len() / 4).expect("they fit into a header");
        let mut data = [0; HEADER].to_vec();
        data[12] = (5 + words) << 4;
        data.extend(options);
        Segment::parse(&data, 60).expect("a header")
    }

    const MSS: [u8; 4] = [2, 4, 5, 180];
    const TIMESTAMPS: [u8; 10] = [8, 10, 0, 0, 0, 1, 0, 0, 0, 2];
    const SACK: [u8; 10] = [5, 10, 0, 0, 0, 3, 0, 0, 0, 4];

    /// MD5, AO, MPTCP, Fast Open, AccECN, experiments, WAN optimisers, obsolete options, and a kind that nobody has.
    const UNKNOWN: [u8; 17] = [
        19, 29, 30, 34, 172, 174, 253, 254, 76, 78, 6, 7, 14, 15, 27, 28, 99,
    ];

    #[test]
    fn an_unknown_option_is_passed_over() {
        for kind in UNKNOWN {
            for len in 2..=16_u8 {
                let mut unknown = vec![kind, len];
                unknown.resize(len.into(), 8);
                let before = with(&[&unknown[..], &MSS, &TIMESTAMPS, &SACK].concat());
                let after = with(&[&MSS[..], &TIMESTAMPS, &SACK, &unknown].concat());
                assert_eq!(before, after, "{kind}, {len}");
                assert_eq!(before.mss, Some(1_460));
                assert_eq!(before.timestamps, Some((1, 2)));
                assert_eq!(before.sack_blocks(), [(3, 4)]);
                assert!(!before.is_damaged && !before.is_cut);
            }
        }
    }

    #[test]
    fn an_impossible_length_ends_the_list() {
        for damage in [&[99, 0][..], &[99, 1], &[99, 40, 0, 0], &[3, 0], &[8, 255]] {
            let segment = with(&[&MSS[..], damage, &TIMESTAMPS].concat());
            assert_eq!((segment.mss, segment.timestamps), (Some(1_460), None));
            assert!(segment.is_damaged && !segment.is_cut, "{damage:?}");
        }
        let last = with(&[&MSS[..], &[1, 1, 1, 99]].concat());
        assert!(last.is_damaged, "it has no length");
        // A known option of another length is unknown.
        let other = with(
            &[
                &[2, 3, 1][..],
                &[4, 3, 1],
                &[5, 9, 0, 0, 0, 0, 0, 0, 0],
                &TIMESTAMPS,
            ]
            .concat(),
        );
        assert_eq!((other.mss, other.sack_count), (None, 0));
        assert_eq!(
            (other.is_sack_permitted, other.timestamps),
            (false, Some((1, 2)))
        );
        assert!(!other.is_damaged);
    }

    #[test]
    fn what_the_capture_cut_off_is_not_damaged() {
        let mut data = [0; HEADER].to_vec();
        data[12] = 15 << 4;
        data.extend(
            [
                &MSS[..],
                &[19, 18],
                &[0; 16],
                &TIMESTAMPS,
                &[1, 1],
                &[3, 3, 7],
            ]
            .concat(),
        );
        for len in HEADER..data.len() {
            let segment = Segment::parse(&data[..len], 100).expect("a header");
            assert!(segment.is_cut && !segment.is_damaged, "{len}");
        }
    }
}
