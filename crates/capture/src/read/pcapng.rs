//! The newer format, pcapng (<https://www.ietf.org/archive/id/draft-ietf-opsawg-pcapng-03.html>).

use units::Time;

use super::windows::MAX_RECORD_BYTES;
use super::{Found, Step};

/// The block type of a section header, the same in both byte orders.
pub const SECTION_HEADER: u32 = 0x0a0d_0d0a;

const INTERFACE: u32 = 1;
/// The obsolete packet block.
const PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;
/// A decryption secrets block (section 4.7).
const SECRETS: u32 = 10;

/// The type of secrets that are a TLS key log.
const TLS_KEY_LOG: u32 = 0x544c_534b;

/// The byte-order magic in a section from a big-endian machine.
const BIG_ENDIAN: [u8; 4] = [0x1a, 0x2b, 0x3c, 0x4d];

/// The most interfaces of a section.
const MAX_INTERFACES: usize = 1 << 16;

const BILLION: u64 = 1_000_000_000;

/// Options of an interface: the resolution of its timestamps, and an offset in seconds.
const IF_TSRESOL: u16 = 9;
const IF_TSOFFSET: u16 = 14;

/// The default resolution in ticks per second (section 4.2).
const MILLION: u64 = 1_000_000;

/// The state of the present section.
#[derive(Default)]
pub struct Section {
    is_big_endian: bool,
    interfaces: Vec<Interface>,
    /// Packets without a timestamp.
    pub untimed: u64,
}

#[derive(Clone, Copy)]
struct Interface {
    link: u32,
    /// The resolution of its timestamps, in ticks per second.
    resolution: u64,
    /// The offset of its timestamps in seconds.
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
        let is_big_endian = self.is_big_endian;
        let word = move |bytes| {
            if is_big_endian {
                u32::from_be_bytes(bytes)
            } else {
                u32::from_le_bytes(bytes)
            }
        };
        let (kind, length) = (word(kind), word(length) as usize);
        if length < 12 || !length.is_multiple_of(4) {
            return Step::Damaged;
        }
        if !matches!(kind, INTERFACE | PACKET | ENHANCED_PACKET | SECRETS) {
            self.untimed += u64::from(kind == SIMPLE_PACKET);
            return Step::Skip(length);
        }
        if length > MAX_RECORD_BYTES {
            // Packets do not depend on secrets.
            return match kind {
                SECRETS => Step::Skip(length),
                _ => Step::Damaged,
            };
        }
        let Some(block) = data.get(..length) else {
            return Step::Need(length);
        };
        match kind {
            INTERFACE => self.interface(block),
            SECRETS => secrets(block, word),
            _ => self.enhanced(block, kind == PACKET, word),
        }
    }

    /// An enhanced packet block, which nearly all captures use, or an obsolete packet block. The options are ignored.
    fn enhanced(&self, block: &[u8], is_old: bool, word: impl Fn([u8; 4]) -> u32) -> Step {
        let Some((fields, data)) = block.get(8..).and_then(<[u8]>::split_first_chunk::<20>) else {
            return Step::Damaged;
        };
        let field = |at: usize| word([fields[at], fields[at + 1], fields[at + 2], fields[at + 3]]);
        let captured = field(12) as usize;
        let ticks = u64::from(field(4)) << 32 | u64::from(field(8));
        if captured > data.len() {
            return Step::Damaged;
        }
        let interface = if is_old {
            self.half([fields[0], fields[1]]).into()
        } else {
            field(0)
        };
        self.packet(interface, ticks, field(16), 28, captured, block.len())
    }

    fn half(&self, bytes: [u8; 2]) -> u16 {
        if self.is_big_endian {
            u16::from_be_bytes(bytes)
        } else {
            u16::from_le_bytes(bytes)
        }
    }

    /// An interface description block.
    fn interface(&mut self, block: &[u8]) -> Step {
        let Some(([a, b, ..], mut options)) =
            block.get(8..).and_then(<[u8]>::split_first_chunk::<8>)
        else {
            return Step::Damaged;
        };
        let mut interface = Interface {
            link: self.half([*a, *b]).into(),
            resolution: MILLION,
            offset: 0,
        };
        while let Some(([a, b, c, d], rest)) = options.split_first_chunk::<4>() {
            let len = usize::from(self.half([*c, *d]));
            // The remaining bytes are the block's trailing length, not an option.
            let Some(value) = rest.get(..len) else {
                break;
            };
            match (self.half([*a, *b]), value) {
                (0, _) => break,
                (IF_TSRESOL, [resolution]) => {
                    let Some(ticks) = ticks(*resolution) else {
                        return Step::Damaged;
                    };
                    interface.resolution = ticks;
                }
                (IF_TSOFFSET, value) => {
                    let Ok(value) = <[u8; 8]>::try_from(value) else {
                        return Step::Damaged;
                    };
                    interface.offset = if self.is_big_endian {
                        i64::from_be_bytes(value)
                    } else {
                        i64::from_le_bytes(value)
                    };
                }
                _ => {}
            }
            options = rest.get(len.next_multiple_of(4)..).unwrap_or_default();
        }
        if self.interfaces.len() >= MAX_INTERFACES {
            return Step::Damaged;
        }
        self.interfaces.push(interface);
        Step::Skip(block.len())
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

/// A block of secrets: their type, their length, and themselves.
fn secrets(block: &[u8], word: impl Fn([u8; 4]) -> u32) -> Step {
    let fields = block.get(8..).and_then(<[u8]>::split_first_chunk::<8>);
    match fields {
        Some(([a, b, c, d, length @ ..], secrets))
            if word([*a, *b, *c, *d]) == TLS_KEY_LOG && word(*length) as usize <= secrets.len() =>
        {
            Step::Secrets {
                from: 16,
                to: 16 + word(*length) as usize,
                record: block.len(),
            }
        }
        _ => Step::Skip(block.len()),
    }
}

impl Interface {
    fn time(&self, ticks: u64) -> Time {
        let nanos = match self.resolution {
            BILLION => ticks,
            MILLION => ticks.saturating_mul(1_000),
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

/// Ticks per second: a power of ten, or of two if the uppermost bit is set (section 4.2). `None` if the number is too
/// large.
fn ticks(resolution: u8) -> Option<u64> {
    let power = u32::from(resolution & 0x7f);
    if resolution & 0x80 == 0 {
        10_u64.checked_pow(power)
    } else {
        2_u64.checked_pow(power)
    }
}
