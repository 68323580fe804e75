//! What leaves, and when: repetitions before new data, as much as the congestion window, the receive window, the small
//! queue below and the pacer let through (Linux `tcp_write_xmit`, `tcp_xmit_retransmit_queue`).

use congestion::sampling::Outstanding;
use congestion::{Bytes, Controller, Duration, Sent, Time};

use super::Sender;
use super::config::LossDetection;
use super::handshake::Handshake;
use super::recovery::Phase;
use super::scoreboard::Number;
use super::usage::Limit;
use crate::burst::{Burst, Kind};
use crate::scheduler::{self, Pacing};

/// The most bursts that wait below: half of what the scheduler takes of one connection before it drops (`fq`'s
/// `flow_limit`). Linux gets to about that by charging each burst for its buffers, not only its bytes (`truesize`), which
/// matters for repetitions: thousands of holes are as many bursts of one packet.
const MAX_BURSTS_BELOW: u32 = 50;

/// What the options of a SYN may take of its payload beside the timestamps, whatever they do take (Linux `tcp_send_syn_data`,
/// `MAX_TCP_OPTION_SPACE`).
const FAST_OPEN_OPTIONS: Bytes = Bytes::new(40 - 12);

/// Part of a window that is worth sending although a larger burst might follow (Linux `tcp_tso_win_divisor`).
const WINDOW_SHARE: u64 = 3;
/// A sender that has sent within this time is busy.
const RECENTLY: Duration = Duration::from_millis(1);
/// An ACK within this time is worth waiting for.
const SOON: Duration = Duration::from_millis(1);

/// What is to leave next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece {
    /// So many bytes that were never sent.
    New(Bytes),
    /// So many packets from this on, which follow each other in the stream and are all lost.
    Repeat(Number, u64),
}

