//! Acknowledgements.

use std::ops::Range;

use capture::packet::Segment;
use congestion::{Duration, Time};

use super::deliver::News;
use super::outstanding::Outstanding;
use super::{Flow, Passage, Vantage};
use crate::losses::micros;
use crate::memory::Room;
use crate::scoreboard::{Entry, Status};

/// The most pieces that one SACK block passes over.
const MAX_PASSED_OVER: usize = 4096;

impl Flow {
    /// Takes in an acknowledgement with this IP identification. `scale` is the window scale, if it is known. Returns whether
    /// the least round-trip time to the receiver has fallen.
    pub(crate) fn on_ack(
        &mut self,
        passage: Passage,
        segment: &Segment,
        id: u16,
        scale: Option<u8>,
    ) -> bool {
        let Passage { at, room, .. } = passage;
        if !self.stream.is_known() {
            return false;
        }
        let ack = self.stream.acked_by(segment.ack);
        if self.stream.is_far(ack) || !self.is_believed(ack) {
            return false;
        }
        let far = self.round_trips.far;
        let has_copies = self.totals.copies > 0;
        let is_copy = self.acks.copies.is_copy(id, segment, room, has_copies);
        self.totals.acks += u64::from(!is_copy);
        self.window.on_ack(ack, segment.window, scale);
        // QUIC tells its windows elsewhere.
        if self.judge.cues.is_some() {
            self.see_room(at, ack, segment.window);
        }
        if ack > self.stream.end {
            self.hear_uncaptured(at, ack);
        }
        let mut news = self.news(at, segment);
        let is_copy = self.acks.is_old(segment.timestamps) || is_copy;
        self.acks.on_sacks(segment);
        if segment.sack_count > 0 {
            self.hear_sacks(ack, segment, (passage.vantage, is_copy), &mut news);
            if room == Room::Little {
                self.outstanding.thin_sacked();
            }
        }
        if ack > self.stream.una {
            self.hear_cumulative(ack, &mut news);
        }
        if news.bytes > 0 {
            self.deliver(&news, passage);
        }
        if let Some((value, _)) = segment.timestamps {
            if let Some(cues) = &mut self.judge.cues {
                cues.on_ack(value);
            }
            let delivered = self.deliveries.sampler.delivered();
            self.sender
                .echoes
                .on_ack(at, value, delivered, self.window.edge, room);
        }
        self.acks.latest = at;
        self.round_trips.far != far
    }

    /// True if an acknowledgement comes from the receiver.
    fn is_believed(&mut self, ack: u64) -> bool {
        if ack <= self.stream.end || self.window.probed == Some(ack) {
            self.acks.claimed = None;
            return true;
        }
        self.acks.is_believed(ack, &self.stream, self.full.size())
    }

    /// Data up to `ack` are acknowledged and were not captured.
    fn hear_uncaptured(&mut self, at: Time, ack: u64) {
        // The byte of a probe is not counted as sent. The receiver may accept it all the same.
        if self.window.probed != Some(ack) {
            self.see_hole(at, ack);
            let hole = self.stream.end..ack;
            self.totals.missed += hole.end - hole.start;
            self.outstanding.unseen.add(hole);
            self.ids.has_missed = true;
        }
        self.stream.end = ack;
    }

    /// An acknowledgement of nothing so far.
    fn news(&self, at: Time, segment: &Segment) -> News {
        News {
            at,
            highest_before: self.highest(),
            sent: Time::ZERO,
            since: None,
            began: self.sender.began,
            untimed: self.stream.untimed,
            least: self.model.rtt_min.unwrap_or_default(),
            rtt: None,
            bytes: 0,
            is_late: false,
            echo: segment.timestamps.map(|(_, echo)| echo),
        }
    }

