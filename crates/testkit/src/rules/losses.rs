//! Rules for losses, recoveries and timeouts, and for the flow after them.

use std::collections::{BTreeMap, BTreeSet};

use congestion::{Bytes, Cause, Duration, Lost, Recovery, Time};

use super::{Judge, share};
use crate::report::Fault;
use crate::setting::{PACE, RTPROP};
use crate::witness::Told;
use crate::world::Departure;

/// The most that may be in flight at the end: a packet that needs no ACK.
const MAX_INFLIGHT_AT_REST: Bytes = Bytes::new(1_500);

/// A timer finds a loss within this time: twice the smallest retransmission timeout of RFC 6298.
const LOSS_TIMER_TIMEOUT: Duration = Duration::from_secs(2);

impl Judge<'_> {
    pub(crate) fn no_losses(&mut self) {
        let lost = self.losts().count();
        self.find_if(lost > 0, Fault::LossInvented, || format!("{lost}"));
    }

    /// Each lost packet is reported once, before the acknowledgement.
    pub(crate) fn losses(&mut self) {
        // The transport does not know yet whether the last packets are lost.
        let truly = self.truly_lost(self.until - RTPROP * 2).count() as u64;
        let told: Vec<u64> = self.losts().map(|lost| lost.packet.sequence).collect();
        let distinct: BTreeSet<u64> = told.iter().copied().collect();
        let (count, twice) = (distinct.len() as f64, told.len() - distinct.len());
        self.find_if(count < 0.8 * truly as f64, Fault::LossNotTold, || {
            format!("{count} reported, {truly} packets were lost")
        });
        self.find_if(
            count > 1.3 * truly as f64 + 20.0,
            Fault::LossInvented,
            || format!("{count} reported, {truly} packets were lost"),
        );
        self.find_if(twice > 0, Fault::LossToldTwice, || {
            format!("{twice} of {}", told.len())
        });
        self.order_of_losses();
        let lost: Bytes = self.losts().map(|lost| lost.packet.bytes).sum();
        let sampled = self.all_acks().last().map(|ack| ack.rate.total_lost);
        if let Some(sampled) = sampled {
            self.find_if(
                sampled < lost - Bytes::new(15_000),
                Fault::LossNotSampled,
                || format!("{lost} reported as lost, the sampler counted {sampled}"),
            );
        }
    }

    /// A loss is reported with the state of a packet that was lost. States with a time at which no packet left are not judged.
    pub(crate) fn whose_losses(&mut self) {
        let mut dropped = BTreeMap::new();
        for departure in self.departures {
            *dropped.entry(departure.at).or_insert(0) += u32::from(!departure.has_arrived);
        }
        let (mut all, mut wrong, mut example) = (0, 0, None);
        for lost in self.losts() {
            let Some(left) = dropped.get_mut(&lost.packet.sent_time) else {
                continue;
            };
            all += 1;
            if *left > 0 {
                *left -= 1;
            } else {
                wrong += 1;
                example.get_or_insert(lost.packet.sent_time.since(Time::ZERO));
            }
        }
        if let Some(at) = example
            && share(wrong, all) > 0.2
        {
            let figure = format!(
                "{wrong} of {all}; the first with the state of a packet that left at {at} and arrived"
            );
            self.find(Fault::LossOfAnother, figure);
        }
    }

    /// Packets that left before `end` and did not arrive.
    fn truly_lost(&self, end: Time) -> impl Iterator<Item = &Departure> {
        let has_left = move |it: &&Departure| it.at < end && !it.has_arrived;
        self.departures.iter().filter(has_left)
    }

    /// Losses at the end of the data, which no later acknowledgement shows. At least `least` of `of` losses are reported. Their
    /// data arrives, and nothing stays in flight.
    pub(crate) fn found_by_timer(&mut self, least: usize, of: usize) {
        let truly = self.truly_lost(self.until).filter(|it| it.at >= self.from);
        let truly = truly.count();
        if truly == 0 {
            self.note("no packet of 600 bytes or more left when the kit wanted to lose one");
        }
        let lost: BTreeSet<u64> = self.losts().map(|lost| lost.packet.sequence).collect();
        let told = lost.len();
        self.find_if(told * of < truly * least, Fault::LossNotTold, || {
            format!("{told} reported, {truly} packets were lost at the end of the data")
        });
        let age = |lost: &Lost| lost.now.since(lost.packet.sent_time);
        let late = self
            .losts()
            .filter(|lost| age(lost) > LOSS_TIMER_TIMEOUT)
            .count();
        self.find_if(late > 0, Fault::Stalled, || {
            format!(
                "{late} of {told} losses were found more than {LOSS_TIMER_TIMEOUT} after the packet had left"
            )
        });
        self.all_arrived();
        let rests = self.all_acks().last().map(|ack| ack.inflight);
        let rests = rests.filter(|rests| *rests > MAX_INFLIGHT_AT_REST);
        if let Some(rests) = rests {
            let figure = format!("{rests} in flight when everything had been acknowledged");
            self.find(Fault::InflightWrong, figure);
        }
    }

    /// All written data has been received.
    pub(crate) fn all_arrived(&mut self) {
        let (received, written) = (self.received, self.written);
        self.find_if(received < written, Fault::Stalled, || {
            format!("{written} bytes written, {received} received")
        });
    }

    /// If a loss and an acknowledgement are reported at the same instant, the loss comes first. If several ACKs are read at one
    /// instant, each may have its own losses before it.
    fn order_of_losses(&mut self) {
        let (mut late, mut open, mut acked_at) = (0, 0, None);
        for (at, told) in self.told {
            match told {
                Told::Ack(_) => {
                    if acked_at != Some(*at) {
                        late += open;
                    }
                    (open, acked_at) = (0, Some(*at));
                }
                Told::Sent(_) => {
                    late += std::mem::take(&mut open);
                    acked_at = None;
                }
                Told::Lost(_) if acked_at == Some(*at) => open += 1,
                _ => {}
            }
        }
        late += open;
        let all = self.losts().count();
        self.find_if(share(late, all) > 0.1, Fault::LossAfterAck, || {
            format!("{late} of {all}")
        });
    }

    /// Recoveries begin and end, last a round trip, and begin at most once a round trip.
    pub(crate) fn recoveries(&mut self) {
        let (mut entered, mut is_on) = (0, false);
        let (mut twice, mut often, mut last) = (0, 0, None);
        // These count recoveries that a loss began and that were not undone.
        let (mut ended, mut short, mut since) = (0, 0, None);
        for (at, told) in self.told {
            match told {
                Told::Recovery(_, Recovery::Entered(cause), _) => {
                    entered += 1;
                    since = (*cause == Cause::Loss).then_some(*at);
                    twice += usize::from(is_on);
                    let is_soon = last.is_some_and(|last| at.since(last) < RTPROP / 2);
                    often += usize::from(is_soon);
                    last = Some(*at);
                    is_on = true;
                }
                Told::Recovery(_, end, _) => {
                    is_on = false;
                    if let Some(since) = since.take().filter(|_| *end == Recovery::Left) {
                        ended += 1;
                        short += usize::from(at.since(since) < RTPROP / 2);
                    }
                }
                _ => {}
            }
        }
        self.find_if(share(short, ended) > 0.1, Fault::RecoveryTooShort, || {
            format!("{short} of {ended} ended within half a round trip")
        });
        let lost = self.losts().count();
        self.find_if(lost > 0 && entered == 0, Fault::RecoveryNotTold, || {
            format!("{lost} losses")
        });
        self.find_if(twice > 0, Fault::RecoveryTwice, || {
            format!("{twice} of {entered}")
        });
        self.find_if(share(often, entered) > 0.1, Fault::RecoveryTooOften, || {
            format!("{often} of {entered} within half a round trip of the previous one")
        });
        let left = self.count_recoveries(|recovery| !matches!(recovery, Recovery::Entered(_)));
        self.find_if(
            entered > 0 && left < entered / 2,
            Fault::RecoveryNeverEnds,
            || format!("{entered} began, {left} ended"),
        );
    }

    /// The recovery that a loss begins is reported with the loss: before the acknowledgement, before the next packet leaves, and,
    /// if a timer found the loss, without waiting for an acknowledgement. Packets that were sent before the latest recovery
    /// began, and losses during a recovery, are not judged.
    pub(crate) fn settlements(&mut self) {
        let (mut all, mut after_ack, mut late) = (0, 0, Vec::new());
        let (mut began, mut is_on) = (None, false);
        // The time of a loss whose recovery has not been reported, and whether an acknowledgement was reported since.
        let mut open: Option<(Time, bool)> = None;
        for (at, told) in self.told {
            match told {
                Told::Lost(lost) if !is_on && Some(lost.packet.sent_time) > began => {
                    open.get_or_insert((*at, false));
                }
                Told::Ack(_) => {
                    if let Some((lost_at, is_acked)) = &mut open {
                        *is_acked |= lost_at == at;
                    }
                }
                Told::Recovery(_, Recovery::Entered(_), _) | Told::Timeout(..) => {
                    if let Some((lost_at, is_acked)) = open.take() {
                        all += 1;
                        if *at > lost_at {
                            late.push(at.since(lost_at));
                        } else {
                            after_ack += usize::from(is_acked);
                        }
                    }
                    (began, is_on) = (Some(*at), true);
                }
                Told::Recovery(..) => is_on = false,
                _ => {}
            }
        }
        self.find_if(share(after_ack, all) > 0.1, Fault::RecoveryAfterAck, || {
            format!("{after_ack} of {all}")
        });
        let longest = late.iter().max().copied().unwrap_or_default();
        self.find_if(share(late.len(), all) > 0.1, Fault::LossNotSettled, || {
            format!("{} of {all}, up to {longest} late", late.len())
        });
    }

    /// Without a real loss, recoveries are undone.
    pub(crate) fn undone(&mut self) {
        let entered = self.count_recoveries(|it| matches!(it, Recovery::Entered(_)));
        let undone = self.count_recoveries(|it| *it == Recovery::Undone);
        if entered < 3 {
            self.note("no packet was declared lost, so there was nothing to undo");
            return;
        }
        self.find_if(undone * 2 < entered, Fault::UndoMissing, || {
            format!("{entered} began without a real loss, {undone} undone")
        });
    }

    /// The flow continues after a silence.
    pub(crate) fn resumed(&mut self) {
        let acked = self.acks().map(|ack| ack.newly_acked).sum::<Bytes>();
        let expected = PACE.bytes_in(self.until.since(self.from));
        self.find_if(acked * 4 < expected, Fault::Stalled, || {
            format!("{acked} delivered since the path is back, {expected} expected")
        });
    }

    /// A probe timeout is not reported as a timeout.
    pub(crate) fn no_timeouts(&mut self) {
        let is_timeout = |(_, told): &&(Time, Told)| matches!(told, Told::Timeout(..));
        let timeouts = self.told.iter().filter(is_timeout).count();
        self.find_if(timeouts > 0, Fault::TimeoutFalse, || {
            format!("{timeouts} reported, but no silence was longer than 200 ms")
        });
    }

    pub(crate) fn timeouts(&mut self) {
        let is_timeout = |(_, told): &(Time, Told)| matches!(told, Told::Timeout(..));
        let Some(last) = self.told.iter().rposition(is_timeout) else {
            self.find(
                Fault::TimeoutNotTold,
                "4 s without an acknowledgement".to_owned(),
            );
            return;
        };
        self.losses_of_timeouts();
        let after = self.told.get(last..).unwrap_or_default();
        let ends = after.iter().any(|(_, told)| {
            matches!(
                told,
                Told::Recovery(_, Recovery::Left | Recovery::Undone, _)
            )
        });
        let span = self.span_s();
        self.find_if(!ends, Fault::TimeoutNeverEnds, || {
            format!("not in {span:.0} s")
        });
    }

    /// Losses that a timer or an ACK found are reported before the first timeout.
    fn losses_of_timeouts(&mut self) {
        let is_timeout = |(_, told): &(Time, Told)| matches!(told, Told::Timeout(..));
        let Some(first) = self.told.iter().position(is_timeout) else {
            return;
        };
        let (before, after) = self.told.split_at(first);
        let Some((at, _)) = after.first() else { return };
        // The ACK that showed the losses may be reported in between.
        let is_ack = |told: &Told| matches!(told, Told::Ack(_));
        let since = before.iter().rev();
        let mut since = since.take_while(|(told_at, told)| told_at == at || !is_ack(told));
        let has_losses = since.any(|(_, told)| matches!(told, Told::Lost(_)));
        let when = at.since(Time::ZERO);
        self.find_if(!has_losses, Fault::TimeoutWithoutLoss, || {
            format!("at {when}, with no loss since the previous acknowledgement")
        });
    }
}
