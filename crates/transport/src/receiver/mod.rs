//! The receiving half of a connection: it reassembles the stream, and acknowledges it.
//!
//! [`Receiver`] answers the handshake, delays, stretches and compresses ACKs, reports holes (SACK) and duplicates
//! (D-SACK), offers a window that grows as the connection needs it, and echoes timestamps and ECN marks. The
//! application reads data in order at once.

mod compression;
mod config;
mod delay;
mod reassembly;
mod stats;
mod window;

use core::ops::Range;

use crate::segment::{Ack, AckRequest, Body, Data, SackBlocks, Segment};
use units::{Bytes, Duration, Time};

pub use config::Config;
pub use stats::Stats;

use compression::Compression;
use delay::DelayedAck;
use reassembly::{Arrival, Reassembly};
use window::Window;

/// The marks that cause an ACK, with Accurate ECN (RFC 9768, section 3.2.2.5.1, "Increment-Triggered ACKs": n is 2 where data
/// is unacknowledged, and 7 at most).
const MARKS_PER_ACK: u32 = 2;

/// The assumed payload of a full segment before one has arrived (RFC 9293, 3.7.1).
const DEFAULT_MSS: u32 = 536;

/// The receiver of one connection: segments and times in, SYN-ACKs and ACKs out.
#[derive(Debug, Clone)]
pub struct Receiver {
    connection: u32,
    /// The largest payload so far, which defines a full segment (`icsk_ack.rcv_mss`).
    mss: u32,
    is_open: bool,
    /// Whether a mark has arrived that the sender has not answered yet (RFC 3168, 6.1.3).
    ecn_echo: bool,
    /// The marks that have arrived since the last ACK.
    marks_since_ack: u32,
    /// `next` of the last ACK sent (RFC 7323's Last.ACK.sent).
    acknowledged: u64,
    /// The timestamp to echo (RFC 7323's TS.Recent).
    echo: Time,
    delayed: DelayedAck,
    /// The sender's latest request.
    request: Option<AckRequest>,
    window: Window,
    config: Config,
    compression: Compression,
    stream: Reassembly,
    stats: Stats,
}

impl Receiver {
    /// Creates a receiver that waits for the connection's SYN.
    pub fn new(connection: u32, config: &Config) -> Receiver {
        Receiver {
            connection,
            config: *config,
            is_open: false,
            stream: Reassembly::default(),
            window: Window::new(config),
            delayed: DelayedAck::new(),
            request: None,
            compression: Compression::default(),
            mss: DEFAULT_MSS,
            acknowledged: 0,
            echo: Time::ZERO,
            ecn_echo: false,
            marks_since_ack: 0,
            stats: Stats::default(),
        }
    }

    /// Handles a segment, marked by the network if `ce`. Returns the answer: a SYN-ACK for a SYN, an ACK for data
    /// unless it is delayed.
    ///
    /// Ignores data of a connection that is not open, and segments that are for senders.
    pub fn on_segment(&mut self, now: Time, body: &Body, ce: bool) -> Option<Segment> {
        match body {
            Body::Syn { sent } => Some(self.on_syn(now, *sent)),
            Body::FastOpen(data) => Some(self.on_fast_open(now, data)),
            Body::Data(data) if self.is_open => {
                let duplicate = self.on_data(now, data, ce)?;
                Some(self.acknowledge(now, duplicate))
            }
            Body::Data(_) | Body::SynAck { .. } | Body::Ack(_) => None,
        }
    }

    /// Changes [`Config::max_buffer`]. The next ACK offers a window that follows from it; bytes that were offered before
    /// stay offered.
    pub fn set_max_buffer(&mut self, max: Bytes) {
        self.window.set_max(max.get());
    }

    /// The time of the next timer: that of a delayed or compressed ACK.
    #[inline]
    pub fn next_timer(&self) -> Option<Time> {
        match (self.delayed.due(), self.compression.due()) {
            (Some(delayed), Some(held)) => Some(delayed.min(held)),
            (delayed, held) => delayed.or(held),
        }
    }

    /// Handles timers that are due; returns the ACK, if any.
    pub fn on_timer(&mut self, now: Time) -> Option<Segment> {
        let is_due = |due: Option<Time>| due.is_some_and(|due| due <= now);
        if is_due(self.delayed.due()) {
            self.delayed.on_missed(self.window.rtt());
            self.stats.delayed_acks += 1;
        } else if !is_due(self.compression.due()) {
            return None;
        }
        Some(self.acknowledge(now, 0..0))
    }

