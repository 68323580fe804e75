//! Reports to senders of packets that exceed a link's MTU.

use std::net::IpAddr;

use etherparse::icmpv4::DestUnreachableHeader;
use etherparse::{Icmpv4Type, Icmpv6Type, IpNumber, LaxIpSlice, PacketBuilder};
use path::Mtu;

use super::layout::Version;
use super::virtio::VIRTIO;

/// The maximum number of quoted bytes of the packet: with the headers of the report, at most 576 bytes (RFC 1812,
/// section 4.3.2.3).
const MAX_QUOTED: usize = 548;

const HOP_LIMIT: u8 = 64;

/// The ICMP types that report errors (RFC 1122, section 3.2.2): destination unreachable, source quench, redirect, time
/// exceeded and parameter problem.
const ICMPV4_ERRORS: [u8; 5] = [3, 4, 5, 11, 12];

/// ICMPv6 types below 128 are errors. A redirect is not, but must not be answered either (RFC 4443, section 2.4 (e.2)).
const ICMPV6_REDIRECT: u8 = 137;

/// Returns a frame with the report that a packet is too big: "fragmentation needed" (RFC 1191, section 4) or "packet
/// too big" (RFC 4443, section 3.2). The path has no address of its own, so the report comes from the packet's
/// destination. `None` for the packets that [`deserves_report`] excludes.
pub(super) fn report(version: Version, packet: &[u8], mtu: Mtu) -> Option<Vec<u8>> {
    if !deserves_report(packet) {
        return None;
    }
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

/// True if a host may get a report on this packet: not on an error report, so that errors do not answer each other; not
/// if its source is not a single host; and only once for each fragmented packet (RFC 1122, section 3.2.2; RFC 4443,
/// section 2.4 (e), which has no rule for fragments). RFC 4443 would permit reports on multicast, but they need an
/// address of the path's own.
fn deserves_report(packet: &[u8]) -> bool {
    let Ok((ip, _)) = LaxIpSlice::from_slice(packet) else {
        return false;
    };
    let is_later_fragment = ip.ipv4().is_some_and(|ip| {
        let offset = ip.header().fragments_offset();
        offset.value() > 0
    });
    let payload = ip.payload();
    let kind = payload.payload.first();
    let is_error = match payload.ip_number {
        IpNumber::ICMP => kind.is_none_or(|kind| ICMPV4_ERRORS.contains(kind)),
        IpNumber::IPV6_ICMP => kind.is_none_or(|kind| *kind < 128 || *kind == ICMPV6_REDIRECT),
        _ => false,
    };
    let hosts = [ip.source_addr(), ip.destination_addr()];
    !is_later_fragment && !is_error && hosts.into_iter().all(is_one_host)
}

/// True if this address belongs to a single host.
fn is_one_host(address: IpAddr) -> bool {
    let is_reserved = match address {
        // "This network" (RFC 1122, section 3.2.1.3), and class E with the broadcast address.
        IpAddr::V4(ip) => ip.octets()[0] == 0 || ip.octets()[0] >= 240,
        IpAddr::V6(ip) => ip.is_unspecified(),
    };
    !is_reserved && !address.is_multicast() && !address.is_loopback()
}

/// Splits adjacent source and destination addresses.
fn addresses<const LENGTH: usize>(both: &[u8]) -> Option<[[u8; LENGTH]; 2]> {
    let (source, destination) = both.split_first_chunk()?;
    Some([*source, *destination.first_chunk()?])
}

#[cfg(test)]
mod tests {
    use etherparse::{IpFragOffset, Ipv4Header, Ipv6Header};

    use super::*;

    const MTU: u16 = 1_280;

    fn reported(version: Version, packet: &[u8]) -> bool {
        report(version, packet, Mtu::new(MTU).unwrap()).is_some()
    }

    fn ipv4(source: [u8; 4], destination: [u8; 4], protocol: IpNumber, first: u8) -> Vec<u8> {
        let payload = [first; 1_400];
        let header = Ipv4Header::new(1_400, 64, protocol, source, destination).unwrap();
        [header.to_bytes().as_slice(), &payload].concat()
    }

    fn ipv6(source: [u8; 16], destination: [u8; 16], headers: &[u8], protocol: u8) -> Vec<u8> {
        let header = Ipv6Header {
            payload_length: headers.len() as u16,
            next_header: IpNumber(protocol),
            hop_limit: 64,
            source,
            destination,
            ..Ipv6Header::default()
        };
        [header.to_bytes().as_slice(), headers].concat()
    }

    const HERE: [u8; 4] = [10, 200, 0, 1];
    const THERE: [u8; 4] = [10, 200, 1, 1];

    #[test]
    fn of_ipv4_only_one_host_hears() {
        for (source, destination, expected) in [
            (HERE, THERE, true),
            ([0, 0, 0, 0], THERE, false),
            ([127, 0, 0, 1], THERE, false),
            ([224, 0, 0, 1], THERE, false),
            ([240, 0, 0, 1], THERE, false),
            ([255; 4], THERE, false),
            (HERE, [255; 4], false),
            (HERE, [239, 1, 2, 3], false),
        ] {
            let packet = ipv4(source, destination, IpNumber::UDP, 0);
            assert_eq!(
                reported(Version::V4, &packet),
                expected,
                "{source:?} {destination:?}"
            );
        }
    }

    #[test]
    fn of_ipv6_only_one_host_hears() {
        let here = [0xfd; 16];
        let there = [0xfc; 16];
        let last = |byte| {
            let mut address = [0; 16];
            address[15] = byte;
            address
        };
        for (source, destination, expected) in [
            (here, there, true),
            (last(0), there, false),
            (last(1), there, false),
            ([0xff; 16], there, false),
            (here, [0xff; 16], false),
        ] {
            let packet = ipv6(source, destination, &[0; 1_400], 17);
            assert_eq!(
                reported(Version::V6, &packet),
                expected,
                "{source:?} {destination:?}"
            );
        }
    }

    #[test]
    fn errors_are_not_reported_on() {
        for (kind, expected) in [(0, true), (3, false), (4, false), (5, false), (8, true)]
            .into_iter()
            .chain([(11, false), (12, false), (13, true)])
        {
            let packet = ipv4(HERE, THERE, IpNumber::ICMP, kind);
            assert_eq!(reported(Version::V4, &packet), expected, "{kind}");
        }
        for (kind, expected) in [
            (1, false),
            (2, false),
            (127, false),
            (128, true),
            (137, false),
        ] {
            let icmp = [kind; 1_400];
            let packet = ipv6([0xfd; 16], [0xfc; 16], &icmp, 58);
            assert_eq!(reported(Version::V6, &packet), expected, "{kind}");
            // It follows an empty header of destination options.
            let options = [58, 0, 1, 4, 0, 0, 0, 0];
            let packet = ipv6(
                [0xfd; 16],
                [0xfc; 16],
                &[options.as_slice(), &icmp].concat(),
                60,
            );
            assert_eq!(reported(Version::V6, &packet), expected, "{kind}");
        }
    }

    #[test]
    fn of_fragments_the_first_is_reported() {
        for (offset, expected) in [(0, true), (1, false), (185, false)] {
            let mut header = Ipv4Header::new(1_400, 64, IpNumber::UDP, HERE, THERE).unwrap();
            header.more_fragments = true;
            header.fragment_offset = IpFragOffset::try_new(offset).unwrap();
            let packet = [header.to_bytes().as_slice(), &[0; 1_400]].concat();
            assert_eq!(reported(Version::V4, &packet), expected, "{offset}");
        }
    }
}
