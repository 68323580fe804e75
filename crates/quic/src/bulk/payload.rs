//! The payload of a bulk flow.

use bytes::Bytes;

use crate::endpoint::STREAMS;

/// The payload of a bulk flow. Any part of it can be made again from its offset, so the receiver's digest can be
/// verified without a copy of the data.
#[derive(Debug, Clone)]
pub enum Payload {
    /// These bytes; clones share them.
    Given(Bytes),
    /// Noise that is made from a seed when it is needed.
    Synthetic {
        /// Equal seeds give equal noise.
        seed: u64,
        /// The number of bytes; `None` for as many as the deadline allows.
        bytes: Option<u64>,
    },
}

/// Multiplier and mixing constants of SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number
/// Generators", 2014): its n-th output depends on the seed and n alone, which makes the noise addressable.
const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;
const MIX: [u64; 2] = [0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb];

impl Payload {
    /// The number of bytes; `None` if there is no end.
    pub fn len(&self) -> Option<u64> {
        match self {
            Payload::Given(data) => Some(data.len() as u64),
            Payload::Synthetic { bytes, .. } => *bytes,
        }
    }

    /// True if there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// Returns at most `max` bytes from `offset` on; none at the end. Multiples of 8 for both are the fastest.
    pub(super) fn piece(&self, offset: u64, max: usize) -> Bytes {
        let left = self.len().map(|len| len.saturating_sub(offset));
        let count = left.map_or(max, |left| {
            usize::try_from(left).unwrap_or(usize::MAX).min(max)
        });
        match self {
            Payload::Given(data) => {
                // An offset beyond `usize` is beyond the end.
                let start = usize::try_from(offset)
                    .unwrap_or(usize::MAX)
                    .min(data.len());
                data.slice(start..start + count)
            }
            Payload::Synthetic { seed, .. } => noise(*seed, offset, count),
        }
    }

    /// The stripes of the payload: as many as there are pieces, up to [`STREAMS`]; one if it is empty.
    pub(super) fn stripes(&self) -> Vec<Stripe> {
        let pieces = self
            .len()
            .map_or(u64::MAX, |len| len.div_ceil(PIECE_BYTES as u64));
        let count = pieces.clamp(1, STREAMS.into());
        (0..count).map(|index| Stripe { index, count }).collect()
    }

    /// The BLAKE3 digest of the first `count` bytes of a stripe, or of all if it has fewer.
    pub(super) fn digest(&self, stripe: Stripe, count: u64) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new();
        let mut left = count;
        for offset in stripe.offsets() {
            let max = usize::try_from(left).unwrap_or(usize::MAX).min(PIECE_BYTES);
            let piece = self.piece(offset, max);
            if piece.is_empty() {
                break;
            }
            hasher.update(&piece);
            left -= piece.len() as u64;
        }
        hasher.finalize()
    }
}

/// Every `count`-th piece of a payload, from the piece `index` on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stripe {
    index: u64,
    count: u64,
}

impl Stripe {
    /// The offsets of its pieces in the payload.
    pub(super) fn offsets(self) -> impl Iterator<Item = u64> {
        let step = self.count.saturating_mul(PIECE_BYTES as u64);
        std::iter::successors(
            Some(self.index.saturating_mul(PIECE_BYTES as u64)),
            move |at| at.checked_add(step),
        )
    }
}

/// The bytes made and written at a time: enough to cost little, few enough to stay in a cache.
pub(super) const PIECE_BYTES: usize = 64 << 10;

fn noise(seed: u64, offset: u64, count: usize) -> Bytes {
    let skipped = (offset % 8) as usize;
    let mut data = Vec::with_capacity(count + skipped + 8);
    let mut word = offset / 8;
    while data.len() < count + skipped {
        data.extend_from_slice(&mixed(seed, word).to_le_bytes());
        word += 1;
    }
    Bytes::from(data).slice(skipped..skipped + count)
}

fn mixed(seed: u64, word: u64) -> u64 {
    let z = seed.wrapping_add(word.wrapping_add(1).wrapping_mul(GOLDEN_GAMMA));
    let z = (z ^ (z >> 30)).wrapping_mul(MIX[0]);
    let z = (z ^ (z >> 27)).wrapping_mul(MIX[1]);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::{PIECE_BYTES, Payload};

    #[test]
    fn any_piece_is_what_it_is_in_the_whole() {
        let noise = Payload::Synthetic {
            seed: 7,
            bytes: Some(1000),
        };
        let whole = noise.piece(0, usize::MAX >> 1);
        assert_eq!(whole.len(), 1000);
        let given = Payload::Given(whole.clone());
        for (offset, max) in [
            (0, 8),
            (1, 8),
            (7, 100),
            (992, 8),
            (993, 100),
            (1000, 5),
            (2000, 5),
        ] {
            let end = (offset + max).min(1000);
            let expected = &whole[offset.min(end)..end];
            assert_eq!(noise.piece(offset as u64, max), expected);
            assert_eq!(given.piece(offset as u64, max), expected);
        }
        let all = noise.stripes()[0];
        assert_eq!(given.digest(all, u64::MAX), blake3::hash(&whole));
        assert_eq!(noise.digest(all, 500), blake3::hash(&whole[..500]));
    }

    #[test]
    fn stripes_cover_a_payload_once() {
        for len in [
            0,
            1,
            PIECE_BYTES,
            PIECE_BYTES + 1,
            3 * PIECE_BYTES,
            40 * PIECE_BYTES + 5,
        ] {
            let noise = Payload::Synthetic {
                seed: 3,
                bytes: Some(len as u64),
            };
            let stripes = noise.stripes();
            assert!((1..=16).contains(&stripes.len()));
            let mut covered = 0;
            for stripe in &stripes {
                let pieces = stripe
                    .offsets()
                    .map(|at| (at, noise.piece(at, PIECE_BYTES)));
                let mut own = Vec::new();
                for (at, piece) in pieces.take_while(|(_, piece)| !piece.is_empty()) {
                    assert_eq!(at / PIECE_BYTES as u64 % stripe.count, stripe.index);
                    covered += piece.len();
                    own.extend_from_slice(&piece);
                }
                assert_eq!(noise.digest(*stripe, u64::MAX), blake3::hash(&own));
                let half = own.len() / 2;
                assert_eq!(
                    noise.digest(*stripe, half as u64),
                    blake3::hash(&own[..half])
                );
            }
            assert_eq!(covered, len);
        }
    }

    #[test]
    fn seeds_differ_and_the_end_is_known() {
        let noise = |seed| Payload::Synthetic { seed, bytes: None };
        assert_ne!(noise(1).piece(0, 64), noise(2).piece(0, 64));
        assert_eq!(noise(1).piece(1 << 40, 64).len(), 64);
        assert_eq!(noise(1).len(), None);
        assert!(Payload::Given(Bytes::new()).is_empty());
    }
}
