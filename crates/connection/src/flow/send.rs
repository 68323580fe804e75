//! Departures of data.

use std::ops::Range;

use capture::packet::{Flags, Segment};
use congestion::sampling::Outstanding;
use congestion::{Bytes, Duration, PacketState, Time};

use super::{FARTHEST, Flow, Vantage};
use crate::ENOUGH;
use crate::cues::{Built, Cue};
use crate::echoes::Passed;
use crate::limit::Limit;
use crate::limits::Departure;
use crate::losses::{Loss, micros};
use crate::memory::Room;
use crate::numbers::{Gap, LATE};
use crate::repeats::Again;
use crate::scoreboard::{self, Entry, Mark, Status};

/// The most pieces that one retransmission is split into. The pieces beyond count as lost.
const MOST_PIECES: usize = 256;

/// The most pieces that are searched for holes whose retransmissions were lost.
const MOST_HOLES: usize = 4096;

/// Packets that pass within so many round trips of a hole may follow other losses.
const SOON: u64 = 3;

/// A retransmission after this long has another timestamp (Linux counts milliseconds).
const TICKS: Duration = Duration::from_millis(2);

/// The least time before a sender retransmits without an acknowledgement (Linux `TCP_RTO_MIN`).
const MIN_RTO: Duration = Duration::from_millis(200);

impl Flow {
    /// Takes in a segment with data. Returns whether more is known of the round-trip time to the sender.
    pub fn on_data(
        &mut self,
        at: Time,
        segment: &Segment,
        ip: Ip,
        vantage: Vantage,
        room: Room,
    ) -> bool {
        let Ip { headers, id } = ip;
        if !self.positions.is_known() {
            self.base = self.positions.of(segment.seq);
            (self.una, self.end) = (self.base, self.base);
        }
        let first = segment
            .seq
            .wrapping_add(segment.flags.has(Flags::SYN).into());
        if self.positions.peek(first).abs_diff(self.end) > FARTHEST
            && !self.leap(at, first, segment.len)
        {
            return false;
        }
        let seq = self.positions.peek(first);
        let len = u64::from(segment.len);
        let end = seq + len;
        // If only a SYN told where data begin, the SYN may come from elsewhere.
        if self.has_start && self.una == self.base && end < self.base {
            if !self.follows_stray(first, segment.len) {
                return false;
            }
            self.begin_at(at, seq);
        }
        if seq > self.end && self.is_beyond_window(end) && !self.follows_stray(first, segment.len) {
            return false;
        }
        let sent_before = self.end;
        if end > sent_before {
            self.positions.of(segment.seq);
            self.full.see(len, segment.flags.has(Flags::PSH));
        }
        if len == 1 && self.is_probe(seq) {
            self.on_no_data(id);
            self.probed = Some(end);
            return false;
        }
        let mark = Mark {
            id,
            is_numbered: id != 0 || self.has_ids,
            value: segment.timestamps.map(|(value, _)| value),
        };
        if end <= sent_before && self.is_copy(at, seq, mark) {
            self.totals.copies += self.full.packets(len);
            self.scoreboard.expect_copies();
            return false;
        }
        let gap = self.gap(at, seq > sent_before, vantage);
        self.has_missed = false;
        self.numbers.on_segment(id, self.full.packets(len), gap);
        let has_moved = self.hear_echo(at, segment);
        self.totals.packets += self.full.packets(len);
        self.totals.bytes += len;
        // Segmentation offload: the headers are captured once, but each packet on the path has them.
        self.totals.ip_bytes += len + headers * self.full.packets(len);
        if seq < sent_before {
            self.repeat(at, seq..end.min(sent_before), mark, vantage);
        }
        if end > sent_before {
            self.send(at, seq, end, segment, mark, vantage, room);
        }
        self.last_sent = at;
        has_moved
    }

    /// Data far beyond all data before were captured. If further data follow them directly, the capture has a hole before
    /// them. What was in the hole is unknown, and so is how often sequence numbers wrapped. Returns whether there is such a
    /// hole.
    fn leap(&mut self, at: Time, first: u32, len: u32) -> bool {
        if !self.follows_stray(first, len) {
            return false;
        }
        let start = self.positions.beyond(self.end, first);
        self.begin_at(at, start);
        true
    }

