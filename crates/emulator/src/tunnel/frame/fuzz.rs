//! Properties of any bytes from a TUN device: a fuzz target, which `fuzz/fuzz_targets` and the test below call.

use path::Mtu;

use super::damage::damage;
use super::headers;
use super::layout::Layout;
use super::memory::HEAD_BYTES;
use super::too_big;
use super::virtio::VIRTIO;

/// A frame is invalid, or each of its parts has its own headers and a place in the payload. Any frame can be damaged,
/// and reported to its sender.
pub fn frames(bytes: &[u8]) {
    // The device's memory is used repeatedly: the bytes after a frame's end must not matter.
    let mut head = [0xa5; HEAD_BYTES];
    let first = bytes.len().min(HEAD_BYTES);
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
    let mtu = Mtu::new(Mtu::MIN).expect("the least is one");
    let report = too_big::report(layout.version, &bytes[VIRTIO..], mtu);
    // The limit holds for the larger of both headers. Some senders get no report.
    assert!(report.is_none_or(|report| report.len() <= VIRTIO + 40 + 8 + 548));
    for segments in [0..count, 0..1, count / 2..count, count - 1..count] {
        let payload = layout.payload(&segments);
        assert!(payload.start <= payload.end && payload.end <= layout.length);
        assert!(layout.size(&segments) <= layout.length);
        for mark in [false, true] {
            let mut out = [0; HEAD_BYTES];
            let written = headers::write(&layout, &head, &segments, mark, &mut out);
            let is_untouched = segments == (0..count) && !mark;
            assert_eq!(written == Some(0), is_untouched);
            assert!(written.is_some_and(|length| length <= HEAD_BYTES));
        }
    }
}
