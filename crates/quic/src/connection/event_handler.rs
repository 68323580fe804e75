//! Events of a connection, passed on to its tasks.

use std::collections::HashMap;
use std::sync::Arc;
use std::task::Waker;
use std::time::Instant;

use noq_proto::{Connection, ConnectionError, Event, StreamEvent, StreamId};

use super::open_connections::Registration;
use super::waiting::Waiting;
use crate::driver::{Application, SharedConnection};

/// Handles a connection's events on the driver's thread. It continues what tasks have begun there, so a task whose
/// piece of data is larger than a datagram is not woken for each datagram.
pub(super) struct EventHandler {
    waiting: Arc<Waiting>,
    /// Its registration with its listener, until it is over.
    registration: Option<Registration>,
}

impl EventHandler {
    pub(super) fn new(waiting: Arc<Waiting>) -> EventHandler {
        EventHandler {
            waiting,
            registration: None,
        }
    }

    pub(super) fn at(waiting: Arc<Waiting>, registration: Registration) -> EventHandler {
        EventHandler {
            waiting,
            registration: Some(registration),
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

impl Application for EventHandler {
    fn begin(&mut self, shared: SharedConnection) {
        if let Some(registration) = &mut self.registration {
            registration.come(shared);
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
        self.registration = None;
        self.waiting.tell(|state| state.is_draining = true);
    }
}

impl Drop for EventHandler {
    fn drop(&mut self) {
        // The error is known already, unless the driver has ended.
        self.waiting.end(ConnectionError::LocallyClosed);
        self.waiting.tell(|state| state.is_draining = true);
    }
}
