//! Writes packets to a capture file in pcapng, which Wireshark, tcpdump and [`read`](crate::read) can read.

mod headers;

use std::io::{self, Write};

use units::Time;

pub use etherparse::TcpOptionElement as TcpOption;
pub use headers::{MAX_OPTIONS, TcpPacket};

/// The link type of raw IP packets, LINKTYPE_RAW.
const RAW: u16 = 101;

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const BYTE_ORDER: u32 = 0x1a2b_3c4d;
const INTERFACE: u32 = 1;
const ENHANCED_PACKET: u32 = 6;

/// Options of an interface: its name, and the resolution of its timestamps.
const IF_NAME: u16 = 2;
const IF_TSRESOL: u16 = 9;
/// An option of a section: the application that wrote it.
const SHB_USERAPPL: u16 = 4;

/// Writes the headers of packets, without their payload.
#[derive(Debug)]
pub struct Writer<W> {
    to: W,
    block: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Begins a capture of an interface with this name, with IP packets.
    ///
    /// # Errors
    /// Writing to `to` fails.
    pub fn new(to: W, interface: &str) -> io::Result<Writer<W>> {
        let mut writer = Writer {
            to,
            block: Vec::new(),
        };
        writer.block(SECTION_HEADER, |block| {
            block.extend(BYTE_ORDER.to_le_bytes());
            block.extend(1_u16.to_le_bytes());
            block.extend(0_u16.to_le_bytes());
            block.extend(u64::MAX.to_le_bytes());
            let program = concat!("fullpipe ", env!("CARGO_PKG_VERSION"));
            option(block, SHB_USERAPPL, program.as_bytes());
            option(block, 0, &[]);
        })?;
        writer.block(INTERFACE, |block| {
            block.extend(RAW.to_le_bytes());
            block.extend(0_u16.to_le_bytes());
            block.extend(0_u32.to_le_bytes());
            option(block, IF_NAME, interface.as_bytes());
            option(block, IF_TSRESOL, &[9]);
            option(block, 0, &[]);
        })?;
        Ok(writer)
    }

    /// Writes a packet that passes at `at`.
    ///
    /// # Errors
    /// Writing the file fails.
    pub fn packet(&mut self, at: Time, packet: &TcpPacket<'_>) -> io::Result<()> {
        self.raw(at, &packet.headers(), packet.len)
    }

    /// Writes an IP packet with these headers. `rest` is the length of the rest, which is not written.
    ///
    /// # Errors
    /// Writing the file fails.
    pub fn raw(&mut self, at: Time, headers: &[u8], rest: u32) -> io::Result<()> {
        let captured = u32::try_from(headers.len()).map_err(io::Error::other)?;
        let ticks = at.as_nanos();
        self.block(ENHANCED_PACKET, |block| {
            block.extend(0_u32.to_le_bytes());
            let [a, b, c, d, high @ ..] = ticks.to_le_bytes();
            block.extend(high);
            block.extend([a, b, c, d]);
            block.extend(captured.to_le_bytes());
            block.extend(captured.saturating_add(rest).to_le_bytes());
            block.extend(headers);
            pad(block);
        })
    }

    /// Ends the file.
    ///
    /// # Errors
    /// Writing the file fails.
    pub fn finish(mut self) -> io::Result<W> {
        self.to.flush()?;
        Ok(self.to)
    }

    /// Writes a block: its type, its length, its body, and its length again.
    fn block(&mut self, kind: u32, fill: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        self.block.clear();
        self.block.extend(kind.to_le_bytes());
        self.block.extend([0; 4]);
        fill(&mut self.block);
        let length = u32::try_from(self.block.len() + 4).map_err(io::Error::other)?;
        self.block.extend(length.to_le_bytes());
        self.block[4..8].copy_from_slice(&length.to_le_bytes());
        self.to.write_all(&self.block)
    }
}

fn option(block: &mut Vec<u8>, code: u16, value: &[u8]) {
    block.extend(code.to_le_bytes());
    block.extend(u16::try_from(value.len()).unwrap_or(0).to_le_bytes());
    block.extend(value);
    pad(block);
}

fn pad(block: &mut Vec<u8>) {
    block.resize(block.len().next_multiple_of(4), 0);
}
