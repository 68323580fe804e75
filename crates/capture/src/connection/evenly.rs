//! Values, evenly taken from all that there were.

use crate::memory::reserve;

/// Keeps so many, however little memory there is.
const LEAST: usize = 16;

/// No more than `MOST` values: if there are more, every second one goes, and of the next ones only so many are kept.
#[derive(Debug, Clone)]
pub struct Evenly<T, const MOST: usize> {
    kept: Vec<T>,
    /// One of so many is kept.
    stride: u32,
    left_out: u32,
}

impl<T, const MOST: usize> Default for Evenly<T, MOST> {
    fn default() -> Evenly<T, MOST> {
        Evenly {
            kept: Vec::new(),
            stride: 1,
            left_out: 0,
        }
    }
}

impl<T, const MOST: usize> Evenly<T, MOST> {
    /// One more; whether it is kept.
    pub fn add(&mut self, value: T) -> bool {
        self.left_out += 1;
        if self.left_out < self.stride {
            return false;
        }
        self.left_out = 0;
        if self.kept.len() == MOST {
            self.halve();
        }
        reserve(&mut self.kept);
        self.kept.push(value);
        true
    }

    fn halve(&mut self) {
        let mut place = 0;
        self.kept.retain(|_| {
            place += 1;
            place % 2 == 0
        });
        self.stride = self.stride.saturating_mul(2);
    }

    /// How many bytes they take.
    #[inline]
    pub fn held(&self) -> usize {
        self.kept.capacity() * size_of::<T>()
    }

    /// Keeps few of them.
    pub fn thin(&mut self) {
        while self.kept.len() > LEAST {
            self.halve();
        }
        self.kept.shrink_to_fit();
    }

    /// In their order.
    pub fn kept(&self) -> &[T] {
        &self.kept
    }
}
