//! The choice and time of the next burst: retransmissions before new data, as many as the congestion window, the
//! receive window, the small queue below and the pacer allow (Linux `tcp_write_xmit`, `tcp_xmit_retransmit_queue`).

use congestion::sampling::Outstanding;
use congestion::{Bytes, Controller, Duration, Sent, Time};

use super::Sender;
use super::handshake::Handshake;
use super::recovery::Phase;
use super::scoreboard::Number;
use super::usage::Limit;
use crate::burst::{Burst, Kind};
use crate::scheduler::{self, Pacing, SmallQueues};

/// The most bursts that wait below: half of the scheduler's limit for one connection (`fq`'s `flow_limit`). Linux
/// arrives at about that number, because it charges each burst for its buffers and not only its bytes (`truesize`).
/// This matters for retransmissions: thousands of holes are as many bursts of one packet.
const MAX_BURSTS_BELOW: u32 = 50;

/// The room reserved for the options of a SYN with payload, beside the timestamps, whatever their size (Linux
/// `tcp_send_syn_data`, `MAX_TCP_OPTION_SPACE`).
const FAST_OPEN_OPTIONS: Bytes = Bytes::new(40 - 12);

/// One part in this many of a window is worth sending although a larger burst might follow (Linux
/// `tcp_tso_win_divisor`).
const WINDOW_DIVISOR: u64 = 3;
/// The time since the last burst within which a sender counts as busy.
const BUSY_TIME: Duration = Duration::from_millis(1);
/// The time within which an expected ACK is worth waiting for.
const MAX_ACK_WAIT: Duration = Duration::from_millis(1);

/// The next data to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece {
    /// This many bytes that were never sent.
    New(Bytes),
    /// This many packets from the given one on, which are consecutive in the stream and all lost.
    Retransmit(Number, u64),
}

impl<C: Controller> Sender<C> {
    /// The next burst, or the limit that prevents one.
    pub(super) fn next_burst(&mut self, now: Time) -> Result<Burst, Limit> {
        self.pacing_deadline = None;
        self.waits_for_departure = false;
        let is_first = self.handshake == Handshake::Closed;
        let is_fast = self.has_cookie && is_first && self.stream.unsent() > 0;
        if is_fast {
            self.handshake.open(now);
        }
        if self
            .handshake
            .send(now, self.config.syn_timer, self.config.max_rto)
        {
            return Ok(self.syn(now, is_fast));
        }
        if !self.handshake.is_established() {
            return Err(self.limit_of_opening());
        }
        if self.persist.take_due() {
            self.stats.window_probes += 1;
            return Ok(self.burst(Kind::Data, self.stream.una(), 0, now));
        }
        if let Some(burst) = self.tail_loss_probe(now) {
            return Ok(burst);
        }
        let piece = self.next_piece_after_idle(now).inspect_err(|limit| {
            self.is_window_full |= *limit == Limit::CongestionWindow && !self.sendable().is_zero();
        })?;
        self.waits_for_departure = self.is_small_queue_full(piece);
        if self.waits_for_departure || !self.is_pacer_ready(now) {
            return Err(Limit::Pacing);
        }
        Ok(match piece {
            Piece::New(bytes) => self.send_new(now, bytes),
            Piece::Retransmit(first, count) => self.retransmit(now, first, count),
        })
    }

    /// Notes that `limit` prevents the sender from sending.
    pub(super) fn on_blocked(&mut self, now: Time, limit: Limit) {
        self.limited.set(now, limit);
        if !self.handshake.is_established() {
            return;
        }
        if limit == Limit::ReceiveWindow && self.scoreboard.is_empty() {
            self.persist.arm(now, &self.rtt, &self.config);
        } else {
            self.persist.stop();
        }
        self.check_app_limited();
        let (inflight, cwnd, mss) = (self.inflight(), self.controller.cwnd(), self.config.mss);
        // A sender that waits only for its pacer, and would otherwise fill its window, counts as limited by the
        // window (RFC 9002, "Underutilizing the Congestion Window").
        let is_limited = inflight + self.sendable() + mss > cwnd;
        let (una, next) = (self.stream.una(), self.stream.next());
        self.cwnd_usage.note(is_limited, una, next);
    }

