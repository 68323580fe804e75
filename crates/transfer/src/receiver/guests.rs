//! Connections without a proof, and their shares of the receiver's resources.
//!
//! Anyone can open connections, so their resources are bounded, and shared by address: a host that opens many competes
//! with itself. Nothing here refuses a connection that could still send its proof. If all places are taken, the host
//! with the most connections loses the one that has been silent for longest. ([`places::Places`] would spare recently
//! active connections and refuse a newcomer. Here the newcomer may be the sender, and a silent handshake is not worth
//! sparing.)

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use places::Host;

/// The most concurrent connections without a proof.
pub const MAX_GUESTS: usize = 128;

/// The number of connections from which on a new one must validate its address (Retry).
const RETRY_THRESHOLD: usize = 8;

/// The most handshakes of a host at once, and their interval in the long run. Each costs a signature.
const MAX_HANDSHAKE_BURST: u32 = 200;
const HANDSHAKE_INTERVAL: Duration = Duration::from_millis(5);

/// The most hosts whose handshakes are counted. Each is forgotten a second after its last handshake.
const MAX_HOSTS: usize = 4096;

struct Guest<K> {
    key: K,
    host: Host,
    /// The handshake is complete, and the proof is due.
    owes_proof: bool,
}

/// The connections without a proof, each under a key of the caller's.
pub struct Guests<K> {
    /// In the order of their arrival.
    guests: Vec<Guest<K>>,
    /// The time at which each host will have used up its share of handshakes, if it starts no more.
    used_until: HashMap<Host, Instant>,
}

impl<K: Copy + PartialEq> Guests<K> {
    pub fn new() -> Guests<K> {
        Guests {
            guests: Vec::new(),
            used_until: HashMap::new(),
        }
    }

    /// True if new connections must validate their addresses.
    pub fn is_crowded(&self) -> bool {
        self.guests.len() >= RETRY_THRESHOLD
    }

    /// True if a host may start a handshake now, which is then counted.
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
        let next = (*until).max(now) + HANDSHAKE_INTERVAL;
        let may = next.saturating_duration_since(now) <= HANDSHAKE_INTERVAL * MAX_HANDSHAKE_BURST;
        if may {
            *until = next;
        }
        may
    }

    /// The guest to evict before another may enter, if there is one.
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

    pub fn come(&mut self, key: K, address: IpAddr) {
        self.guests.push(Guest {
            key,
            host: Host::of(address),
            owes_proof: false,
        });
    }

    /// The handshake of the connection `key` is complete.
    pub fn greeted(&mut self, key: K) {
        let guest = self.guests.iter_mut().find(|guest| guest.key == key);
        if let Some(guest) = guest {
            guest.owes_proof = true;
        }
    }

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
        // Without any complete handshake, the oldest of the host with the most is evicted.
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
        assert_eq!(
            started(&mut guests, v4(1), start),
            MAX_HANDSHAKE_BURST as usize
        );
        assert_eq!(
            started(&mut guests, v4(2), start),
            MAX_HANDSHAKE_BURST as usize
        );
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
        assert!(guests.may_start(host(MAX_HOSTS), start + HANDSHAKE_INTERVAL));
    }
}