    /// Bytes that have arrived in order and been read by the application.
    pub const fn received(&self) -> u64 {
        self.stream.next()
    }

    /// Bytes that have arrived, each counted once, including those beyond holes.
    pub const fn arrived(&self) -> u64 {
        self.stream.next() + self.stream.stored()
    }

    /// The right edge of the offered window: the position behind the last byte that may be sent. It never retreats.
    pub const fn right_edge(&self) -> u64 {
        self.window.right_edge()
    }

    /// The smoothed RTT, measured from timestamps; `None` before the first sample.
    pub fn rtt(&self) -> Option<Duration> {
        self.window.rtt()
    }

    /// The counters.
    pub fn stats(&self) -> Stats {
        Stats {
            buffer: self.window.buffer(),
            holes: self.stream.ranges(),
            ..self.stats
        }
    }

    /// Opens the receiver, if it is not open, without a SYN of its own: its end has opened the connection in the
    /// other direction. Returns the offered window in bytes.
    pub fn accept(&mut self, now: Time) -> u64 {
        if !self.is_open {
            self.is_open = true;
            self.window.open(now);
        }
        self.window.offer(self.stream.next(), self.stream.stored())
    }

    fn on_syn(&mut self, now: Time, sent: Time) -> Segment {
        let window = self.accept(now);
        Segment {
            connection: self.connection,
            body: Body::SynAck {
                sent: now,
                echo: sent,
                next: self.stream.next(),
                window,
            },
        }
    }

    /// Handles a SYN with a cookie: its data are accepted, and acknowledged with it (RFC 7413, section 4.2.2; Linux
    /// `tcp_fastopen_add_skb`).
    fn on_fast_open(&mut self, now: Time, data: &Data) -> Segment {
        self.accept(now);
        if data.end() <= self.window.right_edge() {
            self.stats.segments += 1;
            self.stream.insert(data.seq..data.end());
        }
        self.acknowledged = self.stream.next();
        self.on_syn(now, data.sent)
    }

    /// Handles a segment's payload. If it is to be acknowledged now, returns the part that had arrived before, which
    /// may be empty.
    fn on_data(&mut self, now: Time, data: &Data, ce: bool) -> Option<Range<u64>> {
        self.stats.segments += 1;
        if data.len == 0 || data.end() > self.window.right_edge() {
            // An unacceptable segment is acknowledged and otherwise ignored (RFC 9293, 3.10.7.4).
            self.stats.beyond_window += u64::from(data.len > 0);
            return Some(0..0);
        }
        self.learn(now, data);
        let had_holes = !self.stream.is_in_order();
        let before = self.stream.next();
        let arrival = self.stream.insert(data.seq..data.end());
        let mut at_once = self.on_request(data) | self.on_ecn(data, ce);
        let next = self.stream.next();
        let beyond = self.stream.highest().saturating_sub(next);
        let mut behind_hole = None;
        let duplicate = match arrival {
            Arrival::InOrder { duplicate } => {
                self.window.on_read(now, before, next, beyond);
                // After a short segment or one with PSH, more data may not follow soon, and the application has read
                // everything (`tcp_measure_rcv_mss`, `tcp_cleanup_rbuf`: `ICSK_ACK_PUSHED`).
                at_once |= had_holes || data.len < self.mss || self.heeds_push(data);
                duplicate
            }
            Arrival::OutOfOrder { duplicate, rank } => {
                self.stats.out_of_order += 1;
                self.window.on_out_of_order(beyond);
                behind_hole = Some(rank);
                duplicate
            }
            Arrival::Duplicate(duplicate) => {
                self.stats.duplicates += 1;
                self.delayed.quicken(self.window_segments());
                at_once = true;
                duplicate
            }
            Arrival::Refused => {
                self.stats.refused += 1;
                at_once = true;
                0..0
            }
        };
        debug_assert!(self.acknowledged <= next && next <= self.window.right_edge());
        if at_once || !duplicate.is_empty() || self.is_ack_due(next) {
            return Some(duplicate);
        }
        if let Some(rank) = behind_hole {
            let rtt = self.window.rtt();
            let is_held = self.compression.hold(now, next, rank, rtt, &self.config);
            return (!is_held).then_some(0..0);
        }
        let is_aggregating = next - self.acknowledged > u64::from(self.mss);
        let requested = self.request.map(|request| request.max_delay);
        self.delayed
            .owe(now, &self.config, is_aggregating, requested);
        None
    }

