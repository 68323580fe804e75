//! All connections, from look to look.

use std::sync::Arc;

use hashbrown::HashMap;
use linux::diag::SocketState;

use crate::connection::{Connection, Moment, Seen};

/// So many connections are followed; further ones are counted.
pub const MOST: usize = 1 << 18;

/// The connections of the last look.
#[derive(Debug, Default)]
pub struct Table {
    all: Vec<Connection>,
    places: HashMap<u64, usize>,
    /// Where the next connection is expected: the kernel tells them in about the same order each time.
    cursor: usize,
    look: u64,
    when: Moment,
    left_out: u64,
    came: usize,
}

impl Table {
    /// Begins a look.
    pub fn begin(&mut self, when: Moment) {
        self.look += 1;
        self.when = when;
        self.cursor = 0;
        self.left_out = 0;
        self.came = 0;
    }

    /// Takes in what the look shows of a connection. `name` makes what else is to be known of one that was not there before.
    pub fn see(&mut self, socket: &SocketState, name: impl FnOnce(&SocketState) -> Seen) {
        let is_here = |connection: &Connection| connection.seen.socket.cookie == socket.cookie;
        let place = match self.all.get(self.cursor) {
            Some(expected) if is_here(expected) => Some(self.cursor),
            _ => self.places.get(&socket.cookie).copied(),
        };
        if let Some(place) = place
            && let Some(connection) = self.all.get_mut(place)
        {
            self.cursor = place + 1;
            connection.update(self.when, socket, self.look);
        } else if self.all.len() < MOST {
            self.places.insert(socket.cookie, self.all.len());
            self.all.push(Connection::new(name(socket), self.look));
            self.came += 1;
        } else {
            self.left_out += 1;
        }
    }

    /// The same, for those who know no more than the namespace's name.
    pub fn see_in(&mut self, socket: &SocketState, namespace: &Arc<str>) {
        let when = self.when;
        self.see(socket, |socket| {
            nameless(when, socket, Arc::clone(namespace))
        });
    }

    /// Ends the look: what it has not shown is gone.
    pub fn end(&mut self) {
        let look = self.look;
        let before = self.all.len();
        self.all.retain(|connection| connection.look == look);
        if self.all.len() < before {
            self.places.clear();
            let cookies = self.all.iter().map(|one| one.seen.socket.cookie);
            self.places.extend(cookies.zip(0..));
        }
    }

    /// The connections.
    pub fn all(&self) -> &[Connection] {
        &self.all
    }

    pub(crate) fn all_mut(&mut self) -> &mut [Connection] {
        &mut self.all
    }

    /// The one with this cookie.
    pub fn by_cookie(&self, cookie: u64) -> Option<&Connection> {
        self.all.get(*self.places.get(&cookie)?)
    }

    /// When the last look was.
    pub fn when(&self) -> Moment {
        self.when
    }

    /// How many connections the last look has left out, as there are too many.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// How many connections were new in the last look.
    pub fn came(&self) -> usize {
        self.came
    }
}

/// A connection of which nothing but the socket is known.
pub fn nameless(when: Moment, socket: &SocketState, namespace: Arc<str>) -> Seen {
    Seen {
        when,
        socket: *socket,
        since: None,
        process: None,
        cgroup: None,
        system: None,
        namespace,
    }
}
