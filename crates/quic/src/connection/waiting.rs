//! What tasks wait for, and what wakes them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Instant;

use noq_proto::{Connection, ConnectionError, Event, StreamEvent, StreamId};
use tokio::sync::Notify;

use super::incoming::Place;
use super::recv::Gathering;
use super::send::Writing;
use crate::driver::{Application, Line};

/// What the tasks of one connection wait for.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    state: Mutex<State>,
    /// By direction: a stream may be opened; one was opened by the peer.
    pub(super) available: [Notify; 2],
    pub(super) opened: [Notify; 2],
    /// The connection's own state.
    pub(super) changed: Notify,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) is_connected: bool,
    pub(super) is_draining: bool,
    /// Why the connection is over.
    pub(super) error: Option<ConnectionError>,
    pub(super) readers: HashMap<StreamId, Waker>,
    /// Those who wait for the end of a stream.
    pub(super) gathering: HashMap<StreamId, (Waker, Gathering)>,
    /// Those who wait until all is written.
    pub(super) writers: HashMap<StreamId, (Waker, Writing)>,
    /// Those who wait until all is acknowledged, or nobody wants it.
    pub(super) finishing: HashMap<StreamId, Waker>,
}

impl Waiting {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that holds the lock can leave it half-changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what has come of a stream, and what comes of it.
    pub(super) fn gather(&self, stream: StreamId, most: usize, connection: &mut Connection) {
        let mut gathering = Gathering::new(most);
        gathering.go_on(stream, connection);
        let nobody = Waker::noop().clone();
        self.state().gathering.insert(stream, (nobody, gathering));
    }

    fn tell(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        self.changed.notify_waiters();
    }

    /// The connection is over: whoever waits learns it. The first reason counts.
    pub(super) fn end(&self, error: ConnectionError) {
        let mut state = self.state();
        state.error.get_or_insert(error);
        let state = &mut *state;
        let maps = [&mut state.readers, &mut state.finishing];
        for (_, waker) in maps.into_iter().flat_map(HashMap::drain) {
            waker.wake();
        }
        // What they have may be all that they wait for.
        let gathering = state.gathering.values().map(|(waker, _)| waker);
        let writers = state.writers.values().map(|(waker, _)| waker);
        gathering.chain(writers).for_each(Waker::wake_by_ref);
        let notifies = self.available.iter().chain(&self.opened);
        notifies
            .chain([&self.changed])
            .for_each(Notify::notify_waiters);
    }
}

/// Hears on the driver's thread what happens to a connection. It goes on with what tasks have begun there: a task whose piece
/// of data is larger than a datagram is not woken for each datagram.
pub(super) struct Ear {
    waiting: Arc<Waiting>,
    /// Its place at its listener, while it is not over.
    place: Option<Place>,
}

impl Ear {
    pub(super) fn new(waiting: Arc<Waiting>) -> Ear {
        Ear {
            waiting,
            place: None,
        }
    }

    pub(super) fn at(waiting: Arc<Waiting>, place: Place) -> Ear {
        Ear {
            waiting,
            place: Some(place),
        }
    }

    fn on_stream_event(&self, event: StreamEvent, connection: &mut Connection) {
        let mut state = self.waiting.state();
        let state = &mut *state;
        match event {
            StreamEvent::Opened { dir } => self.waiting.opened[dir as usize].notify_waiters(),
            StreamEvent::Available { dir } => self.waiting.available[dir as usize].notify_waiters(),
            StreamEvent::Readable { id } => {
                wake(&mut state.readers, id);
                if let Some((waker, gathering)) = state.gathering.get_mut(&id)
                    && gathering.go_on(id, connection)
                {
                    waker.wake_by_ref();
                }
            }
            StreamEvent::Writable { id } => {
                if let Some((waker, writing)) = state.writers.get_mut(&id)
                    && writing.go_on(id, connection)
                {
                    waker.wake_by_ref();
                }
            }
            StreamEvent::Finished { id } => wake(&mut state.finishing, id),
            StreamEvent::Stopped { id, .. } => {
                if let Some((waker, _)) = state.writers.get(&id) {
                    waker.wake_by_ref();
                }
                wake(&mut state.finishing, id);
            }
        }
    }
}

fn wake(wakers: &mut HashMap<StreamId, Waker>, stream: StreamId) {
    if let Some(waker) = wakers.remove(&stream) {
        waker.wake();
    }
}

impl Application for Ear {
    fn begin(&mut self, line: Line) {
        if let Some(place) = &mut self.place {
            place.come(line);
        }
    }

    fn on_event(&mut self, event: Event, connection: &mut Connection, _: Instant) {
        match event {
            Event::Connected => self.waiting.tell(|state| state.is_connected = true),
            Event::ConnectionLost { reason } => self.waiting.end(reason),
            Event::Stream(event) => self.on_stream_event(event, connection),
            _ => {}
        }
    }

    fn on_draining(&mut self) {
        self.place = None;
        self.waiting.tell(|state| state.is_draining = true);
    }
}

impl Drop for Ear {
    fn drop(&mut self) {
        // Said already, unless the driver has ended.
        self.waiting.end(ConnectionError::LocallyClosed);
        self.waiting.tell(|state| state.is_draining = true);
    }
}
