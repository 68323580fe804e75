//! The layout of a frame: one packet, or a large one of many TCP segments.

use std::hash::{DefaultHasher, Hasher};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::Range;

use path::Ecn;

use super::checksum;
use super::virtio::{GSO_KIND, GSO_TCPV4, GSO_TCPV6, NEEDS_CSUM, VIRTIO, Virtio};

/// The protocol numbers of TCP and of UDP, whose ports have the same offsets.
const TCP: u8 = 6;
const UDP: u8 = 17;

/// The lengths of the IP headers without options or extensions.
pub(crate) const IPV4_HEADER: usize = 20;
pub(crate) const IPV6_HEADER: usize = 40;

/// The length of the TCP header without options.
const TCP_HEADER: usize = 20;

/// The version of IP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    V4,
    V6,
}

/// The layout of a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) version: Version,
    /// The length of the whole IP packet.
    pub(crate) length: usize,
    pub(crate) destination: IpAddr,
    /// The same for all packets of a connection in this direction.
    pub(crate) flow: u64,
    pub(crate) ecn: Ecn,
    /// The segmentation; `None` for one packet.
    pub(crate) large: Option<Large>,
}

/// A large packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Large {
    /// The offset of the TCP header in the IP packet.
    pub(crate) tcp: usize,
    /// The offset of the payload.
    pub(crate) headers: usize,
    /// The payload of each segment but the last, in bytes.
    pub(crate) mss: usize,
    /// The number of segments.
    pub(crate) segments: u32,
    /// The sum of the pseudo header (RFC 9293, section 3.1) without its length.
    pub(crate) pseudo: u32,
}

impl Layout {
    /// The layout of an empty frame.
    pub(crate) const EMPTY: Layout = Layout {
        version: Version::V4,
        length: 0,
        destination: IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        flow: 0,
        ecn: Ecn::NotCapable,
        large: None,
    };

    /// Returns the layout of the frame of `length` bytes that starts with `head`, or `None` if it is invalid. All
    /// headers of a large packet must be in `head`.
    pub(crate) fn of(head: &[u8], length: usize) -> Option<Layout> {
        let (virtio, packet) = head.split_first_chunk::<VIRTIO>()?;
        let virtio = Virtio::from_bytes(virtio);
        let length = length.checked_sub(VIRTIO)?;
        let packet = packet.get(..length).unwrap_or(packet);
        let ip = Ip::of(packet)?;
        let large = match virtio.gso_type & GSO_KIND {
            GSO_TCPV4 | GSO_TCPV6 => Some(ip.large(&virtio, packet, length)?),
            _ => None,
        };
        Some(Layout {
            version: ip.version,
            length,
            destination: ip.destination,
            flow: ip.flow(packet),
            ecn: match ip.ecn {
                0 => Ecn::NotCapable,
                1 => Ecn::L4s,
                3 => Ecn::Marked,
                _ => Ecn::Capable,
            },
            large,
        })
    }

    /// The number of packets on the wire.
    pub(crate) fn segments(&self) -> u32 {
        self.large.as_ref().map_or(1, |large| large.segments)
    }

    /// The range of these segments' payload in the IP packet.
    pub(crate) fn payload(&self, segments: &Range<u32>) -> Range<usize> {
        let Some(large) = &self.large else {
            return 0..self.length;
        };
        let start = |segment: u32| {
            let offset = (segment as usize).saturating_mul(large.mss);
            large.headers.saturating_add(offset).min(self.length)
        };
        start(segments.start)..start(segments.end)
    }

    /// The size of these segments as one packet.
    pub(crate) fn size(&self, segments: &Range<u32>) -> usize {
        let headers = self.large.as_ref().map_or(0, |large| large.headers);
        headers + self.payload(segments).len()
    }

    /// The size of these segments on the wire, each with its own headers.
    pub(crate) fn wire_size(&self, segments: &Range<u32>) -> usize {
        let headers = self.large.as_ref().map_or(0, |large| large.headers);
        segments.len() * headers + self.payload(segments).len()
    }
}

/// The contents of the IP header.
struct Ip<'a> {
    version: Version,
    /// Source and destination, as in the header.
    addresses: &'a [u8],
    destination: IpAddr,
    protocol: u8,
    /// The offset of the next header.
    next: usize,
    /// True if it is a fragment.
    fragment: bool,
    ecn: u8,
}

impl Ip<'_> {
    fn of(packet: &[u8]) -> Option<Ip<'_>> {
        match packet.first()? >> 4 {
            4 => {
                let header = packet.first_chunk::<IPV4_HEADER>()?;
                let next = usize::from(header[0] & 0xf) * 4;
                if next < IPV4_HEADER || next > packet.len() {
                    return None;
                }
                let [.., a, b, c, d] = *header;
                Some(Ip {
                    version: Version::V4,
                    addresses: packet.get(12..20)?,
                    destination: Ipv4Addr::new(a, b, c, d).into(),
                    protocol: header[9],
                    next,
                    // All bits but "don't fragment": more fragments follow, or some came before.
                    fragment: u16::from_be_bytes([header[6], header[7]]) & 0xbfff != 0,
                    ecn: header[1] & 3,
                })
            }
            6 => {
                let header = packet.first_chunk::<IPV6_HEADER>()?;
                let destination = header.last_chunk::<16>()?;
                Some(Ip {
                    version: Version::V6,
                    addresses: packet.get(8..40)?,
                    destination: Ipv6Addr::from(*destination).into(),
                    protocol: header[6],
                    next: IPV6_HEADER,
                    fragment: false,
                    ecn: (header[1] >> 4) & 3,
                })
            }
            _ => None,
        }
    }

    /// Returns a hash of addresses, protocol and ports. Fragments have no ports, and those after extension headers are
    /// ignored.
    fn flow(&self, packet: &[u8]) -> u64 {
        let mut hasher = DefaultHasher::new();
        hasher.write(self.addresses);
        hasher.write_u8(self.protocol);
        let has_ports = matches!(self.protocol, TCP | UDP) && !self.fragment;
        if has_ports && let Some(ports) = packet.get(self.next..self.next + 4) {
            hasher.write(ports);
        }
        hasher.finish()
    }

    /// Returns the segmentation of a large packet of this `length`.
    fn large(&self, virtio: &Virtio, packet: &[u8], length: usize) -> Option<Large> {
        let (tcp, is_tcp) = match self.version {
            Version::V4 => (self.next, self.protocol == TCP && !self.fragment),
            // The kernel has passed over extension headers already.
            Version::V6 if virtio.flags & NEEDS_CSUM != 0 => (virtio.csum_start.into(), true),
            Version::V6 => (self.next, self.protocol == TCP),
        };
        let kind = match self.version {
            Version::V4 => GSO_TCPV4,
            Version::V6 => GSO_TCPV6,
        };
        if !is_tcp || virtio.gso_type & GSO_KIND != kind || tcp < self.next {
            return None;
        }
        let offset = packet.get(tcp..)?.get(12)? >> 4;
        let headers = tcp + usize::from(offset) * 4;
        if headers < tcp + TCP_HEADER || headers > packet.len() {
            return None;
        }
        let mss = usize::from(virtio.gso_size);
        let segments = (length - headers).checked_div(mss)?
            + usize::from(!(length - headers).is_multiple_of(mss));
        Some(Large {
            tcp,
            headers,
            mss,
            segments: u32::try_from(segments.max(1)).ok()?,
            pseudo: checksum::sum(self.addresses) + u32::from(TCP),
        })
    }
}
