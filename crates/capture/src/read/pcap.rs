//! The classic format, pcap (<https://www.ietf.org/archive/id/draft-ietf-opsawg-pcap-04.html>).

use pcap_parser::{PcapHeader, parse_pcap_header};
use units::Time;

use super::input::LONGEST;
use super::{Found, ReadError, Step};

/// The length of the file header.
pub const HEADER: usize = 24;

/// The length of a record header.
const RECORD: usize = 16;

/// The length of a record header in Kuznetzov's variant.
const MODIFIED_RECORD: usize = 24;

/// The fields of the file header.
pub struct Header {
    link: u32,
    is_big_endian: bool,
    nanos: u64,
    record: usize,
}

impl Header {
    pub fn parse(start: &[u8]) -> Result<Header, ReadError> {
        let header = match parse_pcap_header(start) {
            Ok((_, header)) => header,
            Err(pcap_parser::nom::Err::Incomplete(_)) => {
                return Err(ReadError::Header("its header is truncated"));
            }
            Err(_) => return Err(ReadError::Unknown),
        };
        let PcapHeader { network, .. } = header;
        Ok(Header {
            // The upper half describes the frame check sequence.
            link: u32::from_le_bytes(network.0.to_le_bytes()) & 0xffff,
            is_big_endian: header.is_bigendian(),
            nanos: if header.is_nanosecond_precision() {
                1
            } else {
                1_000
            },
            record: if header.is_modified_format() {
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
        if record > LONGEST {
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
