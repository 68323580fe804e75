//! The MTU of a link.

use std::fmt;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize};
use units::Bytes;
use units::bounds::refused;

/// The size of the largest IP packet that a link accepts, headers included. A larger one is dropped at the link's
/// entry.
///
/// Nothing is fragmented: IPv6 packets never are in flight (RFC 8200, section 5), and the IPv4 packets of TCP and QUIC
/// forbid it (RFC 1191).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Mtu(u16);

impl Mtu {
    /// The size that every host must be able to receive (RFC 791, section 3.1), in bytes.
    pub const MIN: u16 = 576;

    /// Returns an MTU of `bytes`, unless it is less than [`Mtu::MIN`].
    pub const fn new(bytes: u16) -> Option<Mtu> {
        if bytes < Mtu::MIN {
            None
        } else {
            Some(Mtu(bytes))
        }
    }

    /// The size of the largest packet.
    pub const fn bytes(self) -> Bytes {
        Bytes::new(self.0 as u64)
    }
}

impl fmt::Display for Mtu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<'de> Deserialize<'de> for Mtu {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Mtu, D::Error> {
        deserializer.deserialize_any(BytesOfPacket)
    }
}

/// Reads a number of bytes, as a number or as text, with or without the unit `b`.
struct BytesOfPacket;

const REFUSAL: &str = "is not the size of a packet; give 576 to 65535 bytes, such as 1400";

impl Visitor<'_> for BytesOfPacket {
    type Value = Mtu;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("576 to 65535 bytes, such as 1400")
    }

    fn visit_u64<E: serde::de::Error>(self, bytes: u64) -> Result<Mtu, E> {
        let mtu = u16::try_from(bytes).ok().and_then(Mtu::new);
        mtu.ok_or_else(|| refused(REFUSAL))
    }

    fn visit_i64<E: serde::de::Error>(self, bytes: i64) -> Result<Mtu, E> {
        self.visit_u64(u64::try_from(bytes).unwrap_or(0))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Mtu, E> {
        let number = text.strip_suffix(['b', 'B']).unwrap_or(text).trim_end();
        self.visit_u64(number.parse().unwrap_or(0))
    }
}
