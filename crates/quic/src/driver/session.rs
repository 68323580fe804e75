//! A connection with its application.

use std::io;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use noq_proto::{
    Connection, ConnectionError, ConnectionEvent, Endpoint, Event, PathId, Transmit, VarInt,
};

use super::application::Application;
use super::credit::Credit;
use super::flow::Flow;
use super::pace::{Pace, carried};
use super::search::Search;
use super::shared_connection::{Key, SharedConnection};
use crate::lock::lock;

/// The maximum number of refills in a row before a burst. Without this limit, an application might write without end,
/// and nothing would leave.
const MAX_REFILLS: usize = 8;

/// The number of bytes that a peer must send before it may move on to another new address. For each move, noq sends two
/// full datagrams, even in answer to a small one: one to the new address and one to the old address (RFC 9000,
/// "Initiating Path Validation"). Without this limit, a client that forges many addresses would make us send thirty
/// times as much as it sends. With this limit, it is three times as much (RFC 9000, "Address Validation").
const MIN_BYTES_PER_MOVE: usize = 2 * 1200 / 3;

/// The address of a connection's peer.
fn remote(connection: &Connection) -> Option<SocketAddr> {
    let path = connection.network_path(PathId::ZERO);
    path.ok().map(|path| path.remote())
}

/// The largest datagram that an Ethernet with an MTU of 1500 bytes carries over IPv6. By default, noq searches the path
/// MTU up to this size.
const ETHERNET_DATAGRAM_BYTES: usize = 1452;

/// The maximum time that a datagram larger than [`ETHERNET_DATAGRAM_BYTES`] may take at the pacing rate. A datagram
/// leaves as one burst, and BBR's smallest window is four datagrams. Linux uses the same time for the size of its
/// bursts (`tcp_tso_autosize`).
const MAX_LARGE_DATAGRAM_TIME: Duration = Duration::from_millis(1);

/// The maximum wait of unpaced packets for the next burst (RFC 9002, `kGranularity`). So a fast connection needs no
/// separate turn for them.
const MAX_UNPACED_WAIT: Duration = Duration::from_millis(1);

/// A connection.
pub(super) struct Session {
    shared: SharedConnection,
    application: Box<dyn Application>,
    /// The link to the controller, if the driver paces the connection. Otherwise noq paces it.
    flow: Option<Arc<Flow>>,
    pace: Pace,
    pub(super) credit: Credit,
    search: Search,
    /// The time since which it may have something to send; `None` if it has nothing, or must wait for an event.
    ready: Option<Instant>,
    /// The time since which it may have something to send that is not paced: an ACK, a probe after a timeout, or the
    /// connection's end.
    urgent: Option<Instant>,
    /// The peer's address before its last move to a new address.
    home: Option<SocketAddr>,
    /// The bytes that the peer has sent since that move.
    heard: usize,
    /// True if it is in the list of connections with events.
    pub(super) is_noted: bool,
    /// True if its handshake is complete.
    pub(super) is_proven: bool,
    /// True if it has ended, and its state is not needed any more.
    pub(super) is_over: bool,
}

impl Session {
    pub(super) fn new(
        shared: SharedConnection,
        mut application: Box<dyn Application>,
        flow: Option<Arc<Flow>>,
        now: Instant,
    ) -> Session {
        application.begin(shared.clone());
        Session {
            shared,
            application,
            flow,
            pace: Pace::new(now),
            credit: Credit::new(),
            search: Search::new(now),
            ready: Some(now),
            urgent: None,
            home: None,
            heard: 0,
            is_noted: false,
            is_proven: false,
            is_over: false,
        }
    }

    /// The connection's key in its driver.
    pub(super) fn id(&self) -> Key {
        self.shared.id()
    }

    /// True if it is this connection.
    pub(super) fn is_of(&self, shared: &SharedConnection) -> bool {
        self.shared.is(shared)
    }

    /// Handles a datagram of this size, which arrived at `at` from this address. A peer that has moved to a new address
    /// may move back at any time. It may move to another address after [`MIN_BYTES_PER_MOVE`] bytes.
    pub(super) fn hear(
        &mut self,
        event: ConnectionEvent,
        from: SocketAddr,
        size: usize,
        at: Instant,
    ) {
        let mut connection = self.shared.lock();
        let before = remote(&connection);
        self.heard = self.heard.saturating_add(size);
        let may_move = self
            .home
            .is_none_or(|home| from == home || self.heard >= MIN_BYTES_PER_MOVE);
        if before == Some(from) || may_move {
            connection.handle_event(event);
        }
        if before != remote(&connection) && self.home != Some(from) {
            (self.home, self.heard) = (before, 0);
        }
        drop(connection);
        self.wake(at);
        self.hurry(at);
    }

