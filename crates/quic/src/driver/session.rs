//! One connection with what runs on it.

use std::io;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;

use noq_proto::{
    Connection, ConnectionError, ConnectionEvent, ConnectionHandle, Event, PathId, Transmit, VarInt,
};

use super::application::Application;
use super::flow::Flow;
use super::host::{Shared, lock};
use super::line::{HostId, Line};
use super::pace::Pace;

/// How often in a row an application may be asked for more before a burst: it might otherwise write for ever what never leaves.
const REFILLS: usize = 8;

/// A connection.
pub(super) struct Session {
    line: Line,
    application: Box<dyn Application>,
    /// Where the driver paces the connection; elsewhere noq does.
    flow: Option<Arc<Flow>>,
    pace: Pace,
    /// Since when it may have something to send; nothing if it has not, or must wait for an event.
    ready: Option<Instant>,
    /// Whether it waits in the list of those that something happened to.
    pub(super) is_noted: bool,
    /// Whether its handshake is done.
    pub(super) is_proven: bool,
    /// Nothing is left of it.
    pub(super) is_over: bool,
}

impl Session {
    pub(super) fn new(
        line: Line,
        mut application: Box<dyn Application>,
        flow: Option<Arc<Flow>>,
        now: Instant,
    ) -> Session {
        application.begin(line.clone());
        Session {
            line,
            application,
            flow,
            pace: Pace::new(now),
            ready: Some(now),
            is_noted: false,
            is_proven: false,
            is_over: false,
        }
    }

    /// Which connection of its driver it is.
    pub(super) fn id(&self) -> (HostId, ConnectionHandle) {
        self.line.id()
    }

    /// Whether it is this connection.
    pub(super) fn is_of(&self, line: &Line) -> bool {
        self.line.is(line)
    }

    /// A datagram, or word from the endpoint, which came at `at`.
    pub(super) fn hear(&mut self, event: ConnectionEvent, at: Instant) {
        self.line.lock().handle_event(event);
        self.wake(at);
    }

    /// Something was done to it on another thread.
    pub(super) fn look(&mut self, now: Instant) {
        self.line.answer();
        self.wake(now);
    }

    fn wake(&mut self, at: Instant) {
        self.ready.get_or_insert(at);
    }

    /// When something is to be done whatever happens until then.
    pub(super) fn timer(&self) -> Option<Instant> {
        let timer = self.line.lock().poll_timeout();
        timer.into_iter().chain(self.application.deadline()).min()
    }

    /// Does what was to be done by now.
    pub(super) fn expire(&mut self, now: Instant) {
        let mut connection = self.line.lock();
        if connection.poll_timeout().is_some_and(|at| at <= now) {
            connection.handle_timeout(now);
        }
        if self.application.deadline().is_some_and(|at| at <= now) {
            self.application.on_deadline(&mut connection, now);
        }
        drop(connection);
        self.wake(now);
    }

    /// Ends the connection.
    pub(super) fn close(&mut self, now: Instant, code: VarInt) {
        let mut connection = self.line.lock();
        connection.close(now, code, Default::default());
        let reason = ConnectionError::LocallyClosed;
        let event = Event::ConnectionLost { reason };
        self.application.on_event(event, &mut connection, now);
        drop(connection);
        self.wake(now);
    }

    /// Tells the application and the endpoint what has happened.
    pub(super) fn settle(&mut self, endpoint: &Shared, now: Instant) {
        self.is_noted = false;
        let line = self.line.clone();
        let mut connection = line.lock();
        loop {
            while let Some(event) = connection.poll() {
                self.is_proven |= matches!(event, Event::Connected);
                self.application.on_event(event, &mut connection, now);
            }
            if !self.answer(&mut connection, endpoint) {
                break;
            }
        }
        if self.flow.is_some()
            && let Some(controller) = connection.congestion_state(PathId::ZERO)
        {
            // The controller says its pacing rate when it is asked.
            let _ = controller.metrics();
        }
    }

