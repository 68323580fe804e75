//! What is sent.

use std::ops::Range;

use congestion::sampling::Outstanding;
use congestion::{Bytes, Duration, PacketState, Time};

use super::{FARTHEST, Flow, Vantage};
use crate::connection::Room;
use crate::connection::echoes::Passed;
use crate::connection::limits::{Departure, Limit};
use crate::connection::scoreboard::{Entry, Status};
use crate::packet::{Flags, Segment};

/// No flow has more packets outstanding that are followed.
const MOST_OUTSTANDING: usize = 1 << 16;

/// And so many if there is little room.
const FEW_OUTSTANDING: usize = 32;

/// So many packets are looked through for holes whose repeats were lost.
const MOST_HOLES: usize = 4096;

/// The least that a sender waits for an acknowledgement before it sends again (Linux `TCP_RTO_MIN`).
const MIN_RTO: Duration = Duration::from_millis(200);

impl Flow {
    /// Data, or the end of it.
    pub fn on_data(&mut self, at: Time, segment: &Segment, vantage: Vantage, room: Room) {
        if !self.positions.is_known() {
            self.base = self.positions.of(segment.seq);
            (self.una, self.end) = (self.base, self.base);
        }
        let mut seq = self.positions.peek(segment.seq);
        if segment.flags.has(Flags::SYN) {
            seq += 1;
        }
        let end = seq + u64::from(segment.len);
        if segment.len == 0 || seq.abs_diff(self.end) > FARTHEST {
            return;
        }
        if end > self.end {
            self.positions.of(segment.seq);
        }
        self.hear_echo(at, segment);
        self.totals.packets += self.packets(end - seq);
        self.totals.bytes += end - seq;
        let sent_before = self.end;
        if seq < sent_before {
            self.repeat(at, seq..end.min(sent_before), segment, vantage);
        }
        if end > sent_before {
            self.send(at, seq, end, segment, vantage, room);
        }
        let round = self.rounds.present();
        round.sent += Bytes::new(end - seq);
        self.last_sent = at;
    }

    /// The sender says that there will be no more.
    pub fn on_close(&mut self) {
        self.limits.on_close();
    }

    /// What the segment's TSecr tells of what its sender knows, and of the way to the sender and back.
    fn hear_echo(&mut self, at: Time, segment: &Segment) {
        let Some((_, echo)) = segment.timestamps else {
            return;
        };
        let Some((passed, is_first)) = self.echoes.on_data(echo) else {
            return;
        };
        self.known = Some(passed);
        if is_first {
            let near = at.since(passed.at);
            self.near = Some(near);
            self.near_count += 1;
            self.near_min = Some(self.near_min.map_or(near, |least| least.min(near)));
        }
    }

