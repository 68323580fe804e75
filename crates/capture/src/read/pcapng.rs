//! The newer format, "pcapng" (<https://www.ietf.org/archive/id/draft-ietf-opsawg-pcapng-03.html>).

use pcap_parser::{Block, parse_block_be, parse_block_le};
use units::Time;

use super::input::LONGEST;
use super::{Found, Step};

/// The type of the block that a section begins with; the same in both byte orders.
pub const SECTION_HEADER: u32 = 0x0a0d_0d0a;

const INTERFACE: u32 = 1;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;

/// A section header that begins so is of a machine with the other byte order.
const BIG_ENDIAN: [u8; 4] = [0x1a, 0x2b, 0x3c, 0x4d];

/// No capture has more interfaces.
const MOST_INTERFACES: usize = 1 << 16;

const BILLION: u64 = 1_000_000_000;

/// What is known of the present section.
#[derive(Default)]
pub struct Section {
    is_big_endian: bool,
    interfaces: Vec<Interface>,
}

#[derive(Clone, Copy)]
struct Interface {
    link: u32,
    snap_len: u32,
    /// Ticks of its clock in a second.
    resolution: u64,
    /// Seconds to be added.
    offset: i64,
}

impl Section {
    pub fn step(&mut self, data: &[u8]) -> Step {
        let Some((header, rest)) = data.split_first_chunk::<8>() else {
            return Step::Need(8);
        };
        let [a, b, c, d, length @ ..] = *header;
        let kind = [a, b, c, d];
        if u32::from_le_bytes(kind) == SECTION_HEADER {
            let Some((order, _)) = rest.split_first_chunk::<4>() else {
                return Step::Need(12);
            };
            self.is_big_endian = *order == BIG_ENDIAN;
            self.interfaces.clear();
        }
        let word = |bytes| {
            if self.is_big_endian {
                u32::from_be_bytes(bytes)
            } else {
                u32::from_le_bytes(bytes)
            }
        };
        let (kind, length) = (word(kind), word(length) as usize);
        if length < 12 || !length.is_multiple_of(4) {
            return Step::Damaged;
        }
        if !matches!(kind, INTERFACE | SIMPLE_PACKET | ENHANCED_PACKET) {
            return Step::Skip(length);
        }
        if length > LONGEST {
            return Step::Damaged;
        }
        match data.get(..length) {
            Some(block) if kind == ENHANCED_PACKET => self.enhanced(block, word),
            Some(block) => self.block(block),
            None => Step::Need(length),
        }
    }

    /// An enhanced packet block: nearly all that captures have. Its options are not looked at.
    fn enhanced(&self, block: &[u8], word: impl Fn([u8; 4]) -> u32) -> Step {
        let Some((fields, data)) = block.get(8..).and_then(<[u8]>::split_first_chunk::<20>) else {
            return Step::Damaged;
        };
        let field = |at: usize| word([fields[at], fields[at + 1], fields[at + 2], fields[at + 3]]);
        let captured = field(12) as usize;
        let ticks = u64::from(field(4)) << 32 | u64::from(field(8));
        if captured > data.len() {
            return Step::Damaged;
        }
        self.packet(field(0), ticks, field(16), 28, captured, block.len())
    }

    /// Any other block that matters.
    fn block(&mut self, block: &[u8]) -> Step {
        let parsed = if self.is_big_endian {
            parse_block_be(block)
        } else {
            parse_block_le(block)
        };
        let Ok((_, parsed)) = parsed else {
            return Step::Damaged;
        };
        match parsed {
            Block::InterfaceDescription(interface) => {
                let (Some(resolution), true) = (
                    interface.ts_resolution(),
                    self.interfaces.len() < MOST_INTERFACES,
                ) else {
                    return Step::Damaged;
                };
                self.interfaces.push(Interface {
                    link: u32::from_le_bytes(interface.linktype.0.to_le_bytes()),
                    snap_len: interface.snaplen,
                    resolution,
                    offset: interface.ts_offset(),
                });
                Step::Skip(block.len())
            }
            Block::SimplePacket(packet) => {
                // It has no time: it is as old as the epoch.
                let Some(first) = self.interfaces.first() else {
                    return Step::Damaged;
                };
                let captured = match first.snap_len {
                    0 => packet.origlen,
                    limit => packet.origlen.min(limit),
                };
                let captured = (captured as usize).min(packet.data.len());
                self.packet(0, 0, packet.origlen, 12, captured, block.len())
            }
            _ => Step::Skip(block.len()),
        }
    }

    fn packet(
        &self,
        interface: u32,
        ticks: u64,
        wire_len: u32,
        from: usize,
        captured: usize,
        record: usize,
    ) -> Step {
        let Some(interface) = self.interfaces.get(interface as usize) else {
            return Step::Damaged;
        };
        Step::Packet(Found {
            at: interface.time(ticks),
            link: interface.link,
            wire_len,
            from,
            to: from + captured,
            record,
        })
    }
}

impl Interface {
    fn time(&self, ticks: u64) -> Time {
        let nanos = match self.resolution {
            BILLION => ticks,
            1_000_000 => ticks.saturating_mul(1_000),
            resolution => {
                let scaled = u128::from(ticks) * u128::from(BILLION);
                let nanos = scaled.checked_div(resolution.into()).unwrap_or(0);
                u64::try_from(nanos).unwrap_or(u64::MAX)
            }
        };
        let offset = self.offset.saturating_mul(BILLION.cast_signed());
        Time::from_nanos(nanos.saturating_add_signed(offset))
    }
}
