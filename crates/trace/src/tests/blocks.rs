//! pcapng blocks that few programs write.

use super::{check, packets, summary};

/// The variants of a section.
#[derive(Clone, Copy)]
struct Style {
    is_big_endian: bool,
    /// The value of if_tsresol, and its ticks per second.
    resolution: (u8, u64),
    offset: i64,
    /// The block type of packets.
    packets: u32,
}

const PLAIN: Style = Style {
    is_big_endian: false,
    resolution: (9, 1_000_000_000),
    offset: 0,
    packets: 6,
};

impl Style {
    fn half(self, value: u16) -> [u8; 2] {
        if self.is_big_endian {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        }
    }

    fn word(self, value: u32) -> [u8; 4] {
        if self.is_big_endian {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        }
    }

    fn block(self, kind: u32, body: &[u8]) -> Vec<u8> {
        let mut body = body.to_vec();
        body.resize(body.len().next_multiple_of(4), 0);
        let length = self.word(body.len() as u32 + 12);
        [&self.word(kind)[..], &length, &body, &length].concat()
    }

    /// A capture with the packets of the small capture.
    fn capture(self) -> Vec<u8> {
        let version = [self.half(1), self.half(0)].concat();
        let section = [&self.word(0x1a2b_3c4d)[..], &version, &[0xff; 8]].concat();
        let offset = if self.is_big_endian {
            self.offset.to_be_bytes()
        } else {
            self.offset.to_le_bytes()
        };
        let (code, second) = self.resolution;
        let mut interface = [self.half(101), self.half(0)].concat();
        interface.extend(self.word(0));
        interface.extend([self.half(9), self.half(1)].concat());
        interface.extend([code, 0, 0, 0]);
        interface.extend([self.half(14), self.half(8)].concat());
        interface.extend(offset);
        interface.extend([0; 4]);
        let mut file = self.block(0x0a0d_0d0a, &section);
        file.extend(self.block(1, &interface));
        for (at, headers, rest) in packets() {
            let second_of = (100 - self.offset) as u64;
            let ticks = second_of * second + at * second / 1_000;
            let lengths = [headers.len() as u32, headers.len() as u32 + rest];
            let mut body = match self.packets {
                3 => Vec::new(),
                2 => [self.half(0), self.half(0xffff)].concat(),
                _ => self.word(0).to_vec(),
            };
            if self.packets == 3 {
                body.extend(self.word(lengths[1]));
            } else {
                body.extend(self.word((ticks >> 32) as u32));
                body.extend(self.word((ticks & 0xffff_ffff) as u32));
                body.extend(lengths.map(|length| self.word(length)).concat());
            }
            body.extend(headers);
            file.extend(self.block(self.packets, &body));
        }
        file
    }
}

#[test]
fn clocks_of_any_unit_and_zero_are_read() {
    for is_big_endian in [false, true] {
        // Powers of ten and of two, with whole numbers of ticks per millisecond.
        for resolution in [
            (3, 1_000),
            (6, 1_000_000),
            (12, 1_000_000_000_000),
            (0xa0, 1 << 32),
        ] {
            for offset in [0, 90, -1_000] {
                let style = Style {
                    is_big_endian,
                    resolution,
                    offset,
                    ..PLAIN
                };
                let summary = summary(&style.capture());
                assert_eq!(summary.start_s, Some(100.0), "{resolution:?} {offset}");
                let connection = &summary.connections[0];
                let off = (connection.duration_s - 0.07).abs();
                assert!(off < 1e-6, "{resolution:?} {offset}: {off}");
                assert_eq!(connection.flows[0].lost, Some(1));
            }
        }
    }
}

#[test]
fn old_packet_blocks_are_read() {
    for is_big_endian in [false, true] {
        check(&summary(
            &Style {
                is_big_endian,
                packets: 2,
                ..PLAIN
            }
            .capture(),
        ));
    }
}

#[test]
fn packets_without_a_time_are_counted() {
    let summary = summary(
        &Style {
            packets: 3,
            ..PLAIN
        }
        .capture(),
    );
    assert_eq!(
        (summary.read.untimed, summary.read.packets),
        (packets().len() as u64, 0)
    );
    assert!(summary.connections.is_empty());
}
