//! Data that are sent again.

use std::ops::Range;

use congestion::sampling::{Outstanding as Inflight, Sampler};
use congestion::{Bytes, Duration, Time};

use super::outstanding::Outstanding;
use super::recovery::Recovery;
use super::sender::Sender;
use super::{Flow, Passage, Totals, Vantage};
use crate::losses::Loss;
use crate::numbers::MAX_OVERTAKING;
use crate::repeats::Again;
use crate::scoreboard::{Entry, Mark, Status};
use crate::unseen::Unseen;

/// The most pieces that one retransmission is split into. The pieces beyond count as lost.
const MAX_PIECES: usize = 256;

/// The most pieces that are searched for holes whose retransmissions were lost.
const MAX_PIECES_BEFORE: usize = 4096;

/// A segment with data that are not new, as it is compared with the pieces of the scoreboard.
struct Resent<'f> {
    passage: Passage,
    /// Its first position.
    start: u64,
    mark: Mark,
    /// The payload of a full packet.
    full: u64,
    /// The estimate of RTprop, and the latest RTT.
    rtprop: Option<Duration>,
    last_rtt: Option<Duration>,
    /// True if the numbers of packets count them.
    are_counted: bool,
    /// The end of the highest acknowledged byte, the bytes in flight, and those delivered.
    highest: u64,
    flight: Bytes,
    delivered: u64,
    again: Again,
    /// True if any of it is a retransmission; true if it fills a hole.
    is_repeat: bool,
    is_fill: bool,
    recovery: &'f mut Recovery,
    totals: &'f mut Totals,
    unseen: &'f mut Unseen,
    repeats_out: &'f mut u64,
    sampler: &'f mut Sampler,
    sender: &'f mut Sender,
}

impl Flow {
    /// Takes in bytes that are not new.
    pub(super) fn resend(&mut self, passage: Passage, range: Range<u64>, mark: Mark) {
        let Passage { at, vantage, .. } = passage;
        let scoreboard = &self.outstanding.scoreboard;
        let followed = scoreboard.first().map_or(range.end, |first| first.seq);
        let is_first = scoreboard
            .first()
            .is_some_and(|first| first.seq >= range.start && first.status == Status::Sent);
        let silence = at.since(self.last_sent.max(self.acks.progressed));
        let is_timeout = is_first && silence >= self.rto();
        let unacked = self.stream.unacked();
        let before = Bytes::new(unacked - self.outstanding.sacked_bytes.min(unacked));
        // Acknowledged bytes need no retransmission. Until an acknowledgement passes, nothing is known of bytes from before
        // the capture. Bytes that are no longer followed are not known to have arrived.
        let acked = if self.stream.acked() > 0 {
            range.end.min(self.stream.una).max(range.start)
        } else {
            range.start
        };
        let from = range.end.min(followed).max(acked);
        let (is_repeat, is_fill) = self.compare(passage, &range, [acked, from], mark);
        if !is_repeat {
            return;
        }
        if is_fill {
            self.overtake(at, range.start);
        }
        // A window of a few packets, as in ProbeRTT, may have room only for retransmissions.
        let flight = self.flight(vantage);
        self.rounds.on_flight(flight);
        self.rounds.on_repeat();
        if vantage == Vantage::Sender {
            self.judge.on_repeat(at);
        }
        // A retransmission of the last bytes may be a probe, and then is no sign of loss (RFC 8985, section 7.3).
        let is_tail = range.end >= self.stream.end && !is_timeout;
        if !is_tail {
            let point = self.stream.end;
            self.recovery
                .recoveries
                .on_repeat(point, before, is_timeout);
            self.model.set_grown();
            self.judge.restart.on_loss();
        }
    }

    /// Compares bytes that are not new with what is known of them: those before `acked` are acknowledged, and those from there
    /// to `from` are no longer followed. Returns whether any of them is a retransmission, and whether they fill a hole.
    fn compare(
        &mut self,
        passage: Passage,
        range: &Range<u64>,
        [acked, from]: [u64; 2],
        mark: Mark,
    ) -> (bool, bool) {
        let full = self.full.size();
        let (highest, flight) = (self.highest(), self.flight(passage.vantage));
        let Outstanding {
            scoreboard,
            repeats_out,
            unseen,
            ..
        } = &mut self.outstanding;
        let mut resent = Resent {
            passage,
            start: range.start,
            mark,
            full,
            rtprop: self.round_trips.or_least(self.model.rtprop()),
            last_rtt: self.model.last_rtt(),
            are_counted: mark.id != 0 && self.ids.numbers.missing().is_some(),
            highest,
            flight,
            delivered: self.deliveries.sampler.delivered().get(),
            again: Again::new(range.start, full),
            is_repeat: false,
            is_fill: false,
            recovery: &mut self.recovery,
            totals: &mut self.totals,
            unseen,
            repeats_out,
            sampler: &mut self.deliveries.sampler,
            sender: &mut self.sender,
        };
        resent.add_arrived(range.start..acked);
        resent.add_unfollowed(from);
        scoreboard.each_within(&(from..range.end), full, MAX_PIECES, |entry| {
            resent.on_piece(entry);
        });
        resent.add_unfollowed(range.end);
        resent.again.end(&mut resent.recovery.repeats);
        (resent.is_repeat, resent.is_fill)
    }

