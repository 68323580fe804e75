//! The unprotected part of QUIC packets: their headers (RFC 8999, RFC 9000 section 17, RFC 9369).

use std::fmt;

use crate::packet::word;

/// The longest connection ID (RFC 9000, section 17.2).
const MAX_ID_BYTES: usize = 20;

/// The fixed bit. All QUIC packets have it, unless the ends agree to grease it. Then the bit is random (RFC 9287).
const FIXED: u8 = 0x40;
const LONG: u8 = 0x80;

/// The version number of a Version Negotiation packet.
const NEGOTIATION: u32 = 0;

/// A version of QUIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version(pub u32);

impl Version {
    /// RFC 9000.
    pub const V1: Version = Version(1);
    /// RFC 9369.
    pub const V2: Version = Version(0x6b33_43cf);

    /// True if packets of this version can be decoded.
    fn is_known(self) -> bool {
        matches!(self, Version::V1 | Version::V2) || self.is_draft()
    }

    /// Drafts 29 to 34 differ from RFC 9000 only in their keys.
    fn is_draft(self) -> bool {
        (0xff00_001d..=0xff00_0022).contains(&self.0)
    }
}

/// `1`, `2`, `draft-29`, or the number.
impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Version::V1 => f.write_str("1"),
            Version::V2 => f.write_str("2"),
            draft if draft.is_draft() => write!(f, "draft-{}", draft.0 & 0xff),
            Version(other) => write!(f, "{other:#010x}"),
        }
    }
}

/// A connection ID.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Id {
    bytes: [u8; MAX_ID_BYTES],
    len: u8,
}

impl Id {
    /// A connection ID of these bytes; `None` if there are too many.
    pub fn new(bytes: &[u8]) -> Option<Id> {
        let mut id = Id {
            len: u8::try_from(bytes.len()).ok()?,
            ..Id::default()
        };
        id.bytes.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(id)
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len()]
    }

    /// The length in bytes.
    pub fn len(&self) -> usize {
        self.len.into()
    }

    /// True if it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// In hexadecimal digits.
impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = self.as_bytes().iter();
        bytes.try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The type of a packet with a long header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Initial: the first packets of both ends.
    Initial,
    /// 0-RTT: data before the handshake is complete.
    ZeroRtt,
    /// Handshake: the rest of the handshake.
    Handshake,
    /// Retry: the server asks for proof of the client's address.
    Retry,
    /// Version Negotiation: the server asks for another version.
    VersionNegotiation,
}

/// A packet with a long header.
#[derive(Debug, Clone, Copy)]
pub struct Long<'d> {
    /// Its version.
    pub version: Version,
    /// Its type.
    pub kind: Kind,
    /// The destination connection ID.
    pub to: Id,
    /// The source connection ID.
    pub from: Id,
    /// The captured part of the packet.
    pub packet: &'d [u8],
    /// The offset of the packet number.
    pub number_at: usize,
    /// True if `packet` is complete.
    pub is_whole: bool,
}

/// The header of the first packet in a datagram.
#[derive(Debug, Clone, Copy)]
pub enum Header<'d> {
    /// A long header, and the rest of the datagram, which may hold more packets.
    Long(Long<'d>, &'d [u8]),
    /// A short header.
    Short(Short),
}

/// A short header.
#[derive(Debug, Clone, Copy)]
pub struct Short {
    first: u8,
}

impl Short {
    /// The latency spin bit (RFC 9000, section 17.4).
    pub fn spin(self) -> bool {
        self.first & 0x20 != 0
    }

    /// The square bit, if the ends use it (draft-ferrieux-hamchaoui-quic-lossbits, "Setting the square Bit"). Otherwise
    /// header protection makes it random.
    pub fn square(self) -> bool {
        self.first & 0x10 != 0
    }

    /// The loss bit, if the ends use it (the same draft, "Setting the loss Bit").
    pub fn loss(self) -> bool {
        self.first & 0x08 != 0
    }
}

