//! The driver's thread: waits for datagrams, timers and departure times, and moves packets.

use std::collections::{HashMap, VecDeque};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use noq_proto::Incoming;
use rustix::event::{PollFd, PollFlags, Timespec};

use super::agenda::Agenda;
use super::application::Verdict;
use super::command::Command;
use super::host::{Host, Turn};
use super::session::Session;
use super::shared_connection::{HostId, Key};
use super::waker::WakerReceiver;

/// The maximum time for which bursts are sent before the sockets are read again. Datagrams that arrive meanwhile keep
/// their arrival times, but do not open a window.
const MAX_SEND_TIME: Duration = Duration::from_micros(200);

/// The maximum time for which bursts are sent while some have waited for [`MAX_BURST_WAIT`]: a thread that was late
/// catches up before it reads again.
const MAX_CATCH_UP_TIME: Duration = Duration::from_millis(1);

/// The maximum wait of a burst while sockets are read and timers are handled.
const MAX_BURST_WAIT: Duration = Duration::from_micros(500);

/// The maximum wait of received datagrams for late bursts: an ACK may open a window.
const MAX_ARRIVAL_WAIT: Duration = Duration::from_millis(2);

/// The maximum time for which commands are carried out before packets have their turn.
const MAX_COMMAND_TIME: Duration = Duration::from_micros(200);

/// The maximum time for which expired timers are handled before packets have their turn. Strangers may begin thousands
/// of handshakes whose timers expire together.
const MAX_TIMER_TIME: Duration = Duration::from_micros(200);

/// The priority (`nice`) of a thread that only accepts connections.
const ACCEPTING_NICE: i32 = -10;

/// The priority (`nice`) of a thread that opens connections. It paces them. On a busy machine, its departures come before
/// the work of threads that receive. If all had the same priority, this thread would wait for a millisecond or more each
/// time the kernel has a receiver run on its processor. Linux compares threads within an autogroup or a control group.
const OPENING_NICE: i32 = -20;

