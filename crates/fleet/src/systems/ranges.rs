//! Look-ups of the range that contains an address.

use std::cmp::Reverse;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A range: its first address, last address, and owner. A table has millions of them.
type Owned<A> = (A, A, u32);

/// Disjoint ranges, in order, of both versions of IP.
#[derive(Debug, Default)]
pub struct Ranges {
    v4: Vec<Owned<u32>>,
    v6: Vec<Owned<u128>>,
}

/// Ranges as they are read, in any order. A range may contain others, whose addresses belong to the inner range.
#[derive(Debug, Default)]
pub struct Collected {
    v4: Vec<Owned<u32>>,
    v6: Vec<Owned<u128>>,
}

impl Collected {
    /// Adds a range from one address to another of the same version.
    pub fn add(&mut self, first: IpAddr, last: IpAddr, owner: u32) -> Result<(), &'static str> {
        match (first, last) {
            _ if first > last => Err("the range ends before it begins"),
            (IpAddr::V4(first), IpAddr::V4(last)) => {
                self.v4.push((first.to_bits(), last.to_bits(), owner));
                Ok(())
            }
            (IpAddr::V6(first), IpAddr::V6(last)) => {
                self.v6.push((first.to_bits(), last.to_bits(), owner));
                Ok(())
            }
            _ => Err("the range is of two versions of IP"),
        }
    }

    /// True if there are no ranges.
    pub fn is_empty(&self) -> bool {
        self.v4.is_empty() && self.v6.is_empty()
    }

    /// The number of ranges.
    pub fn len(&self) -> usize {
        self.v4.len() + self.v6.len()
    }

    /// Each address belongs to the shortest range that has it.
    pub fn finish(self) -> Ranges {
        Ranges {
            v4: disjoint(self.v4),
            v6: disjoint(self.v6),
        }
    }
}

impl Ranges {
    /// All ranges: first address, last address, and owner.
    pub fn all(&self) -> impl Iterator<Item = (IpAddr, IpAddr, u32)> + '_ {
        let v4 = self.v4.iter().map(|&(first, last, owner)| {
            let ends = [first, last].map(|bits| IpAddr::from(Ipv4Addr::from_bits(bits)));
            (ends[0], ends[1], owner)
        });
        let v6 = self.v6.iter().map(|&(first, last, owner)| {
            let ends = [first, last].map(|bits| IpAddr::from(Ipv6Addr::from_bits(bits)));
            (ends[0], ends[1], owner)
        });
        v4.chain(v6)
    }

    /// The owner of the address.
    pub fn of(&self, address: IpAddr) -> Option<u32> {
        self.of_all(address, address)
    }

    /// The owner of all addresses from the first to the last.
    pub fn of_all(&self, first: IpAddr, last: IpAddr) -> Option<u32> {
        match (first, last) {
            (IpAddr::V4(first), IpAddr::V4(last)) => {
                find(&self.v4, first.to_bits(), last.to_bits())
            }
            (IpAddr::V6(first), IpAddr::V6(last)) => {
                find(&self.v6, first.to_bits(), last.to_bits())
            }
            _ => None,
        }
    }
}

fn find<A: Bits>(ranges: &[Owned<A>], from: A, to: A) -> Option<u32> {
    let after = ranges.partition_point(|(first, _, _)| *first <= from);
    let (_, last, owner) = ranges.get(after.checked_sub(1)?)?;
    (to <= *last).then_some(*owner)
}

/// The bits of an address.
trait Bits: Copy + Ord {
    const LAST: Self;

    fn before(self) -> Option<Self>;
    fn after(self) -> Option<Self>;
}

macro_rules! bits {
    ($($of:ty)*) => {$(
        impl Bits for $of {
            const LAST: $of = <$of>::MAX;

            fn before(self) -> Option<$of> {
                self.checked_sub(1)
            }

            fn after(self) -> Option<$of> {
                self.checked_add(1)
            }
        }
    )*};
}

bits! { u32 u128 }

/// Cuts ranges where others begin within them. If two overlap without containing each other, the later one gets the
/// overlap.
fn disjoint<A: Bits>(mut all: Vec<Owned<A>>) -> Vec<Owned<A>> {
    // Of ranges with the same start, the longest comes first, because it contains the others.
    all.sort_by_key(|&(first, last, _)| (first, Reverse(last)));
    let mut cut = Cut {
        open: Vec::new(),
        next: None,
        done: Vec::new(),
    };
    for (first, last, owner) in all {
        cut.until(first.before());
        cut.next = Some(first);
        cut.open.push((last, owner));
    }
    cut.until(Some(A::LAST));
    cut.done.shrink_to_fit();
    cut.done
}

struct Cut<A> {
    /// The ends and owners of the ranges that may contain `next`, the innermost last.
    open: Vec<(A, u32)>,
    /// The first address without an owner yet. `None` behind the last address of all.
    next: Option<A>,
    done: Vec<Owned<A>>,
}

impl<A: Bits> Cut<A> {
    /// Gives all addresses up to `end` to the open ranges. `None` stands for the end before the first address.
    fn until(&mut self, end: Option<A>) {
        let Some(end) = end else { return };
        while let Some(&(last, owner)) = self.open.last() {
            let to = last.min(end);
            if let Some(next) = self.next.filter(|next| *next <= to) {
                match self.done.last_mut() {
                    Some(before) if before.2 == owner && before.1.after() == Some(next) => {
                        before.1 = to;
                    }
                    _ => self.done.push((next, to, owner)),
                }
                self.next = to.after();
            }
            if last > end {
                break;
            }
            self.open.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Prefixes lie in each other or apart; the longest that has an address owns it.
        #[test]
        fn an_address_is_of_the_longest_prefix(
            prefixes in prop::collection::vec((any::<u8>(), 24u32..=32), 0..40),
        ) {
            let mut collected = Collected::default();
            let mut plain: Vec<(u8, u8, u32)> = Vec::new();
            for (owner, (address, length)) in (0..).zip(prefixes) {
                let size = 1u16 << (32 - length);
                let first = address & (256 - size) as u8;
                let last = first + (size - 1) as u8;
                if plain.iter().any(|(from, to, _)| (*from, *to) == (first, last)) {
                    continue;
                }
                plain.push((first, last, owner));
                let at = |low: u8| IpAddr::from(Ipv4Addr::new(255, 255, 255, low));
                collected.add(at(first), at(last), owner).unwrap();
            }
            let ranges = collected.finish();
            for low in 0..=255u8 {
                let having = plain.iter().filter(|(first, last, _)| (*first..=*last).contains(&low));
                let owner = having.min_by_key(|(first, last, _)| last - first).map(|one| one.2);
                let address = Ipv4Addr::new(255, 255, 255, low).into();
                prop_assert_eq!(ranges.of(address), owner, "{}", low);
            }
        }
    }

    #[test]
    fn the_last_address_of_all_belongs_to_somebody() {
        let mut collected = Collected::default();
        let all: IpAddr = "::".parse().unwrap();
        let last: IpAddr = "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff".parse().unwrap();
        collected.add(all, last, 1).unwrap();
        collected.add(last, last, 2).unwrap();
        let ranges = collected.finish();
        assert_eq!((ranges.of(all), ranges.of(last)), (Some(1), Some(2)));
    }
}