    /// Data go on at `start`. What was outstanding is forgotten.
    fn begin_at(&mut self, at: Time, start: u64) {
        self.base = start - (self.una - self.base);
        (self.una, self.end) = (start, start);
        self.rest();
        self.repeats_out = 0;
        (self.known, self.edge, self.closed_at, self.probed) = (None, None, None, None);
        self.numbers.skip();
        self.limits.skip(at);
    }

    /// What a gap in the numbers is. If it `follows_hole`, or data are still missing, it is a loss. If the tail of all
    /// data was lost before the capture, its retransmission follows the data before without a hole, after a time without
    /// data or soon after other losses. Data that were acknowledged and not captured have numbers, too.
    fn gap(&mut self, at: Time, follows_hole: bool, vantage: Vantage) -> Gap {
        let is_missing = follows_hole || self.highest() > self.una;
        if is_missing {
            self.last_missing = Some(at);
        }
        let rtt = self.model.rtt_mean().or(self.far).unwrap_or_default();
        let is_soon = |last: Time| at.since(last) <= rtt * SOON;
        let is_silent = at.since(self.last_sent) >= rtt;
        let may_follow = is_silent || self.last_missing.is_some_and(is_soon);
        match vantage {
            _ if is_missing || self.has_missed => Gap::Loss,
            Vantage::Elsewhere if may_follow => Gap::Tail,
            _ => Gap::Stray,
        }
    }

    /// Whether data follow a segment from far away directly. If not, they are themselves from far away.
    fn follows_stray(&mut self, first: u32, len: u32) -> bool {
        self.stray.replace(first.wrapping_add(len)) == Some(first)
    }

    /// Whether data end behind the receive window. Their sender may know of more room, if its acknowledgement was not
    /// captured.
    fn is_beyond_window(&self, end: u64) -> bool {
        self.is_edge_sure && self.edge.is_some_and(|edge| end > edge)
    }

    /// Whether a sequence number is within so many bytes of what is outstanding. Without acknowledgements, nothing tells
    /// what is.
    pub fn is_near(&self, number: u32, bytes: u64) -> bool {
        let position = self.positions.peek(number);
        let first = if self.una > self.base {
            self.una
        } else {
            self.end
        };
        position + bytes > first && position < self.end + bytes
    }

    /// Whether its sender has closed with a FIN that has this sequence number, because no data are behind it. The receiver
    /// may have acknowledged it before.
    pub fn ends_at(&self, number: u32) -> bool {
        self.positions.peek(number) + 1 >= self.end
    }

    /// A packet without data passes, which has a number, too.
    pub fn on_no_data(&mut self, id: u16) {
        let is_missing = self.highest() > self.una;
        let gap = if is_missing { Gap::Loss } else { Gap::Stray };
        self.numbers.on_no_data(id, gap);
    }

    /// Whether a segment of one byte only asks for an answer: it is a keepalive, whose byte is acknowledged (RFC 9293,
    /// section 3.8.4), or a probe of a zero window (section 3.8.6.1).
    fn is_probe(&self, seq: u64) -> bool {
        let is_alive = self.una == self.end && seq + 1 == self.una;
        is_alive || self.closed_at == Some(seq)
    }

    /// Whether a packet is a copy of one that passed before. A copy has the same timestamp and the same IP identification,
    /// or comes too soon for a retransmission. A packet with another identification is another packet, even if it comes soon,
    /// unless a device on the way has changed the identification.
    fn is_copy(&self, at: Time, seq: u64, mark: Mark) -> bool {
        let Some((sent, known)) = self.scoreboard.passed(seq, self.full.size()) else {
            return false;
        };
        let least = self.model.rtt_min.or(self.far).or(self.handshake);
        let age = at.since(sent);
        let is_soon = || least.is_some_and(|least| age < least / 4 * 3);
        let is_same_number = mark.id == known.id;
        // The next numbers of the sender are those of a retransmission.
        let is_next = || self.numbers.continue_with(mark.id);
        let stamps = mark.value.zip(known.value);
        match stamps.map(|(value, known)| value.wrapping_sub(known).cast_signed()) {
            // A retransmission never has an older timestamp.
            Some(..0) => true,
            Some(1..) => false,
            Some(0) if !self.has_ids => is_soon() || least.is_none_or(|least| least >= TICKS),
            Some(0) => is_same_number || is_soon() && !is_next(),
            None if self.has_ids && mark.id != 0 => {
                is_same_number || age < TICKS && is_soon() && !is_next()
            }
            None => is_soon(),
        }
    }

