//! Departures of data.

use std::ops::Range;

use capture::packet::{Flags, Segment};
use congestion::sampling::Outstanding;
use congestion::{Bytes, Duration, Time};

use super::{Flow, IpPacket, Passage, Vantage};
use crate::cues::{Built, Cue};
use crate::ecn::Meaning;
use crate::limit::Limit;
use crate::limits::Departure;
use crate::losses::micros;
use crate::memory::Room;
use crate::numbers::Gap;
use crate::scoreboard::{self, Entry, Mark, Status};

/// The least time before a sender retransmits without an acknowledgement (Linux `TCP_RTO_MIN`).
const MIN_RTO: Duration = Duration::from_millis(200);

impl Flow {
    /// Takes in a segment with data. `ecn` is the meaning of its flags CWR and ECE. Returns whether more is known of the
    /// round-trip time to the sender.
    pub(crate) fn on_data(
        &mut self,
        passage: Passage,
        segment: &Segment,
        ip: IpPacket,
        ecn: Meaning,
    ) -> bool {
        self.totals.marked += u64::from(ip.is_marked);
        let Passage { at, vantage, .. } = passage;
        let Some(range) = self.place(at, segment) else {
            return false;
        };
        let len = u64::from(segment.len);
        let sent_before = self.stream.end;
        if range.end > sent_before {
            self.stream.advance(segment.seq);
            self.full.see(len, segment.flags.has(Flags::PSH));
        }
        if len == 1 && self.window.is_probe(range.start, &self.stream) {
            self.on_no_data(ip.id);
            self.window.probed = Some(range.end);
            return false;
        }
        let packets = self.full.packets(len);
        let mark = self
            .ids
            .mark(ip.id, segment.timestamps.map(|(value, _)| value));
        if range.end <= sent_before && self.is_copy(at, range.start, mark) {
            self.totals.copies += packets;
            self.outstanding.scoreboard.expect_copies();
            return false;
        }
        let gap = self.gap(at, range.start > sent_before, vantage);
        self.ids.on_segment(ip.id, packets, gap);
        let has_moved = self.hear_echo(at, segment);
        self.totals.packets += packets;
        self.totals.bytes += len;
        // Segmentation offload: the headers are captured once, but each packet on the path has them.
        self.totals.ip_bytes += len + ip.headers * packets;
        if range.start < sent_before {
            self.resend(passage, range.start..range.end.min(sent_before), mark);
        }
        if range.end > sent_before {
            self.send(passage, range, segment, mark, ecn);
        }
        self.last_sent = at;
        has_moved
    }

    /// The positions of a segment's data. `None` if they are from far away.
    fn place(&mut self, at: Time, segment: &Segment) -> Option<Range<u64>> {
        self.stream.begin(segment.seq);
        let (len, syn) = (segment.len, segment.flags.has(Flags::SYN));
        let first = segment.seq.wrapping_add(syn.into());
        if self.stream.is_far(self.stream.position(first)) {
            // If further data follow them directly, the capture has a hole before them.
            if !self.stream.follows_stray(first, len) {
                return None;
            }
            let start = self.stream.beyond(first);
            self.go_on_at(at, start);
        }
        let seq = self.stream.position(first);
        let end = seq + u64::from(len);
        if self.stream.is_before_start(end) {
            if !self.stream.follows_stray(first, len) {
                return None;
            }
            self.go_on_at(at, seq);
        }
        let is_stray = seq > self.stream.end && self.window.is_exceeded(end);
        if is_stray && !self.stream.follows_stray(first, len) {
            return None;
        }
        Some(seq..end)
    }

    /// Data go on at `start`. What was in the hole before is unknown, and what was outstanding is forgotten.
    fn go_on_at(&mut self, at: Time, start: u64) {
        self.stream.go_on_at(start);
        self.rest();
        self.outstanding.repeats_out = 0;
        self.sender.known = None;
        self.window.forget();
        self.ids.numbers.skip();
        self.judge.limits.skip(at);
    }

    /// The kind of a gap in the numbers.
    fn gap(&mut self, at: Time, follows_hole: bool, vantage: Vantage) -> Gap {
        let is_missing = follows_hole || self.has_hole();
        let rtt = self.model.rtt_mean().or(self.round_trips.far);
        let rtt = rtt.unwrap_or_default();
        let is_silent = at.since(self.last_sent) >= rtt;
        self.ids.gap(at, is_missing, is_silent, rtt, vantage)
    }

