//! Indices of distinct types.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Index, IndexMut};

macro_rules! indices {
    ($($(#[$meaning:meta])* $name:ident)*) => {$(
        $(#[$meaning])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(crate) struct $name(pub(crate) u32);

        impl From<usize> for $name {
            fn from(index: usize) -> $name {
                $name(index as u32)
            }
        }

        impl From<$name> for usize {
            #[inline]
            fn from(index: $name) -> usize {
                index.0 as usize
            }
        }
    )*};
}

indices! {
    /// A flow of the configuration.
    FlowIndex
    /// A host of the configuration, or the one after them that sends requests.
    HostIndex
    /// A link: of the configuration, a network card, or a delay.
    LinkIndex
    /// A way through the network, or the rest of one.
    Way
    /// The slot of a connection, which its segments carry.
    Slot
}

impl Way {
    /// The way behind its first link.
    #[inline]
    pub(crate) fn behind(self) -> Way {
        Way(self.0 + 1)
    }
}

/// A vector that is indexed only by its own index type. An index out of range is a programming error, and panics.
#[derive(Debug)]
pub(crate) struct Table<I, T> {
    items: Vec<T>,
    index: PhantomData<I>,
}

impl<I: From<usize>, T> Table<I, T> {
    /// Adds an element and returns its index.
    pub(crate) fn push(&mut self, item: T) -> I {
        self.items.push(item);
        I::from(self.items.len() - 1)
    }
}

impl<I, T> From<Vec<T>> for Table<I, T> {
    fn from(items: Vec<T>) -> Table<I, T> {
        Table {
            items,
            index: PhantomData,
        }
    }
}

impl<I, T> Deref for Table<I, T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.items
    }
}

impl<I, T> DerefMut for Table<I, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.items
    }
}

impl<I: Into<usize>, T> Index<I> for Table<I, T> {
    type Output = T;

    #[inline]
    fn index(&self, index: I) -> &T {
        &self.items[index.into()]
    }
}

impl<I: Into<usize>, T> IndexMut<I> for Table<I, T> {
    #[inline]
    fn index_mut(&mut self, index: I) -> &mut T {
        &mut self.items[index.into()]
    }
}
