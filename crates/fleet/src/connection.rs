//! A connection: its current state in the kernel, its changes since the previous sample, and its last minute.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;

use kernel::{Model, resent_with_data};
use linux::diag::{SocketState, TcpInfo};
use units::{Bytes, Duration, Rate};

use crate::systems::System;
use crate::who::Process;

/// The maximum number of samples in the history of an active connection: a minute at one sample a second.
pub const MAX_HISTORY: usize = 60;

/// The time of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Moment {
    /// The time since the first sample.
    pub at: Duration,
    /// The wall-clock time, in seconds since 1970.
    pub unix_s: f64,
}

/// The state of a connection in one sample.
#[derive(Debug, Clone)]
pub struct ConnectionState {
    /// The time of the sample.
    pub when: Moment,
    /// The socket's state in the kernel.
    pub socket: SocketState,
    /// The changes since the previous sample, or since the start of a new connection. `None` at the first sample.
    pub since: Option<Since>,
    /// The process that has the socket, if /proc shows it to this user.
    pub process: Option<Arc<Process>>,
    /// The path of its control group.
    pub cgroup: Option<Arc<str>>,
    /// The other side's network, if the table of networks has it.
    pub system: Option<Arc<System>>,
    /// The name of its network namespace.
    pub namespace: Arc<str>,
}

/// The changes of a connection between two samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Since {
    /// The time between the samples.
    pub span: Duration,
    /// Payload that the other side acknowledged.
    pub acknowledged: Bytes,
    /// Payload that arrived in order.
    pub received: Bytes,
    /// Packets with data sent, including retransmissions.
    pub packets: u64,
    /// Packets with data retransmitted.
    pub retransmitted: u64,
    /// The time with data to send or unacknowledged.
    pub busy: Duration,
    /// The part of it in which the other side's window was full.
    pub receiver: Duration,
    /// The part of it in which the send buffer was too small.
    pub send_buffer: Duration,
}

units::named! {
    /// The main limit of a sender, by the kernel's clocks (`tcpi_busy_time` and its parts).
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Limit, "limit" {
        /// The application had nothing to send.
        Application = "application",
        /// The other side's window.
        Receiver = "receiver",
        /// The send buffer.
        SendBuffer = "send_buffer",
        /// The congestion window or pacing.
        Congestion = "congestion",
    }
}

/// The shares of the limits in the time between two samples. Their sum is 1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Shares {
    /// The application had nothing to send.
    pub application: f64,
    /// The other side's window.
    pub receiver: f64,
    /// The send buffer.
    pub send_buffer: f64,
    /// The congestion window or pacing.
    pub congestion: f64,
}

/// Returns the payload that the other side has acknowledged. The kernel counts the SYN of the connecting side, and a
/// FIN, as a byte each (`tcp_snd_una_update`). They show once all data are acknowledged.
pub fn acknowledged(info: &TcpInfo) -> Bytes {
    let sent = info
        .bytes_sent
        .get()
        .saturating_sub(info.bytes_retrans.get());
    let signs = info.bytes_acked.get().saturating_sub(sent).min(2);
    Bytes::new(info.bytes_acked.get() - signs)
}

/// Returns the number of retransmitted packets with data.
pub fn retransmitted(info: &TcpInfo) -> u64 {
    let (total, packets) = (info.total_retrans.into(), info.data_segs_out.into());
    resent_with_data(total, info.bytes_retrans.get(), packets)
}

impl Since {
    /// The changes of a socket whose life began within the span.
    pub fn beginning(socket: &SocketState, span: Duration) -> Since {
        let now = &socket.info;
        Since {
            span,
            acknowledged: acknowledged(now),
            received: now.bytes_received,
            packets: now.data_segs_out.into(),
            retransmitted: retransmitted(now),
            busy: now.busy_time,
            receiver: now.rwnd_limited,
            send_buffer: now.sndbuf_limited,
        }
    }

    /// The changes between two states of the same socket.
    pub fn between(earlier: &SocketState, later: &SocketState, span: Duration) -> Since {
        let (before, now) = (&earlier.info, &later.info);
        // A reconnected socket counts from zero (`tcp_disconnect`). Counters of 64 bits do not wrap.
        if now.bytes_acked < before.bytes_acked || now.bytes_received < before.bytes_received {
            return Since::beginning(later, span);
        }
        let bytes = |before: Bytes, now: Bytes| Bytes::new(now.get().saturating_sub(before.get()));
        let packets: u64 = now.data_segs_out.wrapping_sub(before.data_segs_out).into();
        let again = now.total_retrans.wrapping_sub(before.total_retrans);
        let bytes_again = bytes(before.bytes_retrans, now.bytes_retrans).get();
        Since {
            span,
            acknowledged: bytes(acknowledged(before), acknowledged(now)),
            received: bytes(before.bytes_received, now.bytes_received),
            packets,
            retransmitted: resent_with_data(again.into(), bytes_again, packets),
            busy: now.busy_time.saturating_sub(before.busy_time),
            receiver: now.rwnd_limited.saturating_sub(before.rwnd_limited),
            send_buffer: now.sndbuf_limited.saturating_sub(before.sndbuf_limited),
        }
    }