    /// A packet without data passes, which has a number, too.
    pub(crate) fn on_no_data(&mut self, id: u16) {
        let gap = if self.has_hole() {
            Gap::Loss
        } else {
            Gap::Stray
        };
        self.ids.numbers.on_no_data(id, gap);
    }

    /// True if a packet is a copy of one that passed before.
    fn is_copy(&self, at: Time, seq: u64, mark: Mark) -> bool {
        let passed = self.outstanding.scoreboard.passed(seq, self.full.size());
        passed.is_some_and(|(sent, known)| {
            let least = self.round_trips.or_least(self.model.rtt_min);
            self.ids.is_copy(mark, known, at.since(sent), least)
        })
    }

    /// True if a FIN with this sequence number is the end of the data.
    pub(crate) fn ends_at(&self, number: u32) -> bool {
        self.stream.ends_at(number)
    }

    /// The sender has closed with this segment.
    pub(crate) fn on_close(&mut self, segment: &Segment) {
        self.stream.close(segment.seq.wrapping_add(segment.len));
        self.judge.limits.on_close();
    }

    /// Reads from the segment's TSecr what its sender knows, and the round-trip time to the sender. Returns whether more is
    /// known of that.
    fn hear_echo(&mut self, at: Time, segment: &Segment) -> bool {
        let echo = segment.timestamps.map(|(_, echo)| echo);
        let Some(passed) = echo.and_then(|echo| self.sender.on_data(echo)) else {
            return false;
        };
        // Data that were written later did not wait for the acknowledgement.
        let has_more = self.stream.sent() > passed.delivered.get();
        let has_waited = has_more && !self.judge.limits.has_ended_write();
        self.round_trips.on_near(at.since(passed.at), has_waited)
    }

    /// Takes in new data, which are the end of `range`.
    fn send(
        &mut self,
        passage: Passage,
        range: Range<u64>,
        segment: &Segment,
        mark: Mark,
        ecn: Meaning,
    ) {
        debug_assert!(passage.at >= self.last_sent, "time runs backwards");
        if range.start > self.stream.end {
            self.miss(passage.at, range.start, segment, mark.id);
        }
        self.ids.on_new_data(mark.id);
        let mut reductions = self.recovery.reductions;
        let now = || (self.stream.end, self.flight(passage.vantage));
        let reduction = reductions.on_new_data(ecn, segment, now);
        self.recovery.reductions = reductions;
        if let Some((point, before)) = reduction {
            self.recovery.recoveries.on_reduction(point, before);
            self.rounds.on_repeat();
            self.model.set_grown();
        }
        let (end, full) = (range.end, self.full.size());
        let mark = mark.later((self.stream.end - range.start) / full);
        self.window.on_data(end, full);
        self.push(passage, end, mark);
        let flight = self.flight(passage.vantage);
        self.recovery.recoveries.on_new_data(flight);
        self.rounds.on_flight(flight);
        self.depart(passage, end, segment, flight);
    }

    /// Records what has limited the flow until this departure of new data up to `end`. `flight` includes them.
    fn depart(&mut self, passage: Passage, end: u64, segment: &Segment, flight: Bytes) {
        let Passage { at, vantage, .. } = passage;
        let (len, full) = (u64::from(segment.len), self.full.size());
        // A segment that has waited below TCP was built for the window of the acknowledgement that it echoes.
        let edge = match (&self.sender.known, vantage) {
            (Some(known), _) => known.edge,
            (None, Vantage::Sender) => self.window.edge,
            (None, Vantage::Elsewhere) => None,
        };
        // A segment that the window's edge has cut is short and has PSH, too (Linux `tcp_mss_split_point`).
        let is_short = len != full && !len.is_multiple_of(full) && edge != Some(end);
        let ends_write = segment.flags.has(Flags::FIN) || segment.flags.has(Flags::PSH) && is_short;
        let was_idle = at.since(self.last_sent) > self.rto();
        let (sent, cue) = self.cue(passage, segment);
        let departure = Departure {
            at: sent,
            bytes: len,
            ends_write,
            is_window_full: edge.is_some_and(|edge| end + full > edge),
            is_steady: self.is_steady(flight, vantage),
            may_regrow: self.judge.may_regrow(flight, was_idle),
            else_by: self.limit_of_path(),
        };
        if self.judge.on_departure(departure, cue) {
            self.rounds.on_hold();
        }
        if ends_write {
            self.deliveries.sampler.mark_app_limited(flight);
        }
    }

