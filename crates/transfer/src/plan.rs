//! The order of transmission. Sender and receiver compute the same plan from offer and answer, so content needs no
//! labels.

use std::sync::Arc;

use crate::message::{Held, Offered, State};
use crate::tree::{self, BLOCK};

/// The size of a hash in bytes.
pub const HASH_LEN: usize = blake3::OUT_LEN;

/// A step of the transmission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Small files and directories in one stream: the files' hashes, then their contents.
    Batch(Vec<u32>),
    /// One block of a large file in a stream: its hash, then its content.
    Block {
        /// The file's index in the offer.
        file: u32,
        /// The block's index.
        index: u64,
    },
    /// The hash that verifies a large file ([`crate::seal`]), on the control stream, after all its blocks.
    Seal {
        /// The file's index in the offer.
        file: u32,
    },
}

/// The steps of a transfer, in order.
pub struct Plan {
    files: Arc<[Offered]>,
    held: Arc<[Held]>,
    /// The next file and block.
    file: usize,
    block: u64,
}

impl Plan {
    /// The steps for `files`, given that the receiver has `held`.
    pub fn new(files: Arc<[Offered]>, held: Arc<[Held]>) -> Plan {
        Plan {
            files,
            held,
            file: 0,
            block: 0,
        }
    }

    /// Computes the size of each step.
    pub fn lens(&self) -> Lens {
        Lens(self.files.clone())
    }

    fn batch(&mut self) -> Vec<u32> {
        let mut batch = Vec::new();
        let mut room = BLOCK as usize;
        while let Some(file) = self.files.get(self.file).filter(|file| file.is_small()) {
            if !matches!(state(&self.held, self.file), Some(State::Complete { .. })) {
                let len = batched(file);
                if len > room && !batch.is_empty() {
                    break;
                }
                room = room.saturating_sub(len.max(1));
                batch.push(self.file as u32);
            }
            self.file += 1;
        }
        batch
    }
}

/// Computes the size of steps in bytes.
pub struct Lens(Arc<[Offered]>);

impl Lens {
    /// The size of `step` in bytes.
    pub fn of(&self, step: &Step) -> usize {
        let file = |file: u32| self.0.get(file as usize);
        match step {
            Step::Batch(files) => files.iter().copied().filter_map(file).map(batched).sum(),
            Step::Block { file: of, index } => {
                file(*of).map_or(0, |file| HASH_LEN + tree::block_len(file.size, *index))
            }
            Step::Seal { .. } => HASH_LEN,
        }
    }
}

/// The receiver's state of a file.
pub fn state(held: &[Held], file: usize) -> Option<&State> {
    let place = held.binary_search_by_key(&file, |held| held.file as usize);
    place
        .ok()
        .and_then(|place| held.get(place))
        .map(|held| &held.state)
}

/// The bytes of a file from earlier attempts.
pub fn resumed(held: &[Held], place: usize, file: &Offered) -> u64 {
    match state(held, place) {
        Some(State::Complete { .. }) => file.data(),
        Some(State::Part { blocks, .. }) => blocks.bytes(file.size),
        None => 0,
    }
}

fn batched(file: &Offered) -> usize {
    if file.is_directory() {
        0
    } else {
        HASH_LEN + file.size as usize
    }
}

impl Iterator for Plan {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        loop {
            let offered = self.files.get(self.file)?;
            if offered.is_small() {
                match self.batch() {
                    batch if batch.is_empty() => continue,
                    batch => return Some(Step::Batch(batch)),
                }
            }
            let file = self.file as u32;
            let held = match state(&self.held, self.file) {
                Some(State::Complete { .. }) => {
                    self.file += 1;
                    continue;
                }
                Some(State::Part { blocks, .. }) => Some(blocks),
                None => None,
            };
            // The loop goes by ranges: a file may have more blocks in holes than anybody could count.
            let there = || [Some(&offered.holes), held].into_iter().flatten();
            let mut index = self.block;
            while let Some(end) = there().find_map(|blocks| blocks.end_of(index)) {
                index = end;
            }
            if index < tree::blocks(offered.size) {
                self.block = index + 1;
                return Some(Step::Block { file, index });
            }
            self.file += 1;
            self.block = 0;
            return Some(Step::Seal { file });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::MAX_SIZE;
    use crate::message::Kind;
    use crate::ranges::Ranges;

    fn file(size: u64) -> Offered {
        Offered {
            path: String::new(),
            size,
            kind: Kind::File {
                executable: false,
                sparse: false,
            },
            holes: Ranges::default(),
        }
    }

    fn plan(files: Vec<Offered>, held: Vec<Held>) -> Vec<Step> {
        Plan::new(files.into(), held.into()).collect()
    }

    #[test]
    fn small_files_travel_together_and_large_ones_in_blocks() {
        let directory = Offered {
            kind: Kind::Directory,
            ..file(0)
        };
        let mut files = vec![
            directory,
            file(1),
            file(0),
            file(2 * BLOCK + 1),
            file(BLOCK),
            file(5),
        ];
        files[3].holes = Ranges::of([1]);
        let steps = plan(files.clone(), Vec::new());
        assert_eq!(
            steps,
            [
                Step::Batch(vec![0, 1, 2]),
                Step::Block { file: 3, index: 0 },
                Step::Block { file: 3, index: 2 },
                Step::Seal { file: 3 },
                Step::Batch(vec![4]),
                Step::Batch(vec![5]),
            ]
        );
        let complete = |file| Held {
            file,
            state: State::Complete { hash: [0; 32] },
        };
        let blocks = Ranges::of([0]);
        let part = Held {
            file: 3,
            state: State::Part {
                blocks,
                digest: [0; 32],
            },
        };
        let steps = plan(files.clone(), vec![complete(1), part, complete(4)]);
        assert_eq!(
            steps,
            [
                Step::Batch(vec![0, 2]),
                Step::Block { file: 3, index: 2 },
                Step::Seal { file: 3 },
                Step::Batch(vec![5]),
            ]
        );
        let all = (0..6).map(complete).collect();
        assert_eq!(plan(files, all), []);
    }

    /// A plan by blocks would let a sender keep a receiver busy for years.
    #[test]
    fn a_hole_of_any_size_is_passed_over_at_once() {
        let size = u64::MAX;
        let mut files = vec![file(size)];
        assert!(files[0].holes.push(0, tree::blocks(size) - 1));
        let index = tree::blocks(size) - 1;
        let expected = [Step::Block { file: 0, index }, Step::Seal { file: 0 }];
        assert_eq!(plan(files.clone(), Vec::new()), expected);
        assert!(files[0].check().is_err());
        files[0] = Offered {
            holes: Ranges::default(),
            ..file(MAX_SIZE)
        };
        assert_eq!(files[0].check(), Ok(()));
    }

    #[test]
    fn a_batch_is_bounded() {
        let files = vec![file(0); 20_000];
        let plan = Plan::new(files.into(), Vec::new().into());
        let lens = plan.lens();
        let lens: Vec<usize> = plan.map(|step| lens.of(&step)).collect();
        assert_eq!(lens.iter().sum::<usize>(), 20_000 * HASH_LEN);
        assert!(lens.iter().all(|len| *len <= BLOCK as usize));
        let directories = vec![
            Offered {
                kind: Kind::Directory,
                ..file(0)
            };
            1_000_000
        ];
        assert!(Plan::new(directories.into(), Vec::new().into()).count() <= 4);
    }
}
