//! What a driver does with packets and time: the connections of a socket, and which of them sends next.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use bytes::BytesMut;
use noq::udp::RecvMeta;
use noq_proto::{ConnectionEvent, ConnectionHandle, DatagramEvent, FourTuple, Transmit};

use super::connection::{Conn, State, Woken};
use super::departures::Departures;
use super::shared::{Core, Shared};
use super::socket::{Sent, Socket};
use super::wheel::Wheel;
use crate::controller::Pace;

/// What is sent at most before the socket is read again: so many bytes, or so many bursts.
const TURN_BYTES: usize = 256 << 10;
const TURN_BURSTS: usize = 64;

/// The connections of a socket.
pub(super) struct Engine {
    shared: Arc<Shared>,
    /// By their handles, which are small numbers that are used again.
    flows: Vec<Option<Flow>>,
    count: usize,
    wheel: Wheel<ConnectionHandle>,
    /// Those whose turn it is, each a burst at a time.
    ready: VecDeque<ConnectionHandle>,
    /// What the socket had no room for.
    unsent: Option<Transmit>,
    buffer: Vec<u8>,
    /// Reused, like what follows.
    attended: Vec<ConnectionHandle>,
    events: Vec<(ConnectionHandle, ConnectionEvent)>,
    woken: Woken,
    answers: Vec<(Transmit, Vec<u8>)>,
}

/// A connection, as the driver knows it.
struct Flow {
    conn: Arc<Conn>,
    pace: Option<Arc<Pace>>,
    departures: Departures,
    /// The time of its entry in the wheel. It is looked at then, or before.
    scheduled: Option<Instant>,
    is_ready: bool,
    /// Its peer does not know yet that it is over, as far as we have told.
    is_active: bool,
}

/// What a connection wants after its turn.
enum Turn {
    /// To send this burst, and to have another turn.
    Burst(Transmit),
    /// To be looked at then, if at all.
    Wait(Option<Instant>),
    /// Nothing, ever again.
    Over,
}

impl Engine {
    pub(super) fn new(shared: Arc<Shared>, now: Instant) -> Engine {
        Engine {
            shared,
            flows: Vec::new(),
            count: 0,
            wheel: Wheel::new(now),
            ready: VecDeque::new(),
            unsent: None,
            buffer: Vec::new(),
            attended: Vec::new(),
            events: Vec::new(),
            woken: Woken::default(),
            answers: Vec::new(),
        }
    }

    /// Looks at what the application has done. Returns whether there may ever be something to do again.
    pub(super) fn attend(&mut self, socket: &Socket, now: Instant) -> bool {
        let shared = self.shared.clone();
        let mut core = shared.core();
        self.take_fresh(&mut core, now);
        std::mem::swap(&mut self.answers, &mut core.answers);
        let closing = core.closing.clone();
        let is_held = core.handles > 0;
        if closing.is_some() || !is_held {
            // Nobody will accept them.
            while let Some(incoming) = core.arrivals.pop_front() {
                let mut buffer = Vec::new();
                let refusal = core.endpoint.refuse(incoming, &mut buffer);
                self.answers.push((refusal, buffer));
            }
        }
        drop(core);
        // They may get lost: whom they are for asks again.
        for (transmit, contents) in self.answers.drain(..) {
            socket.send(&transmit, &contents);
        }
        if let Some((code, reason)) = closing {
            for flow in self.flows.iter().flatten() {
                if flow.conn.state().error.is_none() {
                    flow.conn.close(code, reason.clone());
                }
            }
        }
        let mut attended = std::mem::take(&mut self.attended);
        self.shared.take_attended(&mut attended);
        for handle in attended.drain(..) {
            if let Some(flow) = self.flow(handle) {
                // What the application does from now on is for the next look.
                flow.conn.is_attended.store(false, Ordering::SeqCst);
            }
            self.make_ready(handle);
        }
        self.attended = attended;
        is_held || self.count > 0
    }

    fn take_fresh(&mut self, core: &mut Core, now: Instant) {
        for (conn, pace) in core.fresh.drain(..) {
            let handle = conn.handle;
            if self.flows.len() <= handle.0 {
                self.flows.resize_with(handle.0 + 1, || None);
            }
            if let Some(place) = self.flows.get_mut(handle.0) {
                *place = Some(Flow {
                    conn,
                    pace,
                    departures: Departures::new(now),
                    scheduled: None,
                    is_ready: true,
                    is_active: true,
                });
                self.ready.push_back(handle);
                self.count += 1;
            }
        }
    }

