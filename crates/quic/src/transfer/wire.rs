//! The messages, and how they are framed.
//!
//! A message is a length (four bytes, little-endian) and so many bytes of [postcard]. Every message has a largest
//! size, and memory for it is taken only as its bytes arrive.

use noq::{ReadExactError, RecvStream};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde::{Deserialize as De, Serialize as Ser};

use super::error::{Error, Refusal};
use super::tree;

/// The protocol and its version, agreed on in the handshake.
pub const ALPN: &[u8] = b"fullpipe-transfer/2";

/// The most files in one transfer.
pub const MAX_FILES: usize = 1024;

/// The most ranges of blocks that the receiver reports of a file. What it leaves out is sent again.
pub const MAX_RANGES: usize = 256;

/// The largest [`Offer`]: every name of 255 bytes.
pub const MAX_OFFER: usize = 512 << 10;

/// The largest [`Answer`]: every file with all its ranges.
pub const MAX_ANSWER: usize = 8 << 20;

/// The largest [`Reply`].
pub const MAX_REPLY: usize = 16 << 10;

/// The longest text within a message, such as a path in an error.
pub const MAX_TEXT: usize = 4 << 10;

/// The sender wants to send these files, in this order.
#[derive(Debug, Clone, PartialEq, Eq, Ser, De)]
pub struct Offer {
    /// Forget what an earlier attempt left.
    pub restart: bool,
    /// The files.
    pub files: Vec<Offered>,
}

/// A file in an [`Offer`].
#[derive(Debug, Clone, PartialEq, Eq, Ser, De)]
pub struct Offered {
    /// The name under which it shall appear. Anything may be in it: it comes from outside.
    pub name: String,
    /// Its size in bytes.
    pub size: u64,
}

/// The receiver's answer to an [`Offer`].
#[derive(Debug, Clone, PartialEq, Eq, Ser, De)]
pub enum Answer {
    /// What is already there of each file, in the offer's order.
    Accepted(Vec<Have>),
    /// Not like this.
    Refused(Refusal),
}

/// The blocks of a file that the receiver has verified.
#[derive(Debug, Clone, PartialEq, Eq, Ser, De)]
pub struct Have {
    /// Which blocks.
    pub ranges: Vec<Range>,
    /// The BLAKE3 hash over their block hashes in order: the sender's file must give the same.
    pub digest: [u8; 32],
}

/// Consecutive blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Ser, De)]
pub struct Range {
    /// The index of the first.
    pub start: u64,
    /// How many. Not zero.
    pub count: u64,
}

/// What the receiver reports while files are coming in.
#[derive(Debug, Clone, PartialEq, Eq, Ser, De)]
pub enum Reply {
    /// So many bytes of the file with this index are verified.
    Verified {
        /// The file's place in the offer.
        file: u32,
        /// The bytes, those of earlier attempts included.
        bytes: u64,
    },
    /// The file with this index is whole, verified and has its name.
    Complete {
        /// The file's place in the offer.
        file: u32,
    },
    /// The transfer is over, and why.
    Failed(Refusal),
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

impl Have {
    /// The ranges of the ascending block indexes `verified`, the first [`MAX_RANGES`] of them.
    pub fn ranges(verified: impl IntoIterator<Item = u64>) -> Vec<Range> {
        let mut ranges: Vec<Range> = Vec::new();
        for index in verified {
            if let Some(last) = ranges.last_mut()
                && last.start.saturating_add(last.count) == index
            {
                last.count += 1;
            } else if ranges.len() < MAX_RANGES {
                ranges.push(Range {
                    start: index,
                    count: 1,
                });
            } else {
                break;
            }
        }
        ranges
    }

    /// Checks that the ranges lie, ascending and apart, within a file of `size` bytes.
    pub fn check(&self, size: u64) -> Result<(), WireError> {
        if self.ranges.len() > MAX_RANGES {
            return Err(WireError::TooLong);
        }
        let mut next = 0;
        for range in &self.ranges {
            let end = range.start.checked_add(range.count);
            match end {
                Some(end)
                    if range.count > 0 && range.start >= next && end <= tree::blocks(size) =>
                {
                    next = end;
                }
                _ => return Err(WireError::Sense),
            }
        }
        Ok(())
    }