    /// The limit of a sender that waits for the end of its handshake. Data in its SYN are outstanding from then on,
    /// so it is busy (Linux `tcp_send_syn_data` starts `TCP_CHRONO_BUSY`). Data that did not fit count as held back
    /// by congestion control, as with Linux, which reports no other limit in that time.
    fn limit_of_opening(&self) -> Limit {
        let brought = self.syn_data.get();
        match () {
            () if brought == 0 || self.has_failed() => Limit::Closed,
            () if self.stream.unsent() > brought => Limit::CongestionWindow,
            () => Limit::Application,
        }
    }

    /// Marks the sender as application-limited if it has neither new nor lost data to send, its window has room, and
    /// its last data have left the host (Linux `tcp_rate_check_app_limited`). Call it also before the application
    /// writes, because nothing calls it when the last burst departs.
    pub(super) fn check_app_limited(&mut self) {
        let inflight = self.inflight();
        let is_drained = self.below.is_zero() && self.scoreboard.lost().is_zero();
        let has_run_out = self.handshake.is_established() && self.stream.unsent() == 0;
        if has_run_out && is_drained && inflight < self.controller.cwnd() {
            self.sampler.mark_app_limited(inflight);
        }
    }

    /// The bytes that could be sent if only the application and the receive window were limits.
    fn sendable(&self) -> Bytes {
        self.scoreboard.lost() + self.new_data()
    }

    /// The bytes that were never sent and fit the receive window.
    fn new_data(&self) -> Bytes {
        let window = self.peer_window.end().saturating_sub(self.stream.next());
        Bytes::new(self.stream.unsent().min(window))
    }

    /// Calls [`Sender::next_piece`], after notifying the controller if sending restarts from idle.
    fn next_piece_after_idle(&mut self, now: Time) -> Result<Piece, Limit> {
        let may_be_idle = self.scoreboard.is_empty() && self.sampler.is_app_limited();
        if may_be_idle && self.next_piece(now).is_ok() {
            self.controller.on_idle_restart(now);
        }
        self.next_piece(now)
    }

    fn next_piece(&self, now: Time) -> Result<Piece, Limit> {
        let space = self.space();
        let quantum = scheduler::autosize(
            self.controller.send_quantum(),
            self.config.mss,
            self.config.max_burst,
        );
        let must_wait = self.recovery.is_new_data_first() && !self.new_data().is_zero();
        match self.scoreboard.next_lost() {
            Some((number, packet)) if !must_wait => {
                let first = packet.state.bytes;
                let forced = if self.recovery.is_retransmission_forced() {
                    first
                } else {
                    Bytes::ZERO
                };
                let bytes = space.max(forced).min(quantum.max(first));
                match self.scoreboard.lost_run(number, bytes, self.config.mss) {
                    0 => Err(Limit::CongestionWindow),
                    count => Ok(Piece::Retransmit(number, count)),
                }
            }
            _ => self.next_new(now, space, quantum).map(Piece::New),
        }
    }

