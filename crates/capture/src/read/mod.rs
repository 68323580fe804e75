//! Reads capture files packet by packet: pcap and pcapng, plain or compressed, from a file or a pipe, in bounded memory.
//!
//! A damaged or truncated file is read up to the damage. [`Frames::end`] tells how it ended.

mod compression;
mod input;
mod pcap;
mod pcapng;
mod pieces;
mod windows;

use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};

use units::Time;

use input::Input;

use crate::quic::KeyLog;

pub use compression::plain;
pub use pieces::{Opened, Pieces, Wanted};
pub use windows::Windows;

/// A captured packet.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'f> {
    /// When it passed the capture, since the Unix epoch.
    pub at: Time,
    /// The link's type: a LINKTYPE of <https://www.tcpdump.org/linktypes.html>.
    pub link: u32,
    /// Its length on the wire, which may be more than was captured.
    pub wire_len: u32,
    /// The captured bytes.
    pub data: &'f [u8],
}

/// Why a capture cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Io(#[from] std::io::Error),
    /// The file is empty.
    #[error("is empty; give a capture (pcap or pcapng, also compressed with gzip or zstd)")]
    Empty,
    /// The file is not a capture.
    #[error("is not a capture; give pcap or pcapng, also compressed with gzip or zstd")]
    Unknown,
    /// The file looks like a qlog, but cannot be used.
    #[error("looks like a qlog, but cannot be used: {0}")]
    Qlog(String),
    /// The file header is invalid.
    #[error("is a capture that cannot be read: {0}")]
    Header(&'static str),
}

/// How a capture ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// With a complete packet.
    Whole,
    /// Within a packet, as when the capturing program was killed.
    Cut,
    /// With bytes that are not a packet, at this offset in the uncompressed file.
    Damaged(u64),
}

/// The packets of a capture, in the order of the file.
pub struct Frames<'r> {
    input: Input<'r>,
    format: Format,
    end: End,
    /// The next packet, if it was found but not consumed.
    found: Option<Found>,
    /// Where the secrets of the capture go.
    secrets: Secrets,
}

/// The secrets of key logs and captures, which all files share.
pub type Secrets = Arc<Mutex<KeyLog>>;

enum Format {
    Pcap(pcap::Header),
    Pcapng(pcapng::Section),
}

/// The record that a format finds at the start of the buffer.
enum Step {
    /// A packet.
    Packet(Found),
    /// A TLS key log, with its place and the length of its record.
    Secrets {
        from: usize,
        to: usize,
        record: usize,
    },
    /// Another record of this length, which need not be in the buffer.
    Skip(usize),
    /// The record needs at least this many bytes in the buffer.
    Need(usize),
    /// The bytes are not a valid record.
    Damaged,
}

/// A packet at the start of the buffer: its time, link type, length, the place of its data, and the length of its record.
#[derive(Debug, Clone, Copy)]
struct Found {
    at: Time,
    link: u32,
    wire_len: u32,
    from: usize,
    to: usize,
    record: usize,
}

impl<'r> Frames<'r> {
    /// Opens a capture, which may be compressed.
    ///
    /// # Errors
    /// The source cannot be read, or is not a capture.
    pub fn new(source: impl Read + 'r) -> Result<Frames<'r>, ReadError> {
        let windows = Windows::default();
        let source = plain(source, &windows)?;
        Frames::of_plain(source, &windows, &Secrets::default())
    }

    /// Opens a capture that is not compressed. Adds the key logs in it to `secrets`, each before the packets behind it.
    pub fn of_plain(
        source: Box<dyn Read + 'r>,
        windows: &Windows,
        secrets: &Secrets,
    ) -> Result<Frames<'r>, ReadError> {
        let mut input = Input::new(source, windows);
        input.want(24)?;
        let start = input.data();
        let magic = match start {
            [] => return Err(ReadError::Empty),
            [a, b, c, d, ..] => u32::from_le_bytes([*a, *b, *c, *d]),
            _ => return Err(ReadError::Unknown),
        };
        let format = if magic == pcapng::SECTION_HEADER {
            Format::Pcapng(pcapng::Section::default())
        } else {
            let header = pcap::Header::parse(start)?;
            input.skip(pcap::HEADER)?;
            Format::Pcap(header)
        };
        Ok(Frames {
            input,
            format,
            end: End::Whole,
            found: None,
            secrets: Arc::clone(secrets),
        })
    }

    /// The next packet; `None` at the end.
    ///
    /// # Errors
    /// The file cannot be read further, or its compressed data are damaged.
    #[inline]
    pub fn next_frame(&mut self) -> Result<Option<Frame<'_>>, ReadError> {
        let Some(found) = self
            .found
            .take()
            .map_or_else(|| self.find(), |found| Ok(Some(found)))?
        else {
            return Ok(None);
        };
        let record = self.input.take(found.record);
        Ok(Some(Frame {
            at: found.at,
            link: found.link,
            wire_len: found.wire_len,
            data: record.get(found.from..found.to).unwrap_or_default(),
        }))
    }

    /// The time of the next packet; `None` at the end.
    ///
    /// # Errors
    /// As with [`Frames::next_frame`].
    #[inline]
    pub fn next_at(&mut self) -> Result<Option<Time>, ReadError> {
        if self.found.is_none() {
            self.found = self.find()?;
        }
        Ok(self.found.map(|found| found.at))
    }

    #[inline]
    fn find(&mut self) -> Result<Option<Found>, ReadError> {
        loop {
            let data = self.input.data();
            let step = match &mut self.format {
                Format::Pcap(header) => header.step(data),
                Format::Pcapng(section) => section.step(data),
            };
            match step {
                Step::Packet(found) => return Ok(Some(found)),
                Step::Secrets { from, to, record } => {
                    let block = self.input.take(record);
                    let log = block.get(from..to).unwrap_or_default();
                    let mut secrets = self.secrets.lock().unwrap_or_else(PoisonError::into_inner);
                    secrets.add_captured(log);
                }
                Step::Skip(length) => {
                    if !self.input.skip(length)? {
                        self.end = End::Cut;
                        return Ok(None);
                    }
                }
                Step::Need(bytes) => {
                    let had = self.input.data().len();
                    if !self.input.want(bytes)? {
                        if had > 0 || self.input.is_cut() {
                            self.end = End::Cut;
                        }
                        return Ok(None);
                    }
                }
                Step::Damaged => {
                    self.end = End::Damaged(self.input.position());
                    return Ok(None);
                }
            }
        }
    }

    /// The number of packets without a timestamp so far, which are ignored.
    pub fn untimed(&self) -> u64 {
        match &self.format {
            Format::Pcap(_) => 0,
            Format::Pcapng(section) => section.untimed,
        }
    }

    /// How the capture ended. Valid after the last packet.
    pub fn end(&self) -> End {
        self.end
    }
}