    /// A retransmission has filled a hole. A sender fills holes in order, so the retransmissions for earlier holes were
    /// lost, too.
    fn overtake(&mut self, at: Time, filled: u64) {
        let Some(rtt) = self.model.last_rtt() else {
            return;
        };
        let full = self.full.size();
        let lost_before = &mut self.totals.lost_before;
        let scoreboard = &mut self.outstanding.scoreboard;
        scoreboard.each_before(filled, MAX_PIECES_BEFORE, |entry| {
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
        self.recovery.last_fill = at;
    }
}

impl Resent<'_> {
    /// Adds bytes that have arrived. Data that were recorded later than their acknowledgement are sent for the first time.
    /// Returns whether these are such data.
    fn add_arrived(&mut self, range: Range<u64>) -> bool {
        let late = self.unseen.take(&range);
        self.totals.missed = self.totals.missed.saturating_sub(late);
        let repeats = &mut self.recovery.repeats;
        if late > 0 {
            self.again.skip(range.end, repeats);
        } else {
            self.again.add(range.end, true, repeats);
        }
        late > 0
    }

    /// Adds the bytes up to `end`, if there are any. They are not followed, so they are not known to have arrived.
    fn add_unfollowed(&mut self, end: u64) {
        if end > self.again.next {
            self.add_lost(end);
        }
    }

    fn add_lost(&mut self, end: u64) {
        self.again.add(end, false, &mut self.recovery.repeats);
        self.is_repeat = true;
    }

    /// Adds a piece of the scoreboard.
    fn on_piece(&mut self, entry: &mut Entry) {
        self.add_unfollowed(entry.seq);
        match entry.status {
            Status::Missing => self.fill(entry),
            Status::Sacked => {
                if self.add_arrived(entry.seq..entry.end) {
                    entry.is_captured = true;
                    entry.mark = self.mark_of(entry);
                }
            }
            Status::Sent => self.repeat(entry),
        }
        if entry.status == Status::Sent {
            entry.mark = self.mark_of(entry);
            let bytes = Bytes::new(entry.len());
            let out = Inflight::Inflight(self.flight);
            entry.state = self.sampler.on_packet_sent(self.passage.at, bytes, out);
            self.sender.stamp(&mut entry.state, self.passage.vantage);
        }
    }

    /// The piece passes for the first time.
    fn fill(&mut self, entry: &mut Entry) {
        let count = self.again.packets(&(entry.seq..entry.end));
        self.again.skip(entry.end, &mut self.recovery.repeats);
        if self.is_late(entry) {
            // Before the capture, nothing overtakes at the sender: the packet was recorded late.
            let is_reordered = self.passage.vantage != Vantage::Sender;
            self.totals.reordered += count * u64::from(is_reordered);
        } else {
            // A sender fills one hole after the other. After a pause, this was not the first retransmission.
            let sent = entry.state.sent_time;
            let pause = self.passage.at.since(sent.max(self.recovery.last_fill));
            let is_pause = |rtt: Duration| pause > rtt + rtt * 7 / 10;
            let is_second = entry.repeats == 0 && self.last_rtt.is_some_and(is_pause);
            self.totals.lost_before += count * (1 + u64::from(is_second));
            let passed = entry.state.delivered.get();
            let loss = Loss::new(sent, passed, entry.next_rtt(), count);
            self.recovery.losses.add(loss);
            self.is_repeat = true;
        }
        entry.status = Status::Sent;
        entry.is_captured = true;
        entry.repeats = 1;
        entry.repeat_value = None;
        self.is_fill = true;
    }

    /// The piece has passed before, and its arrival is unknown.
    fn repeat(&mut self, entry: &mut Entry) {
        self.sampler.on_packet_lost(&entry.state);
        let count = self.again.packets(&(entry.seq..entry.end));
        if count > 0 {
            let rtt = entry.next_rtt().or(self.last_rtt);
            let loss = Loss::new(self.passage.at, self.delivered, rtt, count);
            self.recovery.losses.add(loss);
        }
        entry.next_rtt = 0;
        self.add_lost(entry.end);
        entry.repeats = entry.repeats.saturating_add(1);
        entry.repeat_value = entry.repeat_value.or(self.mark.value);
        if entry.seq < self.highest && !entry.is_repeat_out {
            entry.is_repeat_out = true;
            *self.repeats_out += entry.len();
        }
    }

    /// The identity of the packet with which a piece begins.
    fn mark_of(&self, entry: &Entry) -> Mark {
        self.mark.later((entry.seq - self.start) / self.full)
    }

    /// True if a segment that fills a hole was only reordered: its identification (if identifications count packets) or its
    /// timestamp says that it was sent no later than the data that passed before it, or it comes too soon for the receiver to
    /// have asked for it.
    fn is_late(&self, hole: &Entry) -> bool {
        let age = self.passage.at.since(hole.state.sent_time);
        let is_soon = self.rtprop.is_some_and(|rtt| age < rtt * 3 / 4);
        let order = self.mark.id.wrapping_sub(hole.mark.id).cast_signed();
        if self.are_counted && hole.mark.id != 0 && order.unsigned_abs() <= MAX_OVERTAKING {
            return order < 0;
        }
        match self.mark.value.zip(hole.repeat_value) {
            Some((value, after)) => match value.wrapping_sub(after).cast_signed() {
                ..0 => true,
                0 => self.rtprop.is_none() || is_soon,
                1.. => false,
            },
            None => is_soon,
        }
    }
}
