//! A limited number of places for connections, shared fairly among addresses.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use places::{Host, Places};
use tokio::sync::Notify;
use units::{Duration, Time};

use crate::lock::lock;

/// The places. [`Places`] decides who makes room when all are taken.
#[derive(Debug)]
pub struct ConnectionLimit {
    inside: Mutex<Inside>,
    began: Instant,
}

#[derive(Debug)]
struct Inside {
    /// The places, each with the task to notify when it is lost.
    places: Places<u64, Arc<Notify>>,
    came: u64,
}

impl ConnectionLimit {
    /// Makes this many places.
    pub fn new(places: usize) -> Arc<ConnectionLimit> {
        Arc::new(ConnectionLimit {
            inside: Mutex::new(Inside {
                places: Places::new(places),
                came: 0,
            }),
            began: Instant::now(),
        })
    }

    /// Takes a place for a connection from this address, possibly in place of another connection. Returns `None` if
    /// there is none.
    pub fn acquire(self: &Arc<ConnectionLimit>, from: IpAddr) -> Option<Permit> {
        let (host, now) = (Host::of(from), self.now());
        let mut inside = self.inside();
        if let Some((_, lost)) = inside.places.make_room(host, now).ok()? {
            lost.notify_one();
        }
        let (key, lost) = (inside.came, Arc::new(Notify::new()));
        inside.came += 1;
        inside.places.insert(key, host, lost.clone(), now);
        Some(Permit {
            limit: self.clone(),
            key,
            lost,
        })
    }

    /// The number of taken places.
    pub fn taken(&self) -> usize {
        self.inside().places.len()
    }

    fn now(&self) -> Time {
        Time::ZERO + Duration::from(self.began.elapsed())
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        // No operation under the lock can leave the state inconsistent.
        lock(&self.inside)
    }
}

/// A connection's place. It is free again when this is dropped.
#[derive(Debug)]
pub struct Permit {
    limit: Arc<ConnectionLimit>,
    key: u64,
    lost: Arc<Notify>,
}

impl Permit {
    /// Records that data has arrived over the connection.
    pub fn active(&self) {
        let now = self.limit.now();
        // This does nothing if the place is lost.
        let _ = self.limit.inside().places.active(&self.key, now);
    }

    /// Waits until the place is lost to another connection. Only one task may wait.
    pub async fn lost(&self) {
        self.lost.notified().await;
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.limit.inside().places.remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_greediest_learns_that_its_place_is_lost() {
        let limit = ConnectionLimit::new(4);
        let from = |host| IpAddr::from([10, 0, 0, host]);
        let mut greedy: Vec<Permit> = (0..4).filter_map(|_| limit.acquire(from(1))).collect();
        assert!(limit.acquire(from(1)).is_none());
        let other = limit.acquire(from(2)).unwrap();
        assert_eq!(limit.taken(), 4);
        greedy[0].lost().await;
        // Its place belongs to another connection already.
        drop(greedy.remove(0));
        assert_eq!(limit.taken(), 4);
        drop(other);
        assert_eq!(limit.taken(), 3);
        drop(greedy);
        assert_eq!(limit.taken(), 0);
    }
}
