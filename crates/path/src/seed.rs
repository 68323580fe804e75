//! Seeds for the parts of a network, derived from its one seed.

/// Returns the seed of the link with this index in a network with this seed. Links with the same seeds draw the same
/// losses, in virtual time and in real time.
pub fn link_seed(seed: u64, index: u64) -> u64 {
    part_seed(seed, 1, index)
}

/// Returns the seed of a part of a kind; links are of kind 1. Parts are independent: a new one leaves every other
/// unchanged.
pub fn part_seed(seed: u64, kind: u64, index: u64) -> u64 {
    mix(mix(mix(seed) ^ kind) ^ index)
}

/// SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014): the step and the
/// finalizer, a bijection that separates similar numbers.
fn mix(value: u64) -> u64 {
    let mut value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first number of the authors' generator from seed 0.
    #[test]
    fn the_mixer_is_splitmix64() {
        assert_eq!(mix(0), 0xe220_a839_7b1d_cdaf);
    }
}
