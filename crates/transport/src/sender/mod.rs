//! The sending half of a TCP connection, as Linux has it.

mod config;
mod handshake;
mod rtt;
mod stats;
mod stream;

pub use config::{Config, LossDetection};
pub use stats::Stats;

use congestion::{Ack, Bytes, Connection, Controller, Duration, Time};

use crate::burst::{Burst, Kind};
use crate::scheduler::Pacer;
use crate::segment::Body;
use handshake::Handshake;
use rtt::Rtt;
use stream::Stream;

/// The sending half of a TCP connection: a byte stream in; bursts for the packet scheduler out; a congestion controller
/// that says how fast.
///
/// After every event [`Sender::poll_burst`] is to be called until it gives none, and [`Sender::next_timer`] to be read.
#[derive(Debug)]
pub struct Sender<C> {
    connection: u32,
    config: Config,
    controller: C,
    handshake: Handshake,
    stream: Stream,
    rtt: Rtt,
    pacer: Pacer,
    /// TSval of the segment that arrived last.
    echo: Time,
    /// The peer's window reaches to this position of the stream.
    window_end: u64,
    inflight: Bytes,
    stats: Stats,
}

impl<C: Controller> Sender<C> {
    /// A sender that will open its connection, number `connection` of its host, from `now` on. `make` makes the
    /// controller of what it needs to know.
    pub fn new(
        now: Time,
        connection: u32,
        config: &Config,
        make: impl FnOnce(Connection) -> C,
        seed: u64,
    ) -> Sender<C> {
        let mut config = config.clone();
        config.mss = config
            .mss
            .clamp(Bytes::new(1), Bytes::new(u64::from(u16::MAX)));
        Sender {
            connection,
            controller: make(Connection {
                now,
                mss: config.mss,
                initial_cwnd: config.mss * u64::from(config.initial_cwnd.max(1)),
                seed,
            }),
            handshake: Handshake::Closed,
            stream: Stream::new(config.send_buffer),
            rtt: Rtt::default(),
            pacer: Pacer::default(),
            echo: Time::ZERO,
            window_end: 0,
            inflight: Bytes::ZERO,
            stats: Stats::default(),
            config,
        }
    }

    /// Begins the handshake; the SYN is the next burst.
    pub fn open(&mut self) {
        self.handshake.open();
    }

    /// How much the application may write: the send buffer less what is not yet acknowledged.
    pub fn room(&self) -> Bytes {
        self.stream.room()
    }

    /// The application writes; returns what fitted.
    pub fn write(&mut self, bytes: Bytes) -> Bytes {
        self.stream.write(bytes)
    }

    /// Nothing more will be written.
    pub fn finish(&mut self) {
        self.stream.finish();
    }

    /// The next piece for the packet scheduler; `None` if there is nothing to send, or congestion window, receive window,
    /// small queues or pacing forbid.
    pub fn poll_burst(&mut self, now: Time) -> Option<Burst> {
        let departure = self.pacer.departure(now);
        self.handshake.send(departure).then_some(Burst {
            connection: self.connection,
            kind: Kind::Syn,
            seq: 0,
            bytes: 0,
            mss: u32::try_from(self.config.mss.get()).unwrap_or(u32::MAX),
            departure,
            echo: self.echo,
            is_retransmission: false,
            cwr: false,
        })
    }

    /// A burst has left the host, or was refused by its scheduler.
    pub fn on_departed(&mut self, _now: Time, _burst: &Burst) {}

    /// A segment arrives. Gives what the controller was told, if it delivered something.
    pub fn on_segment(&mut self, now: Time, body: &Body) -> Option<Ack> {
        if let Body::SynAck { sent, echo, window } = body
            && self.handshake.on_syn_ack()
        {
            self.echo = *sent;
            self.window_end = *window;
            self.rtt.update(now, now.since(*echo));
        }
        None
    }

    /// The earliest timer: of the SYN, loss detection, probes, retransmission, or the connection's own pacing.
    pub fn next_timer(&self) -> Option<Time> {
        self.handshake.deadline()
    }

    /// Does what is due; harmless if nothing is.
    pub fn on_timer(&mut self, now: Time) {
        self.handshake.on_timer(now, self.config.max_rto);
    }

    /// The congestion controller.
    pub fn controller(&self) -> &C {
        &self.controller
    }

    /// What has been done so far.
    pub fn stats(&self) -> Stats {
        self.stats
    }

    /// Bytes in flight: handed to the scheduler, and neither known to have arrived nor declared lost.
    pub fn inflight(&self) -> Bytes {
        self.inflight
    }

    /// The smoothed round-trip time; `None` before the handshake.
    pub fn srtt(&self) -> Option<Duration> {
        self.rtt.smoothed()
    }

    /// Whether the handshake is over.
    pub fn is_established(&self) -> bool {
        self.handshake.is_established()
    }

    /// Whether everything written is acknowledged, and no more will be written.
    pub fn is_done(&self) -> bool {
        self.stream.is_done()
    }
}
