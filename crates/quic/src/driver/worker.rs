//! The driver's thread: waits for datagrams, timers and departure times, and moves packets.

use std::collections::HashMap;
use std::io::{PipeReader, Read};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use noq_proto::ConnectionHandle;
use rustix::event::{PollFd, PollFlags, Timespec};

use super::agenda::Agenda;
use super::host::{Host, Turn};
use super::socket::Inbox;

/// A socket of this driver.
pub(super) type HostId = u64;

/// A connection of this driver.
type Key = (HostId, ConnectionHandle);

/// Bursts that leave before the sockets are looked at again: what arrives meanwhile keeps its time, but frees no window.
const BURSTS: usize = 4;

/// What the driver's owners want.
pub(super) enum Command {
    /// To have this socket driven.
    Add(HostId, Box<Host>),
    /// To have its connections ended.
    Close(HostId),
    /// To have all connections ended, and the thread.
    Stop,
}

/// The state of the driver's thread.
pub(super) struct Worker {
    commands: Receiver<Command>,
    /// Rings when there is a command.
    bell: PipeReader,
    hosts: HashMap<HostId, Host>,
    /// When connections may send, over all sockets.
    departures: Agenda<Key>,
    /// When their timers run out.
    timers: Agenda<Key>,
    /// Those that something happened to.
    noted: Vec<Key>,
    inbox: Inbox,
    /// The burst that leaves.
    contents: Vec<u8>,
}

impl Worker {
    pub(super) fn new(commands: Receiver<Command>, bell: PipeReader) -> Worker {
        Worker {
            commands,
            bell,
            hosts: HashMap::new(),
            departures: Agenda::new(),
            timers: Agenda::new(),
            noted: Vec::new(),
            inbox: Inbox::new(),
            contents: Vec::new(),
        }
    }

    /// Drives until told to stop.
    pub(super) fn run(mut self) {
        ask_for_precise_wakeups();
        loop {
            let is_rung = self.wait();
            if is_rung && self.obey() {
                break;
            }
            self.expire();
            self.settle();
            self.transmit();
        }
        let now = Instant::now();
        for host in self.hosts.values_mut() {
            host.close(now, b"stopped");
        }
    }

    /// Waits until a socket can be read, a timer runs out, something may leave, or there is a command; and reads the sockets.
    /// Whether there is a command.
    fn wait(&mut self) -> bool {
        let now = Instant::now();
        let next = [self.departures.next(), self.timers.next()];
        let next = next.into_iter().flatten().min();
        let next = if self.noted.is_empty() {
            next
        } else {
            Some(now)
        };
        let timeout = next.map(|at| timespec(at.saturating_duration_since(now)));
        let mut files = Vec::with_capacity(1 + self.hosts.len());
        files.push(PollFd::new(&self.bell, PollFlags::IN));
        files.extend(self.hosts.values().map(|host| {
            let room = if host.is_full() {
                PollFlags::OUT
            } else {
                PollFlags::empty()
            };
            PollFd::new(&host.socket, PollFlags::IN | room)
        }));
        // A failed wait (a signal, or no memory for a moment) leaves all flags empty, and we look again.
        let _ = rustix::event::poll(&mut files, timeout.as_ref());
        let flags: Vec<PollFlags> = files.iter().map(PollFd::revents).collect();
        let mut flags = flags.into_iter();
        let is_rung = flags.next().is_some_and(|flags| !flags.is_empty());
        for ((id, host), flags) in self.hosts.iter_mut().zip(flags) {
            if flags.intersects(PollFlags::OUT) && host.resend().is_ok() {
                for handle in host.waiting.drain(..) {
                    self.departures.set((*id, handle), Some(now));
                }
            }
            if flags.intersects(PollFlags::IN | PollFlags::ERR) {
                host.receive(&mut self.inbox, |handle| self.noted.push((*id, handle)));
            }
        }
        is_rung
    }

    /// Does what is asked for. Whether that is to stop.
    fn obey(&mut self) -> bool {
        // One ring may be for several commands, and a command may have rung before: it is there all the same.
        let _ = self.bell.read(&mut [0; 64]);
        while let Ok(command) = self.commands.try_recv() {
            match command {
                Command::Add(id, host) => {
                    let handles = host.sessions.keys().map(|handle| (id, *handle));
                    self.noted.extend(handles);
                    self.hosts.insert(id, *host);
                }
                Command::Close(id) => {
                    let Some(host) = self.hosts.get_mut(&id) else {
                        continue;
                    };
                    let now = Instant::now();
                    for (handle, session) in &mut host.sessions {
                        session.close(now, b"");
                        self.noted.push((id, *handle));
                    }
                }
                Command::Stop => return true,
            }
        }
        false
    }

    /// Does what timers were set for.
    fn expire(&mut self) {
        let now = Instant::now();
        while let Some(((id, handle), _)) = self.timers.pop(now) {
            let host = self.hosts.get_mut(&id);
            if let Some(session) = host.and_then(|host| host.sessions.get_mut(&handle)) {
                session.expire(now);
                self.noted.push((id, handle));
            }
        }
    }

    /// Lets connections know what has happened to them, and plans what they do next.
    fn settle(&mut self) {
        let now = Instant::now();
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
            self.departures.set((id, handle), due);
            self.timers.set((id, handle), timer);
            if is_done {
                self.hosts.remove(&id);
            }
        }
    }

    /// Sends what is due, a burst of each connection in turn.
    fn transmit(&mut self) {
        for _ in 0..BURSTS {
            let now = Instant::now();
            let Some(((id, handle), due)) = self.departures.pop(now) else {
                return;
            };
            let Some(host) = self.hosts.get_mut(&id) else {
                continue;
            };
            let turn = host.send(handle, due, now, &mut self.contents);
            let Some(session) = host.sessions.get(&handle) else {
                continue;
            };
            match turn {
                Turn::Sent | Turn::Nothing => {
                    self.departures.set((id, handle), session.due());
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
