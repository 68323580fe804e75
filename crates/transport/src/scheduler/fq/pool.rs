//! Storage for entries that link to each other by key.

use slab::Slab;

/// A [`Slab`] whose keys take four bytes, so that links are small.
#[derive(Debug)]
pub(super) struct Pool<T>(Slab<T>);

impl<T> Default for Pool<T> {
    fn default() -> Pool<T> {
        Pool(Slab::new())
    }
}

impl<T> Pool<T> {
    /// Adds `thing` and returns its key. There are at most [`super::MAX_BURSTS`].
    pub(super) fn insert(&mut self, thing: T) -> u32 {
        self.0.insert(thing) as u32
    }

    pub(super) fn get(&self, key: u32) -> Option<&T> {
        self.0.get(key as usize)
    }

    pub(super) fn get_mut(&mut self, key: u32) -> Option<&mut T> {
        self.0.get_mut(key as usize)
    }

    pub(super) fn remove(&mut self, key: u32) -> Option<T> {
        self.0.try_remove(key as usize)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
