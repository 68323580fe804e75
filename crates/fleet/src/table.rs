//! All connections, from look to look.

use std::sync::Arc;

use hashbrown::HashMap;
use linux::diag::SocketState;
use units::Duration;

use crate::connection::{Connection, Moment, Seen, Since};

/// So many connections are followed; further ones are counted.
pub const MOST: usize = 1 << 18;

/// A connection that is not shown, as dumps fail, stays for so many looks.
const PATIENCE: u64 = 60;

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
    /// Those that the last look has not shown. A dump may miss a connection while others come and go.
    missed: HashMap<u64, Connection>,
    /// When each namespace was last told as a whole. What comes later is new, and its counts began with zero.
    whole: HashMap<Arc<str>, Duration>,
    /// The namespaces that this look has not told as a whole.
    broken: Vec<Arc<str>>,
}

impl Table {
    /// Begins a look.
    pub fn begin(&mut self, when: Moment) {
        self.look += 1;
        self.when = when;
        self.cursor = 0;
        self.left_out = 0;
        self.came = 0;
        self.broken.clear();
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
            // A dump may tell of a connection twice while others come and go.
            if connection.look != self.look {
                connection.update(self.when, socket, self.look);
            }
        } else if self.all.len() < MOST {
            let connection = match self.missed.remove(&socket.cookie) {
                Some(mut connection) => {
                    connection.update(self.when, socket, self.look);
                    connection
                }
                None => {
                    self.came += 1;
                    self.new_one(name(socket))
                }
            };
            self.places.insert(socket.cookie, self.all.len());
            self.all.push(connection);
        } else {
            self.left_out += 1;
        }
    }

    /// One that was not there when its namespace was last told as a whole: it counts from zero, and is no older than that.
    fn new_one(&self, mut seen: Seen) -> Connection {
        let before = self.whole.get(&seen.namespace);
        let since = |before: &Duration| {
            let span = self.when.at.saturating_sub(*before);
            Since::beginning(&seen.socket, span)
        };
        seen.since = before.map(since);
        Connection::new(seen, self.look)
    }

    /// The same, for those who know no more than the namespace's name.
    pub fn see_in(&mut self, socket: &SocketState, namespace: &Arc<str>) {
        let when = self.when;
        self.see(socket, |socket| {
            nameless(when, socket, Arc::clone(namespace))
        });
    }

    /// What was seen so far of a namespace is all there is of it, or is not, as the kernel did not tell all.
    pub fn told(&mut self, namespace: &Arc<str>, is_whole: bool) {
        if !is_whole {
            self.broken.push(Arc::clone(namespace));
        } else if self.left_out == 0 {
            self.whole.insert(Arc::clone(namespace), self.when.at);
        } else {
            // What there will be room for may be old.
            self.whole.remove(namespace);
        }
    }

    /// Ends the look: what it has not shown is gone. Of a namespace that was not told as a whole, it stays, and nothing is known of what
    /// happened to it.
    pub fn end(&mut self) {
        let (look, broken) = (self.look, &self.broken);
        let is_gone = |connection: &mut Connection| {
            let is_shown = connection.look == look;
            let stays = !is_shown
                && look - connection.look <= PATIENCE
                && broken.contains(&connection.seen.namespace);
            if stays {
                connection.seen.since = Some(Since::default());
            }
            !is_shown && !stays
        };
        self.missed.clear();
        let gone = self.all.extract_if(.., is_gone);
        self.missed
            .extend(gone.map(|one| (one.seen.socket.cookie, one)));
        if !self.missed.is_empty() {
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
