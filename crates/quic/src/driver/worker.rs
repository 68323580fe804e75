//! The driver's thread: waits for datagrams, timers and departure times, and moves packets.

use std::collections::HashMap;
use std::io::{PipeReader, Read};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use noq_proto::{ConnectionHandle, Incoming, VarInt};
use rustix::event::{PollFd, PollFlags, Timespec};

use super::agenda::Agenda;
use super::application::Verdict;
use super::host::{Host, Turn};
use super::line::{HostId, Line};
use super::session::Session;

/// A connection of this driver.
type Key = (HostId, ConnectionHandle);

/// For how long bursts leave before the sockets are looked at again: what arrives meanwhile keeps its time, but frees no window.
const SENDING: Duration = Duration::from_micros(200);

/// For how long commands are carried out before packets have their turn. To let somebody in takes as long as a handshake.
const OBEYING: Duration = Duration::from_micros(200);

/// What the driver's owners want.
pub(super) enum Command {
    /// To have this socket driven.
    Add(HostId, Box<Host>),
    /// To have this connection driven, over its socket.
    Join(Box<Session>),
    /// To have a connection ended.
    End(Line, VarInt),
    /// What becomes of somebody who waited at its door.
    Decide(HostId, Box<(Incoming, Verdict)>),
    /// To have no other connections over this socket.
    Shut(HostId),
    /// To have its connections ended.
    Close(HostId, VarInt),
    /// To have one of its connections looked at.
    Look(Key),
    /// To have all connections ended, and the thread.
    Stop,
}

/// The state of the driver's thread.
pub struct Worker {
    commands: Receiver<Command>,
    clock: fn() -> Instant,
    hosts: HashMap<HostId, Host>,
    /// When connections may send, over all sockets.
    departures: Agenda<Key>,
    /// When their timers run out.
    timers: Agenda<Key>,
    /// Those that something happened to.
    noted: Vec<Key>,
    /// There may be commands.
    is_rung: bool,
    /// The burst that leaves.
    contents: Vec<u8>,
}

impl Worker {
    pub(super) fn new(commands: Receiver<Command>, clock: fn() -> Instant) -> Worker {
        Worker {
            commands,
            clock,
            hosts: HashMap::new(),
            departures: Agenda::new(),
            timers: Agenda::new(),
            noted: Vec::new(),
            is_rung: false,
            contents: Vec::new(),
        }
    }

    /// Drives until told to stop. The bell rings when there is a command.
    pub(super) fn run(mut self, bell: &PipeReader) {
        ask_for_precise_wakeups();
        loop {
            self.wait(bell);
            if !self.work() {
                break;
            }
        }
    }

    /// Does all that can be done now, where nothing can be waited for. When it wants another turn, if nothing rings before; nothing
    /// once it was told to stop.
    pub fn turn(&mut self) -> Option<Option<Instant>> {
        for (id, host) in &mut self.hosts {
            host.receive(|handle| self.noted.push((*id, handle)));
        }
        self.is_rung = true;
        self.work().then(|| self.next())
    }

    /// Does what is due. Whether it goes on.
    fn work(&mut self) -> bool {
        if self.is_rung && self.obey() {
            let now = (self.clock)();
            for host in self.hosts.values_mut() {
                host.close(now);
            }
            return false;
        }
        self.expire();
        self.settle();
        self.resend();
        self.transmit();
        true
    }

    /// When the next thing is due.
    fn next(&self) -> Option<Instant> {
        let now = (self.clock)();
        if self.is_rung || !self.noted.is_empty() {
            return Some(now);
        }
        let next = [self.departures.next(), self.timers.next()];
        let hosts = self.hosts.values().filter_map(|host| host.next(now));
        next.into_iter().flatten().chain(hosts).min()
    }

    /// Waits until a socket can be read, a timer runs out, something may leave, or there is a command; and reads the sockets.
    fn wait(&mut self, bell: &PipeReader) {
        let now = (self.clock)();
        let next = self.next();
        let timeout = next.map(|at| timespec(at.saturating_duration_since(now)));
        let mut files = Vec::with_capacity(1 + self.hosts.len());
        files.push(PollFd::new(bell, PollFlags::IN));
        files.extend(self.hosts.values().filter_map(|host| {
            let room = if host.is_full() {
                PollFlags::OUT
            } else {
                PollFlags::empty()
            };
            let file = host.port.file()?;
            Some(PollFd::from_borrowed_fd(file, PollFlags::IN | room))
        }));
        // A failed wait (a signal, or no memory for a moment) leaves all flags empty, and we look again.
        let _ = rustix::event::poll(&mut files, timeout.as_ref());
        let flags: Vec<PollFlags> = files.iter().map(PollFd::revents).collect();
        let mut flags = flags.into_iter();
        if flags.next().is_some_and(|flags| !flags.is_empty()) {
            self.is_rung = true;
            // One ring may be for several commands, and a command may have rung before: it is there all the same.
            let _ = { bell }.read(&mut [0; 64]);
        }
        for ((id, host), flags) in self.hosts.iter_mut().zip(flags) {
            if flags.intersects(PollFlags::OUT) {
                host.has_room(now);
            }
            if flags.intersects(PollFlags::IN | PollFlags::ERR) || host.has_rest() {
                host.receive(|handle| self.noted.push((*id, handle)));
            }
        }
    }

