//! The header of each packet of a TUN device with `IFF_VNET_HDR`: the remaining work on the packet.
//!
//! "Virtual I/O Device (VIRTIO) Version 1.2", section 5.1.6 Device Operation; Linux `include/uapi/linux/virtio_net.h`
//! (`struct virtio_net_hdr`), here in the machine's byte order, as TUN has it by default.

/// The header's length, in bytes.
pub(crate) const VIRTIO: usize = 10;

/// The checksum from `csum_start` to the end is not computed yet. It belongs `csum_offset` bytes further on, where the
/// pseudo header's sum is until then.
pub(crate) const NEEDS_CSUM: u8 = 1;

/// The bits of `gso_type` without [`GSO_ECN`].
pub(crate) const GSO_KIND: u8 = 0x7f;
/// One packet.
pub(crate) const GSO_NONE: u8 = 0;
/// A large packet, to be divided into TCP segments over IPv4.
pub(crate) const GSO_TCPV4: u8 = 1;
/// A large packet, to be divided into TCP segments over IPv6.
pub(crate) const GSO_TCPV6: u8 = 4;
/// The packet's CWR flag belongs to its first segment only.
pub(crate) const GSO_ECN: u8 = 0x80;

/// `struct virtio_net_hdr`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Virtio {
    /// [`NEEDS_CSUM`] and others.
    pub(crate) flags: u8,
    /// The kind of segmentation.
    pub(crate) gso_type: u8,
    /// The length of the headers.
    pub(crate) hdr_len: u16,
    /// The payload of each segment but the last, which may have less.
    pub(crate) gso_size: u16,
    /// The offset of the checksummed part.
    pub(crate) csum_start: u16,
    /// The offset of the checksum in that part.
    pub(crate) csum_offset: u16,
}

impl Virtio {
    /// Reads the header.
    pub(crate) fn from_bytes(bytes: &[u8; VIRTIO]) -> Virtio {
        let [flags, gso_type, a, b, c, d, e, f, g, h] = *bytes;
        Virtio {
            flags,
            gso_type,
            hdr_len: u16::from_ne_bytes([a, b]),
            gso_size: u16::from_ne_bytes([c, d]),
            csum_start: u16::from_ne_bytes([e, f]),
            csum_offset: u16::from_ne_bytes([g, h]),
        }
    }

    /// Writes it.
    pub(crate) fn to_bytes(self) -> [u8; VIRTIO] {
        let [a, b] = self.hdr_len.to_ne_bytes();
        let [c, d] = self.gso_size.to_ne_bytes();
        let [e, f] = self.csum_start.to_ne_bytes();
        let [g, h] = self.csum_offset.to_ne_bytes();
        [self.flags, self.gso_type, a, b, c, d, e, f, g, h]
    }
}