    /// Adds the changes of another connection.
    pub(crate) fn add(&mut self, other: &Since) {
        self.span = self.span + other.span;
        self.acknowledged += other.acknowledged;
        self.received += other.received;
        self.packets += other.packets;
        self.retransmitted += other.retransmitted;
        self.busy = self.busy + other.busy;
        self.receiver = self.receiver + other.receiver;
        self.send_buffer = self.send_buffer + other.send_buffer;
    }

    /// The share of packets that are retransmissions.
    pub fn resent(&self) -> Option<f64> {
        (self.packets > 0).then(|| self.retransmitted as f64 / self.packets as f64)
    }

    /// True if anything was sent or received.
    pub fn is_active(&self) -> bool {
        self.packets > 0 || !self.acknowledged.is_zero() || !self.received.is_zero()
    }

    /// The shares of the limits. `None` if the span is zero.
    pub fn shares(&self) -> Option<Shares> {
        let span = self.span.as_secs_f64();
        if span <= 0.0 {
            return None;
        }
        // The kernel's clocks tick in jiffies and may exceed the span.
        let busy = (self.busy.as_secs_f64() / span).min(1.0);
        let receiver = (self.receiver.as_secs_f64() / span).min(busy);
        let send_buffer = (self.send_buffer.as_secs_f64() / span).min(busy - receiver);
        Some(Shares {
            application: 1.0 - busy,
            receiver,
            send_buffer,
            congestion: busy - receiver - send_buffer,
        })
    }
}

impl Shares {
    /// The largest share and its limit.
    pub fn most(&self) -> (Limit, f64) {
        let all = [
            (Limit::Application, self.application),
            (Limit::Receiver, self.receiver),
            (Limit::SendBuffer, self.send_buffer),
            (Limit::Congestion, self.congestion),
        ];
        let most = all
            .into_iter()
            .max_by(|one, other| one.1.total_cmp(&other.1));
        most.unwrap_or((Limit::Application, 0.0))
    }
}

impl ConnectionState {
    /// The local address. An IPv4-mapped address (`::ffff:192.0.2.1`) is returned as IPv4.
    pub fn local(&self) -> SocketAddr {
        canonical(self.socket.local)
    }

    /// The remote address, likewise.
    pub fn remote(&self) -> SocketAddr {
        canonical(self.socket.remote)
    }

    /// The payload that the other side has acknowledged.
    pub fn acknowledged(&self) -> Bytes {
        acknowledged(&self.socket.info)
    }

    /// The number of retransmitted packets with data.
    pub fn retransmitted_packets(&self) -> u64 {
        retransmitted(&self.socket.info)
    }

    /// Payload acknowledged per second since the previous sample.
    pub fn send_rate(&self) -> Option<Rate> {
        self.rate(|since| since.acknowledged)
    }

    /// Payload received per second since the previous sample.
    pub fn receive_rate(&self) -> Option<Rate> {
        self.rate(|since| since.received)
    }

    fn rate(&self, bytes: fn(&Since) -> Bytes) -> Option<Rate> {
        let since = self.since.as_ref().filter(|since| !since.span.is_zero())?;
        Some(Rate::from_transfer(bytes(since), since.span))
    }

    /// Bytes in flight. Each packet counts as a full one.
    pub fn inflight(&self) -> Bytes {
        self.socket.info.snd_mss * u64::from(self.socket.info.inflight())
    }

    /// The smoothed RTT. `None` before the first RTT sample.
    pub fn rtt(&self) -> Option<Duration> {
        Some(self.socket.info.rtt).filter(|rtt| !rtt.is_zero())
    }

    /// The RTT divided by its minimum.
    pub fn rtt_ratio(&self) -> Option<f64> {
        let min = self.socket.info.min_rtt.filter(|min| !min.is_zero())?;
        Some(self.rtt()?.as_secs_f64() / min.as_secs_f64())
    }

