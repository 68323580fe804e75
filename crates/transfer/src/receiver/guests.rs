//! The connections that have not proven themselves yet, and how they share the door.
//!
//! Anyone can open connections, so what they take is bounded, and shared by address: a host that opens many competes with
//! itself. Nothing here refuses a connection that could still prove itself for the sake of others: when all places are
//! taken, the one that has been silent for longest among those of the host with the most gives up its place. (Not by
//! [`places::Places`], which spares who was active a moment ago, and so refuses a newcomer: here a silent handshake is not
//! worth the sparing, and the newcomer may be the sender.)

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use places::Host;

/// So many connections may be on their way to a proof at the same time.
pub const MAX_GUESTS: usize = 128;

/// From so many on, a connection must show that its address is its own before it takes a place.
const CROWDED: usize = 8;

/// A host may start so many handshakes at once, and so many a second in the long run. Each costs a signature.
const BURST: u32 = 200;
const INTERVAL: Duration = Duration::from_millis(5);

/// More hosts are not remembered. Each is forgotten a second after its last handshake.
const MAX_HOSTS: usize = 4096;

struct Guest<K> {
    key: K,
    host: Host,
    /// Its handshake is over, so its proof should be here.
    owes_proof: bool,
}

/// The connections without a proof, each under a key of the caller's.
pub struct Guests<K> {
    /// In the order in which they came.
    guests: Vec<Guest<K>>,
    /// When a host will have used up its share of handshakes, if it starts no more.
    used_until: HashMap<Host, Instant>,
}

impl<K: Copy + PartialEq> Guests<K> {
    /// Nobody.
    pub fn new() -> Guests<K> {
        Guests {
            guests: Vec::new(),
            used_until: HashMap::new(),
        }
    }

    /// Whether newcomers must show that their address is their own.
    pub fn is_crowded(&self) -> bool {
        self.guests.len() >= CROWDED
    }

    /// Whether a host may start a handshake now. If so, that is counted.
    pub fn may_start(&mut self, address: IpAddr, now: Instant) -> bool {
        if self.used_until.len() >= MAX_HOSTS {
            self.used_until.retain(|_, until| *until > now);
        }
        let host = Host::of(address);
        let is_known = self.used_until.contains_key(&host);
        if !is_known && self.used_until.len() >= MAX_HOSTS {
            return false;
        }
        let until = self.used_until.entry(host).or_insert(now);
        let next = (*until).max(now) + INTERVAL;
        let may = next.saturating_duration_since(now) <= INTERVAL * BURST;
        if may {
            *until = next;
        }
        may
    }

    /// Which guest must go before another may come, if one must.
    pub fn to_go(&self) -> Option<K> {
        if self.guests.len() < MAX_GUESTS {
            return None;
        }
        let mut counts: HashMap<Host, usize> = HashMap::new();
        for guest in &self.guests {
            *counts.entry(guest.host).or_default() += 1;
        }
        let most = counts.values().max().copied()?;
        let greedy = || {
            let is_greedy = |guest: &&Guest<K>| counts.get(&guest.host) == Some(&most);
            self.guests.iter().filter(is_greedy)
        };
        let silent = greedy().find(|guest| guest.owes_proof);
        silent.or_else(|| greedy().next()).map(|guest| guest.key)
    }

    /// A connection has come.
    pub fn come(&mut self, key: K, address: IpAddr) {
        self.guests.push(Guest {
            key,
            host: Host::of(address),
            owes_proof: false,
        });
    }

    /// The handshake of the connection `key` is over.
    pub fn greeted(&mut self, key: K) {
        let guest = self.guests.iter_mut().find(|guest| guest.key == key);
        if let Some(guest) = guest {
            guest.owes_proof = true;
        }
    }

    /// The connection `key` has proven itself, or is gone.
    pub fn leave(&mut self, key: K) {
        self.guests.retain(|guest| guest.key != key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v4(last: u8) -> IpAddr {
        [10, 0, 0, last].into()
    }

    #[test]
    fn the_longest_silent_of_the_greediest_host_goes_first() {
        let mut guests = Guests::new();
        guests.come(0, v4(1));
        for key in 1..100 {
            guests.come(key, v4(2));
        }
        for key in 100..MAX_GUESTS {
            assert_eq!(guests.to_go(), None);
            guests.come(key, v4(3));
        }
        // Nobody has finished the handshake: the oldest of the host with the most.
        assert_eq!(guests.to_go(), Some(1));
        guests.greeted(7);
        guests.greeted(5);
        guests.greeted(0);
        guests.greeted(101);
        assert_eq!(guests.to_go(), Some(5));
        guests.leave(5);
        assert_eq!(guests.to_go(), None);
        guests.come(MAX_GUESTS, v4(4));
        assert_eq!(guests.to_go(), Some(7));
    }

    #[test]
    fn a_host_has_its_own_share_of_handshakes() {
        let mut guests = Guests::<u8>::new();
        let start = Instant::now();
        let started = |guests: &mut Guests<u8>, host, now| {
            (0..1000).filter(|_| guests.may_start(host, now)).count()
        };
        assert_eq!(started(&mut guests, v4(1), start), BURST as usize);
        assert_eq!(started(&mut guests, v4(2), start), BURST as usize);
        let later = start + Duration::from_millis(500);
        assert_eq!(started(&mut guests, v4(1), later), 100);
    }

    #[test]
    fn hosts_are_forgotten() {
        let mut guests = Guests::<u8>::new();
        let start = Instant::now();
        let host =
            |index: usize| -> IpAddr { (0x0a00_0000_u32 + index as u32).to_be_bytes().into() };
        for index in 0..MAX_HOSTS {
            assert!(guests.may_start(host(index), start));
        }
        assert!(!guests.may_start(host(MAX_HOSTS), start));
        assert!(guests.may_start(host(MAX_HOSTS), start + INTERVAL));
    }
}