    /// The limit of new data that neither the application nor the receiver limits, if the bottleneck is busy.
    fn limit_of_path(&self) -> Limit {
        let is_losing = self.recovery.recoveries.is_going_on() && self.model.is_queue_long();
        if !self.model.is_grown() {
            Limit::SlowStart
        } else if is_losing {
            Limit::Buffer
        } else {
            Limit::Bottleneck
        }
    }

    /// True if the data in flight are on a plateau that is not the path's.
    fn is_steady(&self, flight: Bytes, vantage: Vantage) -> bool {
        // Without the handshake, a standing queue may hide in the least RTT. QUIC has no handshake here.
        let is_path_known = self.round_trips.handshake.is_some() || self.judge.cues.is_none();
        is_path_known
            && !self.model.has_shown_path()
            && self.judge.plateau.has(flight, self.slack(vantage))
    }

    /// When new data departed from their sender, the event that triggered them, and when they were built.
    fn cue(&mut self, passage: Passage, segment: &Segment) -> (Time, (Cue, Built)) {
        let (at, stamps) = (passage.at, segment.timestamps);
        match (&mut self.judge.cues, passage.vantage) {
            (Some(cues), Vantage::Sender) => {
                (at, cues.at_sender(at.since(self.acks.latest), stamps))
            }
            (Some(cues), Vantage::Elsewhere) => {
                let after = stamps.and_then(|(_, echo)| self.sender.echoes.after(echo));
                let (sent, cue, built) = cues.far_from_sender(at, stamps, after);
                (sent, (cue, built))
            }
            (None, _) => (at, (Cue::Unknown, Built::Unknown)),
        }
    }

    /// Records the bytes before `seq`, which were not captured.
    fn miss(&mut self, at: Time, seq: u64, segment: &Segment, id: u16) {
        self.see_hole(at, seq);
        let from = self.stream.end;
        let mut sampler = self.deliveries.sampler.clone();
        let state = sampler.on_packet_sent(at, Bytes::new(seq - from), Outstanding::Nothing);
        let near_and_far = self.round_trips.near.zip(self.round_trips.far);
        let hole = Entry {
            repeat_value: segment.timestamps.map(|(value, _)| value),
            next_rtt: near_and_far.map_or(0, |(near, far)| micros(near + far)),
            is_captured: false,
            status: Status::Missing,
            // That of the data behind it, which tells whether what fills it was sent before them.
            ..Entry::sent(
                from..seq,
                state,
                Mark {
                    id,
                    is_numbered: false,
                    value: None,
                },
            )
        };
        self.outstanding.scoreboard.push(hole, self.full.size());
        self.stream.end = seq;
    }

    /// Data up to `seq` were sent and not captured. If they are more than was ever in flight, acknowledgements were not
    /// captured, either, and nothing tells what limited the flow meanwhile.
    pub(super) fn see_hole(&mut self, at: Time, seq: u64) {
        if seq - self.stream.end > self.rounds.most_ever().get() {
            self.judge.limits.skip(at);
        }
    }

    /// Follows new data up to `end`.
    fn push(&mut self, passage: Passage, end: u64, mark: Mark) {
        let most = match passage.room {
            Room::Plenty => scoreboard::MAX_PIECES,
            Room::Little => scoreboard::MAX_PIECES_WHEN_SHORT,
        };
        self.shorten(most - 1);
        let out = if self.stream.unacked() == 0 {
            Outstanding::Nothing
        } else {
            Outstanding::Inflight(self.flight(passage.vantage))
        };
        let from = self.stream.end;
        let bytes = Bytes::new(end - from);
        let sampler = &mut self.deliveries.sampler;
        let mut state = sampler.on_packet_sent(passage.at, bytes, out);
        self.sender.stamp(&mut state, passage.vantage);
        let entry = Entry::sent(from..end, state, mark);
        self.outstanding.scoreboard.push(entry, self.full.size());
        self.stream.end = end;
    }

    /// Follows at most this many pieces: drops the oldest.
    pub(super) fn shorten(&mut self, most: usize) {
        let full = self.full.size();
        let scoreboard = &mut self.outstanding.scoreboard;
        while scoreboard.len() > most {
            let oldest = scoreboard.first().map(|first| first.end);
            let gone = oldest.and_then(|end| scoreboard.pop_before(end, full));
            self.totals.unfollowed += gone.map_or(0, |gone| gone.packets(full));
        }
    }

    /// About the sender's retransmission timeout.
    pub(super) fn rto(&self) -> Duration {
        self.model.rtt_mean().unwrap_or_default() + MIN_RTO
    }
}