    /// The sender has closed with this segment.
    pub fn on_close(&mut self, segment: &Segment) {
        self.fin = Some(self.positions.peek(segment.seq.wrapping_add(segment.len)));
        self.limits.on_close();
    }

    /// Reads from the segment's TSecr what its sender knows, and the round-trip time to the sender. Returns whether more is
    /// known of that.
    fn hear_echo(&mut self, at: Time, segment: &Segment) -> bool {
        let Some((_, echo)) = segment.timestamps else {
            return false;
        };
        let Some((passed, is_first)) = self.echoes.on_data(echo) else {
            return false;
        };
        self.known = Some(passed);
        if !is_first {
            return false;
        }
        let near = at.since(passed.at);
        self.near_bound_count += 1;
        let is_nearest = self.near_bound.is_none_or(|least| near < least);
        if is_nearest {
            self.near_bound = Some(near);
        }
        let is_bound_news = is_nearest || self.near_bound_count <= ENOUGH;
        // Data that were written later did not wait for the acknowledgement.
        let has_more = self.end - self.base > passed.delivered.get();
        if !has_more || self.limits.has_ended_write() {
            return is_bound_news;
        }
        let is_least = self.near_min.is_none_or(|least| near < least);
        self.near = Some(near);
        self.near_count += 1;
        if is_least {
            self.near_min = Some(near);
        }
        is_bound_news || is_least || self.near_count <= ENOUGH
    }

    #[expect(clippy::too_many_arguments, reason = "a packet's parts")]
    fn send(
        &mut self,
        at: Time,
        seq: u64,
        end: u64,
        segment: &Segment,
        mark: Mark,
        vantage: Vantage,
        room: Room,
    ) {
        debug_assert!(at >= self.last_sent, "time runs backwards");
        if seq > self.end {
            self.miss(at, seq, segment, mark.id);
        }
        self.has_ids |= self.id != 0 && mark.id != self.id;
        self.id = mark.id;
        let (meaning, mut reductions) = (self.ecn, self.reductions);
        let now = || (self.end, self.flight(vantage));
        let reduction = reductions.on_new_data(meaning, segment, now);
        self.reductions = reductions;
        if let Some((point, before)) = reduction {
            self.recoveries.on_reduction(point, before);
            self.rounds.on_repeat();
            self.model.set_grown();
        }
        let mark = mark.later((self.end - seq) / self.full.size());
        self.window.on_data(end, self.full.size());
        self.push(at, self.end..end, mark, vantage, room);
        self.end = end;
        let flight = self.flight(vantage);
        self.recoveries.on_new_data(flight);
        self.rounds.on_flight(flight);
        self.depart(at, end, segment, flight, vantage);
    }

    /// Records what has limited the flow until this departure of new data.
    fn depart(&mut self, at: Time, end: u64, segment: &Segment, flight: Bytes, vantage: Vantage) {
        let (len, full) = (u64::from(segment.len), self.full.size());
        // A segment that has waited below TCP was built for the window of the acknowledgement that it echoes.
        let edge = match (self.known, vantage) {
            (Some(known), _) => known.edge,
            (None, Vantage::Sender) => self.edge,
            (None, Vantage::Elsewhere) => None,
        };
        let is_window_full = edge.is_some_and(|edge| end + full > edge);
        // A segment that the window's edge has cut is short and has PSH, too (Linux `tcp_mss_split_point`).
        let is_short = len != full && !len.is_multiple_of(full) && edge != Some(end);
        let ends_write = segment.flags.has(Flags::FIN) || segment.flags.has(Flags::PSH) && is_short;
        let is_losing = self.recoveries.is_going_on() && self.model.is_queue_long();
        let else_by = if !self.model.is_grown() {
            Limit::SlowStart
        } else if is_losing {
            Limit::Buffer
        } else {
            Limit::Bottleneck
        };
        // Without the handshake, a standing queue may hide in the least RTT. QUIC has no handshake here.
        let is_path_known = self.handshake.is_some() || self.cues.is_none();
        let is_steady = is_path_known
            && !self.model.has_shown_path()
            && self.plateau.has(flight, self.slack(vantage));
        if at.since(self.last_sent) > self.rto() {
            self.restart.on_idle();
        }
        let may_regrow = self.restart.on_flight(flight);
        let since_ack = at.since(self.last_heard);
        let (sent, cue, built) = match (&mut self.cues, vantage) {
            (Some(cues), Vantage::Sender) => {
                let (cue, built) = cues.at_sender(since_ack, segment.timestamps);
                (at, cue, built)
            }
            (Some(cues), Vantage::Elsewhere) => {
                let echo = segment.timestamps.map(|(_, echo)| echo);
                let after = echo.and_then(|echo| self.echoes.after(echo));
                cues.far_from_sender(at, segment.timestamps, after)
            }
            (None, _) => (at, Cue::Unknown, Built::Unknown),
        };
        if self.limits.has_ended_write() && cue == Cue::None {
            self.plateau.on_write();
        }
        let departure = Departure {
            at: sent,
            bytes: len,
            ends_write,
            is_window_full,
            is_steady,
            may_regrow,
            else_by,
        };
        self.present_limit = self
            .limits
            .on_departure(departure, (cue, built), &self.patience);
        if matches!(self.present_limit, Limit::Application | Limit::Receiver) {
            self.rounds.on_hold();
        }
        if ends_write {
            self.sampler.mark_app_limited(flight);
        }
    }