    fn flow(&mut self, handle: ConnectionHandle) -> Option<&mut Flow> {
        self.flows.get_mut(handle.0)?.as_mut()
    }

    fn make_ready(&mut self, handle: ConnectionHandle) {
        if let Some(flow) = self.flow(handle)
            && !std::mem::replace(&mut flow.is_ready, true)
        {
            self.ready.push_back(handle);
        }
    }

    /// Reads the socket, as much as one call brings. Returns whether there was something.
    pub(super) fn receive(&mut self, socket: &mut Socket, now: Instant) -> bool {
        let shared = self.shared.clone();
        let mut events = std::mem::take(&mut self.events);
        let mut answers = std::mem::take(&mut self.answers);
        // Datagrams share memory that is as large as what was read, and no larger.
        let mut memory = BytesMut::new();
        let mut has_arrivals = false;
        let something = socket.receive(|arrival, meta, content| {
            let mut core = shared.core();
            // What was accepted in the meantime may be meant.
            self.take_fresh(&mut core, now);
            memory.extend_from_slice(content);
            route(
                &mut core,
                arrival,
                meta,
                memory.split(),
                |event| match event {
                    Routed::To(handle, event) => events.push((handle, event)),
                    Routed::Answer(transmit, contents) => answers.push((transmit, contents)),
                    Routed::Arrival => has_arrivals = true,
                },
            );
        });
        if has_arrivals {
            shared.arrival.notify_waiters();
        }
        for (transmit, contents) in answers.drain(..) {
            socket.send(&transmit, &contents);
        }
        self.answers = answers;
        let mut pending = events.drain(..).peekable();
        while let Some((handle, event)) = pending.next() {
            self.make_ready(handle);
            if let Some(flow) = self.flow(handle) {
                // Packets of one connection come in a row: they need its lock once.
                let mut state = flow.conn.state();
                state.inner.handle_event(event);
                while let Some((_, event)) = pending.next_if(|(next, _)| *next == handle) {
                    state.inner.handle_event(event);
                }
            }
        }
        drop(pending);
        self.events = events;
        something
    }

    /// Gives those who are due their turns, until the socket is to be read again or has no more room.
    pub(super) fn serve(&mut self, socket: &Socket, now: Instant) {
        let (wheel, flows, ready) = (&mut self.wheel, &mut self.flows, &mut self.ready);
        wheel.expire(now, |handle| {
            let place = flows.get_mut(handle.0);
            let Some(flow) = place.and_then(Option::as_mut) else {
                return;
            };
            if flow.scheduled.is_some_and(|at| at <= now) {
                flow.scheduled = None;
                if !std::mem::replace(&mut flow.is_ready, true) {
                    ready.push_back(handle);
                }
            }
        });
        let (mut bytes, mut bursts) = (0, 0);
        while bytes < TURN_BYTES && bursts < TURN_BURSTS {
            if let Some(transmit) = self.unsent.take()
                && socket.send(&transmit, &self.buffer) == Sent::Blocked
            {
                self.unsent = Some(transmit);
                return;
            }
            let Some(handle) = self.ready.pop_front() else {
                return;
            };
            bursts += 1;
            match self.turn(handle, socket) {
                Some(Turn::Burst(transmit)) => {
                    bytes += transmit.size;
                    self.unsent = Some(transmit);
                    self.ready.push_back(handle);
                }
                Some(Turn::Wait(until)) => self.schedule(handle, until),
                Some(Turn::Over) => self.forget(handle),
                None => {}
            }
        }
        if let Some(transmit) = self.unsent.take()
            && socket.send(&transmit, &self.buffer) == Sent::Blocked
        {
            self.unsent = Some(transmit);
        }
    }

    fn turn(&mut self, handle: ConnectionHandle, socket: &Socket) -> Option<Turn> {
        let flow = self.flows.get_mut(handle.0)?.as_mut()?;
        // Each burst leaves at its own time: the turns before this one have taken some.
        let now = Instant::now();
        let conn = flow.conn.clone();
        let mut state = conn.state();
        if state.inner.poll_timeout().is_some_and(|at| at <= now) {
            state.inner.handle_timeout(now);
        }
        let turn = flow.turn(&mut state, &self.shared, socket, &mut self.buffer, now);
        state.take_events(&mut self.woken);
        drop(state);
        self.woken.wake(&conn);
        Some(turn)
    }