/// The state of the driver's thread.
pub struct Worker {
    commands: Receiver<Command>,
    clock: fn() -> Instant,
    hosts: HashMap<HostId, Host>,
    /// The times at which connections may send, on all sockets.
    departures: Agenda<Key>,
    /// The times at which the connections' timers expire, or earlier times. A timer that is postponed keeps its entry.
    /// [`Worker::expire`] looks up the new time when the entry is due.
    timers: Agenda<Key>,
    /// Connections with events.
    noted: Vec<Key>,
    /// Decisions on clients. They wait behind all other commands, because each may take as long as a handshake.
    decisions: VecDeque<(HostId, Box<(Incoming, Verdict)>)>,
    /// If datagrams may be waiting to be read: none of them arrived before this time.
    unread: Option<Instant>,
    /// True if there may be commands.
    is_woken: bool,
    /// True if a connection was opened.
    has_opened: bool,
    /// The burst that is being sent.
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
            decisions: VecDeque::new(),
            unread: None,
            is_woken: false,
            has_opened: false,
            contents: Vec::new(),
        }
    }

    /// Runs until it is told to stop. The thread's waker is called when there is a command.
    pub(super) fn run(mut self, receiver: &WakerReceiver) {
        ask_for_precise_wakeups();
        ask_for_share(ACCEPTING_NICE);
        let mut has_share = false;
        loop {
            self.wait(receiver);
            if !self.work() {
                break;
            }
            if self.has_opened && !has_share {
                ask_for_share(OPENING_NICE);
                has_share = true;
            }
        }
    }

    /// Does all the work that can be done now, without waiting. Returns the time of the next turn, unless the waker
    /// is called earlier; `None` if it was told to stop.
    pub fn turn(&mut self) -> Option<Option<Instant>> {
        self.unread = None;
        for (id, host) in &mut self.hosts {
            let unread = host.receive(|handle| self.noted.push((*id, handle)));
            self.unread = self.unread.into_iter().chain(unread).min();
        }
        self.is_woken = true;
        self.work().then(|| self.next())
    }

    /// Does the work that is due. Returns true if it continues.
    fn work(&mut self) -> bool {
        let is_asked = self.is_woken || !self.decisions.is_empty();
        if is_asked && self.obey() {
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

    /// The time of the next work.
    fn next(&self) -> Option<Instant> {
        let now = (self.clock)();
        if self.is_woken || !self.noted.is_empty() || !self.decisions.is_empty() {
            return Some(now);
        }
        let next = [self.departures.next(), self.timers.next()];
        let hosts = self.hosts.values().filter_map(|host| host.next(now));
        next.into_iter().flatten().chain(hosts).min()
    }

    /// Waits until a socket is readable, a timer expires, something may leave, or there is a command. Then reads the
    /// sockets.
    fn wait(&mut self, receiver: &WakerReceiver) {
        let now = (self.clock)();
        let next = self.next();
        let timeout = if receiver.fall_asleep() {
            Some(Timespec::default())
        } else {
            next.map(|at| timespec(at.saturating_duration_since(now)))
        };
        let mut files = Vec::with_capacity(1 + self.hosts.len());
        files.push(PollFd::from_borrowed_fd(receiver.file(), PollFlags::IN));
        files.extend(self.hosts.values().filter_map(|host| {
            let room = if host.is_full() {
                PollFlags::OUT
            } else {
                PollFlags::empty()
            };
            let file = host.socket.file()?;
            Some(PollFd::from_borrowed_fd(file, PollFlags::IN | room))
        }));
        // If the wait fails (a signal, or a temporary lack of memory), all flags are empty, and the loop looks again.
        let _ = rustix::event::poll(&mut files, timeout.as_ref());
        let flags: Vec<PollFlags> = files.iter().map(PollFd::revents).collect();
        let mut flags = flags.into_iter();
        let is_readable = flags.next().is_some_and(|flags| !flags.is_empty());
        // One call of the waker may stand for several commands.
        self.is_woken |= receiver.wake_up(is_readable);
        self.unread = None;
        for ((id, host), flags) in self.hosts.iter_mut().zip(flags) {
            if flags.intersects(PollFlags::OUT) {
                host.has_room(now);
            }
            if flags.intersects(PollFlags::IN | PollFlags::ERR) || host.has_rest() {
                let unread = host.receive(|handle| self.noted.push((*id, handle)));
                self.unread = self.unread.into_iter().chain(unread).min();
            }
        }
    }

    /// Carries out commands. Returns true if it is told to stop.
    fn obey(&mut self) -> bool {
        let until = (self.clock)() + MAX_COMMAND_TIME;
        while (self.clock)() < until {
            let Ok(command) = self.commands.try_recv() else {
                self.is_woken = false;
                break;
            };
            match command {
                Command::Add(id, host) => {
                    self.hosts.insert(id, *host);
                }
                Command::Join(session) => {
                    let key = session.id();
                    self.has_opened = true;
                    if let Some(host) = self.hosts.get_mut(&key.0) {
                        host.join(*session);
                        self.noted.push(key);
                    }
                }
                Command::End(shared, code) => {
                    let now = (self.clock)();
                    let session = self.session(shared.id());
                    if let Some(session) = session.filter(|session| session.is_of(&shared)) {
                        session.close(now, code);
                        self.noted.push(shared.id());
                    }
                }
                Command::Decide(id, decision) => self.decisions.push_back((id, decision)),
                Command::Shut(id) => {
                    if let Some(host) = self.hosts.get_mut(&id) {
                        host.shut();
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
        self.decide(until);
        false
    }

    /// Carries out decisions on clients, at least one of them. Then removes the sockets that are done.
    fn decide(&mut self, until: Instant) {
        while let Some((id, decision)) = self.decisions.pop_front() {
            let now = (self.clock)();
            let (incoming, verdict) = *decision;
            let host = self.hosts.get_mut(&id);
            let come = host.and_then(|host| host.decide(incoming, verdict, now));
            self.noted.extend(come.map(|handle| (id, handle)));
            if (self.clock)() >= until {
                return;
            }
        }
        self.hosts.retain(|_, host| !host.is_done());
    }

    fn session(&mut self, (id, handle): Key) -> Option<&mut Session> {
        self.hosts.get_mut(&id)?.sessions.get_mut(&handle)
    }

    /// Handles the timers that have expired. A timer waits for the datagrams that arrived before its time: an ACK among
    /// them may stop it. So a late thread declares no packets lost whose ACK has arrived.
    fn expire(&mut self) {
        let mut now = (self.clock)();
        let until = now + MAX_TIMER_TIME;
        while now < until {
            let seen = self.unread.map_or(now, |unread| unread.min(now));
            let Some((_, key)) = self.timers.pop(seen) else {
                return;
            };
            if let Some(session) = self.session(key) {
                let timer = session.timer();
                if timer.is_some_and(|at| at <= seen) {
                    session.expire(seen);
                    self.noted.push(key);
                } else {
                    self.timers.set(key, timer);
                }
            }
            now = (self.clock)();
        }
    }

    /// Lets connections handle their events, and plans their next work.
    fn settle(&mut self) {
        let now = (self.clock)();
        for (id, handle) in std::mem::take(&mut self.noted) {
            let Some(host) = self.hosts.get_mut(&id) else {
                continue;
            };
            let session = host.settle(handle, now);
            let due = session.and_then(Session::due);
            match session {
                Some(session) => self.timers.hasten((id, handle), session.timer()),
                None => self.timers.set((id, handle), None),
            }
            let is_done = host.is_done();
            self.departures.queue((id, handle), due, now);
            if is_done {
                self.hosts.remove(&id);
            }
        }
    }

    /// Tries again to send the bursts that the kernel had no room for, if it is time.
    fn resend(&mut self) {
        let now = (self.clock)();
        for (id, host) in &mut self.hosts {
            for handle in host.resend(now) {
                let due = host.sessions.get(&handle).and_then(Session::due);
                self.departures.queue((*id, handle), due, now);
            }
        }
    }

    /// Sends the bursts that are due, the same number of bytes of each connection in turn.
    fn transmit(&mut self) {
        let mut now = (self.clock)();
        let until = now + MAX_SEND_TIME;
        let lags = self
            .unread
            .is_some_and(|unread| unread + MAX_ARRIVAL_WAIT < now);
        let until_late = if lags { until } else { now + MAX_CATCH_UP_TIME };
        while now < until || (now < until_late && self.departures.is_late(MAX_BURST_WAIT, now)) {
            let Some((place, (id, handle))) = self.departures.pop(now) else {
                return;
            };
            let Some(host) = self.hosts.get_mut(&id) else {
                continue;
            };
            let is_other_due = self.departures.is_late(Duration::ZERO, now);
            let session = host.sessions.get_mut(&handle);
            if session.is_some_and(|session| !session.credit.begin(is_other_due)) {
                self.departures.queue((id, handle), Some(now), now);
                continue;
            }
            let turn = host.send(handle, now, &mut self.contents);
            now = (self.clock)();
            let Some(session) = host.sessions.get_mut(&handle) else {
                continue;
            };
            let due = session.due();
            let has_more = due.is_some_and(|due| due <= now);
            match turn {
                Turn::Sent if has_more && session.credit.goes_on() => {
                    self.departures.set((id, handle), Some(place));
                }
                Turn::Sent | Turn::Nothing => self.departures.queue((id, handle), due, now),
                // The connection waits for room.
                Turn::Full => {}
            }
            self.timers.hasten((id, handle), session.timer());
            if session.is_over {
                self.noted.push((id, handle));
            }
        }
    }
}

/// Converts a timeout for the system.
fn timespec(span: Duration) -> Timespec {
    // A timeout that is too long is limited to an hour.
    span.try_into().unwrap_or(Timespec {
        tv_sec: 3600,
        tv_nsec: 0,
    })
}

/// Asks the system to wake this thread on time.
fn ask_for_precise_wakeups() {
    #[cfg(target_os = "linux")]
    {
        // To save energy, Linux combines timers that are up to 50 µs apart (`prctl(2)`, `PR_SET_TIMERSLACK`).
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    }
}

/// Asks the system for a larger share of the processor, if that is allowed (`RLIMIT_NICE`). A larger share that the
/// thread already has stays. It is not a real-time priority, because the thread may have endless work.
fn ask_for_share(nice: i32) {
    // On Linux, this applies to this thread only.
    #[cfg(target_os = "linux")]
    {
        if rustix::process::getpriority_process(None).is_ok_and(|now| now > nice) {
            let _ = rustix::process::setpriority_process(None, nice);
        }
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = nice;
    }
}