    /// True if all that a segment acknowledges is certain to have been captured.
    #[inline]
    pub(crate) fn has_captured(&self, segment: &Segment) -> bool {
        let is_all_there = self.outstanding.scoreboard.missing() == 0 && segment.sack_count == 0;
        is_all_there && self.stream.acked_by(segment.ack) <= self.stream.end
    }

    /// The sequence number up to which everything is acknowledged.
    pub(crate) fn acknowledged(&self) -> u32 {
        u32::try_from(self.stream.una & u64::from(u32::MAX)).unwrap_or_default()
    }

    /// The part of a SACK block behind all data in it that an earlier block had.
    pub(crate) fn new_in(&self, (from, to): (u32, u32)) -> (u32, u32) {
        let range = self.stream.position(from)..self.stream.position(to);
        let known = self.outstanding.sacked.end_of(range.end).unwrap_or(0);
        let known = u32::try_from(known.saturating_sub(range.start)).unwrap_or(u32::MAX);
        (from.wrapping_add(known.min(to.wrapping_sub(from))), to)
    }

    /// How many bytes between two sequence numbers were neither captured nor acknowledged.
    pub(crate) fn not_captured(&self, from: u32, to: u32) -> u32 {
        let range = self.stream.position(from)..self.stream.acked_by(to);
        let beyond = range.end.saturating_sub(range.start.max(self.stream.end));
        let mut missing = 0;
        let scoreboard = &self.outstanding.scoreboard;
        if scoreboard.missing() > 0 {
            for entry in scoreboard.within(&range) {
                if entry.status == Status::Missing {
                    missing += entry.end.min(range.end) - entry.seq.max(range.start);
                }
            }
        }
        u32::try_from(beyond + missing).unwrap_or(u32::MAX)
    }

    /// Checks whether the receive window has room for another packet, or none at all.
    fn see_room(&mut self, at: Time, ack: u64, window: u16) {
        if window == 0 {
            if ack == self.stream.end {
                self.judge.limits.on_no_room();
            }
        } else if self.window.has_room(self.stream.end + self.mss()) {
            self.judge.limits.on_room(at);
        }
    }

    /// The receiver accepts data up to this sequence number.
    pub fn offer(&mut self, edge: u32) {
        let edge = self.stream.position(edge);
        self.window.extend(edge);
        if self.stream.end + self.mss() <= edge {
            self.judge.limits.on_room(self.acks.latest);
        }
    }

    fn hear_sacks(
        &mut self,
        ack: u64,
        segment: &Segment,
        (vantage, is_copy): (Vantage, bool),
        news: &mut News,
    ) {
        let blocks = segment.sack_blocks();
        let position =
            |(from, to): (u32, u32)| self.stream.position(from)..self.stream.acked_by(to);
        let end = self.stream.end;
        let is_valid = |range: &Range<u64>| range.start < range.end && range.end <= end;
        let mut ranges = [const { 0..0 }; 4];
        for (place, block) in ranges.iter_mut().zip(blocks) {
            *place = position(*block);
        }
        let first = ranges[0].clone();
        let within = |outer: &Range<u64>| outer.start <= first.start && first.end <= outer.end;
        let is_duplicate = first.end <= ack || blocks.len() > 1 && within(&ranges[1]);
        let mut from = 0;
        if is_duplicate && first.start < first.end {
            let is_of_probe = self.window.probed == Some(first.end) && first.end - first.start == 1;
            if !is_of_probe && !is_copy {
                self.recovery.repeats.on_duplicate(&first);
            }
            from = 1;
        }
        for range in &ranges[from..blocks.len()] {
            if is_valid(range) && range.start >= ack {
                self.hear_sack(range.clone(), vantage, news);
            }
        }
    }

