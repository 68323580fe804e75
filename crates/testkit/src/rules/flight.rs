//! What is sent, what is delivered, and what is in flight between.

use std::collections::BTreeMap;

use congestion::{Bytes, Duration, Time};

use super::{Judge, share};
use crate::course::{PACE, RTPROP};
use crate::report::Fault;
use crate::witness::Told;

/// What is told as in flight, compared.
#[derive(Default)]
struct Wrong {
    all: usize,
    wrong: usize,
    /// What was told, and what was expected.
    example: Option<(Bytes, i128)>,
}

impl Wrong {
    fn count(&mut self, wrong: Option<(Bytes, i128)>) {
        self.all += 1;
        self.wrong += usize::from(wrong.is_some());
        self.example = self.example.or(wrong);
    }

    fn share(&self) -> f64 {
        share(self.wrong, self.all)
    }
}

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

    /// Where little leaves, a probe that the books do not know would not show among everything else: each packet is told.
    pub(crate) fn each_sent_told(&mut self) {
        let headers = self.headers();
        let largest = self.largest_told();
        let left = self.departures.iter().filter(|it| it.at >= self.from);
        let left: Bytes = left.map(|it| it.size - headers).sum();
        let sents = self.sents().filter(|(at, _)| *at >= self.from);
        // As on the wire: smaller ones are no data.
        let sents = sents.filter(|(_, sent)| (sent.bytes + headers) * 2 >= largest);
        let told: Bytes = sents.map(|(_, sent)| sent.bytes).sum();
        let missing = left - told;
        self.find_if(missing > largest * 2, Fault::SentNotTold, || {
            format!("{left} left, {told} told")
        });
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
        let (mut acks, mut losses, mut recoveries) = Default::default();
        for (index, (at, told)) in self.told.iter().enumerate() {
            // What an ACK acknowledges may have left the flight before what it shows to be lost.
            let mut coming = 0;
            let counts: &mut Wrong = match told {
                Told::Sent(sent) => {
                    expected += i128::from(sent.bytes.get());
                    continue;
                }
                Told::Lost(lost) => {
                    let bytes = i128::from(lost.packet.bytes.get());
                    expected -= bytes;
                    match dropped.get_mut(&lost.packet.sent_time) {
                        Some(0) => arrived += bytes,
                        Some(count) => *count -= 1,
                        // Its time of departure is not the wire's.
                        None => {}
                    }
                    coming = self.acked_by_the_next(index);
                    &mut losses
                }
                Told::Recovery(..) | Told::Timeout(..) => {
                    coming = self.acked_by_the_next(index);
                    &mut recoveries
                }
                Told::Ack(ack) => {
                    expected -= i128::from(ack.newly_acked.get());
                    &mut acks
                }
                Told::IdleRestart(_) | Told::Mtu => continue,
            };
            let Some(flight) = told.flight().filter(|_| *at >= self.from) else {
                continue;
            };
            let off = i128::from(flight.get()) - expected;
            let is_wrong = !(-15_000 - coming..=50_000 + arrived).contains(&off);
            counts.count(is_wrong.then_some((flight, expected)));
        }
        for (who, counts) in [
            ("acknowledgements", acks),
            ("losses", losses),
            ("recoveries", recoveries),
        ] {
            let Some((told, expected)) = counts.example.filter(|_| counts.share() > 0.05) else {
                continue;
            };
            let right = match u64::try_from(expected) {
                Ok(expected) => format!("not {}", Bytes::new(expected)),
                Err(_) => "while more was told as settled than as sent".to_owned(),
            };
            let Wrong { wrong, all, .. } = counts;
            let figure = format!("{wrong} of {all} {who}; the first {told}, {right}");
            self.find(Fault::InflightWrong, figure);
        }
        self.flight_of_acks();
    }

    /// What the ACK acknowledges that is told later in the same instant, before a packet leaves.
    fn acked_by_the_next(&self, index: usize) -> i128 {
        let instant = self.told.get(index).map(|(at, _)| *at);
        let later = self.told.get(index + 1..).unwrap_or_default().iter();
        let mut later =
            later.take_while(|(at, told)| Some(*at) == instant && !matches!(told, Told::Sent(_)));
        let acked = later.find_map(|(_, told)| match told {
            Told::Ack(ack) => Some(ack.newly_acked),
            _ => None,
        });
        i128::from(acked.unwrap_or_default().get())
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

    /// What was in flight before an acknowledgement is no more than when the latest packet left, or after the acknowledgement
    /// before: nothing else adds to it.
    pub(crate) fn prior_inflight_is_fresh(&mut self) {
        let few = self.largest_told() * 5;
        let (mut wrong, mut example, mut latest) = (0, None, None);
        for (_, told) in self.told {
            if let Told::Ack(ack) = told
                && let Some(latest) = latest
                && ack.prior_inflight > latest + few
            {
                wrong += 1;
                example.get_or_insert((ack.prior_inflight, latest));
            }
            if let Told::Sent(_) | Told::Ack(_) = told {
                latest = told.flight();
            }
        }
        if let Some((told, latest)) = example {
            let figure =
                format!("{wrong} times; the first {told}, and {latest} was the latest told");
            self.find(Fault::PriorInflightStale, figure);
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