impl<C: Controller> Sender<C> {
    /// The next burst, or why there is none.
    pub(super) fn next_burst(&mut self, now: Time) -> Result<Burst, Limit> {
        self.pacing_deadline = None;
        self.waits_for_departure = false;
        let is_first = self.handshake == Handshake::Closed;
        let is_fast = self.has_cookie && is_first && self.stream.unsent() > 0;
        if is_fast {
            self.handshake.open(now);
        }
        if self.handshake.send(now, self.config.max_rto) {
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
            Piece::Repeat(first, count) => self.send_again(now, first, count),
        })
    }

    /// The sender has nothing more to send for now, because of `limit`.
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
        // A sender that only waits for its pacer, and would else fill its window, uses it (RFC 9002, "Underutilizing the
        // Congestion Window").
        let is_limited = inflight + self.sendable() + mss > cwnd;
        let (una, next) = (self.stream.una(), self.stream.next());
        self.cwnd_usage.note(is_limited, una, next);
    }

    /// What limits a sender that waits for the end of its handshake. Data that its SYN brought are outstanding from then on, and
    /// it is busy (Linux `tcp_send_syn_data` starts `TCP_CHRONO_BUSY`). What did not fit counts as held back by congestion
    /// control, as with Linux, which tells nothing else of such a time.
    fn limit_of_opening(&self) -> Limit {
        let brought = self.syn_data.get();
        match () {
            () if brought == 0 || self.has_failed() => Limit::Closed,
            () if self.stream.unsent() > brought => Limit::CongestionWindow,
            () => Limit::Application,
        }
    }

    /// If there is nothing to send, neither new nor lost, though the window would let it, and the last of it has left the
    /// host: what is sent next was late (Linux `tcp_rate_check_app_limited`). To be asked before the application writes,
    /// too, as nobody asks when the last burst departs.
    pub(super) fn check_app_limited(&mut self) {
        let inflight = self.inflight();
        let is_drained = self.below.is_zero() && self.scoreboard.lost().is_zero();
        let has_run_out = self.handshake.is_established() && self.stream.unsent() == 0;
        if has_run_out && is_drained && inflight < self.controller.cwnd() {
            self.sampler.mark_app_limited(inflight);
        }
    }

    /// What could be sent if nothing but application and receive window were the limit.
    fn sendable(&self) -> Bytes {
        self.scoreboard.lost() + self.new_data()
    }

    /// What was never sent and fits the receive window.
    fn new_data(&self) -> Bytes {
        let window = self.peer_window.end().saturating_sub(self.stream.next());
        Bytes::new(self.stream.unsent().min(window))
    }

    /// [`Sender::next_piece`], when the controller knows whether sending begins again from idle.
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
                let forced = if self.recovery.is_repeat_forced() {
                    first
                } else {
                    Bytes::ZERO
                };
                let bytes = space.max(forced).min(quantum.max(first));
                match self.scoreboard.lost_run(number, bytes, self.config.mss) {
                    0 => Err(Limit::CongestionWindow),
                    count => Ok(Piece::Repeat(number, count)),
                }
            }
            _ => self.next_new(now, space, quantum).map(Piece::New),
        }
    }

    /// Full packets, but for the end of what was written: data is not held back for more to come (no Nagle's algorithm).
    fn next_new(&self, now: Time, space: Bytes, quantum: Bytes) -> Result<Bytes, Limit> {
        let unsent = Bytes::new(self.stream.unsent());
        let fitting = self.new_data();
        let packet = unsent.min(self.config.mss);
        if unsent.is_zero() {
            return Err(self.starved(space));
        }
        // The silly window (RFC 9293, section 3.8.6.2.1): less than a packet only if nothing else will widen it.
        // Where both windows are full, it is the congestion window's time (Linux `tcp_write_xmit` asks for that first).
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

    /// What the limit is if there is nothing to send: the congestion window if it is full as well, else who does not provide more
    /// (Linux `tcp_cwnd_validate`, where it starts `TCP_CHRONO_SNDBUF_LIMITED`).
    fn starved(&self, space: Bytes) -> Limit {
        match () {
            () if self.scoreboard.is_empty() => Limit::Idle,
            () if !self.stream.is_blocked() => Limit::Application,
            () if space < self.config.mss => Limit::CongestionWindow,
            () => Limit::SendBuffer,
        }
    }

    /// Whether it is better to let the window open for a whole burst than to send the `space` that it leaves: it is less
    /// than a third of the window, the sender is busy, and the next ACK is due soon (Linux `tcp_tso_should_defer`). Without
    /// pacing, each ACK would else release the two packets that it acknowledges.
    fn may_wait_for_more(&self, now: Time, space: Bytes) -> bool {
        let Some(oldest) = self.scoreboard.front() else {
            return false;
        };
        let srtt = self.rtt.smoothed().unwrap_or_default();
        let soon = now + (srtt / 2).min(SOON);
        let window = self.controller.cwnd().min(self.peer_window.size());
        let last = self.last_burst.max(self.pacer.departure(Time::ZERO));
        !self.recovery.is_repairing()
            && last + RECENTLY >= now
            && space < Bytes::new(window.get() / WINDOW_SHARE)
            && oldest.state.sent_time + srtt <= soon
    }

    /// What the congestion window leaves. With nothing in flight one packet always fits, as nothing else would go on.
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

    /// The window while it shrinks, which is only for as long as something is repaired or answered.
    fn reduced_cwnd(&self) -> Option<Bytes> {
        match self.recovery.phase() {
            Phase::Open | Phase::Loss => None,
            Phase::Cwr | Phase::Recovery => self.prr.cwnd(),
        }
    }

    /// TCP small queues (Linux `tcp_small_queue_check`): enough of this connection waits below. What nothing else of the
    /// connection is outstanding beside always has a place.
    fn is_small_queue_full(&self, piece: Piece) -> bool {
        let limit = self.small_queue_limit(matches!(piece, Piece::Repeat(..)));
        let is_full = self.below > limit || self.bursts_below >= MAX_BURSTS_BELOW;
        is_full && !self.scoreboard.is_empty()
    }

    /// How much of this connection may wait below TCP; when more does, the next burst waits until one has departed. A
    /// repetition may find twice as much there.
    pub fn small_queue_limit(&self, is_retransmission: bool) -> Bytes {
        let quantum = self.controller.send_quantum().min(self.config.max_burst);
        let rate = self.controller.pacing_rate();
        let limit = scheduler::small_queue_limit(self.pacing(), rate, quantum);
        if is_retransmission { limit * 2 } else { limit }
    }

    /// Who spreads this connection's bursts.
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

    /// Sends what follows in the stream.
    fn send_new(&mut self, now: Time, bytes: Bytes) -> Burst {
        let (seq, mss) = (self.stream.next(), self.config.mss);
        let departure = self.departure(now, bytes);
        let mut burst = self.burst(Kind::Data, seq, bytes.get(), departure);
        burst.cwr = self.config.ecn && self.ecn.take_cwr();
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

    /// Sends again `count` packets from `first` on.
    fn send_again(&mut self, now: Time, first: Number, count: u64) -> Burst {
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
            self.repeat(now, departure, number);
        }
        self.on_burst_sent(departure, bytes);
        // The answer to what is first outstanding takes a round trip from now (RFC 6675, "Managing the RTO Timer"; Linux
        // `tcp_xmit_retransmit_queue`).
        if first == self.scoreboard.numbers().start {
            self.rto.restart(departure, &self.rtt, &self.config);
        }
        burst
    }

    fn repeat(&mut self, now: Time, departure: Time, number: Number) {
        let Some(packet) = self.scoreboard.get(number) else {
            return;
        };
        let bytes = packet.state.bytes;
        // A probe repeats what is in flight: the copy takes the original's place.
        let in_flight = self.scoreboard.inflight_of(number);
        let state = self
            .sampler
            .on_packet_sent(departure, bytes, self.outstanding(in_flight));
        self.scoreboard.retransmit(number, state);
        self.recovery.on_repeat(departure);
        self.stats.packets_retransmitted += 1;
        self.stats.retransmitted += bytes;
        self.on_packet_sent(now, bytes);
    }

    /// What is out beside a packet that is about to leave, of which `own` bytes count as in flight already.
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
            .on_packet_sent(&Sent::new(now, bytes, self.scoreboard.inflight()));
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

    /// When a burst that is made now is to leave.
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

    /// A SYN, with data if `is_fast`: one packet of what waits. Only the first SYN is: one that repeats it goes alone, as what
    /// lost it may have been its data (RFC 7413, section 4.2.1; Linux `tcp_retransmit_timer`).
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
        }
    }

    /// The probe, if it is due: new data if there is any, else the last packet once more; in both cases whatever the
    /// congestion window (RFC 8985, `TLP_send_probe`).
    fn tail_loss_probe(&mut self, now: Time) -> Option<Burst> {
        if !self.tlp.take_due() || self.scoreboard.is_empty() {
            return None;
        }
        let new = self.new_data().min(self.config.mss);
        let is_repeat = new.is_zero();
        let burst = if is_repeat {
            let number = self.scoreboard.last_in_flight()?;
            self.send_again(now, number, 1)
        } else {
            self.send_new(now, new)
        };
        self.stats.tail_loss_probes += 1;
        self.tlp.on_probe(self.stream.next(), is_repeat);
        self.tlp.disarm();
        self.rto.restart(burst.departure, &self.rtt, &self.config);
        Some(burst)
    }

    /// Lets a probe follow on silence after `from`, while nothing else is known to be wrong (RFC 8985, "Scheduling a Loss
    /// Probe").
    pub(super) fn arm_tail_loss_probe(&mut self, from: Time) {
        let is_calm = matches!(self.recovery.phase(), Phase::Open | Phase::Cwr)
            && self.scoreboard.sacked_packets() == 0
            && !self.scoreboard.is_empty();
        if self.config.loss_detection == LossDetection::Rack && is_calm {
            let numbers = self.scoreboard.numbers();
            let is_single = numbers.end - numbers.start == 1;
            let limit = self.rto.deadline();
            self.tlp.arm(from, self.rtt.smoothed(), is_single, limit);
        }
    }
}
