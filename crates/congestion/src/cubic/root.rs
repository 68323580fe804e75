//! The integer cube root.

/// The largest integer whose cube is at most `n`.
///
/// Finds the root's bits from the highest to the lowest: with each, the remainder shrinks by the difference of two
/// neighbouring cubes, (2y + 1)³ − (2y)³ = 6y (2y + 1) + 1.
pub fn cube_root(n: u128) -> u64 {
    let mut remainder = n;
    let mut root: u128 = 0;
    // Three bits of `n` for each bit of the root, and none where `n` has none.
    let mut shift = n.checked_ilog2().unwrap_or(0) / 3 * 3;
    loop {
        root *= 2;
        let step = 3 * root * (root + 1) + 1;
        if remainder >> shift >= step {
            remainder -= step << shift;
            root += 1;
        }
        if shift == 0 {
            return root as u64;
        }
        shift -= 3;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition itself, without overflow at the top.
    fn is_cube_root(root: u64, n: u128) -> bool {
        let cube = |y: u128| y.checked_mul(y).and_then(|square| square.checked_mul(y));
        let y = u128::from(root);
        cube(y).is_some_and(|cube| cube <= n) && cube(y + 1).is_none_or(|cube| cube > n)
    }

    #[test]
    fn exact_around_every_small_cube() {
        for n in 0..100_000 {
            assert!(is_cube_root(cube_root(n), n), "{n}");
        }
    }

    #[test]
    fn exact_around_cubes_and_powers_of_two_of_all_sizes() {
        for bits in 0..128 {
            for n in [(1_u128 << bits) - 1, 1 << bits, (1 << bits) + 1] {
                assert!(is_cube_root(cube_root(n), n), "{n}");
            }
        }
        let mut y: u128 = 1;
        while let Some(cube) = y.checked_pow(3) {
            for n in [cube - 1, cube, cube + 1] {
                assert!(is_cube_root(cube_root(n), n), "{n}");
            }
            y = y * 17 / 13 + 1;
        }
        assert!(is_cube_root(cube_root(u128::MAX), u128::MAX));
    }
}
