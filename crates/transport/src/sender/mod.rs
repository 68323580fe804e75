//! The sending half of a TCP connection, modelled on Linux.
//!
//! ```text
//!  application ──► stream ──► transmit ──► bursts, to the packet scheduler
//!                               ▲  ▲
//!       controller: cwnd, rate ─┘  └── packets to retransmit
//!          ▲                                 ▲
//!          │ rate samples     losses, ends   │
//!          └── delivery ◄── scoreboard ──► recovery ◄── rack, tlp, rto
//!                   ▲
//!                  ACKs
//! ```
//!
//! | file | subject | source |
//! | --- | --- | --- |
//! | `handshake` | SYN, retransmitted until answered or given up | RFC 9293, 6298, 7413; Linux |
//! | `stream` | send buffer: written, sent, acknowledged | RFC 9293 |
//! | `window` | the peer's receive window and its probe | RFC 9293 |
//! | `scoreboard` | the status of each packet; bytes in flight | RFC 2018, 6675 |
//! | `deliver`, `delivery` | the data delivered by an ACK; round-trip time | RFC 7323, 6298 |
//! | `rack`, `tlp` | loss detection by time; the tail loss probe | RFC 8985 |
//! | `reordering` | the wait for an overtaken packet | RFC 8985, and measurement |
//! | `dup_threshold` | loss detection by counting | RFC 6675 |
//! | `new_reno` | loss detection by duplicate ACKs, for a peer without SACK | RFC 5681, 6582, 3042 |
//! | `rto` | the retransmission timeout | RFC 6298 |
//! | `recovery` | its phases, F-RTO and undo | RFC 6675, 5682, 3522, 3708 |
//! | `prr` | the shrinking of the window in recovery | RFC 9937 |
//! | `ecn` | marks, and CWR | RFC 3168, RFC 9768 |
//! | `ack_frequency` | the ACKs that the peer is asked for | draft-ietf-quic-ack-frequency |
//! | `transmit` | the bursts that leave, and when | Linux `tcp_output.c` |
//! | `usage` | the limits, and their times | Linux `tcp_cwnd_validate`, `tcp_chrono_start` |
//!
//! Not implemented: Nagle's algorithm (data are sent as they are written), an initial window of one packet after
//! several lost SYNs (RFC 6928), path MTU discovery, keep-alive and the closing handshake.

mod ack_frequency;
mod config;
mod deliver;
mod delivery;
mod dup_threshold;
mod ecn;
mod handshake;
mod new_reno;
mod prr;
mod rack;
mod recovery;
mod reordering;
mod rto;
mod rtt;
mod scoreboard;
mod stats;
mod stream;
mod syn_timer;
mod tlp;
mod transmit;
mod usage;
mod window;

pub use config::{Config, FastOpen, LossDetection};
pub use stats::Stats;
pub use syn_timer::SynTimer;

use congestion::sampling::{RateSample, Sampler};
use congestion::{Ack, Bytes, Connection, Controller, Duration, RttSample, Time};

use crate::burst::Burst;
use crate::scheduler::{Pacer, Pacing};
use crate::segment::{self, Body};
use delivery::Delivery;
use dup_threshold::DupThreshold;
use ecn::Ecn;
use handshake::Handshake;
use new_reno::NewReno;
use prr::Prr;
use rack::Rack;
use recovery::{Phase, Recovery};
use rto::Rto;
use rtt::Rtt;
use scoreboard::Scoreboard;
use stream::Stream;
use tlp::Tlp;
use usage::{CwndUsage, Limited};

pub use usage::Limits;
use window::{PeerWindow, Persist};

/// The sending half of a TCP connection: a byte stream in, bursts for the packet scheduler out, and a congestion
/// controller that sets the speed.
///
/// After every event, call [`Sender::poll_burst`] until it returns none, and then read [`Sender::next_timer`]. Times
/// passed to it must not decrease.
#[derive(Debug)]
pub struct Sender<C> {
    connection: u32,
    bursts_below: u32,
    /// Payload handed to the packet scheduler that has not left the host.
    below: Bytes,
    /// Whether that payload holds the next burst back.
    waits_for_departure: bool,
    /// Whether a loss was declared since the current ACK arrived.
    has_lost: bool,
    /// The bytes delivered by the current ACK; zero for a timer.
    newly_delivered: Bytes,
    config: Config,

