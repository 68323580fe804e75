//! Fullpipe's congestion controllers inside s2n-quic 1.91, with its feature `unstable-congestion-controller`.
//!
//! ```
//! let controllers = fullpipe_s2n_quic::Endpoint::new(congestion::ControllerKind::Bbr3, 1);
//! let server = s2n_quic::Server::builder().with_congestion_controller(controllers)?;
//! # drop(server);
//! # Ok::<(), std::convert::Infallible>(())
//! ```
//!
//! # What s2n-quic's hooks lose
//!
//! - **Departures to the microsecond.** s2n-quic asks when the next packet may leave, but takes a time less than a millisecond away
//!   for one that has come. The pacing rate is kept on average; what leaves at once is a send quantum and a millisecond's worth.
//! - **The send quantum** bounds a batch that the kernel divides (GSO), and nothing else.
//! - **Each packet that arrives**: an ACK has a number of bytes, and the state of its newest packet. A sample needs no more.
//! - **Packets that were lost and arrive**: s2n-quic says nothing, and no recovery is undone.
//! - **That data has run out** is told when a packet leaves, and not when the window is full at that time. An ACK after which
//!   nothing leaves, though it could, tells it an ACK later.
//! - **Whether the window was full** is seen when packets leave and when ACKs arrive. Data need not have waited for it.
//! - **The end of a look at the loss timer**: whatever comes next ends it.
//! - **Whether the controller answers marks (ECN)** is not asked: packets are sent as capable of ECN under every controller.

use std::cell::RefCell;

use congestion::{
    AnyController, Bytes, Connection, Controller as _, ControllerKind, Duration, Flow, PacketState,
    Time,
};
use s2n_quic_core::random::Generator;
use s2n_quic_core::recovery::RttEstimator;
use s2n_quic_core::recovery::congestion_controller::{
    self, CongestionController, PathInfo, Publisher,
};
use s2n_quic_core::time::Timestamp;

#[cfg(test)]
mod tests;

/// RFC 9002, "Initial and Minimum Congestion Window".
const INITIAL_PACKETS: u64 = 10;
/// tokio's timers are as coarse as a millisecond, and late.
const TIMER_SLACK: Duration = Duration::from_millis(2);

/// What makes s2n-quic's connections use controllers of one kind.
#[derive(Debug)]
pub struct Endpoint {
    kind: ControllerKind,
    seed: u64,
}

impl Endpoint {
    /// Each connection has a seed of its own, from `seed` up.
    pub fn new(kind: ControllerKind, seed: u64) -> Endpoint {
        Endpoint { kind, seed }
    }
}

impl congestion_controller::Endpoint for Endpoint {
    type CongestionController = Adapter;

    fn new_congestion_controller(&mut self, path: PathInfo) -> Adapter {
        let seed = self.seed;
        self.seed = seed.wrapping_add(1);
        Adapter(RefCell::new(Books::new(
            self.kind,
            seed,
            path.max_datagram_size,
        )))
    }
}

/// A controller as s2n-quic knows it, of one path. What is asked of it may have to settle losses first: hence the cell, which is
/// borrowed for no longer than a call.
#[derive(Debug, Clone)]
pub struct Adapter(RefCell<Books>);

#[derive(Debug, Clone)]
struct Books {
    flow: Flow<AnyController>,
    mss: Bytes,
    /// The time that counts as zero: of the first event.
    epoch: Option<Timestamp>,
    /// The last event's time.
    now: Time,
    /// The newest packet that counts as in flight.
    newest: Option<PacketState>,
    /// Losses that an ACK may follow, with whether they are a persistent congestion.
    unsettled: Option<bool>,
    /// The last event was an ACK: nothing has left since.
    is_acked: bool,
}

impl Books {
    fn new(kind: ControllerKind, seed: u64, mtu: u16) -> Books {
        let mss = Bytes::new(mtu.into());
        let mut connection = Connection::new(Time::ZERO, mss, mss * INITIAL_PACKETS);
        connection.seed = seed;
        let controller = AnyController::new(kind, connection);
        Books {
            flow: Flow::new(controller, Time::ZERO, mss, TIMER_SLACK),
            mss,
            epoch: None,
            now: Time::ZERO,
            newest: None,
            unsettled: None,
            is_acked: false,
        }
    }

    fn at(&mut self, now: Timestamp) -> Time {
        let epoch = *self.epoch.get_or_insert(now);
        let now = Time::ZERO + (now.max(epoch) - epoch).into();
        self.now = self.now.max(now);
        self.now
    }

    /// All that an ACK or the loss timer showed has been told.
    fn settle(&mut self) {
        if let Some(is_persistent) = self.unsettled.take() {
            self.flow.settle(self.now);
            if is_persistent {
                self.flow.on_timeout(self.now);
            }
        }
    }

    /// An ACK or the loss timer begins to be told. What was sent before it is known from now on.
    fn begin(&mut self, now: Timestamp) -> Time {
        let before = self.now;
        let now = self.at(now);
        if self.unsettled.is_none() {
            self.unsettled = Some(false);
            // The ACK before this one let a packet leave at once, and s2n-quic had none. (ACKs of one time are read together.)
            let could_send = self.flow.fits(self.mss) && self.flow.next_departure(before) <= before;
            if self.is_acked && before < now && could_send {
                self.flow.on_no_data(before);
            }
            // Notes a full window, before the ACK makes room.
            self.flow.may_send(now, self.mss);
        }
        now
    }