    /// Handles a change by another thread.
    pub(super) fn look(&mut self, now: Instant) {
        self.shared.clear_notification();
        self.wake(now);
    }

    fn wake(&mut self, at: Instant) {
        self.ready.get_or_insert(at);
    }

    fn hurry(&mut self, at: Instant) {
        self.urgent.get_or_insert(at);
    }

    /// The time of the next timer or deadline.
    pub(super) fn timer(&self) -> Option<Instant> {
        let timer = self.shared.lock().poll_timeout();
        timer.into_iter().chain(self.application.deadline()).min()
    }

    /// Handles the timers and deadlines that are due.
    pub(super) fn expire(&mut self, now: Instant) {
        let mut connection = self.shared.lock();
        if connection.poll_timeout().is_some_and(|at| at <= now) {
            connection.handle_timeout(now);
        }
        if self.application.deadline().is_some_and(|at| at <= now) {
            self.application.on_deadline(&mut connection, now);
        }
        drop(connection);
        self.wake(now);
        self.hurry(now);
    }

    /// Closes the connection.
    pub(super) fn close(&mut self, now: Instant, code: VarInt) {
        let mut connection = self.shared.lock();
        connection.close(now, code, Default::default());
        let reason = ConnectionError::LocallyClosed;
        let event = Event::ConnectionLost { reason };
        self.application.on_event(event, &mut connection, now);
        drop(connection);
        self.wake(now);
    }