    fn hear_sack(&mut self, range: Range<u64>, vantage: Vantage, news: &mut News) {
        let least = self.round_trips.least_far(self.model.rtt_min);
        // The round-trip time from the capture to the sender.
        let near = match vantage {
            Vantage::Sender => Duration::ZERO,
            Vantage::Elsewhere => self.round_trips.near.unwrap_or_default(),
        };
        let Outstanding {
            scoreboard,
            sacked,
            sacked_bytes,
            repeats_out,
            unseen,
        } = &mut self.outstanding;
        let (sampler, totals) = (&mut self.deliveries.sampler, &mut self.totals);
        let (repeats, full) = (&mut self.recovery.repeats, &self.full);
        sacked.add(range, |new| {
            *sacked_bytes += new.end - new.start;
            let mut over = None;
            scoreboard.each_within(&new, full.size(), usize::MAX, |entry| {
                if entry.status == Status::Sacked {
                    return;
                }
                if entry.repeats == 0 && entry.status == Status::Sent {
                    over.get_or_insert(news.at.since(entry.state.sent_time) + near);
                }
                // The timestamp does not help: an acknowledgement with SACK blocks echoes the last packet in order (RFC
                // 7323, section 4.3).
                if is_too_soon(entry, news.at, least) {
                    repeats.on_needless(&(entry.seq..entry.end));
                }
                if entry.status == Status::Missing {
                    unseen.add(entry.seq..entry.end);
                }
                news.arrived(entry, full, sampler, totals, repeats_out);
                entry.status = Status::Sacked;
            });
            scoreboard.join(new.start, full.size());
            scoreboard.join(new.end, full.size());
            if let Some(rtt) = over {
                scoreboard.pass_over(new.start, micros(rtt).max(1), MAX_PASSED_OVER);
            }
        });
    }

    fn hear_cumulative(&mut self, ack: u64, news: &mut News) {
        let una = self.stream.una;
        let least = self.round_trips.least_far(self.model.rtt_min);
        let outstanding = &mut self.outstanding;
        let (mut fills, mut is_late) = (false, false);
        while let Some(entry) = outstanding.scoreboard.pop_before(ack, self.full.size()) {
            if entry.status == Status::Sacked {
                continue;
            }
            if entry.status == Status::Missing {
                outstanding.unseen.add(entry.seq..entry.end);
            }
            is_late |= fills && entry.repeats == 0;
            fills |= entry.repeats > 0;
            // The original has arrived if the acknowledgement echoes a timestamp older than the retransmission's (RFC
            // 3522). Otherwise the retransmission has, however soon: the minimum RTT may include a queue.
            let stamps = news.echo.zip(entry.repeat_value);
            let is_original = stamps.filter(|_| entry.seq == una).map_or_else(
                || is_too_soon(&entry, news.at, least),
                |(echo, value)| echo.wrapping_sub(value).cast_signed() < 0,
            );
            if entry.repeats > 0 && is_original {
                self.recovery.repeats.on_needless(&(entry.seq..entry.end));
            }
            news.arrived(
                &entry,
                &self.full,
                &mut self.deliveries.sampler,
                &mut self.totals,
                &mut outstanding.repeats_out,
            );
        }
        // Without SACK, data that had arrived behind a hole are acknowledged late, at once, when the hole is filled.
        news.is_late = is_late && !self.acks.show_arrivals();
        self.stream.una = ack;
        self.acks.progressed = news.at;
        self.totals.delivered = self.stream.acked();
        let gone = outstanding.sacked.forget_before(ack);
        outstanding.sacked_bytes -= gone.min(outstanding.sacked_bytes);
        self.recovery.recoveries.on_ack(ack);
        if ack == self.stream.end {
            self.outstanding.repeats_out = 0;
            self.judge.limits.on_idle(news.at);
        }
    }
}

/// True if the acknowledgement follows the retransmission by less than the minimum RTT. It then acknowledges the
/// original packet (RFC 8985, section 6.2, step 2).
fn is_too_soon(entry: &Entry, at: Time, least: Option<Duration>) -> bool {
    let is_sooner = |least| at.since(entry.state.sent_time) < least;
    entry.repeats > 0 && entry.status == Status::Sent && least.is_some_and(is_sooner)
}
