//! The largest packet that a link takes.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use units::Bytes;
use units::bounds::whole;

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
        const REASON: &str = "is not the size of a packet; give 576 to 65535 bytes, such as 1400";
        let bytes: u64 = whole(deserializer, Mtu::LEAST.into()..=u16::MAX.into(), REASON)?;
        let mtu = u16::try_from(bytes).ok().and_then(Mtu::new);
        mtu.ok_or_else(|| units::bounds::refused(REASON))
    }
}