    /// Does what is asked for. Whether that is to stop.
    fn obey(&mut self) -> bool {
        let until = (self.clock)() + OBEYING;
        while (self.clock)() < until {
            let Ok(command) = self.commands.try_recv() else {
                self.is_rung = false;
                break;
            };
            match command {
                Command::Add(id, host) => {
                    self.hosts.insert(id, *host);
                }
                Command::Join(session) => {
                    let key = session.id();
                    if let Some(host) = self.hosts.get_mut(&key.0) {
                        host.join(*session);
                        self.noted.push(key);
                    }
                }
                Command::End(line, code) => {
                    let now = (self.clock)();
                    let session = self.session(line.id());
                    if let Some(session) = session.filter(|session| session.is_of(&line)) {
                        session.close(now, code);
                        self.noted.push(line.id());
                    }
                }
                Command::Decide(id, decision) => {
                    let now = (self.clock)();
                    let (incoming, verdict) = *decision;
                    let host = self.hosts.get_mut(&id);
                    let come = host.and_then(|host| host.decide(incoming, verdict, now));
                    self.noted.extend(come.map(|handle| (id, handle)));
                }
                Command::Shut(id) => {
                    if let Some(host) = self.hosts.get_mut(&id) {
                        host.shut();
                        if host.is_done() {
                            self.hosts.remove(&id);
                        }
                    }
                }
                Command::Close(id, code) => {
                    let now = (self.clock)();
                    let host = self.hosts.get_mut(&id);
                    for (handle, session) in host.into_iter().flat_map(|host| &mut host.sessions) {
                        session.close(now, code);
                        self.noted.push((id, *handle));
                    }
                }
                Command::Look(key) => {
                    let now = (self.clock)();
                    if let Some(session) = self.session(key) {
                        session.look(now);
                        self.noted.push(key);
                    }
                }
                Command::Stop => return true,
            }
        }
        false
    }

    fn session(&mut self, (id, handle): Key) -> Option<&mut Session> {
        self.hosts.get_mut(&id)?.sessions.get_mut(&handle)
    }

    /// Does what timers were set for.
    fn expire(&mut self) {
        let now = (self.clock)();
        while let Some(key) = self.timers.pop(now) {
            if let Some(session) = self.session(key) {
                session.expire(now);
                self.noted.push(key);
            }
        }
    }

    /// Lets connections know what has happened to them, and plans what they do next.
    fn settle(&mut self) {
        let now = (self.clock)();
        for (id, handle) in std::mem::take(&mut self.noted) {
            let Some(host) = self.hosts.get_mut(&id) else {
                continue;
            };
            let session = host.settle(handle, now);
            let (due, timer) = match session {
                Some(session) => (session.due(), session.timer()),
                None => (None, None),
            };
            let is_done = host.is_done();
            self.departures.queue((id, handle), due, now);
            self.timers.set((id, handle), timer);
            if is_done {
                self.hosts.remove(&id);
            }
        }
    }

    /// Sends what the kernel had no room for, where it may have some by now.
    fn resend(&mut self) {
        let now = (self.clock)();
        for (id, host) in &mut self.hosts {
            for handle in host.resend(now) {
                let due = host.sessions.get(&handle).and_then(Session::due);
                self.departures.queue((*id, handle), due, now);
            }
        }
    }

    /// Sends what is due, a burst of each connection in turn.
    fn transmit(&mut self) {
        let mut now = (self.clock)();
        let until = now + SENDING;
        while now < until {
            let Some((id, handle)) = self.departures.pop(now) else {
                return;
            };
            let Some(host) = self.hosts.get_mut(&id) else {
                continue;
            };
            let turn = host.send(handle, now, &mut self.contents);
            now = (self.clock)();
            let Some(session) = host.sessions.get(&handle) else {
                continue;
            };
            match turn {
                Turn::Sent | Turn::Nothing => {
                    self.departures.queue((id, handle), session.due(), now);
                }
                // It waits for room.
                Turn::Full => {}
            }
            self.timers.set((id, handle), session.timer());
            if session.is_over {
                self.noted.push((id, handle));
            }
        }
    }
}

/// A timeout for the system.
fn timespec(span: Duration) -> Timespec {
    // At most what it can hold.
    span.try_into().unwrap_or(Timespec {
        tv_sec: 3600,
        tv_nsec: 0,
    })
}

/// Asks the system to wake this thread on time.
fn ask_for_precise_wakeups() {
    #[cfg(target_os = "linux")]
    {
        // To save energy, Linux joins timers that are up to 50 µs apart (`prctl(2)`, `PR_SET_TIMERSLACK`).
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
        // Of this thread alone: the most of a normal thread's share, where that is allowed (`RLIMIT_NICE`). No real-time priority,
        // since it may have work without end.
        let _ = rustix::process::setpriority_process(None, -20);
    }
}