    /// The next new data: full packets, except at the end of the written data. Data are not held back for more to
    /// come (no Nagle's algorithm).
    fn next_new(&self, now: Time, space: Bytes, quantum: Bytes) -> Result<Bytes, Limit> {
        let unsent = Bytes::new(self.stream.unsent());
        let fitting = self.new_data();
        let packet = unsent.min(self.config.mss);
        if unsent.is_zero() {
            return Err(self.limit_without_data(space));
        }
        // Silly window avoidance (RFC 9293, section 3.8.6.2.1): less than a packet is sent only if nothing else will
        // widen the window. If both windows are full, the congestion window is the limit (Linux `tcp_write_xmit`
        // checks it first).
        if fitting < packet && (fitting.is_zero() || !self.scoreboard.is_empty()) {
            return Err(if packet > space {
                Limit::CongestionWindow
            } else {
                Limit::ReceiveWindow
            });
        }
        if fitting.min(packet) > space {
            return Err(Limit::CongestionWindow);
        }
        let bytes = fitting.min(quantum).min(space);
        if space < fitting.min(quantum) && self.may_wait_for_more(now, space) {
            return Err(Limit::CongestionWindow);
        }
        let whole = self.config.mss * bytes.get().checked_div(self.config.mss.get()).unwrap_or(0);
        Ok(if bytes == unsent || whole.is_zero() {
            bytes
        } else {
            whole
        })
    }

    /// The limit if there are no data to send: the congestion window if it is full as well, else the application or
    /// the send buffer (Linux `tcp_cwnd_validate`, where it starts `TCP_CHRONO_SNDBUF_LIMITED`).
    fn limit_without_data(&self, space: Bytes) -> Limit {
        match () {
            () if self.scoreboard.is_empty() => Limit::Idle,
            () if !self.stream.is_blocked() => Limit::Application,
            () if space < self.config.mss => Limit::CongestionWindow,
            () => Limit::SendBuffer,
        }
    }

    /// Whether it is better to wait for a whole burst than to send `space` bytes: they are less than a third of the
    /// window, the sender is busy, and the next ACK is due soon (Linux `tcp_tso_should_defer`). Without pacing, each
    /// ACK would otherwise release the two packets that it acknowledges.
    fn may_wait_for_more(&self, now: Time, space: Bytes) -> bool {
        let Some(oldest) = self.scoreboard.front() else {
            return false;
        };
        let srtt = self.rtt.smoothed().unwrap_or_default();
        let soon = now + (srtt / 2).min(MAX_ACK_WAIT);
        let window = self.controller.cwnd().min(self.peer_window.size());
        let last = self.last_burst.max(self.pacer.departure(Time::ZERO));
        !self.recovery.is_repairing()
            && last + BUSY_TIME >= now
            && space < Bytes::new(window.get() / WINDOW_DIVISOR)
            && oldest.state.sent_time + srtt <= soon
    }

    /// The room in the congestion window. With nothing in flight one packet always fits; otherwise nothing would ever
    /// be sent.
    fn space(&self) -> Bytes {
        let inflight = self.inflight();
        let cwnd = self.reduced_cwnd().unwrap_or(self.controller.cwnd());
        let space = cwnd - inflight;
        if inflight.is_zero() {
            space.max(self.config.mss)
        } else {
            space
        }
    }

    /// The window while PRR shrinks it, which is only during a recovery or the answer to a mark.
    fn reduced_cwnd(&self) -> Option<Bytes> {
        match self.recovery.phase() {
            Phase::Open | Phase::Loss => None,
            Phase::Cwr | Phase::Recovery => self.prr.cwnd(),
        }
    }

    /// Whether enough of this connection's bytes wait below (TCP small queues, Linux `tcp_small_queue_check`). With
    /// nothing else outstanding, there is always room.
    fn is_small_queue_full(&self, piece: Piece) -> bool {
        let limit = self.small_queue_limit(matches!(piece, Piece::Retransmit(..)));
        let is_bounded = self.config.small_queues != SmallQueues::Off;
        let has_much = is_bounded && self.below > limit;
        let is_full = has_much || self.bursts_below >= MAX_BURSTS_BELOW;
        is_full && !self.scoreboard.is_empty()
    }

    /// The bytes of this connection that may wait below TCP; while more wait, the next burst has to. The limit is
    /// twice as high for a retransmission.
    pub fn small_queue_limit(&self, is_retransmission: bool) -> Bytes {
        let quantum = self.controller.send_quantum().min(self.config.max_burst);
        let rate = self.controller.pacing_rate();
        let limit = self.config.small_queues.limit(rate, quantum);
        if is_retransmission { limit * 2 } else { limit }
    }

