//! Shares a limited number of places among the hosts that want them.
//!
//! A server that anybody can reach has a limited number of places for its peers. If it refused newcomers when all places
//! are taken, one host with many connections would shut all others out. [`Places`] shares the places by address instead, so
//! that a host with many connections competes with itself.
//!
//! - The host with the most places gives up its longest idle one to a newcomer whose host has at least two fewer. So each
//!   host gets its share whenever it wants it, and two hosts with equal shares do not take places from each other.
//! - Any other newcomer gets that place only if it has been idle for [`SPARED`]. So an active peer keeps its place, however
//!   many newcomers there are, and a peer that left silently does not keep its place for long.
//!
//! Functions take the time as an argument.
//!
//! ```
//! use places::{Full, Host, Places};
//! use units::Time;
//!
//! let greedy = Host::of("192.0.2.1".parse()?);
//! let modest = Host::of("192.0.2.2".parse()?);
//! let mut places = Places::new(2);
//! places.insert("first", greedy, (), Time::ZERO);
//! places.insert("second", greedy, (), Time::ZERO);
//! assert_eq!(places.make_room(greedy, Time::ZERO), Err(Full));
//! assert_eq!(places.make_room(modest, Time::ZERO), Ok(Some(("first", ()))));
//! # Ok::<(), std::net::AddrParseError>(())
//! ```

mod host;

pub use host::Host;

use std::collections::HashMap;
use std::hash::Hash;

use units::{Duration, Time};

/// A place that was active this recently is kept from newcomers whose host has no claim to it.
pub const SPARED: Duration = Duration::from_secs(1);

/// All places are taken, and none may be given up to this newcomer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full;

/// A limited number of places. Each has a key, and a value for its holder.
#[derive(Debug, Clone)]
pub struct Places<K, V> {
    limit: usize,
    taken: HashMap<K, Place<V>>,
    /// The number of places of each host that has one.
    hosts: HashMap<Host, usize>,
    /// The number of places taken so far.
    turns: u64,
}

#[derive(Debug, Clone)]
struct Place<V> {
    host: Host,
    active: Time,
    /// Among equally long idle places, the one with the lowest number is given up first.
    turn: u64,
    value: V,
}

impl<K: Copy + Eq + Hash, V> Places<K, V> {
    /// This many places, all free.
    pub fn new(limit: usize) -> Places<K, V> {
        Places {
            limit,
            taken: HashMap::new(),
            hosts: HashMap::new(),
            turns: 0,
        }
    }

    /// The number of places that are taken.
    pub fn len(&self) -> usize {
        self.taken.len()
    }

    /// Whether no place is taken.
    pub fn is_empty(&self) -> bool {
        self.taken.is_empty()
    }

    /// Makes sure that there is a free place for a newcomer from `host`. If another place was given up for it, returns its
    /// key and value.
    ///
    /// # Errors
    /// [`Full`]: the newcomer gets no place. Nothing has changed.
    pub fn make_room(&mut self, host: Host, now: Time) -> Result<Option<(K, V)>, Full> {
        if self.taken.len() < self.limit {
            return Ok(None);
        }
        let own = self.hosts.get(&host).copied().unwrap_or_default();
        let most = self.hosts.values().max().copied().unwrap_or_default();
        let (key, active) = self.next_to_go().ok_or(Full)?;
        if own + 2 <= most || now.since(active) >= SPARED {
            Ok(self.remove(&key).map(|value| (key, value)))
        } else {
            Err(Full)
        }
    }

    /// The longest idle place of the hosts with the most places, and when it was last active.
    fn next_to_go(&self) -> Option<(K, Time)> {
        let most = self.hosts.values().max();
        self.taken
            .iter()
            .filter(|(_, place)| self.hosts.get(&place.host) == most)
            .min_by_key(|(_, place)| (place.active, place.turn))
            .map(|(key, place)| (*key, place.active))
    }

    /// Gives a newcomer a place after [`make_room`](Places::make_room). Returns the earlier value of this key.
    pub fn insert(&mut self, key: K, host: Host, value: V, now: Time) -> Option<V> {
        let former = self.remove(&key);
        let place = Place {
            host,
            active: now,
            turn: self.turns,
            value,
        };
        self.turns += 1;
        self.taken.insert(key, place);
        *self.hosts.entry(host).or_default() += 1;
        former
    }

    /// The value of this key. Its place counts as active now.
    pub fn active(&mut self, key: &K, now: Time) -> Option<&mut V> {
        let place = self.taken.get_mut(key)?;
        place.active = place.active.max(now);
        Some(&mut place.value)
    }

    /// Frees a place, and returns its value.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        let place = self.taken.remove(key)?;
        if let Some(count) = self.hosts.get_mut(&place.host) {
            *count -= 1;
            if *count == 0 {
                self.hosts.remove(&place.host);
            }
        }
        Some(place.value)
    }

    /// Frees the places that have been idle for longer than `span`, and returns their keys and values.
    pub fn expire(&mut self, now: Time, span: Duration) -> Vec<(K, V)> {
        let idle = |place: &Place<V>| now.since(place.active) > span;
        let keys = self.taken.iter().filter(|(_, place)| idle(place));
        let keys: Vec<K> = keys.map(|(key, _)| *key).collect();
        let freed = keys
            .into_iter()
            .filter_map(|key| Some((key, self.remove(&key)?)));
        freed.collect()
    }

    /// All keys and values, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.taken.iter().map(|(key, place)| (key, &place.value))
    }
}
