//! Capture files, packet by packet: pcap and pcapng, plain or compressed, from a file or a pipe, in bounded memory.
//!
//! What a damaged or truncated file has before the damage is read; [`Frames::end`] says how it ended.

pub(crate) mod compression;
mod input;
mod pcap;
mod pcapng;
mod pieces;

use std::io::Read;

use units::Time;

use input::Input;

pub use pieces::Opened;
pub(crate) use pieces::{Pieces, Wanted};

/// A packet as a capture has it.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'f> {
    /// When it passed, from the Unix epoch.
    pub at: Time,
    /// The link's type: a LINKTYPE of <https://www.tcpdump.org/linktypes.html>.
    pub link: u32,
    /// Its length on the wire; what was captured may be less.
    pub wire_len: u32,
    /// What was captured of it.
    pub data: &'f [u8],
}

/// Why a file is no capture.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The system does not give it.
    #[error("cannot be read: {0}")]
    Io(#[from] std::io::Error),
    /// It has nothing.
    #[error("is empty; give a capture (pcap or pcapng, also compressed with gzip or zstd)")]
    Empty,
    /// It is something else.
    #[error("is no capture; give pcap or pcapng, also compressed with gzip or zstd")]
    Unknown,
    /// It seems to be a qlog, and is none that can be used.
    #[error("is no qlog that can be used: {0}")]
    Qlog(String),
    /// Its header makes no sense.
    #[error("is no capture that can be read: {0}")]
    Header(&'static str),
}

/// How a capture ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// As it should.
    Whole,
    /// In the middle of a packet, as the file of a program that was killed.
    Cut,
    /// With bytes that are no packet, so many bytes (of the uncompressed file) behind its start.
    Damaged(u64),
}

/// The packets of a capture, one after the other.
pub struct Frames<'r> {
    input: Input<'r>,
    format: Format,
    end: End,
    /// The next packet, if it is known and not yet taken.
    found: Option<Found>,
}

enum Format {
    Pcap(pcap::Header),
    Pcapng(pcapng::Section),
}

/// What a format finds at the start of what is buffered.
enum Step {
    /// A packet.
    Packet(Found),
    /// Something else of this length, which need not be in the buffer.
    Skip(usize),
    /// At least so many bytes are needed.
    Need(usize),
    /// No record can be like this.
    Damaged,
}

/// A packet at the start of what is buffered: its time, link, length, where its data are, and how long its record is.
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
    /// The packets of `source`, which may be compressed.
    ///
    /// # Errors
    /// It cannot be read, or is no capture.
    pub fn new(source: impl Read + 'r) -> Result<Frames<'r>, ReadError> {
        Frames::of_plain(compression::plain(source)?)
    }

    /// The packets of what is not compressed.
    pub(crate) fn of_plain(source: Box<dyn Read + 'r>) -> Result<Frames<'r>, ReadError> {
        let mut input = Input::new(source);
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
        })
    }

    /// The next packet; `None` at the end.
    ///
    /// # Errors
    /// The system does not give more, or what is compressed is damaged.
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

    /// When the next packet passed; `None` at the end.
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

    /// How many packets without a time it had so far: they are left out.
    pub fn untimed(&self) -> u64 {
        match &self.format {
            Format::Pcap(_) => 0,
            Format::Pcapng(section) => section.untimed,
        }
    }

    /// How it ended; to be asked once there are no more packets.
    pub fn end(&self) -> End {
        self.end
    }
}