    /// The place where this connection's bursts are spread.
    fn pacing(&self) -> Pacing {
        match self.config.pacing {
            Pacing::PerConnection if !self.controller.needs_pacing() => Pacing::None,
            pacing => pacing,
        }
    }

    /// Whether a connection that paces itself may make a burst now; if not, sets the timer.
    fn is_pacer_ready(&mut self, now: Time) -> bool {
        let departure = self.pacer.departure(now);
        if self.pacing() != Pacing::PerConnection || departure <= now {
            return true;
        }
        self.pacing_deadline = Some(departure);
        false
    }

    /// Sends the next bytes of the stream.
    fn send_new(&mut self, now: Time, bytes: Bytes) -> Burst {
        let (seq, mss) = (self.stream.next(), self.config.mss);
        let departure = self.departure(now, bytes);
        let mut burst = self.burst(Kind::Data, seq, bytes.get(), departure);
        burst.cwr = self.config.ecn && !self.config.accurate_ecn && self.ecn.take_cwr();
        let mut rest = bytes;
        while !rest.is_zero() {
            let bytes = rest.min(mss);
            rest -= bytes;
            let state =
                self.sampler
                    .on_packet_sent(departure, bytes, self.outstanding(Bytes::ZERO));
            self.scoreboard.push(self.stream.next(), state);
            self.stream.send(bytes.get());
            self.on_packet_sent(now, bytes);
        }
        self.on_burst_sent(departure, bytes);
        self.arm_tail_loss_probe(departure);
        burst
    }

    /// Retransmits `count` packets from `first` on.
    fn retransmit(&mut self, now: Time, first: Number, count: u64) -> Burst {
        let numbers = first..first.saturating_add(count);
        let packets = numbers
            .clone()
            .filter_map(|number| self.scoreboard.get(number));
        let bytes: Bytes = packets.map(|packet| packet.state.bytes).sum();
        let seq = self
            .scoreboard
            .get(first)
            .map_or(self.stream.una(), |packet| packet.start);
        let departure = self.departure(now, bytes);
        let mut burst = self.burst(Kind::Data, seq, bytes.get(), departure);
        burst.is_retransmission = true;
        for number in numbers {
            self.retransmit_packet(now, departure, number);
        }
        self.on_burst_sent(departure, bytes);
        // The answer to the first outstanding packet takes a round trip from now (RFC 6675, "Managing the RTO Timer";
        // Linux `tcp_xmit_retransmit_queue`).
        if first == self.scoreboard.numbers().start {
            self.rto.restart(departure, &self.rtt, &self.config);
        }
        burst
    }

    fn retransmit_packet(&mut self, now: Time, departure: Time, number: Number) {
        let Some(packet) = self.scoreboard.get(number) else {
            return;
        };
        let bytes = packet.state.bytes;
        // A probe retransmits a packet that is in flight: the copy replaces the original.
        let in_flight = self.scoreboard.inflight_of(number);
        let state = self
            .sampler
            .on_packet_sent(departure, bytes, self.outstanding(in_flight));
        self.scoreboard.retransmit(number, state);
        self.recovery.on_retransmission(departure);
        self.stats.packets_retransmitted += 1;
        self.stats.retransmitted += bytes;
        self.on_packet_sent(now, bytes);
    }

    /// The outstanding data beside a packet that is about to leave, of which `own` bytes count as in flight already.
    fn outstanding(&self, own: Bytes) -> Outstanding {
        if self.scoreboard.is_empty() {
            Outstanding::Nothing
        } else {
            Outstanding::Inflight(self.inflight() - own)
        }
    }