    fn on_sent(&mut self, now: Timestamp, bytes: u64, app_limited: Option<bool>) {
        self.settle();
        let now = self.at(now);
        // An ACK alone is not in flight. If an ACK's newest packet is such a one, the newest before it stands for it.
        if bytes == 0 {
            return;
        }
        let bytes = Bytes::new(bytes);
        self.flow.may_send(now, bytes);
        self.newest = Some(self.flow.on_sent(now, bytes));
        self.is_acked = false;
        // Not told in the handshake, whose data is short.
        if app_limited.unwrap_or(true) {
            self.flow.on_no_data(now);
        }
    }

    fn on_ack(&mut self, now: Timestamp, bytes: u64, newest: Option<PacketState>) {
        let now = self.begin(now);
        if let Some(mut all) = newest {
            all.bytes = Bytes::new(bytes);
            self.flow.on_acked(now, &all);
        }
        self.settle();
        self.is_acked = true;
    }
}

impl CongestionController for Adapter {
    type PacketInfo = Option<PacketState>;

    fn congestion_window(&self) -> u32 {
        let window = self.ask(|books| books.flow.controller().cwnd());
        window.get().try_into().unwrap_or(u32::MAX)
    }

    fn bytes_in_flight(&self) -> u32 {
        let inflight = self.0.borrow().flow.inflight();
        inflight.get().try_into().unwrap_or(u32::MAX)
    }

    fn is_congestion_limited(&self) -> bool {
        self.ask(|books| !books.flow.fits(books.mss))
    }

    fn requires_fast_retransmission(&self) -> bool {
        false
    }

    fn on_packet_sent<Pub: Publisher>(
        &mut self,
        time_sent: Timestamp,
        sent_bytes: usize,
        app_limited: Option<bool>,
        _rtt_estimator: &RttEstimator,
        _publisher: &mut Pub,
    ) -> Option<PacketState> {
        let books = self.0.get_mut();
        books.on_sent(time_sent, sent_bytes as u64, app_limited);
        books.newest
    }

    fn on_rtt_update<Pub: Publisher>(
        &mut self,
        _time_sent: Timestamp,
        now: Timestamp,
        _rtt_estimator: &RttEstimator,
        _publisher: &mut Pub,
    ) {
        self.0.get_mut().begin(now);
    }

    fn on_ack<Pub: Publisher>(
        &mut self,
        _newest_acked_time_sent: Timestamp,
        bytes_acknowledged: usize,
        newest_acked_packet_info: Option<PacketState>,
        _rtt_estimator: &RttEstimator,
        _random_generator: &mut dyn Generator,
        ack_receive_time: Timestamp,
        _publisher: &mut Pub,
    ) {
        self.0.get_mut().on_ack(
            ack_receive_time,
            bytes_acknowledged as u64,
            newest_acked_packet_info,
        );
    }

    fn on_packet_lost<Pub: Publisher>(
        &mut self,
        _lost_bytes: u32,
        packet_info: Option<PacketState>,
        persistent_congestion: bool,
        _new_loss_burst: bool,
        _random_generator: &mut dyn Generator,
        timestamp: Timestamp,
        _publisher: &mut Pub,
    ) {
        let books = self.0.get_mut();
        let now = books.begin(timestamp);
        if let Some(packet) = packet_info {
            books.flow.on_lost(now, &packet);
        }
        books.unsettled = books
            .unsettled
            .map(|is_persistent| is_persistent || persistent_congestion);
    }

    fn on_explicit_congestion<Pub: Publisher>(
        &mut self,
        ce_count: u64,
        event_time: Timestamp,
        _publisher: &mut Pub,
    ) {
        let books = self.0.get_mut();
        books.begin(event_time);
        books.flow.on_marked(books.mss * ce_count);
    }

    fn on_mtu_update<Pub: Publisher>(&mut self, max_data_size: u16, _publisher: &mut Pub) {
        let books = self.0.get_mut();
        books.mss = Bytes::new(max_data_size.into());
        books.flow.on_mtu_change(books.mss);
    }

    fn on_packet_discarded<Pub: Publisher>(&mut self, bytes_sent: usize, _publisher: &mut Pub) {
        let books = self.0.get_mut();
        if let Some(mut any) = books.newest {
            any.bytes = Bytes::new(bytes_sent as u64);
            books.flow.on_forgotten(&any);
        }
    }

    fn earliest_departure_time(&self) -> Option<Timestamp> {
        self.ask(|books| {
            let departure = books.flow.next_departure(books.now).since(Time::ZERO);
            books.epoch.map(|epoch| epoch + departure.into())
        })
    }

    fn send_quantum(&self) -> Option<usize> {
        let quantum = self.ask(|books| books.flow.controller().send_quantum());
        quantum.get().try_into().ok()
    }
}

impl Adapter {
    /// Something that depends on all that has been told.
    fn ask<T>(&self, question: impl FnOnce(&Books) -> T) -> T {
        let mut books = self.0.borrow_mut();
        books.settle();
        question(&books)
    }
}
