//! How much memory connections take: all together no more than a bound. When they come to it, each is left with fewer samples, the
//! ones first that have most; what is counted of them stays exact.

use crate::connection::Room;

/// All connections together hold no more bytes; what the allocator and the rest of the program take comes on top.
pub const MOST: usize = 272 << 20;

/// Beyond it, they are thinned out again after they have grown by such a part of it.
const STEP: usize = 16;

/// What holds memory.
pub trait Holder {
    /// How many bytes it holds, itself included.
    fn held(&self) -> usize;
    /// How many of them are of its course over time, of which it can do with less.
    fn course(&self) -> usize;
    /// Lets its course hold no more than so many bytes, or the least of it that tells anything.
    fn thin(&mut self, most: usize);
    /// What of it is counted.
    fn counted(&self) -> usize;
    /// So much of it is counted now.
    fn set_counted(&mut self, held: usize);
}

/// What all connections hold.
#[derive(Debug)]
pub struct Memory {
    most: usize,
    held: usize,
    /// When they are to be thinned out.
    thin_at: usize,
}

impl Default for Memory {
    fn default() -> Memory {
        Memory::new(MOST)
    }
}

impl Memory {
    /// Connections may hold so many bytes.
    pub fn new(most: usize) -> Memory {
        Memory {
            most,
            held: 0,
            thin_at: most,
        }
    }

    /// How many bytes they hold.
    pub fn held(&self) -> usize {
        self.held
    }

    /// How much there is for one more packet.
    #[inline]
    pub fn room(&self) -> Room {
        if self.held < self.most {
            Room::Plenty
        } else {
            Room::Little
        }
    }

    /// Counts anew what one holds.
    #[inline]
    pub fn count(&mut self, one: &mut (impl Holder + ?Sized)) {
        let held = one.held();
        self.held = self.held - one.counted() + held;
        one.set_counted(held);
    }

    /// One holds so much that is counted by whoever keeps it.
    pub fn take(&mut self, held: usize) {
        self.held += held;
    }

    /// One that held so much has gone.
    pub fn release(&mut self, counted: usize) {
        self.held -= counted;
    }

    /// Whether they hold too much.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.held > self.thin_at
    }

    /// Leaves all of them with fewer samples.
    pub fn thin(&mut self, all: &mut [&mut dyn Holder]) {
        let courses: usize = all.iter().map(|one| one.course()).sum();
        let held: usize = all.iter().map(|one| one.held()).sum();
        let room = (self.most / 4 * 3).saturating_sub(held - courses);
        let share = room / all.len().max(1);
        for one in all {
            one.thin(share);
            self.count(&mut **one);
        }
        self.thin_at = self.most.max(self.held + self.most / STEP);
    }
}

/// Makes room for one more in a list of which there are many: it is no longer than it must be.
#[inline]
pub fn reserve<T>(list: &mut Vec<T>) {
    if list.len() == list.capacity() {
        list.reserve_exact((list.len() / 4).max(4));
    }
}