    fn on_packet_sent(&mut self, now: Time, bytes: Bytes) {
        self.stats.packets_sent += 1;
        self.stats.sent += bytes;
        self.controller
            .on_packet_sent(&Sent::new(now, bytes, self.inflight()));
    }

    fn on_burst_sent(&mut self, departure: Time, bytes: Bytes) {
        self.below += bytes;
        self.bursts_below += 1;
        self.last_burst = departure;
        if self.recovery.phase() != Phase::Open {
            self.prr.on_sent(bytes);
        }
        if self.rto.deadline().is_none() {
            self.rto.restart(departure, &self.rtt, &self.config);
        }
    }

    /// The departure of a burst that is made now.
    fn departure(&mut self, now: Time, bytes: Bytes) -> Time {
        let packets = bytes.get().div_ceil(self.config.mss.get().max(1));
        match self.pacing() {
            Pacing::None => now,
            Pacing::PerConnection | Pacing::Fq => self.pacer.on_burst(
                now,
                bytes,
                u32::try_from(packets).unwrap_or(u32::MAX),
                self.controller.pacing_rate(),
            ),
        }
    }

    /// A SYN, with one packet of the waiting data if `is_fast`. Only the first SYN carries data: retransmitted ones
    /// do not, because the data may have caused the loss (RFC 7413, section 4.2.1; Linux `tcp_retransmit_timer`).
    fn syn(&mut self, now: Time, is_fast: bool) -> Burst {
        if is_fast {
            let most = self.config.mss - FAST_OPEN_OPTIONS;
            self.syn_data = Bytes::new(self.stream.unsent()).min(most);
        }
        let bytes = if is_fast { self.syn_data } else { Bytes::ZERO };
        if !bytes.is_zero() {
            self.stats.packets_sent += 1;
            self.stats.sent += bytes;
            self.below += bytes;
            self.bursts_below += 1;
        }
        self.burst(Kind::Syn, 0, bytes.get(), now)
    }

    fn burst(&self, kind: Kind, seq: u64, bytes: u64, departure: Time) -> Burst {
        Burst {
            connection: self.connection,
            kind,
            seq,
            bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
            mss: u32::try_from(self.config.mss.get()).unwrap_or(u32::MAX),
            departure,
            echo: self.echo,
            is_retransmission: false,
            cwr: false,
            ends_write: seq.saturating_add(bytes) == self.stream.written(),
            ack_request: self.ack_request(),
        }
    }

    /// The tail loss probe, if it is due: new data if there are any, else the last packet again, in both cases
    /// regardless of the congestion window (RFC 8985, `TLP_send_probe`).
    fn tail_loss_probe(&mut self, now: Time) -> Option<Burst> {
        if !self.tlp.take_due() || self.scoreboard.is_empty() {
            return None;
        }
        let new = self.new_data().min(self.config.mss);
        let is_retransmission = new.is_zero();
        let burst = if is_retransmission {
            let number = self.scoreboard.last_in_flight()?;
            self.retransmit(now, number, 1)
        } else {
            self.send_new(now, new)
        };
        self.stats.tail_loss_probes += 1;
        self.tlp.on_probe(self.stream.next(), is_retransmission);
        self.tlp.disarm();
        self.rto.restart(burst.departure, &self.rtt, &self.config);
        Some(burst)
    }

    /// Schedules a tail loss probe after silence since `from`, unless there are signs of loss (RFC 8985, "Scheduling
    /// a Loss Probe").
    pub(super) fn arm_tail_loss_probe(&mut self, from: Time) {
        let is_calm = matches!(self.recovery.phase(), Phase::Open | Phase::Cwr)
            && self.scoreboard.sacked_packets() == 0
            && !self.scoreboard.is_empty();
        if self.is_timed() && is_calm {
            let numbers = self.scoreboard.numbers();
            let is_single = numbers.end - numbers.start == 1;
            let limit = self.rto.deadline();
            self.tlp.arm(from, self.rtt.smoothed(), is_single, limit);
        }
    }
}