    /// Records the bytes before `seq`, which were not captured.
    fn miss(&mut self, at: Time, seq: u64, segment: &Segment, id: u16) {
        self.see_hole(at, seq);
        let state = self.sampler.clone().on_packet_sent(
            at,
            Bytes::new(seq - self.end),
            Outstanding::Nothing,
        );
        self.scoreboard.push(
            Entry {
                seq: self.end,
                end: seq,
                state,
                repeat_value: segment.timestamps.map(|(value, _)| value),
                // That of the data behind it, which tells whether what fills it was sent before them.
                mark: Mark {
                    id,
                    is_numbered: false,
                    value: None,
                },
                next_rtt: self
                    .near
                    .zip(self.far)
                    .map_or(0, |(near, far)| micros(near + far)),
                repeats: 0,
                is_repeat_out: false,
                is_captured: false,
                status: Status::Missing,
            },
            self.full.size(),
        );
        self.end = seq;
    }

    /// Data up to `seq` were sent and not captured. If they are more than was ever in flight, acknowledgements were not
    /// captured, either, and nothing tells what limited the flow meanwhile.
    pub(super) fn see_hole(&mut self, at: Time, seq: u64) {
        if seq - self.end > self.rounds.most_ever().get() {
            self.limits.skip(at);
        }
    }

    fn push(&mut self, at: Time, range: Range<u64>, mark: Mark, vantage: Vantage, room: Room) {
        let most = match room {
            Room::Plenty => scoreboard::MOST,
            Room::Little => scoreboard::FEW,
        };
        self.shorten(most - 1);
        let out = if self.end == self.una {
            Outstanding::Nothing
        } else {
            Outstanding::Inflight(self.flight(vantage))
        };
        let bytes = Bytes::new(range.end - range.start);
        let mut state = self.sampler.on_packet_sent(at, bytes, out);
        stamp(&mut state, vantage, self.known.as_ref(), &mut self.began);
        self.scoreboard.push(
            Entry {
                seq: range.start,
                end: range.end,
                state,
                repeat_value: None,
                mark,
                next_rtt: 0,
                repeats: 0,
                is_repeat_out: false,
                is_captured: true,
                status: Status::Sent,
            },
            self.full.size(),
        );
    }

    /// Follows at most this many pieces: drops the oldest.
    pub(super) fn shorten(&mut self, most: usize) {
        let full = self.full.size();
        while self.scoreboard.len() > most {
            let oldest = self.scoreboard.first().map(|first| first.end);
            let gone = oldest.and_then(|end| self.scoreboard.pop_before(end, full));
            self.totals.unfollowed += gone.map_or(0, |gone| gone.packets(full));
        }
    }

