//! A packet whose bits have changed on its way.

use super::checksum;
use super::virtio::{NEEDS_CSUM, VIRTIO, Virtio};

/// Changes a bit of a frame with one IP packet, its last one, and leaves the checksum as it was sent.
///
/// A checksum that the sender left to its network card is computed first. Without that, the receiver would take the packet for
/// checked, and its payload for what was sent: to Linux, [`NEEDS_CSUM`] is `CHECKSUM_PARTIAL`, of a packet that never left the
/// machine.
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

/// Computes the checksum of all that is from `start` on, in place of the pseudo header's sum.
fn complete(packet: &mut [u8], start: usize, offset: usize) {
    let Some(covered) = packet.get_mut(start..) else {
        return;
    };
    let sum = checksum::fold(checksum::sum(covered));
    if let Some(place) = covered.get_mut(offset..).and_then(<[u8]>::first_chunk_mut) {
        // Of UDP, zero means that there is none (RFC 768); to the sum, both are the same.
        let checksum = if sum == u16::MAX { sum } else { !sum };
        *place = checksum.to_be_bytes();
    }
}