    /// Whether block `index` is among them.
    pub fn contains(&self, index: u64) -> bool {
        let before = self.ranges.partition_point(|range| range.start <= index);
        before
            .checked_sub(1)
            .and_then(|at| self.ranges.get(at))
            .is_some_and(|range| index - range.start < range.count)
    }

    /// The number of bytes in them, of a file of `size` bytes.
    pub fn bytes(&self, size: u64) -> u64 {
        let end = |block: u64| block.saturating_mul(tree::BLOCK).min(size);
        self.ranges
            .iter()
            .map(|range| end(range.start.saturating_add(range.count)) - end(range.start))
            .sum()
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

    fn some_bytes() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(any::<u8>(), 0..400)
    }

    proptest! {
        #[test]
        fn any_bytes_are_answered(bytes in some_bytes()) {
            if let Ok(offer) = decode::<Offer>(&bytes) {
                prop_assert!(offer.files.len() <= bytes.len());
            }
            if let Ok(Answer::Accepted(have)) = decode(&bytes) {
                for have in have {
                    if have.check(1 << 40).is_ok() {
                        prop_assert!(have.bytes(1 << 40) <= 1 << 40);
                    }
                }
            }
            let _ = decode::<Reply>(&bytes).map(|reply| format!("{reply:?}"));
        }

        #[test]
        fn round_trip(restart: bool, files in prop::collection::vec(any::<(String, u64)>(), 0..20)) {
            let files = files.into_iter().map(|(name, size)| Offered { name, size }).collect();
            let offer = Offer { restart, files };
            let frame = encode(&offer, MAX_OFFER).unwrap();
            prop_assert_eq!(decode(&frame[4..]), Ok(offer.clone()));
            let mut longer = frame[4..].to_vec();
            longer.push(0);
            prop_assert_eq!(decode::<Offer>(&longer), Err(WireError::Format));
            prop_assert_eq!(decode::<Offer>(&frame[4..frame.len() - 1]), Err(WireError::Format));
        }

        #[test]
        fn ranges_hold_what_was_put_in(mut indexes in prop::collection::btree_set(0u64..600, 0..300)) {
            let size = 600 * tree::BLOCK - 7;
            let have = Have { ranges: Have::ranges(indexes.iter().copied()), digest: [0; 32] };
            prop_assert_eq!(have.check(size), Ok(()));
            if have.ranges.len() == MAX_RANGES {
                let last = have.ranges[MAX_RANGES - 1];
                indexes.retain(|index| *index < last.start + last.count);
            }
            let found: Vec<u64> = (0..700).filter(|index| have.contains(*index)).collect();
            prop_assert_eq!(&found, &indexes.iter().copied().collect::<Vec<_>>());
            let bytes: u64 = found.iter().map(|index| tree::block_len(size, *index) as u64).sum();
            prop_assert_eq!(have.bytes(size), bytes);
        }

        #[test]
        fn any_ranges_are_answered(ranges in prop::collection::vec(any::<(u64, u64)>(), 0..5), size: u64, index: u64) {
            let ranges = ranges.into_iter().map(|(start, count)| Range { start, count }).collect();
            let have = Have { ranges, digest: [0; 32] };
            let _ = have.contains(index);
            if have.check(size).is_ok() {
                prop_assert!(have.bytes(size) <= size);
            }
        }
    }

    #[test]
    fn nonsense_ranges_are_refused() {
        let check = |ranges: &[(u64, u64)]| {
            let ranges = ranges
                .iter()
                .map(|&(start, count)| Range { start, count })
                .collect();
            Have {
                ranges,
                digest: [0; 32],
            }
            .check(10 * tree::BLOCK)
        };
        assert_eq!(check(&[(0, 4), (5, 5)]), Ok(()));
        for ranges in [
            &[(0, 0)][..],
            &[(0, 11)],
            &[(5, 1), (5, 1)],
            &[(5, 1), (0, 1)],
            &[(1, u64::MAX)],
        ] {
            assert_eq!(check(ranges), Err(WireError::Sense), "{ranges:?}");
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
