//! The classic format, pcap (<https://www.ietf.org/archive/id/draft-ietf-opsawg-pcap-04.html>).

use units::Time;

use super::windows::MAX_RECORD_BYTES;
use super::{Found, ReadError, Step};
use crate::packet::word;

/// The length of the file header.
pub const HEADER: usize = 24;

/// The length of a record header.
const RECORD: usize = 16;

/// The length of a record header in Kuznetzov's variant.
const MODIFIED_RECORD: usize = 24;

/// Magic numbers, in the byte order of the capturing machine.
mod magic {
    pub const MICROS: u32 = 0xa1b2_c3d4;
    pub const NANOS: u32 = 0xa1b2_3c4d;
    /// Kuznetzov's variant.
    pub const MODIFIED: u32 = 0xa1b2_cd34;
}

/// The fields of the file header.
pub struct Header {
    link: u32,
    is_big_endian: bool,
    nanos: u64,
    record: usize,
}

impl Header {
    pub fn parse(start: &[u8]) -> Result<Header, ReadError> {
        let Some((bytes, _)) = start.split_first_chunk::<4>() else {
            return Err(ReadError::Unknown);
        };
        let is_known =
            |number: &u32| [magic::MICROS, magic::NANOS, magic::MODIFIED].contains(number);
        let orders = [u32::from_le_bytes(*bytes), u32::from_be_bytes(*bytes)];
        let [little, big] = orders.map(|number| Some(number).filter(is_known));
        let magic = little.or(big).ok_or(ReadError::Unknown)?;
        let is_big_endian = little.is_none();
        let network =
            word(start, HEADER - 4).ok_or(ReadError::Header("its header is truncated"))?;
        let network = if is_big_endian {
            network
        } else {
            network.swap_bytes()
        };
        Ok(Header {
            // The upper half describes the frame check sequence.
            link: network & 0xffff,
            is_big_endian,
            nanos: if magic == magic::NANOS { 1 } else { 1_000 },
            record: if magic == magic::MODIFIED {
                MODIFIED_RECORD
            } else {
                RECORD
            },
        })
    }

    #[inline]
    pub fn step(&self, data: &[u8]) -> Step {
        let Some((header, _)) = data.split_first_chunk::<RECORD>() else {
            return Step::Need(RECORD);
        };
        let word = |at: usize| {
            let bytes = [header[at], header[at + 1], header[at + 2], header[at + 3]];
            if self.is_big_endian {
                u32::from_be_bytes(bytes)
            } else {
                u32::from_le_bytes(bytes)
            }
        };
        let (captured, wire_len) = (word(8) as usize, word(12));
        let record = captured.saturating_add(self.record);
        if record > MAX_RECORD_BYTES {
            return Step::Damaged;
        }
        if data.len() < record {
            return Step::Need(record);
        }
        let seconds = u64::from(word(0)) * 1_000_000_000;
        Step::Packet(Found {
            at: Time::from_nanos(seconds + u64::from(word(4)) * self.nanos),
            link: self.link,
            wire_len,
            from: self.record,
            to: record,
            record,
        })
    }
}
