//! A socket with its endpoint and the connections over it.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::Arc;
use std::time::Instant;

use noq_proto::{
    Connection, ConnectionHandle, DatagramEvent, Endpoint, Incoming, Transmit, VarInt,
};

use super::application::{Application, Crowd, Door, Verdict};
use super::flow::Flow;
use super::ground::{Datagram, Port};
use super::line::{Desk, HostId, Line};
use super::session::Session;

/// Batches read from one socket before others have their turn.
const READS: usize = 4;

/// The least size of a client's first datagram (RFC 9000, "Initial Datagram Size").
const FIRST: usize = 1200;

/// A socket.
pub(super) struct Host {
    id: HostId,
    desk: Arc<Desk>,
    pub(super) port: Box<dyn Port>,
    pub(super) endpoint: Endpoint,
    pub(super) sessions: HashMap<ConnectionHandle, Session>,
    /// Who may connect; nobody may where there is none.
    door: Option<Box<dyn Door>>,
    unproven: usize,
    /// What the kernel had no room for.
    unsent: Option<(Transmit, Vec<u8>)>,
    /// Those that wait for that room.
    pub(super) waiting: VecDeque<ConnectionHandle>,
    answers: Vec<u8>,
}

/// What became of a connection's turn to send.
pub(super) enum Turn {
    /// Datagrams left.
    Sent,
    /// There was nothing to send.
    Nothing,
    /// There were, but the kernel has no room.
    Full,
}

impl Host {
    pub(super) fn new(
        (id, desk): (HostId, Arc<Desk>),
        port: Box<dyn Port>,
        endpoint: Endpoint,
        door: Option<Box<dyn Door>>,
    ) -> Host {
        Host {
            id,
            desk,
            port,
            endpoint,
            sessions: HashMap::new(),
            door,
            unproven: 0,
            unsent: None,
            waiting: VecDeque::new(),
            answers: Vec::new(),
        }
    }

    /// Adds a connection.
    pub(super) fn add(
        &mut self,
        handle: ConnectionHandle,
        connection: Connection,
        mut application: Box<dyn Application>,
        flow: Option<Arc<Flow>>,
        now: Instant,
    ) -> Line {
        let line = Line::new(connection, (self.id, handle), self.desk.clone());
        application.begin(line.clone());
        let session = Session::new(line.clone(), application, flow, now);
        self.unproven += 1;
        self.sessions.insert(handle, session);
        line
    }

    /// Nobody else may come.
    pub(super) fn shut(&mut self) {
        self.door = None;
    }

    /// Nobody is here, nor may anybody come.
    pub(super) fn is_done(&self) -> bool {
        self.door.is_none() && self.sessions.is_empty()
    }

    /// Whether something waits for room in the kernel.
    pub(super) fn is_full(&self) -> bool {
        self.unsent.is_some()
    }

    /// Takes what the socket holds, and hands each datagram to its connection. `note` hears which they were.
    pub(super) fn receive(&mut self, mut note: impl FnMut(ConnectionHandle)) {
        for _ in 0..READS {
            let mut came = Vec::new();
            let is_more = self.port.read(&mut |datagram| came.push(datagram));
            for datagram in came {
                if let Some(handle) = self.take(datagram) {
                    note(handle);
                }
            }
            if !is_more {
                return;
            }
        }
    }

    /// Hands a datagram to its connection, which may be a new one.
    fn take(&mut self, datagram: Datagram) -> Option<ConnectionHandle> {
        let Datagram {
            at,
            path,
            ecn,
            payload,
        } = datagram;
        self.answers.clear();
        let answers = &mut self.answers;
        let is_long = payload.first().is_some_and(|first| first & 0x80 != 0);
        let is_short_of_first = is_long && payload.len() < FIRST;
        match self.endpoint.handle(at, path, ecn, payload, answers)? {
            DatagramEvent::ConnectionEvent(handle, event) => {
                let session = self.sessions.get_mut(&handle)?;
                session.hear(event, at);
                if session.is_noted {
                    return None;
                }
                session.is_noted = true;
                Some(handle)
            }
            DatagramEvent::NewConnection(incoming) => self.meet(incoming, at),
            // A version negotiation may be longer than what asks for it (RFC 9000, "Version Negotiation Packet").
            DatagramEvent::Response(_) if is_short_of_first => None,
            DatagramEvent::Response(transmit) => {
                self.respond(&transmit);
                None
            }
        }
    }

