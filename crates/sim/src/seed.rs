//! Seeds for the parts of a simulation, all derived from its one seed.

/// A part that has a seed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part {
    /// The link with this index.
    Link(u64),
    /// The application of the flow with this index.
    Application(u64),
    /// The controller of the connection with this serial number.
    Connection(u64),
    /// The order in which packets of one time leave different links.
    Ties,
}

/// The seed of the application of the flow with this index, in a simulation with this seed. Another engine with the
/// same seed draws the same numbers.
pub fn application_seed(seed: u64, flow: usize) -> u64 {
    derive(seed, Part::Application(flow as u64))
}

/// The seed of one part. Parts are independent: adding a flow leaves every link unchanged.
pub(crate) fn derive(seed: u64, part: Part) -> u64 {
    let (kind, index) = match part {
        Part::Link(index) => return path::link_seed(seed, index),
        Part::Application(index) => (2, index),
        Part::Connection(index) => (3, index),
        Part::Ties => (4, 0),
    };
    path::part_seed(seed, kind, index)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

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
