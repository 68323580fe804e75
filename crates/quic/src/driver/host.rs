//! A socket with its endpoint and its connections.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use noq_proto::{ConnectionHandle, DatagramEvent, Endpoint, Incoming, Transmit, VarInt};

use super::application::{Admission, ConnectionCounts, Verdict};
use super::datagram_socket::{Datagram, DatagramSocket, is_full};
use super::queue::{Queue, is_long};
use super::session::Session;
use super::shared_connection::{DriverHandle, HostId, SharedConnection};
use crate::lock::lock;

/// The maximum time for which one socket is read before other work has its turn. Reading stops earlier if the socket is
/// empty. An ACK that has arrived should be processed before the next burst leaves.
const MAX_READ_TIME: Duration = Duration::from_micros(200);

/// The maximum time for which handshakes are processed after that. A single datagram may take as long.
const MAX_HANDSHAKE_TIME: Duration = Duration::from_micros(100);

/// The number of connections' datagrams between two reads of the clock.
const DATAGRAMS_PER_CLOCK_READ: usize = 16;

/// The delay of the next attempt if the kernel has no buffers, and does not report when it has some.
const RETRY_DELAY: Duration = Duration::from_millis(1);

/// The minimum size of a client's first datagram (RFC 9000, "Initial Datagram Size").
const MIN_INITIAL_BYTES: usize = 1200;

/// An endpoint. The driver's thread uses it, and for a moment a thread that opens a connection. A thread that holds its
/// lock must not lock a connection.
pub(super) type Shared = Arc<Mutex<Endpoint>>;

/// A socket with its connections.
pub(super) struct Host {
    id: HostId,
    driver: Arc<dyn DriverHandle>,
    pub(super) socket: Box<dyn DatagramSocket>,
    endpoint: Shared,
    pub(super) sessions: HashMap<ConnectionHandle, Session>,
    /// Decides on clients; `None` if none may connect.
    admission: Option<Box<dyn Admission>>,
    /// True if there may be new connections.
    is_open: bool,
    unproven: usize,
    queue: Queue,
    /// The burst that the kernel had no room for.
    unsent: Option<Unsent>,
    /// Connections that wait for that room.
    waiting: BTreeSet<ConnectionHandle>,
    answers: Vec<u8>,
}

/// A burst that the kernel had no room for.
struct Unsent {
    handle: ConnectionHandle,
    transmit: Transmit,
    contents: Vec<u8>,
    /// The time at which the kernel could have taken it.
    since: Instant,
    /// The time of the next attempt; `None` if it waits until the socket is writable.
    again: Option<Instant>,
}

/// The result of a connection's turn to send.
pub(super) enum Turn {
    /// Datagrams left.
    Sent,
    /// There was nothing to send.
    Nothing,
    /// There was something to send, but the kernel had no room.
    Full,
}

impl Host {
    pub(super) fn new(
        (id, driver): (HostId, Arc<dyn DriverHandle>),
        socket: Box<dyn DatagramSocket>,
        endpoint: Shared,
        admission: Option<Box<dyn Admission>>,
    ) -> Host {
        Host {
            id,
            driver,
            socket,
            endpoint,
            sessions: HashMap::new(),
            admission,
            is_open: true,
            unproven: 0,
            queue: Queue::default(),
            unsent: None,
            waiting: BTreeSet::new(),
            answers: Vec::new(),
        }
    }

    /// Adds a connection of its endpoint.
    pub(super) fn join(&mut self, session: Session) {
        let (_, handle) = session.id();
        self.unproven += 1;
        self.sessions.insert(handle, session);
    }

    /// Allows no new connections.
    pub(super) fn shut(&mut self) {
        self.admission = None;
        self.is_open = false;
    }

    /// True if there are no connections, and no new ones are allowed.
    pub(super) fn is_done(&self) -> bool {
        !self.is_open && self.sessions.is_empty()
    }

    /// True if something waits until the socket is writable.
    pub(super) fn is_full(&self) -> bool {
        self.unsent
            .as_ref()
            .is_some_and(|unsent| unsent.again.is_none())
    }

    /// Records that the socket is writable.
    pub(super) fn has_room(&mut self, now: Instant) {
        if let Some(unsent) = &mut self.unsent {
            unsent.again = Some(now);
        }
    }