    /// Takes in bytes that are not new.
    fn repeat(&mut self, at: Time, range: Range<u64>, mark: Mark, vantage: Vantage) {
        let value = mark.value;
        let (start, full) = (range.start, self.full.size());
        let mut again = Again::new(start, full);
        let mut is_repeat = false;
        // Acknowledged bytes need no retransmission. Until an acknowledgement passes, nothing is known of bytes from before
        // the capture. Bytes that are no longer followed are not known to have arrived.
        let acked = if self.una > self.base {
            range.end.min(self.una).max(range.start)
        } else {
            range.start
        };
        let followed = self.scoreboard.first().map_or(range.end, |first| first.seq);
        let from = range.end.min(followed).max(acked);
        // Data that were recorded later than their acknowledgement are sent for the first time.
        let late = self.unseen.take(&(start..acked));
        self.totals.missed = self.totals.missed.saturating_sub(late);
        if late > 0 {
            again.skip(acked, &mut self.repeats);
        } else {
            again.add(acked, true, &mut self.repeats);
        }
        if from > acked {
            again.add(from, false, &mut self.repeats);
            is_repeat = true;
        }
        let before = Bytes::new(self.end - self.una - self.sacked_bytes.min(self.end - self.una));
        let (rtt, last_rtt) = (self.model.rt_prop(), self.model.last_rtt());
        let rtt = rtt.or(self.far).or(self.handshake);
        let are_counted = mark.id != 0 && self.numbers.missing().is_some();
        let highest = self.highest();
        let flight = self.flight(vantage);
        let is_first = self
            .scoreboard
            .first()
            .is_some_and(|first| first.seq >= range.start && first.status == Status::Sent);
        let silence = at.since(self.last_sent.max(self.progressed));
        let is_timeout = is_first && silence >= self.rto();
        let is_tail = range.end >= self.end && !is_timeout;
        let mut is_fill = false;
        let within = from..range.end;
        let delivered = self.sampler.delivered().get();
        let repeats = &mut self.repeats;
        self.scoreboard
            .each_within(&within, full, MOST_PIECES, |entry| {
                if entry.seq > again.next {
                    again.add(entry.seq, false, repeats);
                    is_repeat = true;
                }
                match entry.status {
                    Status::Missing => {
                        let count = again.packets(&(entry.seq..entry.end));
                        again.skip(entry.end, repeats);
                        let order = mark.id.wrapping_sub(entry.mark.id).cast_signed();
                        let order = Some(order).filter(|_| are_counted && entry.mark.id != 0);
                        if is_late(at, entry, value, order, rtt) {
                            // Before the capture, nothing overtakes at the sender: the packet was recorded late.
                            self.totals.reordered += count * u64::from(vantage != Vantage::Sender);
                        } else {
                            // A sender fills one hole after the other. After a pause, this was not the first
                            // retransmission.
                            let pause = at.since(entry.state.sent_time.max(self.last_fill));
                            let is_second = entry.repeats == 0
                                && last_rtt.is_some_and(|rtt| pause > rtt + rtt * 7 / 10);
                            self.totals.lost_before += count * (1 + u64::from(is_second));
                            let (hole, passed) =
                                (entry.state.sent_time, entry.state.delivered.get());
                            self.losses
                                .add(Loss::new(hole, passed, entry.next_rtt(), count));
                            is_repeat = true;
                        }
                        entry.status = Status::Sent;
                        entry.is_captured = true;
                        entry.repeats = 1;
                        entry.repeat_value = None;
                        is_fill = true;
                    }
                    Status::Sacked => {
                        let late = self.unseen.take(&(entry.seq..entry.end));
                        self.totals.missed = self.totals.missed.saturating_sub(late);
                        if late > 0 {
                            again.skip(entry.end, repeats);
                            entry.is_captured = true;
                            entry.mark = mark.later((entry.seq - start) / full);
                        } else {
                            again.add(entry.end, true, repeats);
                        }
                    }
                    Status::Sent => {
                        self.sampler.on_packet_lost(&entry.state);
                        let count = again.packets(&(entry.seq..entry.end));
                        if count > 0 {
                            let rtt = entry.next_rtt().or(last_rtt);
                            self.losses.add(Loss::new(at, delivered, rtt, count));
                        }
                        entry.next_rtt = 0;
                        again.add(entry.end, false, repeats);
                        entry.repeats = entry.repeats.saturating_add(1);
                        entry.repeat_value = entry.repeat_value.or(value);
                        if entry.seq < highest && !entry.is_repeat_out {
                            entry.is_repeat_out = true;
                            self.repeats_out += entry.len();
                        }
                        is_repeat = true;
                    }
                }
                if entry.status == Status::Sent {
                    entry.mark = mark.later((entry.seq - start) / full);
                    let out = Outstanding::Inflight(flight);
                    entry.state = self
                        .sampler
                        .on_packet_sent(at, Bytes::new(entry.len()), out);
                    stamp(
                        &mut entry.state,
                        vantage,
                        self.known.as_ref(),
                        &mut self.began,
                    );
                }
            });
        if range.end > again.next {
            again.add(range.end, false, &mut self.repeats);
            is_repeat = true;
        }
        again.end(&mut self.repeats);
        if is_repeat && is_fill {
            self.overtake(at, range.start);
        }
        if is_repeat {
            // A window of a few packets, as in ProbeRTT, may have room only for retransmissions.
            let flight = self.flight(vantage);
            self.rounds.on_flight(flight);
            self.rounds.on_repeat();
            if vantage == Vantage::Sender {
                self.limits.on_repeat(at, &self.patience);
            }
            // A retransmission of the last bytes may be a probe, and then is no sign of loss (RFC 8985, section 7.3).
            if !is_tail {
                self.recoveries.on_repeat(self.end, before, is_timeout);
                self.model.set_grown();
                self.restart.on_loss();
            }
        }
    }

