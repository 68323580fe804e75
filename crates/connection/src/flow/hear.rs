//! Acknowledgements.

use std::ops::Range;

use capture::packet::Segment;
use congestion::{Duration, Time};

use super::deliver::News;
use super::{FARTHEST, Flow, Vantage};
use crate::losses::micros;
use crate::memory::Room;
use crate::scoreboard::{Entry, Status};

/// An acknowledgement of up to so many packets that were not captured is believed.
const UNHEARD: u64 = 10;

/// An acknowledgement confirms another one that is lower by no more than so much.
const STEP: u64 = 1 << 24;

/// The same acknowledgement is believed when it comes for this time. A receiver repeats it when its window changes.
const REPEATED: u8 = 3;

/// The most pieces that one SACK block passes over.
const MOST_PASSED: usize = 4096;

impl Flow {
    /// Takes in an acknowledgement. `scale` is the window scale, if it is known. Returns whether the least round-trip time
    /// to the receiver has fallen.
    pub fn on_ack(
        &mut self,
        at: Time,
        segment: &Segment,
        id: u16,
        scale: Option<u8>,
        vantage: Vantage,
        room: Room,
    ) -> bool {
        if !self.positions.is_known() {
            return false;
        }
        let ack = self.heard(segment.ack);
        if ack.abs_diff(self.end) > FARTHEST || !self.is_believed(ack) {
            return false;
        }
        let far = self.far;
        let is_copy = self
            .heard
            .is_copy(id, segment, room, self.totals.copies > 0);
        self.totals.acks += u64::from(!is_copy);
        self.closed_at = (segment.window == 0).then_some(ack);
        self.window.offered(ack, segment.window);
        self.is_edge_sure = scale.is_some();
        let scale = scale.or_else(|| self.window.scale());
        let edge = scale.map(|scale| ack + (u64::from(segment.window) << scale));
        self.edge = edge.map(|edge| self.edge.map_or(edge, |old| old.max(edge)));
        // QUIC tells its windows elsewhere.
        if self.cues.is_some() {
            self.see_room(at, ack, segment.window);
        }
        if ack > self.end {
            // The byte of a probe is not counted as sent. The receiver may accept it all the same.
            if self.probed != Some(ack) {
                self.see_hole(at, ack);
                self.totals.missed += ack - self.end;
                self.unseen.add(self.end..ack);
                self.has_missed = true;
            }
            self.end = ack;
        }
        let mut news = News {
            at,
            highest_before: self.highest(),
            sent: Time::ZERO,
            since: None,
            began: self.began,
            untimed: self.untimed,
            least: self.model.rtt_min.unwrap_or_default(),
            rtt: None,
            bytes: 0,
            is_late: false,
            echo: segment.timestamps.map(|(_, echo)| echo),
        };
        let is_copy = self.is_old(segment.timestamps) || is_copy;
        self.has_cut_acks |= segment.is_cut;
        if segment.sack_count > 0 {
            self.has_sacks = true;
            self.hear_sacks(ack, segment, (vantage, is_copy), &mut news);
            if room == Room::Little {
                self.sacked_bytes += self.sacked.thin();
            }
        }
        if ack > self.una {
            self.hear_cumulative(ack, &mut news);
        }
        if news.bytes > 0 {
            self.deliver(&news, vantage, room);
        }
        if let Some((value, _)) = segment.timestamps {
            if let Some(cues) = &mut self.cues {
                cues.on_ack(value);
            }
            let delivered = self.sampler.delivered();
            self.echoes.on_ack(at, value, delivered, self.edge, room);
        }
        self.last_heard = at;
        self.far != far
    }

    /// Whether all that a segment acknowledges is certain to have been captured.
    #[inline]
    pub fn has_captured(&self, segment: &Segment) -> bool {
        let is_all_there = self.scoreboard.missing() == 0 && segment.sack_count == 0;
        is_all_there && self.heard(segment.ack) <= self.end
    }

    /// The sequence number up to which everything is acknowledged.
    pub fn acknowledged(&self) -> u32 {
        u32::try_from(self.una & u64::from(u32::MAX)).unwrap_or_default()
    }

    /// The part of a SACK block behind all data in it that an earlier block had.
    pub fn new_in(&self, (from, to): (u32, u32)) -> (u32, u32) {
        let range = self.positions.peek(from)..self.positions.peek(to);
        let known = self.sacked.end_of(range.end).unwrap_or(0);
        let known = u32::try_from(known.saturating_sub(range.start)).unwrap_or(u32::MAX);
        (from.wrapping_add(known.min(to.wrapping_sub(from))), to)
    }

    /// How many bytes between two sequence numbers were neither captured nor acknowledged.
    pub fn not_captured(&self, from: u32, to: u32) -> u32 {
        let range = self.positions.peek(from)..self.heard(to);
        let beyond = range.end.saturating_sub(range.start.max(self.end));
        let mut missing = 0;
        if self.scoreboard.missing() > 0 {
            for entry in self.scoreboard.within(&range) {
                if entry.status == Status::Missing {
                    missing += entry.end.min(range.end) - entry.seq.max(range.start);
                }
            }
        }
        u32::try_from(beyond + missing).unwrap_or(u32::MAX)
    }