    /// The latest time at which it has something to do.
    pub(super) fn next(&self, now: Instant) -> Option<Instant> {
        let rest = (!self.queue.is_empty()).then_some(now);
        let again = self.unsent.as_ref().and_then(|unsent| unsent.again);
        rest.into_iter().chain(again).min()
    }

    /// True if datagrams were read that are not processed yet.
    pub(super) fn has_rest(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Reads the socket, and gives each datagram to its connection, until the socket is empty or others have waited
    /// long enough. Calls `note` with the connections that got datagrams. If more datagrams may be waiting, returns the
    /// arrival of the last one: all that arrived before were read.
    pub(super) fn receive(&mut self, mut note: impl FnMut(ConnectionHandle)) -> Option<Instant> {
        let until = self.driver.now() + MAX_READ_TIME;
        let (mut count, mut is_more) = (0_usize, true);
        let mut last = None;
        'reading: loop {
            while let Some(datagram) = self.queue.pop_other() {
                last = Some(datagram.at);
                self.take(datagram).into_iter().for_each(&mut note);
                count += 1;
                if count.is_multiple_of(DATAGRAMS_PER_CLOCK_READ) && self.driver.now() >= until {
                    break 'reading;
                }
            }
            if !is_more {
                last = None;
                break;
            }
            if self.driver.now() >= until {
                break;
            }
            let (queue, last) = (&mut self.queue, &mut last);
            is_more = self.socket.read(&mut |datagram| {
                *last = Some(datagram.at);
                if datagram.may_be_answered() {
                    queue.push(datagram);
                }
            });
        }
        let until = self.driver.now() + MAX_HANDSHAKE_TIME;
        while let Some(datagram) = self.queue.pop_handshake() {
            self.take(datagram).into_iter().for_each(&mut note);
            if self.driver.now() >= until {
                break;
            }
        }
        last
    }

    /// Gives a datagram to its connection, which may be a new one.
    fn take(&mut self, datagram: Datagram) -> Option<ConnectionHandle> {
        let Datagram {
            at,
            path,
            ecn,
            payload,
        } = datagram;
        self.answers.clear();
        let answers = &mut self.answers;
        let size = payload.len();
        let is_short_of_first = is_long(&payload) && size < MIN_INITIAL_BYTES;
        let event = lock(&self.endpoint).handle(at, path, ecn, payload, answers)?;
        match event {
            DatagramEvent::ConnectionEvent(handle, event) => {
                let session = self.sessions.get_mut(&handle)?;
                session.hear(event, path.remote(), size, at);
                if session.is_noted {
                    return None;
                }
                session.is_noted = true;
                Some(handle)
            }
            DatagramEvent::NewConnection(incoming) => self.admit(incoming, at),
            // A version negotiation may be longer than the datagram that causes it (RFC 9000, "Version Negotiation
            // Packet").
            DatagramEvent::Response(_) if is_short_of_first => None,
            DatagramEvent::Response(transmit) => {
                self.respond(&transmit);
                None
            }
        }
    }

    fn admit(&mut self, incoming: Incoming, at: Instant) -> Option<ConnectionHandle> {
        let counts = ConnectionCounts {
            connections: self.sessions.len(),
            unproven: self.unproven,
        };
        let (incoming, verdict) = match &mut self.admission {
            Some(admission) => admission.admit(incoming, counts)?,
            None => (incoming, Verdict::Refuse),
        };
        self.decide(incoming, verdict, at)
    }

    /// Carries out the decision on a client. Returns the new connection, if there is one.
    pub(super) fn decide(
        &mut self,
        incoming: Incoming,
        verdict: Verdict,
        at: Instant,
    ) -> Option<ConnectionHandle> {
        self.answers.clear();
        let answers = &mut self.answers;
        let response = match verdict {
            // The decision came after the listener had ended.
            Verdict::Accept(_) if !self.is_open => {
                Some(lock(&self.endpoint).refuse(incoming, answers))
            }
            Verdict::Accept(application) => {
                let accepted = lock(&self.endpoint).accept(incoming, at, answers, None);
                match accepted {
                    Ok((handle, connection)) => {
                        let shared = SharedConnection::new(
                            connection,
                            (self.id, handle),
                            self.driver.clone(),
                        );
                        self.join(Session::new(shared, application, None, at));
                        return Some(handle);
                    }
                    Err(error) => error.response,
                }
            }
            Verdict::Retry => {
                let mut endpoint = lock(&self.endpoint);
                match endpoint.retry(incoming, answers) {
                    Ok(response) => Some(response),
                    Err(error) => {
                        endpoint.ignore(error.into_incoming());
                        None
                    }
                }
            }
            Verdict::Refuse => Some(lock(&self.endpoint).refuse(incoming, answers)),
            Verdict::Ignore => {
                lock(&self.endpoint).ignore(incoming);
                None
            }
        };
        if let Some(response) = response {
            self.respond(&response);
        }
        None
    }

