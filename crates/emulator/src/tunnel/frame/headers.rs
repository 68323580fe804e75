//! The headers of a frame's segments, as on the wire.
//!
//! They differ from segment to segment as in Linux (`tcp_gso_segment` in `net/ipv4/tcp_offload.c`, `inet_gso_segment`
//! in `net/ipv4/af_inet.c`).

use std::ops::Range;

use super::checksum;
use super::layout::{IPV4_HEADER, IPV6_HEADER, Large, Layout, Version};
use super::virtio::{GSO_ECN, GSO_KIND, GSO_NONE, NEEDS_CSUM, VIRTIO, Virtio};

/// Flags of TCP (RFC 9293, section 3.1).
const FIN: u8 = 0x01;
const PSH: u8 = 0x08;
const CWR: u8 = 0x80;

/// The offset of TCP's checksum in its header.
const TCP_CHECKSUM: u16 = 16;

/// Writes to `out` the headers of `segments` of a frame that starts with `head`: of one packet, or of a large one for
/// several segments. `mark` sets "congestion experienced". Returns the number of the frame's bytes that they replace:
/// none if the frame can stay as it is.
pub(crate) fn write(
    layout: &Layout,
    head: &[u8],
    segments: &Range<u32>,
    mark: bool,
    out: &mut [u8],
) -> Option<usize> {
    let is_whole = segments.len() == layout.segments() as usize;
    if is_whole && !mark {
        return Some(0);
    }
    let headers = match (&layout.large, layout.version) {
        (Some(large), _) => large.headers,
        (None, Version::V4) => IPV4_HEADER,
        (None, Version::V6) => IPV6_HEADER,
    };
    let end = VIRTIO + headers;
    let out = out.get_mut(..end)?;
    out.copy_from_slice(head.get(..end)?);
    let (virtio, packet) = out.split_first_chunk_mut::<VIRTIO>()?;
    if mark {
        mark_ip(layout.version, packet)?;
    }
    if let Some(large) = &layout.large {
        let length = layout.size(segments);
        cut_ip(layout.version, packet, length, segments.start)?;
        cut_tcp(large, packet, length, segments)?;
        cut_virtio(large, virtio, segments);
    }
    Some(end)
}

/// Sets "congestion experienced" (RFC 3168, section 5).
fn mark_ip(version: Version, packet: &mut [u8]) -> Option<()> {
    match version {
        Version::V4 => {
            let marked = word(packet, 0)? | 0x0003;
            replace_ipv4(packet, 0, marked)
        }
        Version::V6 => {
            let marked = word(packet, 0)? | 0x0030;
            put(packet, 0, marked)
        }
    }
}

/// Sets the length and, in IPv4, the identification, which counts up from segment to segment. A length that does not
/// fit is zero, as in Linux's packets of more than 64 KiB (`iph_set_totlen`, `ipv6_set_payload_len`).
fn cut_ip(version: Version, packet: &mut [u8], length: usize, first: u32) -> Option<()> {
    match version {
        Version::V4 => {
            let identification = word(packet, 4)?.wrapping_add(first as u16);
            replace_ipv4(packet, 2, u16::try_from(length).unwrap_or(0))?;
            replace_ipv4(packet, 4, identification)
        }
        Version::V6 => {
            let payload = length.checked_sub(IPV6_HEADER)?;
            put(packet, 4, u16::try_from(payload).unwrap_or(0))
        }
    }
}

/// Sets the sequence number and the flags, and the pseudo header's sum in place of the checksum.
fn cut_tcp(large: &Large, packet: &mut [u8], length: usize, segments: &Range<u32>) -> Option<()> {
    let tcp = packet.get_mut(large.tcp..)?;
    let offset = segments.start.wrapping_mul(large.mss as u32);
    let sequence = tcp.get_mut(4..)?.first_chunk_mut()?;
    *sequence = u32::from_be_bytes(*sequence)
        .wrapping_add(offset)
        .to_be_bytes();
    let flags = tcp.get_mut(13)?;
    if segments.end < large.segments {
        *flags &= !(FIN | PSH);
    }
    if segments.start > 0 {
        *flags &= !CWR;
    }
    let tcp_length = u32::try_from(length - large.tcp).ok()?;
    let sum = large.pseudo + (tcp_length & 0xffff) + (tcp_length >> 16);
    put(tcp, TCP_CHECKSUM.into(), checksum::fold(sum))
}

/// Sets the remaining work: the checksum, and segmentation if there are several segments.
fn cut_virtio(large: &Large, bytes: &mut [u8; VIRTIO], segments: &Range<u32>) {
    let virtio = Virtio::from_bytes(bytes);
    let kind = virtio.gso_type & GSO_KIND;
    let ecn = virtio.gso_type & GSO_ECN;
    let (gso_type, gso_size) = match (segments.len(), segments.start) {
        (0 | 1, _) => (GSO_NONE, 0),
        (_, 0) => (kind | ecn, virtio.gso_size),
        _ => (kind, virtio.gso_size),
    };
    // The headers of a frame fit into its first part, and so into 16 bits.
    let cut = Virtio {
        flags: NEEDS_CSUM,
        gso_type,
        gso_size,
        hdr_len: large.headers as u16,
        csum_start: large.tcp as u16,
        csum_offset: TCP_CHECKSUM,
    };
    *bytes = cut.to_bytes();
}

fn word(packet: &[u8], at: usize) -> Option<u16> {
    let bytes = packet.get(at..)?.first_chunk()?;
    Some(u16::from_be_bytes(*bytes))
}

fn put(packet: &mut [u8], at: usize, word: u16) -> Option<()> {
    *packet.get_mut(at..)?.first_chunk_mut()? = word.to_be_bytes();
    Some(())
}

/// Changes a word of an IPv4 header, and its checksum with it.
fn replace_ipv4(header: &mut [u8], at: usize, new: u16) -> Option<()> {
    const CHECKSUM: usize = 10;
    let old = word(header, at)?;
    put(header, at, new)?;
    let checksum = checksum::replaced(word(header, CHECKSUM)?, old, new);
    put(header, CHECKSUM, checksum)
}
