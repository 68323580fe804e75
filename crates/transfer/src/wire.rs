//! The messages, and how they are framed.
//!
//! A message is a length (four bytes, little-endian) and so many bytes of [postcard]. Every message has a largest
//! size, and memory for it is taken only as its bytes arrive.

use noq::{ReadExactError, RecvStream};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde::{Deserialize as De, Serialize as Ser};

use super::error::{Error, Refusal};
use super::ranges::Ranges;
use super::tree;

/// The protocol and its version, agreed on in the handshake.
pub const ALPN: &[u8] = b"fullpipe-transfer/3";

/// The most files and directories in one transfer.
pub const MAX_FILES: usize = 4_000_000;

/// The largest file. A hole costs both sides a hash for each of its blocks, though nothing of it travels, so a size that no
/// disk has must not be believed.
pub const MAX_SIZE: u64 = 64 << 40;

/// The largest [`Offer`]: a million paths of 250 bytes.
pub const MAX_OFFER: usize = 256 << 20;

/// The most files of which the receiver reports a part.
pub const MAX_PARTS: usize = 1024;

/// The largest [`Answer`] to an offer of so many files.
pub fn max_answer(files: usize) -> usize {
    (8 << 20) + 64 * files
}

/// The largest [`Reply`].
pub const MAX_REPLY: usize = 16 << 10;

/// The longest text within a message, such as a path in an error.
pub const MAX_TEXT: usize = 4 << 10;

/// The sender wants to send these files, in this order.
#[derive(Debug, Clone, PartialEq, Eq, Ser, De)]
pub struct Offer {
    /// Forget what an earlier attempt left.
    pub restart: bool,
    /// The files and directories.
    pub files: Vec<Offered>,
}

/// A file or a directory in an [`Offer`].
#[derive(Debug, Clone, PartialEq, Eq, Ser, De)]
pub struct Offered {
    /// The path under which it shall appear, with `/` between its components. Anything may be in it: it comes from
    /// outside.
    pub path: String,
    /// A file's size in bytes.
    pub size: u64,
    /// What it is.
    pub kind: Kind,
    /// Blocks of a large file that hold nothing but zeros, and do not travel.
    pub holes: Ranges,
}

/// What is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Ser, De)]
pub enum Kind {
    /// A directory.
    Directory,
    /// A file.
    File {
        /// Whether its owner may execute it.
        executable: bool,
        /// Whether it has holes, maybe smaller than a block.
        sparse: bool,
    },
}

/// The receiver's answer to an [`Offer`].
#[derive(Debug, Clone, PartialEq, Eq, Ser, De)]
pub enum Answer {
    /// The files of which something is there already, in the offer's order.
    Accepted(Vec<Held>),
    /// Not like this.
    Refused(Refusal),
}

/// What the receiver has of a file.
#[derive(Debug, Clone, PartialEq, Eq, Ser, De)]
pub struct Held {
    /// The file's place in the offer.
    pub file: u32,
    /// How much of it.
    pub state: State,
}

/// How much of a file is there, verified by reading it.
#[derive(Debug, Clone, PartialEq, Eq, Ser, De)]
pub enum State {
    /// All of it, and under its name.
    Complete {
        /// Its BLAKE3 hash: the sender's file must have the same.
        hash: [u8; 32],
    },
    /// Some blocks of a large file.
    Part {
        /// Which.
        blocks: Ranges,
        /// The BLAKE3 hash over their block hashes in order: the sender's file must give the same.
        digest: [u8; 32],
    },
}

/// What the receiver reports while files are coming in.
#[derive(Debug, Clone, PartialEq, Eq, Ser, De)]
pub enum Reply {
    /// How far it has come.
    Progress(Progress),
    /// The transfer is over, and why.
    Failed(Refusal),
}

/// How far the receiver has come, earlier attempts included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Ser, De)]
pub struct Progress {
    /// The bytes that are verified, holes included.
    pub bytes: u64,
    /// The files and directories that have their names.
    pub files: u64,
}