    handshake: Handshake,
    /// Whether the first SYN may carry data.
    has_cookie: bool,
    /// The payload of the first SYN.
    syn_data: Bytes,
    stream: Stream,
    peer_window: PeerWindow,
    persist: Persist,
    /// TSval of the latest received segment.
    echo: Time,

    pacer: Pacer,
    /// The departure of the latest burst.
    last_burst: Time,
    /// The time at which the connection's own pacing allows the next burst, if one waits for that.
    pacing_deadline: Option<Time>,
    cwnd_usage: CwndUsage,
    /// Whether the window has held data back since the last ACK that delivered something.
    is_window_full: bool,
    limited: Limited,

    scoreboard: Scoreboard,
    rto: Rto,
    tlp: Tlp,
    rtt: Rtt,
    rack: Rack,
    recovery: Recovery,
    sampler: Sampler,
    controller: C,
    stats: Stats,

    dup_threshold: DupThreshold,
    new_reno: NewReno,
    prr: Prr,
    ecn: Ecn,
}

impl<C: Controller> Sender<C> {
    /// Creates a sender for connection `connection` of its host, to be opened at `now` or later. `make` creates the
    /// controller; `seed` seeds its randomness.
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
        let mut about = Connection::new(
            now,
            config.mss,
            config.mss * u64::from(config.initial_cwnd.max(1)),
        );
        about.seed = seed;
        about.is_paced = config.pacing == Pacing::Fq;
        about.has_selective_acks = config.has_selective_acks;
        let controller = make(about);
        // Such a controller negotiates both itself (Linux `TCP_CONG_NEEDS_ECN`, `TCP_CONG_NEEDS_ACCECN`).
        config.accurate_ecn |= controller.is_scalable();
        config.ecn |= config.accurate_ecn;
        Sender {
            connection,
            controller,
            sampler: Sampler::new(now),
            handshake: Handshake::Closed,
            has_cookie: false,
            syn_data: Bytes::ZERO,
            stream: Stream::new(config.send_buffer),
            peer_window: PeerWindow::default(),
            persist: Persist::default(),
            echo: Time::ZERO,
            scoreboard: Scoreboard::default(),
            rtt: Rtt::default(),
            rack: Rack::new(),
            tlp: Tlp::default(),
            dup_threshold: DupThreshold::default(),
            new_reno: NewReno::new(),
            rto: Rto::default(),
            recovery: Recovery::new(),
            prr: Prr::default(),
            ecn: Ecn::default(),
            newly_delivered: Bytes::ZERO,
            has_lost: false,
            pacer: Pacer::default(),
            last_burst: now,
            pacing_deadline: None,
            below: Bytes::ZERO,
            bursts_below: 0,
            waits_for_departure: false,
            cwnd_usage: CwndUsage::default(),
            is_window_full: false,
            limited: Limited::new(now),
            stats: Stats::default(),
            config,
        }
    }

    /// Starts the handshake; the SYN is the next burst.
    pub fn open(&mut self, now: Time) {
        self.handshake.open(now);
    }

    /// Lets the first data that are written start the handshake, because there is a cookie of the server: the SYN
    /// carries as many of them as fit (RFC 7413; Linux `TCP_FASTOPEN_CONNECT`).
    pub fn open_fast(&mut self) {
        self.has_cookie = true;
    }

    /// Opens the sender because the other end has opened the connection with data (RFC 7413), and offers `window`.
    /// Written data may be sent at once, before a round-trip time is known. Does nothing if this end has started a
    /// handshake of its own.
    pub fn accept(&mut self, window: u64) {
        if self.handshake.accept() {
            self.peer_window.update(0, window);
        }
    }

    /// Ends without a connection, as after SYNs that nobody answered.
    pub fn give_up(&mut self) {
        self.handshake.fail();
    }

    /// The bytes that the application may write: the send buffer less the unacknowledged bytes.
    pub fn room(&self) -> Bytes {
        self.stream.room()
    }

    /// Writes data of the application; returns how many bytes fit.
    pub fn write(&mut self, bytes: Bytes) -> Bytes {
        self.check_app_limited();
        self.stream.write(bytes)
    }

    /// Notes that no more data will be written.
    pub fn finish(&mut self) {
        self.stream.finish();
    }

    /// The next burst for the packet scheduler; `None` if there are no data to send, or if the congestion window, the
    /// receive window, small queues or pacing do not allow one.
    pub fn poll_burst(&mut self, now: Time) -> Option<Burst> {
        self.next_burst(now)
            .inspect_err(|limit| self.on_blocked(now, *limit))
            .ok()
    }

    /// Notes that a burst has left the host, or was refused by its scheduler. Returns whether the sender has waited
    /// for that, so that [`Sender::poll_burst`] may succeed (Linux `tcp_wfree`, `TSQ_THROTTLED`).
    pub fn on_departed(&mut self, burst: &Burst) -> bool {
        self.below -= Bytes::new(u64::from(burst.bytes));
        if burst.bytes > 0 {
            self.bursts_below = self.bursts_below.saturating_sub(1);
        }
        self.waits_for_departure
    }

    /// Handles a segment. Returns the controller's event, if the segment delivered data. A SYN's data are delivered
    /// with the handshake, for which the controller has a call of its own ([`Controller::on_handshake`]).
    pub fn on_segment(&mut self, now: Time, body: &Body) -> Option<Ack> {
        match body {
            Body::SynAck {
                sent,
                echo,
                next,
                window,
            } => {
                if !self.handshake.on_syn_ack(now) {
                    return None;
                }
                self.echo = *sent;
                let taken = self.on_syn_data(*next);
                self.peer_window.update(self.stream.una(), *window);
                let rtt = self.on_handshake(now, *echo);
                (!taken.is_zero()).then(|| self.handshake_delivered(now, taken, rtt))
            }
            Body::Ack(ack) => self.on_ack(now, ack),
            Body::Syn { .. } | Body::FastOpen(_) | Body::Data(_) => None,
        }
    }

    /// The earliest timer: of the SYN, loss detection, probes, retransmission, or the connection's own pacing.
    pub fn next_timer(&self) -> Option<Time> {
        let timers = [
            self.handshake.deadline(),
            self.rto.deadline(),
            self.tlp.deadline(),
            self.rack.deadline(),
            self.persist.deadline(),
            self.pacing_deadline,
        ];
        let earliest = timers
            .map(|timer| timer.unwrap_or(Time::MAX))
            .into_iter()
            .min();
        earliest.filter(|earliest| *earliest < Time::MAX)
    }

    /// Handles all timers that are due; harmless if none is.
    pub fn on_timer(&mut self, now: Time) {
        self.newly_delivered = Bytes::ZERO;
        self.handshake.on_timer(now, self.config.syn_timer);
        self.persist.on_timer(now, &self.rtt, &self.config);
        if self.rack.deadline().is_some_and(|deadline| deadline <= now) {
            self.detect_losses(now);
        }
        // A probe comes before the timeout, and postpones it.
        if self.tlp.on_timer(now) {
            self.rto.restart(now, &self.rtt, &self.config);
        }
        if self.rto.on_timer(now, &self.rtt, &self.config) {
            self.enter_loss(now);
        }
    }

    /// The congestion controller.
    pub fn controller(&self) -> &C {
        &self.controller
    }

    /// The counters.
    pub fn stats(&self) -> Stats {
        Stats {
            reordered: self.scoreboard.reordered(),
            ..self.stats
        }
    }

    /// The time in each limit until `now`, since the handshake.
    pub fn limits(&self, now: Time) -> Limits {
        self.limited.until(now)
    }

    /// Bytes in flight: handed to the scheduler, and neither known to have arrived nor declared lost.
    pub fn inflight(&self) -> Bytes {
        self.scoreboard.inflight() - self.config.mss * self.new_reno.arrived()
    }

    /// The number of sent packets that are not acknowledged cumulatively, lost or not.
    pub fn unacknowledged_packets(&self) -> u64 {
        let numbers = self.scoreboard.numbers();
        numbers.end - numbers.start
    }

    /// Payload handed to the packet scheduler that has not left the host.
    pub fn below_tcp(&self) -> Bytes {
        self.below
    }

    /// The smoothed round-trip time; `None` before the handshake.
    pub fn srtt(&self) -> Option<Duration> {
        self.rtt.smoothed()
    }

    /// Whether the handshake is complete.
    pub fn is_established(&self) -> bool {
        self.handshake.is_established()
    }

    /// The duration of the handshake; `None` before its end.
    pub fn connect_time(&self) -> Option<Duration> {
        match self.handshake {
            Handshake::Established { took } => Some(took),
            _ => None,
        }
    }

    /// Whether the connection has failed to open.
    pub fn has_failed(&self) -> bool {
        self.handshake == Handshake::Failed
    }

    /// Whether everything written is acknowledged, and no more will be written.
    pub fn is_done(&self) -> bool {
        self.stream.is_done()
    }

    /// Takes the first RTT measurement from the handshake: from the SYN that is answered, by its timestamp.
    fn on_handshake(&mut self, now: Time, echo: Time) -> Duration {
        let rtt = now.since(echo);
        self.rtt.update(now, rtt, rtt);
        self.controller.on_handshake(now, rtt);
        rtt
    }

    /// The controller's event for a SYN's acknowledged data. It has a round-trip time (Linux
    /// `tcp_rcv_synsent_state_process` hands it to `tcp_ack`), but no rate.
    fn handshake_delivered(&self, now: Time, taken: Bytes, rtt: Duration) -> Ack {
        let mut event = Ack::new(now, taken, taken, Bytes::ZERO, RateSample::default());
        event.rtt = Some(RttSample {
            rtt,
            is_ack_delayed: false,
        });
        event
    }

    /// Handles the acknowledgement of the SYN's data up to `next`; returns how many bytes that is. The rest is sent
    /// at once as if it were new, without a signal of congestion (Linux `tcp_rcv_fastopen_synack`,
    /// `tcp_non_congestion_loss_retransmit`).
    fn on_syn_data(&mut self, next: u64) -> Bytes {
        let taken = Bytes::new(next).min(self.syn_data);
        self.stream.send(taken.get());
        self.stream.acknowledge(taken.get());
        self.stats.delivered += taken;
        if taken < self.syn_data {
            self.stats.packets_retransmitted += 1;
            self.stats.retransmitted += self.syn_data - taken;
        }
        taken
    }

    /// Handles an ACK (Linux `tcp_ack`).
    fn on_ack(&mut self, now: Time, ack: &segment::Ack) -> Option<Ack> {
        // An ACK of data that were never sent is invalid (RFC 9293, "SEGMENT ARRIVES").
        if !self.is_established() || ack.next > self.stream.next() {
            return None;
        }
        self.echo = self.echo.max(ack.sent);
        let moves_window = self.peer_window.update(ack.next, ack.window);
        self.has_lost = false;
        let prior_inflight = self.inflight();

        let delivery = if self.config.has_selective_acks {
            self.deliver(now, ack)
        } else {
            self.deliver_in_order(now, ack, moves_window)
        };
        self.newly_delivered = delivery.bytes;
        let rtt = self.measure_rtt(now, &delivery);
        self.note_duplicate(ack);
        self.check_probe(now, &delivery);
        self.settle_recovery(now, &delivery);
        self.detect_losses(now);
        let ce_marked = self.answer_marks(now, ack);
        self.spread_reduction(&delivery);
        self.restart_timers(now, &delivery);
        if delivery.bytes.is_zero() {
            return None;
        }
        let rate = self.sampler.sample(now, self.rtt.min());
        let mut event = Ack::new(now, delivery.bytes, prior_inflight, self.inflight(), rate);
        event.rtt = rtt;
        event.ce_marked = ce_marked;
        event.is_cwnd_limited = self.cwnd_usage.is_limited();
        event.is_window_full = std::mem::take(&mut self.is_window_full);
        event.is_progress =
            delivery.is_progress || delivery.is_selective && self.scoreboard.reordered() > 0;
        event.next_departure = self.pacer.departure(now);
        self.controller.on_ack(&event);
        Some(event)
    }

    /// Measures the round-trip time. The smoothed one, for timers, is of the oldest delivered packet, so that it
    /// includes the receiver's ACK delay. The minimum, and the controller's sample, are of the newest. If only a
    /// retransmitted packet was delivered, the timestamp shows which transmission arrived (RFC 7323, "RTTM Rules");
    /// the controller gets no sample then.
    fn measure_rtt(&mut self, now: Time, delivery: &Delivery) -> Option<RttSample> {
        let sample = delivery.rtt(now, self.config.mss);
        let echoed = || delivery.is_progress.then(|| now.since(delivery.echo));
        if let Some(newest) = sample.map(|sample| sample.rtt).or_else(echoed) {
            let oldest = delivery.oldest.map_or(newest, |sent| now.since(sent));
            self.rtt.update(now, newest, oldest);
        }
        sample
    }

    /// Handles a D-SACK: the receiver has received data twice (RFC 2883).
    fn note_duplicate(&mut self, ack: &segment::Ack) {
        let (una, next) = (self.stream.una(), self.stream.next());
        let Some(range) = ack.sacks.dsack().filter(|range| range.end <= next) else {
            return;
        };
        let bytes = range.end.saturating_sub(range.start);
        let packets = bytes.div_ceil(self.config.mss.get().max(1));
        self.stats.duplicates += packets;
        if self.tlp.on_duplicate(range.end) {
            return;
        }
        // If there are more duplicates than retransmissions, the network duplicates packets (Linux `tcp_dsack_seen`).
        if self.stats.duplicates <= self.stats.packets_retransmitted {
            self.rack.reordering.on_duplicate(una, next);
            self.recovery.on_duplicate(range.end, packets);
        }
    }

    /// Checks whether the tail loss probe has repaired a loss.
    fn check_probe(&mut self, now: Time, delivery: &Delivery) {
        let is_news = delivery.is_progress || delivery.is_selective;
        if self.tlp.on_ack(self.stream.una(), is_news) {
            self.answer_repaired_loss(now);
        }
    }

    /// Answers ECN's echo; returns the newly marked bytes.
    fn answer_marks(&mut self, now: Time, ack: &segment::Ack) -> Bytes {
        if !self.config.ecn {
            return Bytes::ZERO;
        }
        let marked = self.ecn.on_ack(ack.ce_bytes);
        let is_marked = if self.config.accurate_ecn {
            !marked.is_zero()
        } else {
            ack.ecn_echo
        };
        if is_marked {
            self.enter_cwr(now);
        }
        self.sampler.on_ce_marked(marked);
        marked
    }

    /// Computes the bytes that may leave for this ACK while the window shrinks.
    fn spread_reduction(&mut self, delivery: &Delivery) {
        if self.recovery.phase() != Phase::Open && !delivery.bytes.is_zero() {
            let is_safe = delivery.is_progress && !self.has_lost;
            let (inflight, mss) = (self.inflight(), self.config.mss);
            self.prr.on_ack(delivery.bytes, inflight, is_safe, mss);
        }
    }

    /// Restarts the retransmission timeout on progress (RFC 6298, section 5.3). If everything delivered was sent
    /// before the first outstanding packet was last retransmitted, it is restarted too: the timeout of that packet
    /// counts from its retransmission (Linux `tcp_clean_rtx_queue`).
    fn restart_timers(&mut self, now: Time, delivery: &Delivery) {
        let Some(front) = self.scoreboard.front() else {
            self.rto.stop();
            self.rto.on_progress();
            self.tlp.disarm();
            return;
        };
        let is_retransmission_awaited = front.is_retransmitted && delivery.precedes(front);
        if delivery.is_progress {
            self.rto.on_progress();
        }
        if delivery.is_progress || is_retransmission_awaited {
            self.rto.restart(now, &self.rtt, &self.config);
        }
        if delivery.is_progress {
            self.arm_tail_loss_probe(now);
        }
    }
}