    /// Tells the application and the endpoint about new events.
    pub(super) fn settle(&mut self, endpoint: &Mutex<Endpoint>, now: Instant) {
        self.is_noted = false;
        let connection = self.shared.connection();
        let mut connection = lock(&connection);
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
            // The controller sets its pacing rate when its metrics are read.
            let _ = controller.metrics();
        }
        if connection.is_closed() {
            self.hurry(now);
        }
    }

    /// Passes the connection's events to the endpoint, and the endpoint's answers back. Returns true if there were
    /// answers.
    fn answer(&mut self, connection: &mut Connection, endpoint: &Mutex<Endpoint>) -> bool {
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

    /// The earliest time at which something may leave.
    pub(super) fn due(&self) -> Option<Instant> {
        let due = self.next_burst()?;
        let urgent = self.urgent.filter(|since| due > *since + MAX_UNPACED_WAIT);
        Some(urgent.unwrap_or(due))
    }

    /// The earliest time at which the next data may leave.
    fn next_burst(&self) -> Option<Instant> {
        Some(self.pace.due(self.rate()).max(self.ready?))
    }

    /// The rate at which the driver paces it, if the driver does.
    fn rate(&self) -> Option<u64> {
        self.flow.as_ref().and_then(|flow| flow.rate())
    }

    /// Puts the datagrams that leave now into `contents`. `due` was the time at which they could leave. Their number is
    /// bounded by the controller's send quantum, and by `most` for their size. Before the time of the next burst, only
    /// unpaced packets leave. Returns `None` if there is nothing to send.
    pub(super) fn depart(
        &mut self,
        endpoint: &Mutex<Endpoint>,
        due: Instant,
        now: Instant,
        most: impl Fn(u16) -> usize,
        contents: &mut Vec<u8>,
    ) -> Option<Transmit> {
        let connection = self.shared.connection();
        let mut connection = lock(&connection);
        let transmit = self.write(&mut connection, due, now, most, contents);
        self.answer(&mut connection, endpoint);
        if let Some(transmit) = &transmit {
            self.credit.spend(transmit.size);
        }
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
        self.urgent = None;
        let is_paced = self.next_burst().is_some_and(|burst| burst > now);
        for _ in 0..MAX_REFILLS {
            let transmit = if is_paced {
                self.poll_unpaced(connection, now, most, contents)
            } else {
                self.poll(connection, now, most, contents)
            };
            if let Some(transmit) = transmit {
                let is_probe = transmit.segment_size.is_none()
                    && transmit.size > usize::from(connection.current_mtu());
                if is_probe && !self.suits(transmit.size) {
                    // noq considers the probe lost. It tries this size twice more, and then a smaller one.
                    self.take_sent(&transmit);
                    contents.clear();
                    continue;
                }
                if is_probe {
                    self.probe_with(&transmit, connection, due, now);
                } else if is_paced {
                    self.slip_in(&transmit, due, now);
                } else {
                    self.depart_with(&transmit, due, now);
                }
                return Some(transmit);
            }
            if is_paced {
                return None;
            }
            let is_blocked = self.flow.as_ref().is_some_and(|flow| flow.take_blocked());
            if is_blocked || connection.is_handshaking() {
                self.set_dry(!is_blocked);
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

    /// Lets noq send. If it is time, noq is first queried for a probe of the path MTU.
    fn poll(
        &mut self,
        connection: &mut Connection,
        now: Instant,
        most: NonZeroUsize,
        contents: &mut Vec<u8>,
    ) -> Option<Transmit> {
        if self.flow.is_some() && self.search.is_due(now) && !connection.is_handshaking() {
            let transmit = self.poll_unpaced(connection, now, most, contents);
            let mtu = usize::from(connection.current_mtu());
            let is_probe = transmit.as_ref().is_some_and(|one| one.size > mtu);
            self.search.answer(is_probe, now);
            if transmit.is_some() {
                return transmit;
            }
        }
        connection.poll_transmit(now, most, contents)
    }

    /// Lets noq send packets that congestion control does not hold back: ACKs, probes after a timeout, the connection's
    /// end, and probes of the path MTU. Without a window, noq sends nothing else. If other data waits, noq sends no
    /// ACKs without it.
    fn poll_unpaced(
        &mut self,
        connection: &mut Connection,
        now: Instant,
        most: NonZeroUsize,
        contents: &mut Vec<u8>,
    ) -> Option<Transmit> {
        let flow = self
            .flow
            .as_ref()
            .filter(|_| !connection.is_handshaking())?;
        flow.shut(true);
        let transmit = connection.poll_transmit(now, most, contents);
        flow.shut(false);
        flow.take_blocked();
        transmit
    }

    /// Records that the system has taken or refused the last datagrams. It had no room for them for `waited`.
    pub(super) fn left(&mut self, error: Option<io::Error>, waited: Duration) {
        self.pace.left(waited);
        if let Some(flow) = &self.flow {
            flow.set_lateness(self.pace.lateness);
            flow.set_error(error);
        }
    }

    /// True if datagrams of this size suit the pacing rate; see [`MAX_LARGE_DATAGRAM_TIME`].
    fn suits(&self, size: usize) -> bool {
        let most = |rate| carried(MAX_LARGE_DATAGRAM_TIME, rate);
        size <= ETHERNET_DATAGRAM_BYTES || self.rate().is_none_or(|rate| size as u64 <= most(rate))
    }

    /// Accounts for a probe of the path MTU, which noq sends when there is nothing else to send. If the application has
    /// more data, that data leaves at its time, and its burst pays for the probe.
    fn probe_with(
        &mut self,
        transmit: &Transmit,
        connection: &mut Connection,
        due: Instant,
        now: Instant,
    ) {
        self.slip_in(transmit, due, now);
        let is_blocked = self.flow.as_ref().is_some_and(|flow| flow.take_blocked());
        if !is_blocked {
            self.application.refill(connection);
        }
        self.ready = Some(due);
    }

    /// Accounts for datagrams that pacing did not hold back. The next burst pays for those that congestion control counts
    /// (RFC 9002, "Sending Probe Packets").
    fn slip_in(&mut self, transmit: &Transmit, due: Instant, now: Instant) {
        self.urgent = Some(due);
        let bytes = self.take_sent(transmit);
        if bytes > 0 {
            let datagrams = datagrams(transmit);
            self.pace.slip_in(due, now, bytes, datagrams);
        }
    }

    fn depart_with(&mut self, transmit: &Transmit, due: Instant, now: Instant) {
        let bytes = self.take_sent(transmit);
        // ACKs alone are not paced (RFC 9002, "Pacing"), so they do not delay the data that follows.
        if bytes > 0 {
            self.pace
                .depart(self.rate(), due, now, bytes, datagrams(transmit));
        }
        if let Some(flow) = &self.flow {
            // The window holds back the data after these datagrams.
            flow.take_blocked();
            flow.set_dry(false);
        }
        if self.rate().is_none() {
            // It may send again as soon as others have had their turn.
            self.ready = Some(now);
        }
    }

    /// Takes the bytes of these datagrams that congestion control counts. Only a controller of ours reports them.
    fn take_sent(&self, transmit: &Transmit) -> u64 {
        let sent = self.flow.as_ref().map(|flow| flow.take_sent());
        let sent = sent.filter(|_| self.rate().is_some());
        sent.unwrap_or(transmit.size as u64)
    }

    fn set_dry(&self, is_dry: bool) {
        if let Some(flow) = &self.flow {
            flow.set_dry(is_dry);
        }
    }
}

/// The number of datagrams.
fn datagrams(transmit: &Transmit) -> u64 {
    let size = transmit.segment_size.unwrap_or(transmit.size).max(1);
    transmit.size.div_ceil(size) as u64
}