/// Why bytes are not a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// Longer than any message of its kind.
    #[error("a message is too long")]
    TooLong,
    /// Not in the format.
    #[error("a message cannot be read")]
    Format,
    /// Well-formed, but it contradicts itself or what was said before.
    #[error("a message makes no sense")]
    Sense,
}

impl Offered {
    /// Whether it travels as a whole, with others.
    pub fn is_small(&self) -> bool {
        self.is_directory() || self.size <= tree::BLOCK
    }

    /// Whether its owner may execute it.
    pub fn is_executable(&self) -> bool {
        matches!(self.kind, Kind::File { executable, .. } if executable)
    }

    /// Whether it has holes, maybe smaller than a block.
    pub fn is_sparse(&self) -> bool {
        matches!(self.kind, Kind::File { sparse, .. } if sparse)
    }

    /// That something else arrived in its place.
    pub fn corrupt(&self) -> Refusal {
        Refusal::Corrupt {
            name: self.path.clone(),
        }
    }

    /// Whether it is a directory.
    pub fn is_directory(&self) -> bool {
        self.kind == Kind::Directory
    }

    /// Checks that its size and its holes make sense.
    ///
    /// # Errors
    /// They do not.
    pub fn check(&self) -> Result<(), WireError> {
        let most = if self.is_directory() { 0 } else { MAX_SIZE };
        if self.size > most || (self.is_small() && !self.holes.is_empty()) {
            return Err(WireError::Sense);
        }
        self.holes.check(self.size)
    }
}

/// The frame of `message`. `None` if it is larger than `max`.
pub fn encode(message: &impl Serialize, max: usize) -> Option<Vec<u8>> {
    let body = postcard::to_stdvec(message).ok()?;
    let length = u32::try_from(body.len())
        .ok()
        .filter(|_| body.len() <= max)?;
    let mut frame = length.to_le_bytes().to_vec();
    frame.extend(body);
    Some(frame)
}

/// The message that `body` holds, exactly.
pub fn decode<T: DeserializeOwned>(body: &[u8]) -> Result<T, WireError> {
    match postcard::take_from_bytes(body) {
        Ok((message, [])) => Ok(message),
        _ => Err(WireError::Format),
    }
}

/// Reads the next message, of at most `max` bytes.
pub async fn read<T: DeserializeOwned>(stream: &mut RecvStream, max: usize) -> Result<T, Error> {
    let mut length = [0; 4];
    stream.read_exact(&mut length).await?;
    let length = u32::from_le_bytes(length) as usize;
    if length > max {
        return Err(WireError::TooLong.into());
    }
    let mut body = Vec::new();
    while body.len() < length {
        let chunk = stream.read_chunk(length - body.len()).await?;
        body.extend(chunk.ok_or(ReadExactError::FinishedEarly(body.len()))?);
    }
    Ok(decode(&body)?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn round_trip(restart: bool, files in prop::collection::vec(any::<(String, u64, bool)>(), 0..20)) {
            let offered = |(path, size, executable)| Offered {
                path,
                size,
                kind: Kind::File { executable, sparse: !executable },
                holes: Ranges::of([1, 3]),
            };
            let files = files.into_iter().map(offered).collect();
            let offer = Offer { restart, files };
            let frame = encode(&offer, MAX_OFFER).unwrap();
            prop_assert_eq!(decode(&frame[4..]), Ok(offer.clone()));
            let mut longer = frame[4..].to_vec();
            longer.push(0);
            prop_assert_eq!(decode::<Offer>(&longer), Err(WireError::Format));
            prop_assert_eq!(decode::<Offer>(&frame[4..frame.len() - 1]), Err(WireError::Format));
        }

    }

    #[test]
    fn an_enormous_length_takes_no_memory() {
        // Postcard's lengths are variable-length integers: this one claims 2^63 files.
        let mut body = vec![0];
        body.extend([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]);
        assert_eq!(decode::<Offer>(&body), Err(WireError::Format));
        assert!(encode(&vec![0u8; MAX_REPLY], MAX_REPLY).is_none());
    }
}