    /// The share of retransmissions since the previous sample; at the first sample, since the connection began.
    pub fn retransmitted(&self) -> Option<f64> {
        let info = &self.socket.info;
        let so_far = Since {
            retransmitted: retransmitted(info),
            packets: info.data_segs_out.into(),
            ..Since::default()
        };
        self.since.unwrap_or(so_far).resent()
    }

    /// The controller's model of the path, if it has one.
    pub fn model(&self) -> Option<Model> {
        Model::of(&self.socket)
    }

    /// The controller's state.
    pub fn state(&self) -> &'static str {
        let state = self.model().map(|model| model.state);
        state
            .unwrap_or_else(|| kernel::state_of_window(&self.socket.info))
            .name
    }

    /// The shares of the limits since the previous sample.
    pub fn shares(&self) -> Option<Shares> {
        self.since.as_ref()?.shares()
    }

    /// The service's port: the lower one, as a guess.
    pub fn service(&self) -> u16 {
        self.socket.local.port().min(self.socket.remote.port())
    }
}

fn canonical(end: SocketAddr) -> SocketAddr {
    SocketAddr::new(end.ip().to_canonical(), end.port())
}

/// A connection of the last sample.
#[derive(Debug)]
pub struct Connection {
    /// Its state.
    pub seen: ConnectionState,
    /// The time of the first sample that showed it.
    pub first: Duration,
    /// The last samples, the oldest first. Empty as long as the connection is idle.
    history: VecDeque<Past>,
    /// The number of the last sample that showed it.
    pub(crate) look: u64,
}

/// True if no data came, went or waited between the states. Clocks that always run are ignored.
fn is_idle(earlier: &SocketState, later: &SocketState) -> bool {
    let key = |socket: &SocketState| {
        let info = &socket.info;
        let packets = [info.segs_in, info.segs_out, info.snd_cwnd, socket.inode];
        let times = [info.busy_time, info.rwnd_limited, info.sndbuf_limited];
        let queues = [socket.unread, socket.unacknowledged];
        (packets, times, queues, socket.state, socket.controller)
    };
    key(earlier) == key(later)
}

/// A connection in one of the last samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Past {
    /// The time since the first sample, in seconds.
    pub at_s: f32,
    /// Payload sent and received, in bits per second.
    pub rate_bps: f32,
    /// The kernel's delivery-rate sample, in bits per second.
    pub delivery_rate_bps: f32,
    /// The smoothed RTT, in milliseconds.
    pub rtt_ms: f32,
    /// Bytes in flight.
    pub inflight: f32,
}

impl Connection {
    pub(crate) fn new(seen: ConnectionState, look: u64) -> Connection {
        let mut connection = Connection {
            first: seen.when.at,
            seen,
            history: VecDeque::new(),
            look,
        };
        if connection.seen.since.is_some_and(|since| since.is_active()) {
            connection.remember();
        }
        connection
    }

    /// Adds a sample.
    pub(crate) fn update(&mut self, when: Moment, socket: &SocketState, look: u64) {
        let span = when.at.saturating_sub(self.seen.when.at);
        let since = Since::between(&self.seen.socket, socket, span);
        self.seen.when = when;
        // Most of thousands of connections are idle, and unchanged states are not copied.
        if !is_idle(&self.seen.socket, socket) {
            self.seen.socket = *socket;
        }
        self.seen.since = Some(since);
        self.look = look;
        if since.is_active() || !self.history.is_empty() {
            self.remember();
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "seven digits are enough to draw"
    )]
    fn remember(&mut self) {
        let info = &self.seen.socket.info;
        let bps = |rate: Option<Rate>| rate.unwrap_or(Rate::ZERO).bits_per_sec() as f32;
        let past = Past {
            at_s: self.seen.when.at.as_secs_f64() as f32,
            rate_bps: bps(self.seen.send_rate()) + bps(self.seen.receive_rate()),
            delivery_rate_bps: bps(Some(info.delivery_rate)),
            rtt_ms: info.rtt.as_millis_f64() as f32,
            inflight: self.seen.inflight().get() as f32,
        };
        if self.history.len() == MAX_HISTORY {
            self.history.pop_front();
        }
        self.history.push_back(past);
        let is_silent = self.history.iter().all(|past| past.rate_bps == 0.0);
        if self.history.len() == MAX_HISTORY && is_silent {
            self.history = VecDeque::new();
        }
    }

    /// The last samples, the oldest first.
    pub fn history(&self) -> impl DoubleEndedIterator<Item = &Past> + ExactSizeIterator {
        self.history.iter()
    }
}
