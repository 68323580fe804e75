//! What every QUIC packet shows: its header (RFC 8999, RFC 9000 section 17, RFC 9369).

use std::fmt;

use crate::packet::word;

/// No connection ID is longer (RFC 9000, section 17.2).
const LONGEST_ID: usize = 20;

/// The fixed bit: a packet of QUIC has it, unless the ends agree otherwise (RFC 9287).
const FIXED: u8 = 0x40;
const LONG: u8 = 0x80;

/// The version that says that versions are negotiated.
const NEGOTIATION: u32 = 0;

/// A version of QUIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version(pub u32);

impl Version {
    /// RFC 9000.
    pub const V1: Version = Version(1);
    /// RFC 9369.
    pub const V2: Version = Version(0x6b33_43cf);

    /// Whether it is one of those whose packets are known.
    fn is_known(self) -> bool {
        matches!(self, Version::V1 | Version::V2) || self.is_draft()
    }

    /// Drafts 29 to 34 are as RFC 9000, but for their keys.
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
    bytes: [u8; LONGEST_ID],
    len: u8,
}

impl Id {
    /// Of these bytes; `None` if they are more than an ID has.
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

    /// How long it is.
    pub fn len(&self) -> usize {
        self.len.into()
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

/// What a long header begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The first packets of both ends.
    Initial,
    /// Data before the handshake is over.
    ZeroRtt,
    /// The rest of the handshake.
    Handshake,
    /// The server wants the client's address proved.
    Retry,
    /// The server wants another version.
    VersionNegotiation,
}

/// A packet with a long header.
#[derive(Debug, Clone, Copy)]
pub struct Long<'d> {
    /// Its version.
    pub version: Version,
    /// What it is.
    pub kind: Kind,
    /// To whom.
    pub to: Id,
    /// From whom.
    pub from: Id,
    /// The packet, as far as it was captured.
    pub packet: &'d [u8],
    /// Where its packet number is.
    pub number_at: usize,
    /// Whether `packet` is all of it.
    pub is_whole: bool,
}

/// The first of the packets that a datagram holds.
#[derive(Debug, Clone, Copy)]
pub enum Header<'d> {
    /// It has a long header; behind it are the datagram's further packets.
    Long(Long<'d>, &'d [u8]),
    /// It has a short header.
    Short(Short),
}

/// What a short header shows.
#[derive(Debug, Clone, Copy)]
pub struct Short {
    first: u8,
}

impl Short {
    /// The latency spin bit (RFC 9000, section 17.4).
    pub fn spin(self) -> bool {
        self.first & 0x20 != 0
    }

    /// The square bit, if the ends use it (draft-ferrieux-hamchaoui-quic-lossbits, "Setting the square Bit"). Else it is
    /// protected, and as good as random.
    pub fn square(self) -> bool {
        self.first & 0x10 != 0
    }

    /// The loss bit, if the ends use it (the same draft, "Setting the loss Bit").
    pub fn loss(self) -> bool {
        self.first & 0x08 != 0
    }
}

impl<'d> Header<'d> {
    /// The header at the start of what was captured of a datagram. `None` if it is none of QUIC.
    #[inline]
    pub fn parse(data: &'d [u8]) -> Option<Header<'d>> {
        let first = *data.first()?;
        if first & LONG != 0 {
            let (long, rest) = long(data, first)?;
            return Some(Header::Long(long, rest));
        }
        (first & FIXED != 0).then_some(Header::Short(Short { first }))
    }
}

fn long(data: &[u8], first: u8) -> Option<(Long<'_>, &[u8])> {
    let version = Version(word(data, 1)?);
    let mut reader = Reader { data, at: 5 };
    let to = reader.id()?;
    let from = reader.id()?;
    let kind = match (version, first >> 4 & 3) {
        (Version(NEGOTIATION), _) => Kind::VersionNegotiation,
        _ if !version.is_known() || first & FIXED == 0 => return None,
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

/// Reads QUIC's numbers.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'d> {
    /// What is read.
    pub data: &'d [u8],
    /// How far it was read.
    pub at: usize,
}

impl<'d> Reader<'d> {
    /// Whether there is more.
    pub fn has_more(&self) -> bool {
        self.at < self.data.len()
    }

    /// A byte.
    pub fn byte(&mut self) -> Option<u8> {
        let byte = *self.data.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    /// Two bytes.
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

    /// So many bytes.
    pub fn bytes(&mut self, len: usize) -> Option<&'d [u8]> {
        let bytes = self.data.get(self.at..self.at.checked_add(len)?)?;
        self.at += len;
        Some(bytes)
    }

    /// Passes over so many bytes.
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
        // A DNS query, an answer to it, and RTP.
        for data in [
            &[0x12, 0x34, 1, 0][..],
            &[0xff, 0x34, 0x81, 0x80, 0, 1, 0, 1, 0],
            &[],
        ] {
            assert!(Header::parse(data).is_none(), "{data:?}");
        }
    }
}
