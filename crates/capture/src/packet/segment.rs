//! TCP segments (RFC 9293), with the options that matter: RFC 7323, RFC 2018.

use etherparse::{TcpOptionElement, TcpOptionsIterator};

use super::bytes::{half, word};

/// The length of the header without options.
const HEADER: usize = 20;

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
    /// Whether a SYN has the SACK-permitted option.
    pub is_sack_permitted: bool,
    /// Whether its options were not captured completely. An option that is absent here may still have been sent.
    pub is_cut: bool,
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

    /// Whether all of `flags` are set.
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

    fn read(&mut self, options: &[u8]) {
        // An option that is cut or invalid ends the list.
        let options = TcpOptionsIterator::from_slice(options);
        for option in options.map_while(Result::ok) {
            match option {
                TcpOptionElement::Noop => {}
                TcpOptionElement::MaximumSegmentSize(mss) => self.mss = Some(mss),
                TcpOptionElement::WindowScale(shift) => self.window_scale = Some(shift.min(14)),
                TcpOptionElement::SelectiveAcknowledgementPermitted => {
                    self.is_sack_permitted = true;
                }
                TcpOptionElement::SelectiveAcknowledgement(first, more) => {
                    let more = more.into_iter().flatten();
                    let blocks = std::iter::once(first).chain(more);
                    self.sack_count = 0;
                    for (place, block) in self.sacks.iter_mut().zip(blocks) {
                        *place = block;
                        self.sack_count += 1;
                    }
                }
                TcpOptionElement::Timestamp(value, echo) => self.timestamps = Some((value, echo)),
            }
        }
    }
}
