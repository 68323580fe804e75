//! An even sample of a series of values.

use crate::memory::reserve;

/// The number of values that stay when memory is short.
const MIN_KEPT: usize = 16;

/// At most `MAX` values. When they are full, every second value is dropped, and half as many of the later ones are kept.
#[derive(Debug, Clone)]
pub struct Evenly<T, const MAX: usize> {
    kept: Vec<T>,
    /// One value in this many is kept.
    stride: u32,
    left_out: u32,
}

impl<T, const MAX: usize> Default for Evenly<T, MAX> {
    fn default() -> Evenly<T, MAX> {
        Evenly {
            kept: Vec::new(),
            stride: 1,
            left_out: 0,
        }
    }
}

impl<T, const MAX: usize> Evenly<T, MAX> {
    /// Adds a value. Returns whether it is kept.
    pub fn add(&mut self, value: T) -> bool {
        self.left_out += 1;
        if self.left_out < self.stride {
            return false;
        }
        self.left_out = 0;
        if self.kept.len() == MAX {
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

    /// The number of bytes that they hold.
    #[inline]
    pub fn held(&self) -> usize {
        self.kept.capacity() * size_of::<T>()
    }

    /// Keeps half of them, unless they are few. Returns whether that freed any.
    pub fn thin_by_half(&mut self) -> bool {
        let is_more = self.kept.len() > MIN_KEPT;
        if is_more {
            self.halve();
        }
        self.kept.shrink_to_fit();
        is_more
    }

    /// Keeps few of them.
    pub fn thin(&mut self) {
        while self.thin_by_half() {}
    }

    /// The kept values in their order.
    pub fn kept(&self) -> &[T] {
        &self.kept
    }
}