    /// About the sender's retransmission timeout.
    fn rto(&self) -> Duration {
        self.model.rtt_mean().unwrap_or_default() + MIN_RTO
    }

    /// A retransmission has filled a hole. A sender fills holes in order, so the retransmissions for earlier holes were
    /// lost, too.
    fn overtake(&mut self, at: Time, filled: u64) {
        let Some(rtt) = self.model.last_rtt() else {
            return;
        };
        let full = self.full.size();
        let lost_before = &mut self.totals.lost_before;
        self.scoreboard.each_before(filled, MOST_HOLES, |entry| {
            if entry.status != Status::Missing {
                return;
            }
            // A hole is filled a round trip after it was detected. A second retransmission comes a round trip and the
            // reordering window after the first one was overtaken (RFC 8985, section 6.2).
            let least = rtt + rtt / 2 * u64::from(entry.repeats);
            if at.since(entry.state.sent_time) > least {
                *lost_before += entry.packets(full);
                entry.state.sent_time = at;
                entry.repeats = 1;
            }
        });
        self.last_fill = at;
    }
}

/// The IP packet of a segment.
#[derive(Debug, Clone, Copy)]
pub struct Ip {
    /// The length of the IP and TCP headers.
    pub headers: u64,
    /// The IP identification.
    pub id: u16,
}

/// Whether nothing was outstanding before this packet.
pub(super) fn begins_again(state: &PacketState) -> bool {
    state.first_sent_time == state.delivered_time
}

/// Away from the sender, the delivered bytes at a departure are those that the sender knew of, not those that have passed
/// the capture since. `began` is when the first data after them were sent, if all data before had arrived.
fn stamp(
    state: &mut PacketState,
    vantage: Vantage,
    known: Option<&Passed>,
    began: &mut Option<(Bytes, Time)>,
) {
    let Some(known) = known.filter(|_| vantage == Vantage::Elsewhere) else {
        return;
    };
    if begins_again(state) && state.delivered == known.delivered {
        *began = Some((state.delivered, state.sent_time));
    }
    state.delivered = known.delivered;
    state.delivered_time = known.at;
    state.first_sent_time = state.sent_time;
}

/// Whether a segment that fills a hole was only reordered: its identification (`order` is its distance to that of the data
/// that passed before it, if identifications count packets) or its timestamp says that it was sent no later than the data that
/// passed before it, or it comes too soon for the receiver to have asked for it.
fn is_late(
    at: Time,
    hole: &Entry,
    value: Option<u32>,
    order: Option<i16>,
    rtt: Option<Duration>,
) -> bool {
    let age = at.since(hole.state.sent_time);
    let is_soon = rtt.is_some_and(|rtt| age < rtt * 3 / 4);
    if let Some(order) = order.filter(|order| order.unsigned_abs() <= LATE) {
        return order < 0;
    }
    match value.zip(hole.repeat_value) {
        Some((value, after)) => match value.wrapping_sub(after).cast_signed() {
            ..0 => true,
            0 => rtt.is_none() || is_soon,
            1.. => false,
        },
        None => is_soon,
    }
}
