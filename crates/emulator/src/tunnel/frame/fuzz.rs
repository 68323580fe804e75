//! What must hold for any bytes that a TUN device gives: a fuzz target, which `fuzz/fuzz_targets` and the test below call.

use path::Mtu;

use super::damage::damage;
use super::headers;
use super::layout::Layout;
use super::memory::HEAD;
use super::too_big;
use super::virtio::VIRTIO;

/// A frame makes no sense, or each part of it has headers of its own and a place in its payload; and any frame can be damaged,
/// and reported to its sender.
pub fn frames(bytes: &[u8]) {
    // The device's memory is used again and again: what is behind a frame's end is there, and must not matter.
    let mut head = [0xa5; HEAD];
    let first = bytes.len().min(HEAD);
    head[..first].copy_from_slice(&bytes[..first]);
    let Some(layout) = Layout::of(&head[..first], bytes.len()) else {
        return;
    };
    assert_eq!(layout.length, bytes.len() - VIRTIO);
    let count = layout.segments();
    assert!(layout.wire_size(&(0..count)) >= layout.length);
    let mut damaged = bytes.to_vec();
    damage(&mut damaged);
    assert_eq!(damaged.len(), bytes.len());
    let mtu = Mtu::new(Mtu::LEAST).expect("the least is one");
    let report = too_big::report(layout.version, &bytes[VIRTIO..], mtu);
    // Even with the larger of both headers. Not everybody is to hear.
    assert!(report.is_none_or(|report| report.len() <= VIRTIO + 40 + 8 + 548));
    for segments in [0..count, 0..1, count / 2..count, count - 1..count] {
        let payload = layout.payload(&segments);
        assert!(payload.start <= payload.end && payload.end <= layout.length);
        assert!(layout.size(&segments) <= layout.length);
        for mark in [false, true] {
            let mut out = [0; HEAD];
            let written = headers::write(&layout, &head, &segments, mark, &mut out);
            let is_untouched = segments == (0..count) && !mark;
            assert_eq!(written == Some(0), is_untouched);
            assert!(written.is_some_and(|length| length <= HEAD));
        }
    }
}
