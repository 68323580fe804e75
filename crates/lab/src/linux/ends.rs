//! Both ends of all connections: one loop opens their sockets and serves their applications.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::Instant;

use linux::socket::{self, ConnectOptions, Listener};
use linux::{Family, Host, Network};
use simulate::FlowId;
use transport::app::{self, App};
use units::{Duration, Time};

use super::connection::{Connection, End, Outcome};
use super::poller::{Poller, Ready};
use super::shared::{Event, SharedConnection};
use super::side::Side;
use crate::error::EngineError;

/// The tokens of the listeners; tokens of connections count up from zero.
const LISTENERS: [(Side, u64); 2] = [(Side::Near, u64::MAX - 1), (Side::Far, u64::MAX - 2)];

/// Timers, queue entries and handshakes refer to open connections only.
const LIVE: &str = "a connection that is not over";

/// The interval at which to check for a signal from another thread.
const STOP_POLL_INTERVAL: std::time::Duration = std::time::Duration::from_millis(1);

/// The identity of a connection, in the order of their starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct ConnectionId(u64);

impl ConnectionId {
    /// The poller's token of its sending end, or of its receiving end.
    fn token(self, is_sender: bool) -> u64 {
        self.0 * 2 + u64::from(!is_sender)
    }

    /// The connection of a token, and whether the token is of its sending end.
    fn of_token(token: u64) -> (ConnectionId, bool) {
        (ConnectionId(token / 2), token.is_multiple_of(2))
    }
}

/// The plan of one flow.
#[derive(Debug)]
pub(super) struct FlowPlan {
    pub start: Duration,
    pub app: app::Config,
    pub seed: u64,
    pub opens_many: bool,
    /// The kernel's name of its controller.
    pub controller: String,
    /// The pair of addresses that it uses.
    pub group: u16,
    /// The maximum segment size, as `TCP_MAXSEG` counts it.
    pub mss: Option<u16>,
    /// The side that sends data.
    pub sender: Side,
}

/// The loop that serves both ends of all connections.
pub(super) struct Ends<'n> {
    network: &'n Network,
    begin: Instant,
    /// The time at which everything is cut off.
    until: Time,
    flows: Vec<FlowPlan>,
    /// The applications of started flows that open a connection for each object.
    openers: Vec<Option<App>>,
    poller: Poller,
    listeners: [Listener; 2],
    connections: HashMap<ConnectionId, Connection>,
    next: u64,
    /// Connections whose handshake has not reached the other end, by the address from which they were connected.
    handshaking: HashMap<SocketAddr, ConnectionId>,
    timers: BTreeSet<(Time, Due)>,
    ready: VecDeque<ConnectionId>,
    /// Closed connections whose final counters have not been read.
    over: Vec<Connection>,
    events: Sender<Event>,
}

/// An entry of the timer queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    /// A flow starts, or its next object has arrived.
    Flow(FlowId),
    /// A connection's application has work to do.
    App(ConnectionId),
}

