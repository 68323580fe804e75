//! Rules for sent data, delivered data and inflight.

use std::collections::BTreeMap;

use congestion::{Bytes, Duration, Time};

use super::{Judge, share};
use crate::report::Fault;
use crate::setting::{PACE, RTPROP};
use crate::witness::Told;

/// The comparison of reported and expected inflight.
#[derive(Default)]
struct Wrong {
    all: usize,
    wrong: usize,
    /// The first wrong report: the reported and the expected inflight.
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
    /// Every packet and all delivered data is reported, once.
    pub(crate) fn accounts(&mut self) {
        let left: Bytes = self.departures.iter().map(|it| it.size).sum();
        let sent: Bytes = self.sents().map(|(_, sent)| sent.bytes).sum();
        let acked: Bytes = self.all_acks().map(|ack| ack.newly_acked).sum();
        // Reports do not count headers, which are a large part of small packets.
        let told = sent + self.headers() * self.departures.len() as u64;
        self.find_if(
            (told.get() as f64) < 0.85 * left.get() as f64,
            Fault::SentNotTold,
            || format!("{left} left, {sent} told"),
        );
        let received = self.received as f64;
        // Data whose ACK is on its way back is not reported yet.
        let on_the_way = PACE.bytes_in(RTPROP * 3).get() as f64;
        self.find_if(
            (acked.get() as f64) < 0.95 * received - on_the_way,
            Fault::DeliveredNotCounted,
            || format!("the application received {received} bytes, {acked} reported"),
        );
        self.find_if(acked > sent, Fault::DeliveredTwice, || {
            format!("{sent} sent, {acked} reported as delivered")
        });
        let total = self.all_acks().last().map(|ack| ack.rate.total_delivered);
        if let Some(total) = total {
            let off = (total.get() as f64 / acked.get().max(1) as f64 - 1.0).abs();
            self.find_if(off > 0.02, Fault::DeliveredNotCounted, || {
                format!("acknowledgements report {acked}, the sampler counted {total}")
            });
        }
    }

    /// Each packet is reported. On these courses few packets leave, so that a single probe without a report shows.
    pub(crate) fn each_sent_told(&mut self) {
        let headers = self.headers();
        let largest = self.largest_told();
        let left = self.departures.iter().filter(|it| it.at >= self.from);
        let left: Bytes = left.map(|it| it.size - headers).sum();
        let sents = self.sents().filter(|(at, _)| *at >= self.from);
        // The kit takes smaller packets on the wire for ACKs.
        let sents = sents.filter(|(_, sent)| (sent.bytes + headers) * 2 >= largest);
        let told: Bytes = sents.map(|(_, sent)| sent.bytes).sum();
        let missing = left - told;
        self.find_if(missing > largest * 2, Fault::SentNotTold, || {
            format!("{left} left, {told} reported")
        });
    }

    /// Between pauses, each packet is reported when it leaves. If the host has a queue, the acknowledgements say how far ahead
    /// it has scheduled departures.
    pub(crate) fn told_when_they_leave(&mut self) {
        let given_away = self.all_acks().map(|ack| ack.next_departure.since(ack.now));
        let allowed = given_away.max().unwrap_or_default() + Duration::from_millis(1);
        let second = |at: Time| at.since(Time::ZERO).as_nanos() / 1_000_000_000;
        let mut portions = BTreeMap::<u64, (Vec<Time>, Vec<Time>)>::new();
        let largest = self.sents().map(|(_, sent)| sent.bytes).max();
        for (at, sent) in self.sents().filter(|(at, _)| *at >= self.from) {
            // The kit takes smaller packets on the wire for ACKs.
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
            format!("{early} of {} packets, up to {longest} early", leads.len())
        });
    }

    /// Without losses, all sent data is reported as delivered once the application has been silent for long.
    pub(crate) fn all_acked_told(&mut self) {
        let sents = self.sents().filter(|(at, _)| *at >= self.from);
        let sent: Bytes = sents.map(|(_, sent)| sent.bytes).sum();
        let acked: Bytes = self.acks().map(|ack| ack.newly_acked).sum();
        let largest = self.sents().map(|(_, sent)| sent.bytes).max();
        let missing = sent - acked;
        // A few packets may need no ACK.
        self.find_if(
            missing > largest.unwrap_or_default() * 3,
            Fault::AckedForgotten,
            || format!("{missing} of {sent}, on a path without losses"),
        );
    }

    /// Inflight is the sent data that is neither acknowledged nor lost. Some stacks forget a few packets without a report.
    pub(crate) fn inflight(&mut self) {
        let mut dropped = BTreeMap::new();
        for departure in self.departures {
            *dropped.entry(departure.at).or_insert(0) += u32::from(!departure.has_arrived);
        }
        // The bytes of spurious losses. They leave inflight when they are declared lost, and not again when they are acknowledged.
        let mut arrived = 0_i128;
        let mut expected = 0_i128;
        let (mut acks, mut losses, mut recoveries) = Default::default();
        for (index, (at, told)) in self.told.iter().enumerate() {
            // The data that an ACK acknowledges may leave inflight before the losses that the ACK shows.
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
                        // Its state has another time of departure than the wire.
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
                Err(_) => "but more was reported as settled than as sent".to_owned(),
            };
            let Wrong { wrong, all, .. } = counts;
            let figure = format!("{wrong} of {all} {who}; the first reports {told}, {right}");
            self.find(Fault::InflightWrong, figure);
        }
        self.flight_of_acks();
    }

    /// The bytes that an ACK acknowledges which is reported later in the same instant, before a packet leaves.
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

    /// The inflight after an acknowledgement is the inflight before the next packet leaves.
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
            let figure =
                format!("{wrong} of {all}; the first reports {told}, and the next packet {before}");
            self.find(Fault::AckInflightWrong, figure);
        }
    }

    /// The inflight before the next packet left, and the size of that packet, if nothing else was reported in between.
    fn flight_before_next(&self, index: usize) -> Option<(Bytes, Bytes)> {
        match self.told.get(index + 1)? {
            (_, Told::Sent(sent)) => Some((sent.inflight - sent.bytes, sent.bytes)),
            _ => None,
        }
    }

    /// The inflight before an acknowledgement is at most that of the latest packet or acknowledgement, because nothing else adds
    /// to it.
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
            let figure = format!(
                "{wrong} times; the first reports {told}, and the report before it {latest}"
            );
            self.find(Fault::PriorInflightStale, figure);
        }
    }

    /// The inflight before an acknowledgement is the sum of the inflight after it, the data that it delivers, and the losses that
    /// it shows. This rule is for paths without spurious losses.
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
                    // The inflight that the acknowledgement reports may itself be wrong, so the next packet's report is used.
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
            let figure = format!("{wrong} of {all}; the first reports {told}, not {least}");
            self.find(Fault::PriorInflightWrong, figure);
        }
    }
}
