//! The seeds of runs.

/// The seed of a repeat of the point with these values, in a scenario with the seed `base`.
///
/// It is the first eight bytes, least significant first, of the BLAKE3 hash of the lines `seed=…`, `field=value` for
/// each field in the order of the names, and `repeat=…`, each with a newline. The eleven lowest bits are dropped, so
/// that readers with floating-point numbers get it exactly. It does not depend on further values of an axis, the order
/// of the axes, or the number of threads.
pub fn derive(base: u64, values: &[(&str, &str)], repeat: u64) -> u64 {
    let mut values = values.to_vec();
    values.sort_unstable();
    let mut hasher = blake3::Hasher::new();
    hasher.update(format!("seed={base}\n").as_bytes());
    for (field, value) in values {
        hasher.update(format!("{field}={value}\n").as_bytes());
    }
    hasher.update(format!("repeat={repeat}\n").as_bytes());
    let mut first = [0; 8];
    hasher.finalize_xof().fill(&mut first);
    u64::from_le_bytes(first) >> 11
}

#[cfg(test)]
mod tests {
    use super::derive;

    #[test]
    fn as_documented() {
        let text = "seed=1\nflow.controller=bbr1\npath.loss=1%\nrepeat=0\n";
        let hash = *blake3::hash(text.as_bytes()).as_bytes();
        let first = hash.iter().take(8).rev();
        let number = first.fold(0, |number: u64, byte| number << 8 | u64::from(*byte));
        let values = [("path.loss", "1%"), ("flow.controller", "bbr1")];
        assert_eq!(derive(1, &values, 0), number >> 11);
        assert_eq!(derive(1, &values, 0), 3_012_906_829_275_905);
    }

    #[test]
    fn every_part_counts_and_the_order_does_not() {
        let values = [("path.loss", "1%"), ("flow.controller", "bbr1")];
        let seed = derive(1, &values, 0);
        assert_eq!(derive(1, &[values[1], values[0]], 0), seed);
        for other in [
            derive(2, &values, 0),
            derive(1, &values, 1),
            derive(1, &values[..1], 0),
            derive(1, &[("path.loss", "2%"), values[1]], 0),
        ] {
            assert_ne!(other, seed);
        }
        assert!(seed < 1 << 53);
    }
}
