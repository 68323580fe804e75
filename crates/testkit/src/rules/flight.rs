//! What is sent, what is delivered, and what is in flight between.

use std::collections::BTreeMap;

use congestion::{Bytes, Duration, Time};

use super::{Judge, share};
use crate::course::{PACE, RTPROP};
use crate::report::Fault;
use crate::witness::Told;

impl Judge<'_> {
    /// Every packet is told, and everything that was delivered; once.
    pub(crate) fn accounts(&mut self) {
        let left: Bytes = self.departures.iter().map(|it| it.size).sum();
        let sent: Bytes = self.sents().map(|(_, sent)| sent.bytes).sum();
        let acked: Bytes = self.all_acks().map(|ack| ack.newly_acked).sum();
        // Headers are not told, and much of a small packet.
        let told = sent + self.headers() * self.departures.len() as u64;
        self.find_if(
            (told.get() as f64) < 0.85 * left.get() as f64,
            Fault::SentNotTold,
            || format!("{left} left, {sent} told"),
        );
        let received = self.received as f64;
        // What is on its way back is not told yet.
        let on_the_way = PACE.bytes_in(RTPROP * 3).get() as f64;
        self.find_if(
            (acked.get() as f64) < 0.95 * received - on_the_way,
            Fault::DeliveredNotCounted,
            || format!("the application received {received} bytes, told {acked}"),
        );
        self.find_if(acked > sent, Fault::DeliveredTwice, || {
            format!("{sent} sent, {acked} told as delivered")
        });
        let total = self.all_acks().last().map(|ack| ack.rate.total_delivered);
        if let Some(total) = total {
            let off = (total.get() as f64 / acked.get().max(1) as f64 - 1.0).abs();
            self.find_if(off > 0.02, Fault::DeliveredNotCounted, || {
                format!("{acked} told by acknowledgements, the sampler counted {total}")
            });
        }
    }

    /// Between pauses, the packets that leave are told one by one when they do. Where a host's queue comes between, the
    /// acknowledgements say how far it has given departures away.
    pub(crate) fn told_when_they_leave(&mut self) {
        let given_away = self.all_acks().map(|ack| ack.next_departure.since(ack.now));
        let allowed = given_away.max().unwrap_or_default() + Duration::from_millis(1);
        let second = |at: Time| at.since(Time::ZERO).as_nanos() / 1_000_000_000;
        let mut portions = BTreeMap::<u64, (Vec<Time>, Vec<Time>)>::new();
        let largest = self.sents().map(|(_, sent)| sent.bytes).max();
        for (at, sent) in self.sents().filter(|(at, _)| *at >= self.from) {
            // As on the wire: smaller ones are no data.
            if Some(sent.bytes * 2) >= largest {
                portions.entry(second(at)).or_default().0.push(at);
            }
        }
        for departure in self.departures.iter().filter(|it| it.at >= self.from) {
            let portion = portions.entry(second(departure.at)).or_default();
            portion.1.push(departure.at);
        }
        let leads = portions.values().flat_map(|(told, left)| {
            let pairs = told.iter().zip(left);
            pairs.map(|(told, left)| left.since(*told))
        });
        let leads: Vec<Duration> = leads.collect();
        let early = leads.iter().filter(|lead| **lead > allowed).count();
        let longest = leads.iter().max().copied().unwrap_or_default();
        self.find_if(share(early, leads.len()) > 0.05, Fault::SentEarly, || {
            format!("{early} of {}, up to {longest} before", leads.len())
        });
    }

    /// Without losses, all that was sent is told as delivered, once the application has been silent for long.
    pub(crate) fn all_acked_told(&mut self) {
        let sents = self.sents().filter(|(at, _)| *at >= self.from);
        let sent: Bytes = sents.map(|(_, sent)| sent.bytes).sum();
        let acked: Bytes = self.acks().map(|ack| ack.newly_acked).sum();
        let largest = self.sents().map(|(_, sent)| sent.bytes).max();
        let missing = sent - acked;
        // A few may need no answer.
        self.find_if(
            missing > largest.unwrap_or_default() * 3,
            Fault::AckedForgotten,
            || format!("{missing} of {sent}, on a path that loses nothing"),
        );
    }

    /// What is in flight is what was sent and is not settled. Some stacks settle a few packets without a word.
    pub(crate) fn inflight(&mut self) {
        let mut dropped = BTreeMap::new();
        for departure in self.departures {
            *dropped.entry(departure.at).or_insert(0) += u32::from(!departure.has_arrived);
        }
        // The bytes of losses that were none. They leave the flight as lost, and do not when they are acknowledged later.
        let mut arrived = 0_i128;
        let mut expected = 0_i128;
        let (mut wrong, mut all, mut example) = (0, 0, None);
        for (at, told) in self.told {
            match told {
                Told::Sent(sent) => expected += i128::from(sent.bytes.get()),
                Told::Lost(lost) => {
                    let bytes = i128::from(lost.packet.bytes.get());
                    expected -= bytes;
                    match dropped.get_mut(&lost.packet.sent_time) {
                        Some(0) => arrived += bytes,
                        Some(count) => *count -= 1,
                        // Its time of departure is not the wire's.
                        None => {}
                    }
                }
                Told::Ack(ack) => {
                    expected -= i128::from(ack.newly_acked.get());
                    all += 1;
                    let off = i128::from(ack.inflight.get()) - expected;
                    if !(-15_000..=50_000 + arrived).contains(&off) && *at >= self.from {
                        wrong += 1;
                        example.get_or_insert((ack.inflight, expected));
                    }
                }
                _ => {}
            }
        }
        if let Some((told, expected)) = example
            && share(wrong, all) > 0.05
        {
            let right = match u64::try_from(expected) {
                Ok(expected) => format!("not {}", Bytes::new(expected)),
                Err(_) => "while more was told as settled than as sent".to_owned(),
            };
            let figure = format!("{wrong} of {all}; the first {told}, {right}");
            self.find(Fault::InflightWrong, figure);
        }
        self.flight_of_acks();
    }

    /// What an acknowledgement leaves in flight is there when the next packet leaves.
    fn flight_of_acks(&mut self) {
        let (mut all, mut wrong, mut example) = (0, 0, None);
        for (index, (at, told)) in self.told.iter().enumerate() {
            let Told::Ack(ack) = told else { continue };
            let Some((before, bytes)) = self.flight_before_next(index).filter(|_| *at >= self.from)
            else {
                continue;
            };
            all += 1;
            let off = before.max(ack.inflight) - before.min(ack.inflight);
            if off * 2 > bytes {
                wrong += 1;
                example.get_or_insert((ack.inflight, before));
            }
        }
        if let Some((told, before)) = example
            && share(wrong, all) > 0.5
        {
            let figure = format!(
                "{wrong} of {all}; the first {told}, and {before} when the next packet left"
            );
            self.find(Fault::AckInflightWrong, figure);
        }
    }

    /// What was in flight before the next packet left, and the size of that packet, if nothing else was told between.
    fn flight_before_next(&self, index: usize) -> Option<(Bytes, Bytes)> {
        match self.told.get(index + 1)? {
            (_, Told::Sent(sent)) => Some((sent.inflight - sent.bytes, sent.bytes)),
            _ => None,
        }
    }

    /// What was in flight before an acknowledgement is what it leaves, delivers and shows to be lost. For paths on which nothing
    /// that was lost arrives.
    pub(crate) fn prior_inflight(&mut self) {
        let (mut all, mut wrong, mut example) = (0, 0, None);
        let mut lost: Option<(Time, Bytes)> = None;
        for (index, (at, told)) in self.told.iter().enumerate() {
            match told {
                Told::Lost(it) => {
                    let before = lost.filter(|(lost_at, _)| lost_at == at);
                    let before = before.map_or(Bytes::ZERO, |(_, bytes)| bytes);
                    lost = Some((*at, before + it.packet.bytes));
                }
                Told::Ack(ack) => {
                    let Some((_, lost)) = lost.take().filter(|(lost_at, _)| lost_at == at) else {
                        continue;
                    };
                    // The acknowledgement's own word for what it leaves may be what is wrong.
                    let Some((left, _)) = self.flight_before_next(index) else {
                        continue;
                    };
                    all += 1;
                    let least = left + ack.newly_acked + lost;
                    if ack.prior_inflight < least {
                        wrong += 1;
                        example.get_or_insert((ack.prior_inflight, least));
                    }
                }
                _ => {}
            }
        }
        if let Some((told, least)) = example
            && share(wrong, all) > 0.5
        {
            let figure = format!("{wrong} of {all}; the first {told}, not {least}");
            self.find(Fault::PriorInflightWrong, figure);
        }
    }
}