    /// Takes what the connection has for the endpoint there, and the answers back. Whether there were any.
    fn answer(&mut self, connection: &mut Connection, endpoint: &Shared) -> bool {
        let (_, handle) = self.id();
        let mut was_answered = false;
        while let Some(event) = connection.poll_endpoint_events() {
            self.is_over |= event.is_drained();
            if event.is_draining() {
                self.application.on_draining();
            }
            let answer = lock(endpoint).handle_event(handle, event);
            if let Some(answer) = answer {
                connection.handle_event(answer);
                was_answered = true;
            }
        }
        was_answered
    }

    /// The earliest time at which what it may have to send may leave.
    pub(super) fn due(&self) -> Option<Instant> {
        Some(self.pace.due(self.rate()).max(self.ready?))
    }

    /// At which rate the driver paces it, if it does.
    fn rate(&self) -> Option<u64> {
        self.flow.as_ref().and_then(|flow| flow.rate())
    }

    /// The datagrams that leave now, where `due` was the time for it: as many as the controller's send quantum allows, but at
    /// most so many as `most` says for their size. They are in `contents`. Nothing if there is nothing to send.
    pub(super) fn depart(
        &mut self,
        endpoint: &Shared,
        due: Instant,
        now: Instant,
        most: impl Fn(u16) -> usize,
        contents: &mut Vec<u8>,
    ) -> Option<Transmit> {
        let line = self.line.clone();
        let mut connection = line.lock();
        let transmit = self.write(&mut connection, due, now, most, contents);
        self.answer(&mut connection, endpoint);
        transmit
    }

    fn write(
        &mut self,
        connection: &mut Connection,
        due: Instant,
        now: Instant,
        most: impl Fn(u16) -> usize,
        contents: &mut Vec<u8>,
    ) -> Option<Transmit> {
        contents.clear();
        let most = NonZeroUsize::new(most(connection.current_mtu()));
        let most = most.unwrap_or(NonZeroUsize::MIN);
        for _ in 0..REFILLS {
            let transmit = connection.poll_transmit(now, most, contents);
            if let Some(transmit) = transmit {
                let is_probe = transmit.segment_size.is_none()
                    && transmit.size > usize::from(connection.current_mtu());
                if is_probe {
                    self.probe_with(&transmit, connection, due, now);
                } else {
                    self.depart_with(&transmit, due, now);
                }
                return Some(transmit);
            }
            let is_blocked = self.flow.as_ref().is_some_and(|flow| flow.take_blocked());
            if is_blocked || connection.is_handshaking() {
                self.ready = None;
                return None;
            }
            if !self.application.refill(connection) {
                break;
            }
        }
        self.ready = None;
        if let Some(flow) = &self.flow {
            flow.run_dry();
        }
        None
    }

    /// The system has taken its last datagrams, or refused them.
    pub(super) fn left(&self, error: Option<io::Error>) {
        if let Some(flow) = &self.flow {
            flow.set_error(error);
        }
    }

    /// A probe of the path MTU, which noq sends when there is nothing else: for noq, an application limit has begun. If the
    /// application has more, it has not: so that leaves at once, and the probe is paid for with it.
    fn probe_with(
        &mut self,
        transmit: &Transmit,
        connection: &mut Connection,
        due: Instant,
        now: Instant,
    ) {
        self.pace.slip_in(due, now, transmit.size as u64);
        let is_blocked = self.flow.as_ref().is_some_and(|flow| flow.take_blocked());
        if !is_blocked {
            self.application.refill(connection);
        }
        self.ready = Some(due);
    }

    fn depart_with(&mut self, transmit: &Transmit, due: Instant, now: Instant) {
        let datagrams = match transmit.segment_size {
            Some(size) => transmit.size.div_ceil(size.max(1)),
            None => 1,
        };
        let bytes = transmit.size as u64;
        self.pace
            .depart(self.rate(), due, now, bytes, datagrams as u64);
        if let Some(flow) = &self.flow {
            // The window holds back what comes after this.
            flow.take_blocked();
            flow.set_lateness(self.pace.lateness);
        }
        if self.rate().is_none() {
            // As soon as others have had their turn.
            self.ready = Some(now);
        }
    }
}
