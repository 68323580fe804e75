//! Indices that cannot be taken for one another.

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
    /// A host of the configuration, or the one behind them that sends requests.
    HostIndex
    /// A link: of the configuration, a network card, or a delay.
    LinkIndex
    /// A way through the network.
    Way
    /// The place of a connection, which its segments name.
    Slot
}

/// Things of one kind, which only indices of their own kind open. An index of a thing that is not there is a programming
/// error, and panics.
#[derive(Debug)]
pub(crate) struct Table<I, T> {
    things: Vec<T>,
    index: PhantomData<I>,
}

impl<I: From<usize>, T> Table<I, T> {
    /// Adds a thing and gives its index.
    pub(crate) fn push(&mut self, thing: T) -> I {
        self.things.push(thing);
        I::from(self.things.len() - 1)
    }
}

impl<I, T> From<Vec<T>> for Table<I, T> {
    fn from(things: Vec<T>) -> Table<I, T> {
        Table {
            things,
            index: PhantomData,
        }
    }
}

impl<I, T> Deref for Table<I, T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.things
    }
}

impl<I, T> DerefMut for Table<I, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.things
    }
}

impl<I: Into<usize>, T> Index<I> for Table<I, T> {
    type Output = T;

    #[inline]
    fn index(&self, index: I) -> &T {
        &self.things[index.into()]
    }
}

impl<I: Into<usize>, T> IndexMut<I> for Table<I, T> {
    #[inline]
    fn index_mut(&mut self, index: I) -> &mut T {
        &mut self.things[index.into()]
    }
}
