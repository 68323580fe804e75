//! The memory that connections take. All connections together have a bound. When they reach it, each connection keeps fewer
//! samples, and those with the most samples lose the most. Counters stay exact.

/// The bound for all connections, in bytes. The allocator's overhead and the rest of the program come on top.
pub const MAX_BYTES: usize = 272 << 20;

/// Above the bound, connections are thinned out again after they have grown by one part in this many of it.
const STEP_DIVISOR: usize = 64;

/// If thinning frees little, the step grows to one part in this many.
const MAX_STEP_DIVISOR: usize = 32;

/// If thinning does not keep connections within the bound and one part in this many of it, some have to go.
const EXCESS_DIVISOR: usize = 4;

/// The memory that is left for a connection's outstanding data and its samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    /// As much as one connection may use.
    Plenty,
    /// All connections together hold too much.
    Little,
}

/// A value whose memory is counted.
pub trait Holder {
    /// The number of bytes that it holds, itself included.
    fn held(&self) -> usize;
    /// The part of these bytes that holds samples over time, which can be thinned out.
    fn course(&self) -> usize;
    /// Reduces the samples to this many bytes, or to the fewest samples that are still of use.
    fn thin(&mut self, most: usize);
    /// The number of bytes that [`Memory`] has counted for it.
    fn counted(&self) -> usize;
    /// Sets the number of bytes that [`Memory`] has counted for it.
    fn set_counted(&mut self, held: usize);
}

/// The memory that all connections hold.
#[derive(Debug)]
pub struct Memory {
    most: usize,
    held: usize,
    /// Above this many bytes, connections are thinned out.
    thin_at: usize,
    /// The growth since they were thinned out.
    step: usize,
}

impl Default for Memory {
    fn default() -> Memory {
        Memory::new(MAX_BYTES)
    }
}

impl Memory {
    /// Connections may hold this many bytes.
    pub fn new(most: usize) -> Memory {
        Memory {
            most,
            held: 0,
            thin_at: most,
            step: most / STEP_DIVISOR,
        }
    }

    /// The number of bytes that connections hold.
    pub fn held(&self) -> usize {
        self.held
    }

    /// The memory that is left for the next packet.
    #[inline]
    pub fn room(&self) -> Room {
        if self.held < self.most {
            Room::Plenty
        } else {
            Room::Little
        }
    }

    /// Updates the count of one holder.
    #[inline]
    pub fn count(&mut self, one: &mut (impl Holder + ?Sized)) {
        let held = one.held();
        self.held = self.held - one.counted() + held;
        one.set_counted(held);
    }

    /// Adds bytes whose count the caller keeps.
    pub fn take(&mut self, held: usize) {
        self.held += held;
    }

    /// Subtracts the bytes of a holder that is gone.
    pub fn release(&mut self, counted: usize) {
        self.held -= counted;
    }

    /// True if connections hold too much.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.held > self.thin_at
    }

    /// True if connections hold too much although they were thinned out.
    pub fn is_overfull(&self) -> bool {
        self.held > self.most + self.most / EXCESS_DIVISOR
    }

    /// Thins out all holders. If this frees less than has come since the last time, the next time comes later.
    pub fn thin(&mut self, all: &mut [&mut dyn Holder]) {
        let courses: usize = all.iter().map(|one| one.course()).sum();
        let before = self.held;
        let room = (self.most / 4 * 3).saturating_sub(before.saturating_sub(courses));
        let share = room / all.len().max(1);
        for one in all {
            one.thin(share);
            self.count(&mut **one);
        }
        let is_little = before.saturating_sub(self.held) < self.step;
        self.step = if is_little {
            (self.step * 2).min(self.most / MAX_STEP_DIVISOR)
        } else {
            self.most / STEP_DIVISOR
        };
        self.wait();
    }

    /// Waits until connections have grown before they are thinned out again.
    pub fn wait(&mut self) {
        self.thin_at = self.most.max(self.held + self.step);
    }
}

/// Frees spare capacity. A list that becomes much shorter moves: in its place, it would split a free block of memory that
/// other lists need as a whole.
pub fn shrink<T: Clone>(list: &mut Vec<T>) {
    if list.capacity() > list.len() * 2 {
        *list = list.as_slice().to_vec();
    } else {
        list.shrink_to_fit();
    }
}

/// Makes room for one more item. There are many such lists, so each has little spare capacity.
#[inline]
pub fn reserve<T>(list: &mut Vec<T>) {
    if list.len() == list.capacity() {
        list.reserve_exact((list.len() / 4).max(4));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Holds what cannot be thinned out.
    struct Firm(usize, usize);

    impl Holder for Firm {
        fn held(&self) -> usize {
            self.0
        }

        fn course(&self) -> usize {
            0
        }

        fn thin(&mut self, _most: usize) {}

        fn counted(&self) -> usize {
            self.1
        }

        fn set_counted(&mut self, held: usize) {
            self.1 = held;
        }
    }

    #[test]
    fn what_frees_nothing_is_not_done_again_and_again() {
        let mut memory = Memory::new(1_600);
        let mut all: Vec<Firm> = Vec::new();
        let mut thinned = 0;
        while !memory.is_overfull() {
            let mut one = Firm(1, 0);
            memory.count(&mut one);
            all.push(one);
            if memory.is_full() {
                let mut all: Vec<&mut dyn Holder> =
                    all.iter_mut().map(|one| one as &mut dyn Holder).collect();
                memory.thin(&mut all);
                thinned += 1;
            }
        }
        assert_eq!((thinned, memory.held()), (8, 2_001));
    }
}
