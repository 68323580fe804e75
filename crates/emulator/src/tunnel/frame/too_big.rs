//! What the sender of a packet hears that is larger than a link's MTU.

use etherparse::icmpv4::DestUnreachableHeader;
use etherparse::{Icmpv4Type, Icmpv6Type, PacketBuilder};
use path::Mtu;

use super::layout::Version;
use super::virtio::VIRTIO;

/// How much of the packet is quoted at most: with the headers of the report, no more than 576 bytes (RFC 1812, section
/// 4.3.2.3).
const MAX_QUOTED: usize = 548;

const HOP_LIMIT: u8 = 64;

/// A frame with the report that a packet is too big: "fragmentation needed" (RFC 1191, section 4) or "packet too big" (RFC
/// 4443, section 3.2). The path has no address of its own, so it comes from where the packet was to go.
pub(super) fn report(version: Version, packet: &[u8], mtu: Mtu) -> Option<Vec<u8>> {
    let quoted = packet.get(..MAX_QUOTED).unwrap_or(packet);
    let size = u16::try_from(mtu.bytes().get()).ok()?;
    let mut frame = vec![0; VIRTIO];
    match version {
        Version::V4 => {
            let [source, destination] = addresses::<4>(packet.get(12..20)?)?;
            let needed = DestUnreachableHeader::FragmentationNeeded { next_hop_mtu: size };
            PacketBuilder::ipv4(destination, source, HOP_LIMIT)
                .icmpv4(Icmpv4Type::DestinationUnreachable(needed))
                .write(&mut frame, quoted)
        }
        Version::V6 => {
            let [source, destination] = addresses::<16>(packet.get(8..40)?)?;
            PacketBuilder::ipv6(destination, source, HOP_LIMIT)
                .icmpv6(Icmpv6Type::PacketTooBig { mtu: size.into() })
                .write(&mut frame, quoted)
        }
    }
    .ok()?;
    Some(frame)
}

/// Source and destination, as they follow on each other.
fn addresses<const LENGTH: usize>(both: &[u8]) -> Option<[[u8; LENGTH]; 2]> {
    let (source, destination) = both.split_first_chunk()?;
    Some([*source, *destination.first_chunk()?])
}