    fn meet(&mut self, incoming: Incoming, at: Instant) -> Option<ConnectionHandle> {
        let crowd = Crowd {
            connections: self.sessions.len(),
            unproven: self.unproven,
        };
        let (incoming, verdict) = match &mut self.door {
            Some(door) => door.meet(incoming, crowd)?,
            None => (incoming, Verdict::Refuse),
        };
        self.decide(incoming, verdict, at)
    }

    /// Does with somebody what the verdict says. The connection, if there is one now.
    pub(super) fn decide(
        &mut self,
        incoming: Incoming,
        verdict: Verdict,
        at: Instant,
    ) -> Option<ConnectionHandle> {
        self.answers.clear();
        let answers = &mut self.answers;
        let response = match verdict {
            Verdict::Accept(application) => {
                match self.endpoint.accept(incoming, at, answers, None) {
                    Ok((handle, connection)) => {
                        self.add(handle, connection, application, None, at);
                        return Some(handle);
                    }
                    Err(error) => error.response,
                }
            }
            Verdict::Retry => match self.endpoint.retry(incoming, answers) {
                Ok(response) => Some(response),
                Err(error) => {
                    self.endpoint.ignore(error.into_incoming());
                    None
                }
            },
            Verdict::Refuse => Some(self.endpoint.refuse(incoming, answers)),
            Verdict::Ignore => {
                self.endpoint.ignore(incoming);
                None
            }
        };
        if let Some(response) = response {
            self.respond(&response);
        }
        None
    }

    /// Sends an answer that is of no connection. Without room for it, it is lost: whoever asked will ask again.
    fn respond(&self, transmit: &Transmit) {
        let contents = self.answers.get(..transmit.size).unwrap_or_default();
        let _ = self.port.send(transmit, contents);
    }

    /// Lets a connection know what has happened to it; it is forgotten once it is over.
    pub(super) fn settle(&mut self, handle: ConnectionHandle, now: Instant) -> Option<&Session> {
        let session = self.sessions.get_mut(&handle)?;
        let was_proven = session.is_proven;
        session.settle(handle, &mut self.endpoint, now);
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

    /// A connection's turn to send one burst.
    pub(super) fn send(
        &mut self,
        handle: ConnectionHandle,
        now: Instant,
        contents: &mut Vec<u8>,
    ) -> Turn {
        let port = &self.port;
        let Some(session) = self.sessions.get_mut(&handle) else {
            return Turn::Nothing;
        };
        let Some(due) = session.due().filter(|due| *due <= now) else {
            return Turn::Nothing;
        };
        if self.unsent.is_some() {
            self.waiting.push_back(handle);
            return Turn::Full;
        }
        let most = |size| port.most_datagrams(size);
        let place = (handle, &mut self.endpoint);
        let transmit = session.depart(place, due, now, most, contents);
        let Some(transmit) = transmit else {
            return Turn::Nothing;
        };
        let datagrams = contents.get(..transmit.size).unwrap_or_default();
        if port.send(&transmit, datagrams).is_err() {
            self.unsent = Some((transmit, std::mem::take(contents)));
            self.waiting.push_back(handle);
            return Turn::Full;
        }
        Turn::Sent
    }

    /// The kernel has room again.
    ///
    /// # Errors
    /// It has not.
    pub(super) fn resend(&mut self) -> io::Result<()> {
        if let Some((transmit, contents)) = &self.unsent {
            let datagrams = contents.get(..transmit.size).unwrap_or_default();
            self.port.send(transmit, datagrams)?;
            self.unsent = None;
        }
        Ok(())
    }

    /// Ends all connections, and tells their peers.
    pub(super) fn close(&mut self, now: Instant) {
        let mut contents = Vec::new();
        for (handle, session) in &mut self.sessions {
            session.close(now, VarInt::from_u32(0));
            session.settle(*handle, &mut self.endpoint, now);
            loop {
                let place = (*handle, &mut self.endpoint);
                let Some(transmit) = session.depart(place, now, now, |_| 1, &mut contents) else {
                    break;
                };
                let datagrams = contents.get(..transmit.size).unwrap_or_default();
                let _ = self.port.send(&transmit, datagrams);
            }
        }
    }
}
