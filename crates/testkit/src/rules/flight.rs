//! What is sent, what is delivered, and what is in flight between.

use std::collections::BTreeMap;

use congestion::{Bytes, Time};

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
        self.find_if(
            (sent.get() as f64) < 0.85 * left.get() as f64,
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
            let figure = format!("{wrong} of {all}; the first {told}, not {expected} bytes");
            self.find(Fault::InflightWrong, figure);
        }
    }

    /// What was in flight before an acknowledgement is what it leaves, delivers and shows to be lost. For paths on which nothing
    /// that was lost arrives.
    pub(crate) fn prior_inflight(&mut self) {
        let (mut all, mut wrong, mut example) = (0, 0, None);
        let mut lost: Option<(Time, Bytes)> = None;
        for (at, told) in self.told {
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
                    all += 1;
                    let least = ack.inflight + ack.newly_acked + lost;
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