impl<'d> Header<'d> {
    /// The header at the start of a datagram. `None` if it is not QUIC. Any datagram can look like a short header; see
    /// [`has_fixed_bit`](Header::has_fixed_bit).
    #[inline]
    pub fn parse(data: &'d [u8]) -> Option<Header<'d>> {
        let first = *data.first()?;
        if first & LONG != 0 {
            let (long, rest) = long(data, first)?;
            return Some(Header::Long(long, rest));
        }
        Some(Header::Short(Short { first }))
    }

    /// True if the header has the fixed bit. A packet without this bit is QUIC only if its connection is known.
    pub fn has_fixed_bit(&self) -> bool {
        let first = match self {
            Header::Long(long, _) => long.packet.first().copied().unwrap_or_default(),
            Header::Short(short) => short.first,
        };
        first & FIXED != 0
    }
}

fn long(data: &[u8], first: u8) -> Option<(Long<'_>, &[u8])> {
    let version = Version(word(data, 1)?);
    let mut reader = Reader { data, at: 5 };
    let to = reader.id()?;
    let from = reader.id()?;
    let kind = match (version, first >> 4 & 3) {
        (Version(NEGOTIATION), _) => Kind::VersionNegotiation,
        _ if !version.is_known() => return None,
        (Version::V2, kind) => kinds(kind.wrapping_sub(1) & 3),
        (_, kind) => kinds(kind),
    };
    let mut long = Long {
        version,
        kind,
        to,
        from,
        packet: data,
        number_at: reader.at,
        is_whole: true,
    };
    if matches!(kind, Kind::VersionNegotiation | Kind::Retry) {
        return Some((long, &[]));
    }
    if kind == Kind::Initial {
        let token = reader.number()?;
        reader.skip(token)?;
    }
    let length = reader.number()?;
    long.number_at = reader.at;
    let end = reader.at.checked_add(usize::try_from(length).ok()?)?;
    long.is_whole = end <= data.len();
    let (packet, rest) = data.split_at(end.min(data.len()));
    long.packet = packet;
    Some((long, rest))
}

fn kinds(bits: u8) -> Kind {
    match bits {
        0 => Kind::Initial,
        1 => Kind::ZeroRtt,
        2 => Kind::Handshake,
        _ => Kind::Retry,
    }
}

/// A reader of QUIC's encodings.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'d> {
    /// The data.
    pub data: &'d [u8],
    /// The position of the next byte.
    pub at: usize,
}

impl<'d> Reader<'d> {
    /// True if there are more bytes.
    pub fn has_more(&self) -> bool {
        self.at < self.data.len()
    }

    /// The next byte.
    pub fn byte(&mut self) -> Option<u8> {
        let byte = *self.data.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    /// The next two bytes, as a number.
    pub fn half(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes([self.byte()?, self.byte()?]))
    }

    /// A number of variable length (RFC 9000, section 16).
    #[inline]
    pub fn number(&mut self) -> Option<u64> {
        let first = self.byte()?;
        let more = (1_usize << (first >> 6)) - 1;
        let rest = self.bytes(more)?;
        let begin = u64::from(first & 0x3f);
        Some(
            rest.iter()
                .fold(begin, |number, byte| number << 8 | u64::from(*byte)),
        )
    }

    /// The next `len` bytes.
    pub fn bytes(&mut self, len: usize) -> Option<&'d [u8]> {
        let bytes = self.data.get(self.at..self.at.checked_add(len)?)?;
        self.at += len;
        Some(bytes)
    }

    /// Skips `len` bytes.
    pub fn skip(&mut self, len: u64) -> Option<()> {
        self.bytes(usize::try_from(len).ok()?).map(|_| ())
    }

    fn id(&mut self) -> Option<Id> {
        let len = self.byte()?;
        Id::new(self.bytes(len.into())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_length_that_they_say() {
        // RFC 9000, appendix A.1.
        for (bytes, number) in [
            (&[0x25][..], 37),
            (&[0x40, 0x25], 37),
            (&[0x7b, 0xbd], 15_293),
            (&[0x9d, 0x7f, 0x3e, 0x7d], 494_878_333),
            (
                &[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c],
                151_288_809_941_952_652,
            ),
        ] {
            let mut reader = Reader { data: bytes, at: 0 };
            assert_eq!(reader.number(), Some(number));
            assert!(!reader.has_more());
            reader = Reader {
                data: &bytes[..bytes.len() - 1],
                at: 0,
            };
            assert_eq!(reader.number(), None);
        }
    }

    #[test]
    fn what_is_none_of_quic_is_left_alone() {
        // A DNS query, its answer, and RTP.
        for data in [
            &[0x12, 0x34, 1, 0][..],
            &[0xff, 0x34, 0x81, 0x80, 0, 1, 0, 1, 0],
            &[],
        ] {
            let header = Header::parse(data);
            assert!(
                !header.is_some_and(|header| header.has_fixed_bit()),
                "{data:?}"
            );
        }
    }
}
