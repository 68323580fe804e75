//! One connection with what runs on it.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;

use noq_proto::{
    Connection, ConnectionEvent, ConnectionHandle, Endpoint, Event, PathId, Transmit, VarInt,
};

use super::application::Application;
use super::flow::Flow;
use super::pace::Pace;

/// How often in a row an application may be asked for more before a burst: it might otherwise write for ever what never leaves.
const REFILLS: usize = 8;

/// A connection.
pub(super) struct Session {
    connection: Connection,
    /// Nothing once it was called off.
    application: Option<Box<dyn Application>>,
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
        connection: Connection,
        application: Box<dyn Application>,
        flow: Option<Arc<Flow>>,
        now: Instant,
    ) -> Session {
        Session {
            connection,
            application: Some(application),
            flow,
            pace: Pace::new(now),
            ready: Some(now),
            is_noted: false,
            is_proven: false,
            is_over: false,
        }
    }

    /// A datagram, or word from the endpoint, which came at `at`.
    pub(super) fn hear(&mut self, event: ConnectionEvent, at: Instant) {
        self.connection.handle_event(event);
        self.wake(at);
    }

    fn wake(&mut self, at: Instant) {
        self.ready.get_or_insert(at);
    }

    /// When something is to be done whatever happens until then.
    pub(super) fn timer(&self) -> Option<Instant> {
        let application = self.application.as_ref();
        let deadline = application.and_then(|application| application.deadline());
        let timer = self.connection.poll_timeout();
        timer.into_iter().chain(deadline).min()
    }

    /// Does what was to be done by now.
    pub(super) fn expire(&mut self, now: Instant) {
        if self.connection.poll_timeout().is_some_and(|at| at <= now) {
            self.connection.handle_timeout(now);
        }
        if let Some(application) = &mut self.application
            && application.deadline().is_some_and(|at| at <= now)
        {
            application.on_deadline(&mut self.connection, now);
        }
        self.wake(now);
    }

    /// Ends the connection.
    pub(super) fn close(&mut self, now: Instant, reason: &'static [u8]) {
        self.application = None;
        self.connection
            .close(now, VarInt::from_u32(0), reason.into());
        self.wake(now);
    }

    /// Tells the application and the endpoint what has happened.
    pub(super) fn settle(
        &mut self,
        handle: ConnectionHandle,
        endpoint: &mut Endpoint,
        now: Instant,
    ) {
        self.is_noted = false;
        loop {
            while let Some(event) = self.connection.poll() {
                self.is_proven |= matches!(event, Event::Connected);
                if let Some(application) = &mut self.application {
                    application.on_event(event, &mut self.connection, now);
                }
            }
            if !self.answer(handle, endpoint) {
                break;
            }
        }
        if self.flow.is_some()
            && let Some(controller) = self.connection.congestion_state(PathId::ZERO)
        {
            // The controller says its pacing rate when it is asked.
            let _ = controller.metrics();
        }
    }

    /// Takes what the connection has for the endpoint there, and the answers back. Whether there were any.
    pub(super) fn answer(&mut self, handle: ConnectionHandle, endpoint: &mut Endpoint) -> bool {
        let mut was_answered = false;
        while let Some(event) = self.connection.poll_endpoint_events() {
            self.is_over |= event.is_drained();
            if let Some(answer) = endpoint.handle_event(handle, event) {
                self.connection.handle_event(answer);
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
        due: Instant,
        now: Instant,
        most: impl Fn(u16) -> usize,
        contents: &mut Vec<u8>,
    ) -> Option<Transmit> {
        contents.clear();
        let most = NonZeroUsize::new(most(self.connection.current_mtu()));
        let most = most.unwrap_or(NonZeroUsize::MIN);
        for _ in 0..REFILLS {
            let transmit = self.connection.poll_transmit(now, most, contents);
            if let Some(transmit) = transmit {
                self.depart_with(&transmit, due, now);
                return Some(transmit);
            }
            let is_blocked = self.flow.as_ref().is_some_and(|flow| flow.take_blocked());
            if is_blocked || self.connection.is_handshaking() {
                self.ready = None;
                return None;
            }
            let application = self.application.as_mut();
            if !application.is_some_and(|application| application.refill(&mut self.connection)) {
                break;
            }
        }
        self.ready = None;
        if let Some(flow) = &self.flow {
            flow.run_dry();
        }
        None
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
