//! Seeds for the parts of a simulation, all from its one seed.

/// Which part a seed is for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part {
    /// The link of this index.
    Link(u64),
    /// The application of the flow of this index.
    Application(u64),
    /// The controller of the connection of this serial number.
    Connection(u64),
}

/// The seed of one part. Parts do not disturb each other: to add a flow leaves every link as it was.
pub(crate) fn derive(seed: u64, part: Part) -> u64 {
    let (kind, index) = match part {
        Part::Link(index) => (1, index),
        Part::Application(index) => (2, index),
        Part::Connection(index) => (3, index),
    };
    mix(mix(mix(seed) ^ kind) ^ index)
}

/// SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014): the step and the
/// finalizer, a bijection under which near numbers become far ones.
fn mix(value: u64) -> u64 {
    let mut value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// The first number that the authors' generator gives from seed 0.
    #[test]
    fn the_mixer_is_splitmix64() {
        assert_eq!(mix(0), 0xe220_a839_7b1d_cdaf);
    }

    #[test]
    fn no_two_parts_share_a_seed() {
        let mut seen = HashSet::new();
        for seed in 0..10 {
            for index in 0..100 {
                for part in [Part::Link(index), Part::Connection(index)] {
                    assert!(seen.insert(derive(seed, part)), "{seed} {part:?}");
                }
            }
        }
    }
}
