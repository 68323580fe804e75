//! Checks for the fuzz targets: properties that hold for any input.

use capture::packet::{self, Body, Decoded};
use capture::quic::delays::Delays;
use capture::quic::frames;
use capture::quic::hello::Pieces;
use capture::quic::offload::{Division, Joined, Lengths};
use capture::quic::wire::Header;
use capture::read::Frame;
use units::Time;

use crate::{Summary, Trace};

/// Decodes the bytes as a link type of two bytes and a frame. The frame has memory of its own, so that a sanitizer sees what is
/// read beyond it.
pub fn packets(bytes: &[u8]) {
    let Some((link, frame)) = bytes.split_first_chunk::<2>() else {
        return;
    };
    let data: Box<[u8]> = frame.into();
    let frame = Frame {
        at: Time::ZERO,
        link: u16::from_be_bytes(*link).into(),
        wire_len: u32::try_from(data.len()).unwrap_or(u32::MAX),
        data: &data,
    };
    check(packet::parse(&frame), data.len());
}

/// A packet in a frame of this length.
fn check(seen: Decoded<'_>, frame: usize) {
    match seen {
        Decoded::Packet(packet) => {
            if let Body::Udp { len, payload } = packet.body {
                assert!(payload.len() <= frame.min(len as usize));
            }
        }
        Decoded::Several(packets) => {
            let count = packets.map(|one| check(one, frame)).count();
            assert!(count <= frame);
        }
        _ => {}
    }
}

/// Reads the bytes as a datagram of QUIC, and as what is encrypted in one: frames, the ClientHello, and a key log.
pub fn quic(bytes: &[u8]) {
    datagram(bytes);
    let mut trace = Trace::new();
    if let Err(error) = trace.read_keys(bytes) {
        assert!(!error.to_string().contains('\n'), "{error}");
    }
}

/// Reads bytes with all parsers of QUIC.
fn datagram(bytes: &[u8]) {
    let mut read = Vec::new();
    frames::read(bytes, 3, &mut read);
    assert!(read.len() <= bytes.len());
    Pieces::default().add(bytes);
    Delays::of(bytes);
    let mut lengths = Lengths::default();
    let mut rest = bytes;
    while let Some(header) = Header::parse(rest) {
        let len = u32::try_from(rest.len()).unwrap_or(u32::MAX);
        for (len, id_len) in [
            (len, Some(0)),
            (len, Some(8)),
            (65_000, None),
            (9_600, Some(3)),
        ] {
            let one = Joined {
                len,
                data: rest,
                header,
                id_len,
            };
            if let Division::Into(size) = lengths.divide(&one, Some(&mut |_| false)) {
                assert!(
                    0 < size && size < len && len.div_ceil(size) <= 128,
                    "{size} of {len}"
                );
            }
        }
        let Header::Long(_, behind) = header else {
            break;
        };
        rest = behind;
    }
}

/// Reads the bytes as a capture. The result is a summary or an error of one line.
///
/// # Panics
/// A number in the summary is impossible.
pub fn files(bytes: &[u8]) {
    let mut trace = Trace::new();
    if let Err(error) = trace.read(bytes, &|| true) {
        assert!(!error.to_string().contains('\n'), "{error}");
    }
    let (summary, _) = Summary::of(trace);
    assert!(summary.read.packets <= bytes.len() as u64);
    for flow in summary.connections.iter().flat_map(|one| &one.flows) {
        assert!(flow.spurious <= flow.retransmitted, "{flow:?}");
        assert!(
            flow.lost.unwrap_or(0) <= flow.retransmitted
                && flow.retransmitted <= flow.packets + flow.lost_before,
            "{flow:?}"
        );
        if let Some(rtt) = &flow.rtt_ms {
            let rises = [rtt.min, rtt.p50, rtt.p95, rtt.max];
            assert!(rises.is_sorted() && rtt.mean <= rtt.max, "{rtt:?}");
        }
        if let Some(by) = &flow.limited_by {
            let all = by.application + by.receiver + by.congestion;
            assert!((all - 1.0).abs() < 1e-6, "{by:?}");
        }
    }
    #[cfg(test)]
    if let Some(direction) = crate::Direction::of(&summary, |_| true) {
        let text = direction.scenario();
        let read: Result<scenario::Scenario, _> = text.parse();
        assert!(read.is_ok(), "{read:?} of\n{text}");
    }
}
