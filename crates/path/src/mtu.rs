//! The largest packet that a link takes.

use std::fmt;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize};
use units::Bytes;
use units::bounds::refused;

/// The largest IP packet that a link takes, headers included. A larger one is dropped where it would enter the link.
///
/// Nothing is fragmented: packets of IPv6 never are on their way (RFC 8200, section 5), and those of IPv4 that TCP and QUIC
/// send ask not to be (RFC 1191).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Mtu(u16);

impl Mtu {
    /// What every host must be able to receive (RFC 791, section 3.1), in bytes.
    pub const LEAST: u16 = 576;

    /// An MTU of so many bytes, unless they are fewer than [`Mtu::LEAST`].
    pub const fn new(bytes: u16) -> Option<Mtu> {
        if bytes < Mtu::LEAST {
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

/// Reads a number of bytes, or a text that has it with or without the unit `b`.
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
