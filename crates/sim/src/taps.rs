//! Taps at the ends of links, which note the packets that pass.

use std::collections::HashMap;

use path::Ecn;

use crate::index::LinkIndex;

/// A packet that passes a tap.
#[derive(Debug)]
pub(crate) struct Passed<P> {
    /// The number of the tap.
    pub(crate) tap: usize,
    pub(crate) packet: P,
    pub(crate) ecn: Ecn,
}

/// The taps, apart from the links: few networks have one.
#[derive(Debug)]
pub(crate) struct Taps<P> {
    count: usize,
    entrances: HashMap<LinkIndex, usize>,
    exits: HashMap<LinkIndex, usize>,
    /// The packets that have passed. The caller empties the list before time goes on.
    pub(crate) passed: Vec<Passed<P>>,
}

impl<P: Copy> Taps<P> {
    /// None.
    pub(crate) fn new() -> Taps<P> {
        Taps {
            count: 0,
            entrances: HashMap::new(),
            exits: HashMap::new(),
            passed: Vec::new(),
        }
    }

    /// Puts a tap at the entrance of a link and at the exit of another. It replaces an earlier one at the same place.
    pub(crate) fn add(&mut self, entrance: LinkIndex, exit: LinkIndex) {
        self.entrances.insert(entrance, self.count);
        self.exits.insert(exit, self.count);
        self.count += 1;
    }

    /// Notes a packet that enters a link.
    #[inline]
    pub(crate) fn enter(&mut self, link: LinkIndex, packet: &P, ecn: Ecn) {
        if self.count > 0 {
            let tap = self.entrances.get(&link).copied();
            self.note(tap, packet, ecn);
        }
    }

    /// Notes a packet that leaves a link.
    #[inline]
    pub(crate) fn leave(&mut self, link: LinkIndex, packet: &P, ecn: Ecn) {
        if self.count > 0 {
            let tap = self.exits.get(&link).copied();
            self.note(tap, packet, ecn);
        }
    }

    fn note(&mut self, tap: Option<usize>, packet: &P, ecn: Ecn) {
        let packet = *packet;
        self.passed
            .extend(tap.map(|tap| Passed { tap, packet, ecn }));
    }
}
