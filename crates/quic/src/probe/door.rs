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
pub struct Door {
    inside: Mutex<Inside>,
    began: Instant,
}

#[derive(Debug)]
struct Inside {
    /// The places, each with the task to notify when it is lost.
    places: Places<u64, Arc<Notify>>,
    came: u64,
}

impl Door {
    /// Makes this many places.
    pub fn new(places: usize) -> Arc<Door> {
        Arc::new(Door {
            inside: Mutex::new(Inside {
                places: Places::new(places),
                came: 0,
            }),
            began: Instant::now(),
        })
    }

    /// Takes a place for a connection from this address, possibly in place of another connection. Returns `None` if
    /// there is none.
    pub fn enter(self: &Arc<Door>, from: IpAddr) -> Option<Seat> {
        let (host, now) = (Host::of(from), self.now());
        let mut inside = self.inside();
        if let Some((_, lost)) = inside.places.make_room(host, now).ok()? {
            lost.notify_one();
        }
        let (key, lost) = (inside.came, Arc::new(Notify::new()));
        inside.came += 1;
        inside.places.insert(key, host, lost.clone(), now);
        Some(Seat {
            door: self.clone(),
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
pub struct Seat {
    door: Arc<Door>,
    key: u64,
    lost: Arc<Notify>,
}

impl Seat {
    /// Records that data has arrived over the connection.
    pub fn active(&self) {
        let now = self.door.now();
        // This does nothing if the place is lost.
        let _ = self.door.inside().places.active(&self.key, now);
    }

    /// Waits until the place is lost to another connection. Only one task may wait.
    pub async fn lost(&self) {
        self.lost.notified().await;
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.door.inside().places.remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_greediest_learns_that_its_place_is_lost() {
        let door = Door::new(4);
        let from = |host| IpAddr::from([10, 0, 0, host]);
        let mut greedy: Vec<Seat> = (0..4).filter_map(|_| door.enter(from(1))).collect();
        assert!(door.enter(from(1)).is_none());
        let other = door.enter(from(2)).unwrap();
        assert_eq!(door.taken(), 4);
        greedy[0].lost().await;
        // Its place belongs to another connection already.
        drop(greedy.remove(0));
        assert_eq!(door.taken(), 4);
        drop(other);
        assert_eq!(door.taken(), 3);
        drop(greedy);
        assert_eq!(door.taken(), 0);
    }
}