impl<'n> Ends<'n> {
    /// # Errors
    ///
    /// The system refuses sockets.
    pub fn new(
        network: &'n Network,
        begin: Instant,
        until: Time,
        flows: Vec<FlowPlan>,
        events: Sender<Event>,
    ) -> Result<Ends<'n>, EngineError> {
        let anywhere = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
        let listeners = [
            socket::listen(&network.near, anywhere)?,
            socket::listen(&network.far, anywhere)?,
        ];
        let poller = Poller::new()?;
        for ((_, token), listener) in LISTENERS.iter().zip(&listeners) {
            poller.add(listener, *token)?;
        }
        let starts = flows.iter().enumerate();
        let timers = starts.map(|(flow, plan)| (Time::ZERO + plan.start, Due::Flow(FlowId(flow))));
        Ok(Ends {
            network,
            begin,
            until,
            timers: timers.collect(),
            openers: flows.iter().map(|_| None).collect(),
            flows,
            poller,
            listeners,
            connections: HashMap::new(),
            next: 0,
            handshaking: HashMap::new(),
            ready: VecDeque::new(),
            over: Vec::new(),
            events,
        })
    }

    /// Serves all connections until everything is done, the time is over or `stop` is set. Returns the applications
    /// of the connections that were cut off. Call it in the near host's namespace.
    ///
    /// # Errors
    ///
    /// The kernel refuses something that a flow needs.
    pub fn run(mut self, stop: &AtomicBool) -> Result<Vec<(FlowId, App)>, EngineError> {
        let mut seen = Vec::new();
        let is_stopped = || stop.load(Ordering::Acquire);
        while self.has_something_to_do() && self.now() < self.until && !is_stopped() {
            self.poller
                .wait(self.max_wait(), |ready| seen.push(ready))?;
            for ready in seen.drain(..) {
                self.on_ready(ready)?;
            }
            self.on_time()?;
            for _ in 0..self.ready.len() {
                if let Some(connection) = self.ready.pop_front() {
                    self.turn(connection);
                }
            }
            self.over
                .retain(|connection| !connection.shared.is_end_noted());
        }
        // The observer still has to read the final counters of what is cut off.
        while !self.connections.is_empty() && !is_stopped() {
            thread::sleep(STOP_POLL_INTERVAL);
        }
        let cut_off = self.connections.into_values();
        Ok(cut_off
            .map(|connection| (connection.shared.flow, connection.app))
            .collect())
    }

    fn has_something_to_do(&self) -> bool {
        !self.connections.is_empty() || !self.timers.is_empty() || !self.over.is_empty()
    }

    fn now(&self) -> Time {
        Time::ZERO + Duration::from(self.begin.elapsed())
    }

    /// The longest time that the loop may wait for sockets.
    fn max_wait(&self) -> Duration {
        if !self.ready.is_empty() {
            return Duration::ZERO;
        }
        let due = self
            .timers
            .first()
            .map_or(self.until, |(due, _)| (*due).min(self.until));
        due.since(self.now())
    }

    fn on_ready(&mut self, ready: Ready) -> Result<(), EngineError> {
        let listeners = LISTENERS.iter().find(|(_, token)| *token == ready.token);
        if let Some((side, _)) = listeners {
            return self.accept(*side);
        }
        let (id, is_sender) = ConnectionId::of_token(ready.token);
        // The connection may have ended since.
        let Some(connection) = self.connections.get_mut(&id) else {
            return Ok(());
        };
        if let Some(end) = connection.end(is_sender) {
            end.readable |= ready.readable;
            end.writable |= ready.writable;
        }
        self.enqueue(id);
        Ok(())
    }

    /// Handles the timers that are due.
    fn on_time(&mut self) -> Result<(), EngineError> {
        let now = self.now();
        while let Some((_, due)) = self.timers.first().copied().filter(|(at, _)| *at <= now) {
            self.timers.pop_first();
            match due {
                Due::Flow(flow) => self.start(flow, now)?,
                Due::App(id) => {
                    self.connection(id).timer = None;
                    self.enqueue(id);
                }
            }
        }
        Ok(())
    }

    /// Starts a flow, or the objects of it that have arrived.
    fn start(&mut self, flow: FlowId, now: Time) -> Result<(), EngineError> {
        let plan = &self.flows[flow.0];
        let make = || {
            let app = App::new(&plan.app, plan.seed, Time::ZERO + plan.start);
            app.expect("the scenario was checked")
        };
        if !plan.opens_many {
            let app = make();
            return self.connect(flow, app);
        }
        let opener = self.openers[flow.0].get_or_insert_with(make);
        let mut arrived = Vec::new();
        while let Some(arrival) = opener.poll_connection(now) {
            arrived.push(App::of_arrival(&arrival));
        }
        if let Some(next) = opener.next_timer() {
            self.timers.insert((next, Due::Flow(flow)));
        }
        arrived
            .into_iter()
            .try_for_each(|app| self.connect(flow, app))
    }

    /// Opens a connection from the end that speaks first: the receiver of data if the application sends requests,
    /// else the sender.
    fn connect(&mut self, flow: FlowId, app: App) -> Result<(), EngineError> {
        let plan = &self.flows[flow.0];
        let is_sender = !plan.app.has_requests();
        let from = if is_sender {
            plan.sender
        } else {
            plan.sender.other()
        };
        let stream = self.connect_from(plan, from)?;
        let origin = stream.local_addr()?;
        let shared = Arc::new(SharedConnection::new(flow, origin, plan.sender, is_sender));
        let id = ConnectionId(self.next);
        self.next += 1;
        self.poller.add(&stream, id.token(is_sender))?;
        let mut connection = Connection::new(shared.clone(), app);
        *connection.end(is_sender) = Some(End::new(stream)?);
        self.handshaking.insert(origin, id);
        self.connections.insert(id, connection);
        self.schedule(id);
        self.send(Event::Opened(shared));
        Ok(())
    }

    /// Connects a socket from this side to the other.
    fn connect_from(&self, plan: &FlowPlan, from: Side) -> Result<TcpStream, EngineError> {
        let to = from.other();
        let address = |side| self.host(side).address(plan.group, Family::V4);
        let target = SocketAddr::new(address(to), self.listener(to).address().port());
        let options = ConnectOptions {
            controller: &plan.controller,
            mss: plan.mss,
        };
        Ok(match from {
            Side::Near => socket::connect_here(address(from), target, &options)?,
            Side::Far => socket::connect(self.host(from), address(from), target, &options)?,
        })
    }

    /// Accepts the connections whose handshakes have reached this side.
    fn accept(&mut self, side: Side) -> Result<(), EngineError> {
        loop {
            let (stream, origin) = match self.listener(side).accept() {
                Ok(accepted) => accepted,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error.into()),
            };
            // The peer may have given up already.
            let Some(id) = self.handshaking.remove(&origin) else {
                continue;
            };
            let connection = self.connections.get_mut(&id).expect(LIVE);
            let is_sender = connection.receiver.is_some();
            if is_sender {
                let plan = &self.flows[connection.shared.flow.0];
                socket::set_controller(&stream, &plan.controller)?;
            }
            self.poller.add(&stream, id.token(is_sender))?;
            *connection.end(is_sender) = Some(End::new(stream)?);
        }
    }

    /// Gives a connection its turn.
    fn turn(&mut self, id: ConnectionId) {
        let now = self.now();
        let connection = self.connections.get_mut(&id).expect(LIVE);
        connection.is_queued = false;
        let (flow, events) = (connection.shared.flow, &self.events);
        let outcome = connection.turn(now, |transfer| {
            // At the end of the run, nobody receives events any more.
            let _ = events.send(Event::Transfer(flow, transfer));
        });
        match outcome {
            Ok(Outcome::GoesOn) => self.enqueue(id),
            Ok(Outcome::Waits) => {}
            Ok(Outcome::Complete) => return self.end(id, Event::Complete),
            // A connection that gets no answer is a result, too.
            Err(_) => return self.end(id, Event::Broken),
        }
        self.schedule(id);
    }

    /// Adds a connection to the queue, unless it is in there.
    fn enqueue(&mut self, id: ConnectionId) {
        if !std::mem::replace(&mut self.connection(id).is_queued, true) {
            self.ready.push_back(id);
        }
    }

    /// Schedules the timer of a connection's application.
    fn schedule(&mut self, id: ConnectionId) {
        let connection = self.connections.get_mut(&id).expect(LIVE);
        let next = connection.app.next_timer();
        if next == connection.timer {
            return;
        }
        if let Some(before) = connection.timer {
            self.timers.remove(&(before, Due::App(id)));
        }
        connection.timer = next;
        self.timers.extend(next.map(|next| (next, Due::App(id))));
    }

    /// Closes a connection.
    fn end(&mut self, id: ConnectionId, how: fn(FlowId, App) -> Event) {
        let connection = self.connections.remove(&id).expect(LIVE);
        self.handshaking.remove(&connection.shared.origin);
        if let Some(before) = connection.timer {
            self.timers.remove(&(before, Due::App(id)));
        }
        connection.shared.end();
        self.send(how(connection.shared.flow, connection.app.clone()));
        self.over.push(connection);
    }

    fn send(&self, event: Event) {
        // At the end of the run, nobody receives events any more.
        let _ = self.events.send(event);
    }

    fn connection(&mut self, id: ConnectionId) -> &mut Connection {
        self.connections.get_mut(&id).expect(LIVE)
    }

    fn host(&self, side: Side) -> &Host {
        match side {
            Side::Near => &self.network.near,
            Side::Far => &self.network.far,
        }
    }

    fn listener(&self, side: Side) -> &Listener {
        match side {
            Side::Near => &self.listeners[0],
            Side::Far => &self.listeners[1],
        }
    }
}
