//! A socket with its endpoint and the connections over it.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::time::Instant;

use noq_proto::{ConnectionHandle, DatagramEvent, Endpoint, Incoming, Transmit};

use super::application::{Crowd, Door, Verdict};
use super::session::Session;
use super::socket::{Datagram, Inbox, Socket};

/// Batches read from one socket before others have their turn.
const READS: usize = 4;

/// A socket.
pub(super) struct Host {
    pub(super) socket: Socket,
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
    pub(super) fn new(socket: Socket, endpoint: Endpoint, door: Option<Box<dyn Door>>) -> Host {
        Host {
            socket,
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
    pub(super) fn add(&mut self, handle: ConnectionHandle, session: Session) {
        self.unproven += 1;
        self.sessions.insert(handle, session);
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
    pub(super) fn receive(&mut self, inbox: &mut Inbox, mut note: impl FnMut(ConnectionHandle)) {
        for _ in 0..READS {
            let mut came = Vec::new();
            if !inbox.read(&mut self.socket, |datagram| came.push(datagram)) {
                return;
            }
            for datagram in came {
                if let Some(handle) = self.take(datagram) {
                    note(handle);
                }
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
            DatagramEvent::Response(transmit) => {
                self.respond(&transmit);
                None
            }
        }
    }

    fn meet(&mut self, incoming: Incoming, at: Instant) -> Option<ConnectionHandle> {
        self.answers.clear();
        let crowd = Crowd {
            connections: self.sessions.len(),
            unproven: self.unproven,
        };
        let verdict = match &mut self.door {
            Some(door) => door.meet(&incoming, crowd),
            None => Verdict::Refuse,
        };
        let answers = &mut self.answers;
        let response = match verdict {
            Verdict::Accept(application) => {
                match self.endpoint.accept(incoming, at, answers, None) {
                    Ok((handle, connection)) => {
                        let mut session = Session::new(connection, application, None, at);
                        session.is_noted = true;
                        self.add(handle, session);
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
        };
        if let Some(response) = response {
            self.respond(&response);
        }
        None
    }

    /// Sends an answer that is of no connection. Without room for it, it is lost: whoever asked will ask again.
    fn respond(&self, transmit: &Transmit) {
        let contents = self.answers.get(..transmit.size).unwrap_or_default();
        let _ = self.socket.send(transmit, contents);
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

    /// A connection's turn to send one burst, where `due` was the time for it.
    pub(super) fn send(
        &mut self,
        handle: ConnectionHandle,
        due: Instant,
        now: Instant,
        contents: &mut Vec<u8>,
    ) -> Turn {
        let socket = &self.socket;
        let Some(session) = self.sessions.get_mut(&handle) else {
            return Turn::Nothing;
        };
        if self.unsent.is_some() {
            self.waiting.push_back(handle);
            return Turn::Full;
        }
        let most = |size| socket.most_datagrams(size);
        let transmit = session.depart(due, now, most, contents);
        session.answer(handle, &mut self.endpoint);
        let Some(transmit) = transmit else {
            return Turn::Nothing;
        };
        let datagrams = contents.get(..transmit.size).unwrap_or_default();
        if socket.send(&transmit, datagrams).is_err() {
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
            self.socket.send(transmit, datagrams)?;
            self.unsent = None;
        }
        Ok(())
    }

    /// Ends all connections, and tells their peers.
    pub(super) fn close(&mut self, now: Instant, reason: &'static [u8]) {
        let mut contents = Vec::new();
        for (handle, session) in &mut self.sessions {
            session.close(now, reason);
            session.settle(*handle, &mut self.endpoint, now);
            while let Some(transmit) = session.depart(now, now, |_| 1, &mut contents) {
                let datagrams = contents.get(..transmit.size).unwrap_or_default();
                let _ = self.socket.send(&transmit, datagrams);
            }
        }
    }
}