    /// Learns the sender's segment size, the round-trip time and the pace of arrivals from any segment.
    fn learn(&mut self, now: Time, data: &Data) {
        self.mss = self.mss.max(data.len);
        if data.seq <= self.acknowledged && data.sent > self.echo {
            self.echo = data.sent;
        }
        if data.len >= self.mss {
            self.window.on_echo(now, data.echo);
        }
        if self.delayed.on_data(now, self.window.rtt()) {
            self.delayed.quicken(self.window_segments());
        }
        // Without SACK, an ACK that moves the window is no duplicate, and shows no loss (Linux `tcp_data_queue_ofo`).
        let may_open = self.config.max_sack_blocks > 0 || data.seq <= self.stream.next();
        let stored = self.stream.stored();
        if may_open && self.window.on_segment(data.len, self.mss, stored) {
            self.delayed.quicken_for_window();
        }
    }

    /// Whether PSH on a full segment causes an ACK. With stretched ACKs it does not: they are meant to wait.
    fn heeds_push(&self, data: &Data) -> bool {
        data.push && self.ack_every() <= 2
    }

    /// Handles ECN (RFC 3168, section 6.1.3). A change of state is reported at once, because the sender's window may
    /// be as small as a segment (`__tcp_ecn_check_ce`, `tcp_ecn_accept_cwr`). Returns whether the state changed.
    ///
    /// With Accurate ECN, the state is that of the latest segment. The first mark is reported at once, and later ones at least
    /// each [`MARKS_PER_ACK`], also where ACKs are stretched or compressed.
    fn on_ecn(&mut self, data: &Data, ce: bool) -> bool {
        let before = self.ecn_echo;
        self.ecn_echo &= !data.cwr && !self.config.accurate_ecn;
        if ce {
            self.stats.ce_segments += 1;
            self.marks_since_ack += 1;
            self.stats.ce_bytes = self.stats.ce_bytes.saturating_add(u64::from(data.len));
            self.ecn_echo = true;
        }
        if self.config.accurate_ecn {
            return ce && (!before || self.marks_since_ack >= MARKS_PER_ACK);
        }
        if !before && self.ecn_echo {
            self.delayed.quicken_by(2);
        }
        before != self.ecn_echo || data.cwr
    }

    /// Takes the sender's request, if it makes one (draft-ietf-quic-ack-frequency, "Sending Acknowledgments"). Returns whether
    /// it asks for an immediate ACK.
    fn on_request(&mut self, data: &Data) -> bool {
        self.request = data.ack_request.or(self.request);
        data.ack_request.is_some_and(|request| request.is_immediate)
    }

    /// The number of full segments that cause an ACK.
    fn ack_every(&self) -> u32 {
        self.request
            .map_or(self.config.ack_every, |request| request.every)
    }

    /// Whether the data in order up to `next` cause an ACK: they exceed `ack_every` − 1 full segments, so that a
    /// short last one counts (`__tcp_ack_snd_check`).
    fn is_ack_due(&self, next: u64) -> bool {
        let waiting = next - self.acknowledged;
        let every = u64::from(self.ack_every().saturating_sub(1));
        self.delayed.is_quick()
            || (self.request.is_none() && self.config.max_ack_delay.is_zero())
            || waiting > every.saturating_mul(u64::from(self.mss))
    }

    /// The offered window in full segments.
    fn window_segments(&self) -> u64 {
        self.window.buffer().get() / u64::from(self.mss.max(1))
    }

    fn acknowledge(&mut self, now: Time, duplicate: Range<u64>) -> Segment {
        let next = self.stream.next();
        let sacks = if duplicate.is_empty() && self.stream.is_in_order() {
            SackBlocks::NONE
        } else {
            self.stream
                .sack_blocks(duplicate, self.config.max_sack_blocks)
        };
        self.delayed.on_ack();
        self.stats.compressed += u64::from(self.compression.on_ack());
        self.acknowledged = next;
        self.marks_since_ack = 0;
        self.stats.acks += 1;
        self.stats.dsacks += u64::from(sacks.dsack().is_some());
        Segment {
            connection: self.connection,
            body: Body::Ack(Ack {
                next,
                window: self.window.offer(next, self.stream.stored()),
                sent: now,
                echo: self.echo,
                sacks,
                ecn_echo: self.ecn_echo && !self.config.accurate_ecn,
                ce_bytes: self.stats.ce_bytes,
            }),
        }
    }
}