    /// Whether an acknowledgement comes from the receiver. One of data that were not captured may come from anybody. If it is
    /// of much more than what is outstanding, it needs a second one, a little higher, or has to come three times.
    fn is_believed(&mut self, ack: u64) -> bool {
        if ack <= self.end || self.probed == Some(ack) {
            self.claimed = None;
            return true;
        }
        let (first, times) = self.claimed.unwrap_or_default();
        let is_higher = times > 0 && first < ack && ack - first <= STEP;
        let times = if first == ack {
            times.saturating_add(1)
        } else {
            1
        };
        self.claimed = Some((ack, times));
        let few = (self.end - self.una).max(self.mss() * UNHEARD);
        is_higher || times >= REPEATED || ack - self.end <= few
    }

    /// The position up to which this acknowledgement number acknowledges data. FIN takes a sequence number, too (RFC
    /// 9293, section 3.4), but is not data.
    fn heard(&self, number: u32) -> u64 {
        let position = self.positions.peek(number);
        position - u64::from(self.fin.is_some_and(|fin| position == fin + 1))
    }

    /// Whether the acknowledgement has an older timestamp than an earlier one: it was overtaken, or it is a copy.
    fn is_old(&mut self, stamps: Option<(u32, u32)>) -> bool {
        let Some((value, _)) = stamps else {
            return false;
        };
        let is_older = |newest: u32| value.wrapping_sub(newest).cast_signed() < 0;
        if self.newest_ack.is_some_and(is_older) {
            return true;
        }
        self.newest_ack = Some(value);
        false
    }

    /// Checks whether the receive window has room for another packet, or none at all.
    fn see_room(&mut self, at: Time, ack: u64, window: u16) {
        if window == 0 {
            if ack == self.end {
                self.limits.on_no_room();
            }
        } else if self.edge.is_none_or(|edge| self.end + self.mss() <= edge) {
            self.limits.on_room(at);
        }
    }

    /// The receiver accepts data up to this sequence number.
    pub fn offer(&mut self, edge: u32) {
        let edge = self.positions.peek(edge);
        self.edge = Some(self.edge.map_or(edge, |old| old.max(edge)));
        if self.end + self.mss() <= edge {
            self.limits.on_room(self.last_heard);
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
        let position = |(from, to): (u32, u32)| self.positions.peek(from)..self.heard(to);
        let end = self.end;
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
            let is_of_probe = self.probed == Some(first.end) && first.end - first.start == 1;
            if !is_of_probe && !is_copy {
                self.repeats.on_duplicate(&first);
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
        let least = self.least_far();
        // The round-trip time from the capture to the sender.
        let near = match vantage {
            Vantage::Sender => Duration::ZERO,
            Vantage::Elsewhere => self.near.unwrap_or_default(),
        };
        let (scoreboard, totals) = (&mut self.scoreboard, &mut self.totals);
        let (sampler, repeats_out) = (&mut self.sampler, &mut self.repeats_out);
        let (sacked_bytes, full) = (&mut self.sacked_bytes, &self.full);
        let (repeats, unseen) = (&mut self.repeats, &mut self.unseen);
        self.sacked.add(range, |new| {
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
                scoreboard.pass_over(new.start, micros(rtt).max(1), MOST_PASSED);
            }
        });
    }

    /// The minimum time from a packet to its acknowledgement. The time of the handshake may be shorter than that of
    /// data, because its packets are short.
    fn least_far(&self) -> Option<Duration> {
        let far = self.far?;
        Some(self.model.rtt_min.map_or(far, |least| least.min(far)))
    }

    fn hear_cumulative(&mut self, ack: u64, news: &mut News) {
        let (una, least) = (self.una, self.least_far());
        let (mut fills, mut is_late) = (false, false);
        while let Some(entry) = self.scoreboard.pop_before(ack, self.full.size()) {
            if entry.status == Status::Sacked {
                continue;
            }
            if entry.status == Status::Missing {
                self.unseen.add(entry.seq..entry.end);
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
                self.repeats.on_needless(&(entry.seq..entry.end));
            }
            news.arrived(
                &entry,
                &self.full,
                &mut self.sampler,
                &mut self.totals,
                &mut self.repeats_out,
            );
        }
        // Without SACK, data that had arrived behind a hole are acknowledged late, at once, when the hole is filled.
        news.is_late = is_late && (!self.has_sacks || self.has_cut_acks);
        self.una = ack;
        self.progressed = news.at;
        self.totals.delivered = ack - self.base;
        self.sacked_bytes -= self.sacked.forget_before(ack).min(self.sacked_bytes);
        self.recoveries.on_ack(ack);
        if ack == self.end {
            self.repeats_out = 0;
            self.limits.on_idle(news.at);
        }
    }
}

/// Whether the acknowledgement follows the retransmission by less than the minimum RTT. It then acknowledges the
/// original packet (RFC 8985, section 6.2, step 2).
fn is_too_soon(entry: &Entry, at: Time, least: Option<Duration>) -> bool {
    let is_sooner = |least| at.since(entry.state.sent_time) < least;
    entry.repeats > 0 && entry.status == Status::Sent && least.is_some_and(is_sooner)
}