    fn packets(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.mss.max(1)).max(1)
    }

    fn send(
        &mut self,
        at: Time,
        seq: u64,
        end: u64,
        segment: &Segment,
        vantage: Vantage,
        room: Room,
    ) {
        if seq > self.end {
            self.miss(at, seq, segment);
        }
        let last_departure = self.last_sent;
        let full = self.mss.max(1);
        let mut from = self.end;
        while from < end {
            let to = end.min(from + full);
            self.push(at, from..to, vantage, room);
            from = to;
        }
        self.end = end;
        let flight = self.flight(vantage);
        self.recoveries.on_new_data(flight);
        let round = self.rounds.present();
        round.most = round.most.max(flight);
        round.least = round.least.min(flight);
        self.depart(at, end, segment, flight, vantage);
        debug_assert!(at >= last_departure, "time runs backwards");
    }

    /// Accounts for what has limited the flow until this departure of new data.
    fn depart(&mut self, at: Time, end: u64, segment: &Segment, flight: Bytes, vantage: Vantage) {
        let is_short = u64::from(segment.len) % self.mss.max(1) != 0;
        let ends_write = segment.flags.has(Flags::FIN)
            || is_short && segment.flags.has(Flags::PSH) && u64::from(segment.len) != self.mss;
        let edge = match vantage {
            Vantage::Sender => self.edge,
            Vantage::Elsewhere => self.known.and_then(|known| known.edge),
        };
        let is_window_full = edge.is_some_and(|edge| end + self.mss > edge);
        let is_full = self.model.is_grown();
        let is_losing = self.recoveries.is_going_on() && self.model.is_queue_long();
        let departure = Departure {
            at,
            ends_write,
            is_window_full,
            else_by: Limit::of_flight(flight, self.model.bdp(), is_full, is_losing),
        };
        self.present_limit = self.limits.on_departure(departure, &self.patience(vantage));
        if matches!(self.present_limit, Limit::Application | Limit::Receiver) {
            self.rounds.present().is_held = true;
        }
        if ends_write {
            self.sampler.mark_app_limited(flight);
        }
    }

    /// What is before `seq` has not passed.
    fn miss(&mut self, at: Time, seq: u64, segment: &Segment) {
        let state = self.sampler.clone().on_packet_sent(
            at,
            Bytes::new(seq - self.end),
            Outstanding::Nothing,
        );
        self.scoreboard.push(Entry {
            seq: self.end,
            end: seq,
            state,
            repeat_value: segment.timestamps.map(|(value, _)| value),
            repeats: 0,
            is_repeat_out: false,
            status: Status::Missing,
        });
        self.end = seq;
    }

    fn push(&mut self, at: Time, range: Range<u64>, vantage: Vantage, room: Room) {
        let most = match room {
            Room::Plenty => MOST_OUTSTANDING,
            Room::Little => FEW_OUTSTANDING,
        };
        if self.scoreboard.len() >= most {
            let oldest = self.scoreboard.first().map(|first| first.end);
            if let Some(end) = oldest {
                self.scoreboard.pop_before(end);
                self.totals.unfollowed += 1;
            }
        }
        let out = if self.end == self.una {
            Outstanding::Nothing
        } else {
            Outstanding::Inflight(self.flight(vantage))
        };
        let bytes = Bytes::new(range.end - range.start);
        let mut state = self.sampler.on_packet_sent(at, bytes, out);
        stamp(&mut state, vantage, self.known.as_ref());
        self.scoreboard.push(Entry {
            seq: range.start,
            end: range.end,
            state,
            repeat_value: None,
            repeats: 0,
            is_repeat_out: false,
            status: Status::Sent,
        });
    }

    /// Bytes pass that are before the end of what passed.
    fn repeat(&mut self, at: Time, range: Range<u64>, segment: &Segment, vantage: Vantage) {
        let value = segment.timestamps.map(|(value, _)| value);
        let mut from = range.start;
        // What is acknowledged needs no repeat.
        while from < range.end.min(self.una) {
            let to = range.end.min(self.una).min(from + self.mss.max(1));
            self.repeats.on_repeat(from..to, true);
            from = to;
        }
        let before = Bytes::new(self.end - self.una - self.sacked_bytes.min(self.end - self.una));
        let (rtt, last_rtt) = (self.model.rt_prop(), self.model.last_rtt());
        let highest = self.highest();
        let flight = self.flight(vantage);
        let is_first = self
            .scoreboard
            .first()
            .is_some_and(|first| first.seq >= range.start && first.status == Status::Sent);
        let silence = at.since(self.last_sent.max(self.last_heard));
        let rto = self.model.rtt_mean().unwrap_or_default() + MIN_RTO;
        let is_timeout = is_first && silence >= rto;
        let is_tail = range.end >= self.end && !is_timeout;
        let (mut is_repeat, mut is_fill) = (false, false);
        self.scoreboard.each_within(&(from..range.end), |entry| {
            let packet = entry.seq..entry.end;
            let packets = entry.len().div_ceil(self.mss.max(1)).max(1);
            match entry.status {
                Status::Missing => {
                    if is_late(at, entry, value, rtt) {
                        self.totals.reordered += packets;
                    } else {
                        // Holes are filled one after the other. After a pause, it was not the first repeat.
                        let pause = at.since(entry.state.sent_time.max(self.last_fill));
                        let is_second = entry.repeats == 0
                            && last_rtt.is_some_and(|rtt| pause > rtt + rtt * 7 / 10);
                        self.totals.lost_before += packets * (1 + u64::from(is_second));
                        is_repeat = true;
                    }
                    entry.status = Status::Sent;
                    entry.repeats = 1;
                    entry.repeat_value = None;
                    is_fill = true;
                }
                Status::Sacked => self.repeats.on_repeat(packet, true),
                Status::Sent => {
                    self.sampler.on_packet_lost(&entry.state);
                    self.repeats.on_repeat(packet, false);
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
                let out = Outstanding::Inflight(flight);
                entry.state = self
                    .sampler
                    .on_packet_sent(at, Bytes::new(entry.len()), out);
                stamp(&mut entry.state, vantage, self.known.as_ref());
            }
        });
        if is_repeat && is_fill {
            self.overtake(at, range.start);
        }
        if is_repeat {
            self.rounds.present().repeats += 1;
            // A repeat of the very last may be a probe, and tells nothing of losses (RFC 8985, section 7.3).
            if !is_tail {
                self.recoveries.on_repeat(self.end, before, is_timeout);
                self.model.set_grown();
            }
        }
    }

    /// A repeat fills a hole. Holes are filled in their order, so the repeats of those before it were lost too.
    fn overtake(&mut self, at: Time, filled: u64) {
        let Some(rtt) = self.model.last_rtt() else {
            return;
        };
        let mss = self.mss.max(1);
        let lost_before = &mut self.totals.lost_before;
        self.scoreboard.each_before(filled, MOST_HOLES, |entry| {
            if entry.status != Status::Missing {
                return;
            }
            // A hole is filled a round trip after it was seen. A second repeat comes a round trip, and what reordering is waited
            // for, after the first was overtaken (RFC 8985, section 6.2).
            let least = rtt + rtt / 2 * u64::from(entry.repeats);
            if at.since(entry.state.sent_time) > least {
                *lost_before += entry.len().div_ceil(mss);
                entry.state.sent_time = at;
                entry.repeats = 1;
            }
        });
        self.last_fill = at;
    }
}

/// Far from the sender, what had been delivered when a packet was sent is what the sender had heard of, and not what passed the
/// capture since.
fn stamp(state: &mut PacketState, vantage: Vantage, known: Option<&Passed>) {
    if vantage == Vantage::Elsewhere
        && let Some(known) = known
    {
        state.delivered = known.delivered;
        state.delivered_time = known.at;
        state.first_sent_time = state.sent_time;
    }
}

/// Whether what fills a hole was only late: it was sent no later than what came before it (its timestamp says so), or it comes too
/// soon for the receiver to have asked for it.
fn is_late(at: Time, hole: &Entry, value: Option<u32>, rtt: Option<Duration>) -> bool {
    let age = at.since(hole.state.sent_time);
    let is_soon = rtt.is_some_and(|rtt| age < rtt * 3 / 4);
    match value.zip(hole.repeat_value) {
        Some((value, after)) => match value.wrapping_sub(after).cast_signed() {
            ..0 => true,
            0 => rtt.is_none() || is_soon,
            1.. => false,
        },
        None => is_soon,
    }
}
