//! A segment of TCP (RFC 9293), with the options that matter: RFC 7323, RFC 2018.

use etherparse::{TcpOptionElement, TcpOptionsIterator};

use super::bytes::{half, word};

/// The length of the header without options.
const HEADER: usize = 20;

/// Where a header with a timestamp and nothing else has it: behind two fillers, as nearly all segments do (RFC 7323,
/// appendix A).
const ALIGNED_TIMESTAMP: [u8; 4] = [1, 1, 8, 10];

/// What a segment says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Segment {
    /// The sequence number of its first byte, or of its SYN.
    pub seq: u32,
    /// The acknowledgement, where [`Flags::ACK`] says that there is one.
    pub ack: u32,
    /// Its flags.
    pub flags: Flags,
    /// The window that it offers, not scaled.
    pub window: u16,
    /// The length of its payload.
    pub len: u32,
    /// TSval and TSecr.
    pub timestamps: Option<(u32, u32)>,
    /// SACK blocks, the first ones that there are.
    pub sacks: [(u32, u32); 4],
    /// How many of them.
    pub sack_count: u8,
    /// The largest segment that its sender takes; in a SYN.
    pub mss: Option<u16>,
    /// By how many bits windows are to be shifted; in a SYN.
    pub window_scale: Option<u8>,
    /// Whether its sender understands SACK; in a SYN.
    pub is_sack_permitted: bool,
    /// Whether less than all of its options was captured: what is not among them may be there.
    pub is_cut: bool,
}

/// A segment's flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(u8);

impl Flags {
    /// No more data.
    pub const FIN: Flags = Flags(1);
    /// A connection is asked for, or given.
    pub const SYN: Flags = Flags(2);
    /// There is no such connection, or no more.
    pub const RST: Flags = Flags(4);
    /// The application has written no more.
    pub const PSH: Flags = Flags(8);
    /// There is an acknowledgement.
    pub const ACK: Flags = Flags(16);
    /// A mark is echoed (RFC 3168).
    pub const ECE: Flags = Flags(64);
    /// The echo was heard (RFC 3168).
    pub const CWR: Flags = Flags(128);

    /// These flags of a header.
    pub const fn new(bits: u8) -> Flags {
        Flags(bits)
    }

    /// These and those.
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
    /// The segment in the payload of an IP packet that is `len` long, of which `data` was captured. `None` if that is less
    /// than a header.
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
            flags: Flags(fixed[13]),
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

    /// The blocks of its SACK option.
    #[inline]
    pub fn sack_blocks(&self) -> &[(u32, u32)] {
        &self.sacks[..usize::from(self.sack_count)]
    }

    fn read(&mut self, options: &[u8]) {
        // An option that is cut off, or makes no sense, ends them.
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
