//! All connections, from sample to sample.

use std::sync::Arc;

use hashbrown::HashMap;
use linux::diag::SocketState;
use units::Duration;

use crate::connection::{Connection, ConnectionState, Moment, Since};

/// The maximum number of followed connections. Further ones are only counted.
pub const MAX_CONNECTIONS: usize = 1 << 18;

/// The number of samples for which a connection is kept while dumps fail to show it.
const MAX_MISSED_LOOKS: u64 = 60;

/// The connections of the last sample.
#[derive(Debug, Default)]
pub struct Table {
    all: Vec<Connection>,
    places: HashMap<u64, usize>,
    /// The expected index of the next connection: the kernel returns them in about the same order each time.
    cursor: usize,
    look: u64,
    when: Moment,
    left_out: u64,
    came: usize,
    /// The connections that the last sample did not show. A dump may miss a connection while others come and go.
    missed: HashMap<u64, Connection>,
    /// The time of each namespace's last complete dump. Later connections are new, and their counts began with zero.
    whole: HashMap<Arc<str>, Duration>,
    /// The namespaces without a complete dump in this sample.
    broken: Vec<Arc<str>>,
}

impl Table {
    /// Begins a sample.
    pub fn begin(&mut self, when: Moment) {
        self.look += 1;
        self.when = when;
        self.cursor = 0;
        self.left_out = 0;
        self.came = 0;
        self.broken.clear();
    }

    /// Adds a connection of the sample. `name` supplies the other facts about a new connection.
    pub fn see(
        &mut self,
        socket: &SocketState,
        name: impl FnOnce(&SocketState) -> ConnectionState,
    ) {
        let is_here = |connection: &Connection| connection.seen.socket.cookie == socket.cookie;
        let place = match self.all.get(self.cursor) {
            Some(expected) if is_here(expected) => Some(self.cursor),
            _ => self.places.get(&socket.cookie).copied(),
        };
        if let Some(place) = place
            && let Some(connection) = self.all.get_mut(place)
        {
            self.cursor = place + 1;
            // A dump may show a connection twice while others come and go.
            if connection.look != self.look {
                connection.update(self.when, socket, self.look);
            }
        } else if self.all.len() < MAX_CONNECTIONS {
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

    /// The changes of a connection that was not there at the namespace's last complete dump: it counts from zero, and
    /// is no older than that.
    fn new_one(&self, mut seen: ConnectionState) -> Connection {
        let before = self.whole.get(&seen.namespace);
        let since = |before: &Duration| {
            let span = self.when.at.saturating_sub(*before);
            Since::beginning(&seen.socket, span)
        };
        seen.since = before.map(since);
        Connection::new(seen, self.look)
    }

    /// Adds a connection with nothing but the namespace's name.
    pub fn see_in(&mut self, socket: &SocketState, namespace: &Arc<str>) {
        let when = self.when;
        self.see(socket, |socket| {
            nameless(when, socket, Arc::clone(namespace))
        });
    }

    /// Ends the dump of a namespace. `is_whole` is false if the kernel did not return all connections.
    pub fn told(&mut self, namespace: &Arc<str>, is_whole: bool) {
        if !is_whole {
            self.broken.push(Arc::clone(namespace));
        } else if self.left_out == 0 {
            self.whole.insert(Arc::clone(namespace), self.when.at);
        } else {
            // A connection that gets room later may be old.
            self.whole.remove(namespace);
        }
    }

    /// Ends the sample. Connections that it did not show are removed. After an incomplete dump of a namespace they
    /// stay, with unknown changes.
    pub fn end(&mut self) {
        let (look, broken) = (self.look, &self.broken);
        let is_gone = |connection: &mut Connection| {
            let is_shown = connection.look == look;
            let stays = !is_shown
                && look - connection.look <= MAX_MISSED_LOOKS
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

    /// The connection with this cookie.
    pub fn by_cookie(&self, cookie: u64) -> Option<&Connection> {
        self.all.get(*self.places.get(&cookie)?)
    }

    /// The time of the last sample.
    pub fn when(&self) -> Moment {
        self.when
    }

    /// The number of connections that the last sample left out because there are too many.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// The number of connections that were new in the last sample.
    pub fn came(&self) -> usize {
        self.came
    }
}

/// A connection with nothing known but its socket.
pub fn nameless(when: Moment, socket: &SocketState, namespace: Arc<str>) -> ConnectionState {
    ConnectionState {
        when,
        socket: *socket,
        since: None,
        process: None,
        cgroup: None,
        system: None,
        namespace,
    }
}
