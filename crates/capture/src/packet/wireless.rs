//! Frames of IEEE 802.11, and the headers that capturing programs put before them.

use super::bytes::half;
use super::link::Walk;
use super::{Aggregate, Decoded, Tunnel, Unread};

/// Bits of the frame control field (IEEE 802.11, section 9.2.4.1). The first byte has the type and the subtype.
const TYPE: u8 = 0x0c;
const DATA: u8 = 0x08;
const NO_DATA: u8 = 0x40;
const QOS: u8 = 0x80;
const TO_DISTRIBUTION: u8 = 0x01;
const FROM_DISTRIBUTION: u8 = 0x02;
const PROTECTED: u8 = 0x40;
const HT_CONTROL: u8 = 0x80;

/// The bit of the QoS control field that says that the frame has several packets.
const AGGREGATE: u8 = 0x80;

/// A frame behind a radiotap header (<https://www.radiotap.org>), whose numbers are little-endian.
pub fn radiotap<'f>(walk: Walk<'f>, data: &'f [u8]) -> Decoded<'f> {
    let Some(len) = half(data, 2).map(u16::swap_bytes) else {
        return Decoded::Short;
    };
    let header = data.get(..len.into()).unwrap_or(data);
    frame(
        walk,
        data.get(len.into()..).unwrap_or_default(),
        is_padded(header),
    )
}

/// True if the frame's header is padded to a multiple of four bytes: a bit of the field "flags", before which there may be a
/// timestamp.
fn is_padded(header: &[u8]) -> bool {
    let words = header.get(4..).unwrap_or_default().as_chunks::<4>().0;
    let Some(present) = words.first() else {
        return false;
    };
    // The uppermost bit says that another word follows.
    let count = words.iter().take_while(|word| word[3] & 0x80 != 0).count() + 1;
    let mut at = 4 + count * 4;
    if present[0] & 1 != 0 {
        at = at.next_multiple_of(8) + 8;
    }
    present[0] & 2 != 0 && header.get(at).is_some_and(|flags| flags & 0x20 != 0)
}

/// A frame that begins with its frame control field.
pub fn frame<'f>(walk: Walk<'f>, data: &'f [u8], is_padded: bool) -> Decoded<'f> {
    let [control, flags, ..] = *data else {
        return Decoded::Short;
    };
    if control & TYPE != DATA || control & NO_DATA != 0 {
        return Decoded::Other(Unread::WirelessControl);
    }
    let mut len = 24;
    if flags & TO_DISTRIBUTION != 0 && flags & FROM_DISTRIBUTION != 0 {
        len += 6;
    }
    let qos = (control & QOS != 0).then_some(len);
    if qos.is_some() {
        len += if flags & HT_CONTROL != 0 { 6 } else { 2 };
    }
    if flags & PROTECTED != 0 {
        return Decoded::Opaque(Tunnel::WirelessEncryption);
    }
    let is_aggregate = match qos.map(|qos| data.get(qos)) {
        Some(None) => return Decoded::Short,
        Some(Some(qos)) => qos & AGGREGATE != 0,
        None => false,
    };
    if is_padded {
        len = len.next_multiple_of(4);
    }
    let data = data.get(len..).unwrap_or_default();
    if is_aggregate {
        Decoded::Several(Aggregate::new(walk, data))
    } else {
        walk.logical_link(data)
    }
}
