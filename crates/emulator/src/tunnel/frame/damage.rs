//! Packets with damaged bits.

use super::checksum;
use super::virtio::{NEEDS_CSUM, VIRTIO, Virtio};

/// Changes a bit of a frame with one IP packet, its last one, and leaves the sender's checksum.
///
/// A checksum that the sender left to its network card is computed first. Otherwise the receiver would accept the
/// packet as checked: to Linux, [`NEEDS_CSUM`] is `CHECKSUM_PARTIAL`, of a packet that never left the machine.
pub(super) fn damage(frame: &mut [u8]) {
    let Some((virtio, packet)) = frame.split_first_chunk_mut::<VIRTIO>() else {
        return;
    };
    let said = Virtio::from_bytes(virtio);
    if said.flags & NEEDS_CSUM != 0 {
        complete(packet, said.csum_start.into(), said.csum_offset.into());
    }
    *virtio = Virtio::default().to_bytes();
    if let Some(last) = packet.last_mut() {
        *last ^= 1;
    }
}

/// Computes the checksum of the bytes from `start` on, in place of the pseudo header's sum.
fn complete(packet: &mut [u8], start: usize, offset: usize) {
    let Some(covered) = packet.get_mut(start..) else {
        return;
    };
    let sum = checksum::fold(checksum::sum(covered));
    if let Some(place) = covered.get_mut(offset..).and_then(<[u8]>::first_chunk_mut) {
        // In UDP, zero means that there is no checksum (RFC 768). Both values are equal in the sum.
        let checksum = if sum == u16::MAX { sum } else { !sum };
        *place = checksum.to_be_bytes();
    }
}