    /// Puts a connection aside until then.
    fn schedule(&mut self, handle: ConnectionHandle, until: Option<Instant>) {
        let place = self.flows.get_mut(handle.0);
        let Some(flow) = place.and_then(Option::as_mut) else {
            return;
        };
        flow.is_ready = false;
        // One entry that comes early enough will do: timers move on with each ACK.
        if let Some(at) = until
            && flow.scheduled.is_none_or(|scheduled| at < scheduled)
        {
            flow.scheduled = Some(at);
            self.wheel.insert(at, handle);
        }
    }

    fn forget(&mut self, handle: ConnectionHandle) {
        let place = self.flows.get_mut(handle.0);
        if place.is_some_and(|place| place.take().is_some()) {
            self.count -= 1;
        }
    }

    /// Whether somebody's turn it is, and the socket has room.
    pub(super) fn is_busy(&self) -> bool {
        self.unsent.is_none() && !self.ready.is_empty()
    }

    /// Whether something waits for room in the socket.
    pub(super) fn is_blocked(&self) -> bool {
        self.unsent.is_some()
    }

    /// When somebody's turn it will be.
    pub(super) fn next(&self) -> Option<Instant> {
        self.wheel.next()
    }
}

impl Flow {
    fn turn(
        &mut self,
        state: &mut State,
        shared: &Shared,
        socket: &Socket,
        buffer: &mut Vec<u8>,
        now: Instant,
    ) -> Turn {
        buffer.clear();
        let is_due = self.departures.is_due(now);
        if let Some(pace) = &self.pace {
            pace.set_open(is_due);
        }
        let segments = socket.segments(state.inner.current_mtu());
        let segments = NonZeroUsize::new(segments).unwrap_or(NonZeroUsize::MIN);
        let transmit = state.inner.poll_transmit(now, segments, buffer);
        let is_drained = self.exchange(state, shared);
        if let Some(transmit) = transmit {
            // Loss probes leave before their time, and count.
            if let Some(pace) = &self.pace {
                let bytes = transmit.size as u64;
                self.departures.leave(now, bytes, pace.bytes_per_sec());
            }
            return Turn::Burst(transmit);
        }
        if is_drained {
            return Turn::Over;
        }
        let timeout = state.inner.poll_timeout();
        let Some(pace) = &self.pace else {
            return Turn::Wait(timeout);
        };
        if pace.is_held() && !is_due {
            let departure = self.departures.wait();
            return Turn::Wait(Some(timeout.map_or(departure, |at| at.min(departure))));
        }
        self.departures.idle();
        if !pace.is_held() && !state.inner.is_handshaking() {
            pace.mark_dry();
        }
        Turn::Wait(timeout)
    }

    /// Lets the connection talk with its endpoint. Returns whether it is over.
    fn exchange(&mut self, state: &mut State, shared: &Shared) -> bool {
        while let Some(event) = state.inner.poll_endpoint_events() {
            let mut core = shared.core();
            let is_last = event.is_drained();
            if (is_last || event.is_draining()) && std::mem::replace(&mut self.is_active, false) {
                core.active -= 1;
                if core.active == 0 {
                    shared.quiet.notify_waiters();
                }
            }
            if let Some(event) = core.endpoint.handle_event(self.conn.handle, event) {
                drop(core);
                state.inner.handle_event(event);
            }
            if is_last {
                return true;
            }
        }
        state.inner.is_drained()
    }
}

/// What a datagram is.
enum Routed {
    To(ConnectionHandle, ConnectionEvent),
    Answer(Transmit, Vec<u8>),
    Arrival,
}

/// Finds out for whom the datagrams of a message are.
fn route(
    core: &mut Core,
    arrival: Instant,
    meta: &RecvMeta,
    mut message: BytesMut,
    mut found: impl FnMut(Routed),
) {
    let path = FourTuple::new(meta.addr, meta.dst_ip);
    let ecn = meta
        .ecn
        .and_then(|ecn| noq_proto::EcnCodepoint::from_bits(ecn as u8));
    while !message.is_empty() {
        let datagram = message.split_to(meta.stride.clamp(1, message.len()));
        let mut buffer = Vec::new();
        match core
            .endpoint
            .handle(arrival, path, ecn, datagram, &mut buffer)
        {
            Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                found(Routed::To(handle, event));
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                if core.closing.is_some() {
                    let refusal = core.endpoint.refuse(incoming, &mut buffer);
                    found(Routed::Answer(refusal, buffer));
                } else {
                    core.arrivals.push_back(incoming);
                    found(Routed::Arrival);
                }
            }
            Some(DatagramEvent::Response(transmit)) => found(Routed::Answer(transmit, buffer)),
            None => {}
        }
    }
}
