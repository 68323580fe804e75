//! The conditions that tasks wait for, and their wake-ups.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};
use std::task::Waker;

use noq_proto::{Connection, ConnectionError, StreamId};
use tokio::sync::Notify;

use super::recv::Gathering;
use super::send::Writing;
use crate::lock::lock;

/// The conditions that the tasks of one connection wait for.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    state: Mutex<State>,
    /// By direction: a stream can be opened; the peer has opened one.
    pub(super) available: [Notify; 2],
    pub(super) opened: [Notify; 2],
    /// The connection's own state.
    pub(super) changed: Notify,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) is_connected: bool,
    pub(super) is_draining: bool,
    /// The reason for which the connection is over.
    pub(super) error: Option<ConnectionError>,
    pub(super) readers: HashMap<StreamId, Waker>,
    /// Tasks that wait for the end of a stream.
    pub(super) gathering: HashMap<StreamId, (Waker, Gathering)>,
    /// Tasks that wait until everything is written.
    pub(super) writers: HashMap<StreamId, (Waker, Writing)>,
    /// Tasks that wait until everything is acknowledged, or the peer has stopped the stream.
    pub(super) finishing: HashMap<StreamId, Waker>,
}

impl Waiting {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        // No operation under the lock can leave the state inconsistent.
        lock(&self.state)
    }

    /// Takes what has arrived of a stream, and what will arrive.
    pub(super) fn gather(&self, stream: StreamId, most: usize, connection: &mut Connection) {
        let mut gathering = Gathering::new(most);
        gathering.go_on(stream, connection);
        let nobody = Waker::noop().clone();
        self.state().gathering.insert(stream, (nobody, gathering));
    }

    pub(super) fn tell(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        self.changed.notify_waiters();
    }

    /// Records that the connection is over, and wakes all tasks. The first reason counts.
    pub(super) fn end(&self, error: ConnectionError) {
        let mut state = self.state();
        state.error.get_or_insert(error);
        let state = &mut *state;
        let maps = [&mut state.readers, &mut state.finishing];
        for (_, waker) in maps.into_iter().flat_map(HashMap::drain) {
            waker.wake();
        }
        // Tasks may be able to continue with what they have.
        let gathering = state.gathering.values().map(|(waker, _)| waker);
        let writers = state.writers.values().map(|(waker, _)| waker);
        gathering.chain(writers).for_each(Waker::wake_by_ref);
        let notifies = self.available.iter().chain(&self.opened);
        notifies
            .chain([&self.changed])
            .for_each(Notify::notify_waiters);
    }
}