    /// Sends an answer that belongs to no connection. If there is no room, the answer is lost, and the peer asks again.
    fn respond(&self, transmit: &Transmit) {
        let contents = self.answers.get(..transmit.size).unwrap_or_default();
        self.socket.answer(transmit, contents);
    }

    /// Lets a connection handle its events. Removes the connection if it is over.
    pub(super) fn settle(&mut self, handle: ConnectionHandle, now: Instant) -> Option<&Session> {
        let session = self.sessions.get_mut(&handle)?;
        let was_proven = session.is_proven;
        session.settle(&self.endpoint, now);
        let (is_proven, is_over) = (session.is_proven, session.is_over);
        if !was_proven && (is_proven || is_over) {
            self.unproven -= 1;
        }
        if is_over {
            self.sessions.remove(&handle);
            return None;
        }
        self.sessions.get(&handle)
    }

    /// Lets a connection send one burst.
    pub(super) fn send(
        &mut self,
        handle: ConnectionHandle,
        now: Instant,
        contents: &mut Vec<u8>,
    ) -> Turn {
        let socket = &self.socket;
        let Some(session) = self.sessions.get_mut(&handle) else {
            return Turn::Nothing;
        };
        let Some(due) = session.due().filter(|due| *due <= now) else {
            return Turn::Nothing;
        };
        if self.unsent.is_some() {
            self.waiting.insert(handle);
            return Turn::Full;
        }
        let most = |size| socket.most_datagrams(size);
        let transmit = session.depart(&self.endpoint, due, now, most, contents);
        let Some(transmit) = transmit else {
            return Turn::Nothing;
        };
        self.unsent = Some(Unsent {
            handle,
            transmit,
            contents: std::mem::take(contents),
            since: now,
            again: Some(now),
        });
        match self.push(now) {
            Some(taken) => {
                *contents = taken;
                Turn::Sent
            }
            None => {
                self.waiting.insert(handle);
                Turn::Full
            }
        }
    }

    /// Tries again to send the burst that the kernel had no room for, if it is time. Returns the connections that
    /// waited for it.
    pub(super) fn resend(&mut self, now: Instant) -> BTreeSet<ConnectionHandle> {
        let again = self.unsent.as_ref().and_then(|unsent| unsent.again);
        if again.is_some_and(|again| again <= now) && self.push(now).is_some() {
            return std::mem::take(&mut self.waiting);
        }
        BTreeSet::new()
    }

    /// Gives the unsent burst to the kernel. Returns its buffer, unless there is still no room.
    fn push(&mut self, now: Instant) -> Option<Vec<u8>> {
        let mut unsent = self.unsent.take()?;
        let Unsent {
            transmit, contents, ..
        } = &unsent;
        let datagrams = contents.get(..transmit.size).unwrap_or_default();
        match self.socket.send(transmit, datagrams) {
            Err(error) if is_full(&error) => {
                let is_told =
                    error.kind() == io::ErrorKind::WouldBlock && self.socket.file().is_some();
                unsent.again = (!is_told).then(|| now + RETRY_DELAY);
                self.unsent = Some(unsent);
                None
            }
            sent => {
                if let Some(session) = self.sessions.get_mut(&unsent.handle) {
                    let waited = now.saturating_duration_since(unsent.since);
                    session.left(sent.err(), waited);
                }
                Some(unsent.contents)
            }
        }
    }

    /// Closes all connections, and tells their peers.
    pub(super) fn close(&mut self, now: Instant) {
        let mut contents = Vec::new();
        for session in self.sessions.values_mut() {
            session.close(now, VarInt::from_u32(0));
            session.settle(&self.endpoint, now);
            while let Some(transmit) =
                session.depart(&self.endpoint, now, now, |_| 1, &mut contents)
            {
                let datagrams = contents.get(..transmit.size).unwrap_or_default();
                let _ = self.socket.send(&transmit, datagrams);
            }
        }
    }
}
