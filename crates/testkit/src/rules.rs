//! The rules: what was told is compared with what happened.

mod flight;
mod losses;

use std::collections::BTreeMap;

use congestion::{Ack, Bytes, Duration, Lost, Rate, Recovery, Sent, Time};

use crate::course::{NARROW, PACE, QUANTUM, RTPROP};
use crate::report::{Fault, Finding, Report};
use crate::witness::{Rates, Told};
use crate::world::Departure;

/// A burst of the initial window is always allowed (RFC 9002, "Pacing").
const INITIAL_WINDOW: u64 = 10;

/// So long after a change of the rate, departures are looked at.
const FOLLOWS: Duration = Duration::from_millis(240);

/// Longer than an answer takes, and shorter than the application's pauses.
const PAUSE: Duration = Duration::from_millis(500);

/// What is seen of one course.
pub(crate) struct Judge<'r> {
    pub(crate) course: &'static str,
    pub(crate) report: &'r mut Report,
    /// Before, a handshake may be going on, or a transition.
    pub(crate) from: Time,
    pub(crate) until: Time,
    pub(crate) departures: &'r [Departure],
    pub(crate) written: u64,
    pub(crate) received: u64,
    pub(crate) told: &'r [(Time, Told)],
}

/// What is told of one instant.
struct Usage {
    is_full: bool,
    is_used: bool,
    is_unused: bool,
    /// Nothing is in flight any more.
    is_last: bool,
    is_app_limited: bool,
}

fn share(part: usize, of: usize) -> f64 {
    part as f64 / of.max(1) as f64
}

/// The quantile `q` of durations or rates.
fn quantile(mut values: Vec<f64>, q: f64) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    values.get((last as f64 * q) as usize).copied()
}

impl Judge<'_> {
    pub(crate) fn find(&mut self, fault: Fault, figure: String) {
        self.report.findings.push(Finding {
            course: self.course,
            fault,
            figure,
        });
    }

    pub(crate) fn note(&mut self, note: &str) {
        self.report.notes.push(format!("{}: {note}", self.course));
    }

    fn find_if(&mut self, is_wrong: bool, fault: Fault, figure: impl FnOnce() -> String) {
        if is_wrong {
            self.find(fault, figure());
        }
    }

    fn span_s(&self) -> f64 {
        self.until.since(self.from).as_secs_f64()
    }

    fn sents(&self) -> impl Iterator<Item = (Time, &Sent)> {
        self.told.iter().filter_map(|(at, told)| match told {
            Told::Sent(sent) => Some((*at, sent)),
            _ => None,
        })
    }

    fn losts(&self) -> impl Iterator<Item = &Lost> {
        self.told.iter().filter_map(|(_, told)| match told {
            Told::Lost(lost) => Some(lost),
            _ => None,
        })
    }

    /// The acknowledgements from [`Judge::from`] on.
    fn acks(&self) -> impl Iterator<Item = &Ack> {
        self.told.iter().filter_map(|(at, told)| match told {
            Told::Ack(ack) if *at >= self.from => Some(ack),
            _ => None,
        })
    }

    fn all_acks(&self) -> impl Iterator<Item = &Ack> {
        self.told.iter().filter_map(|(_, told)| match told {
            Told::Ack(ack) => Some(ack),
            _ => None,
        })
    }

    fn count_recoveries(&self, is: impl Fn(&Recovery) -> bool) -> usize {
        let is_it = |told: &Told| matches!(told, Told::Recovery(_, recovery, _) if is(recovery));
        self.told.iter().filter(|(_, told)| is_it(told)).count()
    }

    /// Times are those of what happened, and never decrease.
    pub(crate) fn times(&mut self) {
        let mut last = Time::ZERO;
        let (mut backwards, mut wrong, mut all) = (None, None, 0);
        let mut count = 0;
        for (at, told) in self.told {
            let Some(time) = told.time() else { continue };
            all += 1;
            if time < last {
                backwards.get_or_insert(last.since(time));
            }
            last = last.max(time);
            if time > *at || at.since(time) > Duration::from_millis(5) {
                count += 1;
                wrong.get_or_insert((time.since(Time::ZERO), at.since(Time::ZERO)));
            }
        }
        if let Some(by) = backwards {
            self.find(Fault::TimeBackwards, format!("by {by}"));
        }
        if let Some((told, was)) = wrong
            && share(count, all) > 0.01
        {
            let figure = format!("{count} events of {all}, the first at {was} told as {told}");
            self.find(Fault::TimeWrong, figure);
        }
    }

    fn largest_wire(&self) -> Bytes {
        let sizes = self.departures.iter().map(|it| it.size);
        sizes.max().unwrap_or_default()
    }

    fn largest_told(&self) -> Bytes {
        let sizes = self.sents().map(|(_, sent)| sent.bytes);
        sizes.max().unwrap_or_default()
    }

    /// What a packet has on the wire beyond what is told. Much of a small packet.
    fn headers(&self) -> Bytes {
        (self.largest_wire() - self.largest_told()).min(Bytes::new(100))
    }

    /// Departures keep the rate, in bursts of a quantum or the initial window.
    pub(crate) fn pacing(&mut self) {
        let departures = self.departures.iter().filter(|it| it.at >= self.from);
        let headers = self.headers();
        let left: Bytes = departures.map(|it| it.size - headers).sum();
        let rate = left.get() as f64 * 8.0 / self.span_s();
        let ratio = rate / PACE.bits_per_sec() as f64;
        let mbit = rate / 1e6;
        self.find_if(ratio > 1.12, Fault::PacingNotEngaged, || {
            format!("{mbit:.2} Mbit/s left at a pacing rate of {PACE}")
        });
        self.find_if(ratio < 0.9, Fault::PacingTooSlow, || {
            format!("{mbit:.2} Mbit/s left at a pacing rate of {PACE}")
        });
        if ratio > 1.12 {
            return;
        }
        self.bursts(Fault::BurstsTooLarge);
    }

    /// No more leaves at once than the pacing rate, a quantum or the initial window allows.
    fn bursts(&mut self, fault: Fault) {
        let departures = self.departures.iter().filter(|it| it.at >= self.from);
        let Some(largest) = departures.clone().map(|it| it.size).max() else {
            return;
        };
        let sents = self.sents().filter(|(at, _)| *at >= self.from);
        let told: Bytes = sents.map(|(_, sent)| sent.bytes).sum();
        let left: Bytes = departures.clone().map(|it| it.size).sum();
        // The rate on the wire contains headers that congestion control does not count.
        let wire = PACE.bytes_per_sec() as f64 * left.get() as f64 / told.get().max(1) as f64;
        let (mut level, mut most, mut last) = (0.0_f64, 0.0_f64, self.from);
        for Departure { at, size, .. } in departures {
            level = (level - at.since(last).as_secs_f64() * wire).max(0.0) + size.get() as f64;
            most = most.max(level);
            last = *at;
        }
        let allowed = largest * (INITIAL_WINDOW.max(2 * QUANTUM) + 1);
        self.find_if(most > allowed.get() as f64, fault, || {
            let quantum = largest * QUANTUM;
            format!(
                "{most:.0} bytes ahead of the pacing rate; the quantum is {quantum}, the initial window {allowed}"
            )
        });
    }

    /// When the pacing rate changes, departures follow within a round trip.
    pub(crate) fn pacing_follows(&mut self, rates: Rates) {
        let headers = self.headers();
        // Of each of the two: what left in the times in which it is kept, and what it allows.
        let mut sums = [(0.0, 0.0); 2];
        let mut change = Time::ZERO;
        for sum in [0, 1].into_iter().cycle() {
            let (begin, end) = (change + RTPROP, change + FOLLOWS);
            change += rates.each;
            if change > self.until {
                break;
            }
            if begin < self.from {
                continue;
            }
            let left = self.departures.iter();
            let left = left.filter(|it| it.at >= begin && it.at < end);
            let left: Bytes = left.map(|it| it.size - headers).sum();
            if let Some((sum, allowed)) = sums.get_mut(sum) {
                *sum += left.get() as f64;
                *allowed += rates.at(begin).bytes_in(end.since(begin)).get() as f64;
            }
        }
        let figures: Vec<String> = sums
            .iter()
            .zip(rates.both)
            .filter(|((left, allowed), _)| !(0.8..1.25).contains(&(left / allowed)))
            .map(|((left, allowed), rate)| {
                let mbit = left / allowed * rate.bits_per_sec() as f64 / 1e6;
                format!("{mbit:.2} Mbit/s at {rate}")
            })
            .collect();
        self.find_if(!figures.is_empty(), Fault::PacingRateStale, || {
            let figures = figures.join(", ");
            format!("from {RTPROP} to {FOLLOWS} after each change, {figures}")
        });
    }

    /// A burst of losses is repeated at the pacing rate.
    pub(crate) fn repeats_are_paced(&mut self) {
        self.bursts(Fault::RepeatsUnpaced);
    }

    pub(crate) fn window(&mut self) {
        let most = self.sents().map(|(_, sent)| sent.inflight).max();
        let size = self.sents().map(|(_, sent)| sent.bytes).max();
        let (Some(most), Some(size)) = (most, size) else {
            return;
        };
        let window = size * NARROW;
        // Some stacks look at the window before they know how large the packet becomes.
        self.find_if(most > window + size, Fault::WindowExceeded, || {
            format!("{most} in flight, the window is {window}")
        });
        let left = self.departures.iter().filter(|it| it.at >= self.from);
        let headers = self.headers();
        let left: Bytes = left.map(|it| it.size - headers).sum();
        let left = left.get() as f64;
        let each_round = left / (self.span_s() / RTPROP.as_secs_f64());
        self.find_if(
            each_round > 1.2 * window.get() as f64,
            Fault::WindowExceeded,
            || format!("{each_round:.0} bytes left each round trip, the window is {window}"),
        );
    }

    /// In a recovery, which halves the window, nothing leaves for which there is no room. Two packets a recovery may: the first
    /// repeat (RFC 6675, step 4.3), and a probe.
    pub(crate) fn repeats_fit(&mut self) {
        let Some(size) = self.sents().map(|(_, sent)| sent.bytes).max() else {
            return;
        };
        let window = size * (NARROW / 2);
        let (mut recoveries, mut is_on) = (0, false);
        let (mut past, mut most) = (0, Bytes::ZERO);
        for (_, told) in self.told {
            match told {
                Told::Recovery(_, Recovery::Entered(_), _) | Told::Timeout(..) => {
                    recoveries += 1;
                    is_on = true;
                }
                Told::Recovery(..) => is_on = false,
                // What was in flight before is no less for it: one leaves where one arrives, in a stack that looks too early.
                Told::Sent(sent) if is_on && sent.inflight > window + size => {
                    past += 1;
                    most = most.max(sent.inflight);
                }
                _ => {}
            }
        }
        self.find_if(past > 2 * recoveries, Fault::RepeatsPastWindow, || {
            format!(
                "{past} packets in {recoveries} recoveries, up to {most} in flight; the window is {window} there"
            )
        });
    }

    /// What is told of the window and of the application, by the instant: where several ACKs are read at one, one of them has it.
    fn usage(&self) -> Vec<Usage> {
        let mut usages: Vec<(Time, Usage)> = Vec::new();
        for ack in self.acks() {
            let told = Usage {
                is_full: ack.is_window_full,
                is_used: ack.is_cwnd_limited,
                is_unused: !ack.is_cwnd_limited,
                is_last: ack.inflight.is_zero(),
                is_app_limited: ack.rate.is_app_limited,
            };
            match usages.last_mut().filter(|(at, _)| *at == ack.now) {
                None => usages.push((ack.now, told)),
                Some((_, before)) => {
                    before.is_full |= told.is_full;
                    before.is_used |= told.is_used;
                    before.is_unused |= told.is_unused;
                    before.is_last |= told.is_last;
                    before.is_app_limited |= told.is_app_limited;
                }
            }
        }
        usages.into_iter().map(|(_, usage)| usage).collect()
    }

    /// An application that always has data is held back by pacing, or by the window.
    pub(crate) fn full_use(&mut self, by_window: bool) {
        let usage = self.usage();
        let count = |is: fn(&Usage) -> bool| usage.iter().filter(|it| is(it)).count();
        let all = usage.len();
        let full = count(|it| it.is_full);
        let used = count(|it| it.is_used);
        let marked = count(|it| it.is_app_limited);
        let of = |part: usize| format!("{part} of {all} acknowledgements");
        if by_window {
            self.find_if(share(full, all) < 0.4, Fault::WindowFullNotTold, || {
                of(full)
            });
        } else {
            self.find_if(share(full, all) > 0.05, Fault::WindowFullFalse, || of(full));
        }
        self.find_if(share(used, all) < 0.4, Fault::WindowUseNotTold, || of(used));
        self.find_if(share(marked, all) > 0.01, Fault::AppLimitNotCleared, || {
            of(marked)
        });
    }

    /// Requests with pauses between them.
    pub(crate) fn pauses(&mut self) {
        let all = self.acks().count();
        let marked = self.acks().filter(|ack| ack.rate.is_app_limited).count();
        // A request takes two round trips: the mark that its packets begin with ends in its midst.
        self.find_if(share(marked, all) < 0.25, Fault::AppLimitNotMarked, || {
            format!("{marked} of {all} acknowledgements")
        });
        let usage = self.usage();
        let last = usage.iter().filter(|it| it.is_last);
        let last: Vec<bool> = last.map(|it| !it.is_unused).collect();
        let false_use = last.iter().filter(|used| **used).count();
        self.find_if(
            share(false_use, last.len()) > 0.5,
            Fault::WindowUseFalse,
            || format!("{false_use} of {} last acknowledgements", last.len()),
        );
    }

    /// Restarts are told after a pause, and only where nothing was in flight. A transport may send by itself in a pause, and tells
    /// more of them then.
    pub(crate) fn idle_restarts(&mut self, least: usize) {
        let (mut restarts, mut wrong, mut flight) = (0, 0, Bytes::ZERO);
        for (_, told) in self.told {
            if matches!(told, Told::IdleRestart(_)) {
                restarts += 1;
                wrong += usize::from(!flight.is_zero());
            }
            flight = told.flight().unwrap_or(flight);
        }
        self.find_if(restarts < least, Fault::IdleRestartMissing, || {
            format!("{restarts} told, there were at least {least}")
        });
        // What a handshake leaves behind may be forgotten without a word.
        self.find_if(wrong > 2, Fault::IdleRestartFalse, || {
            format!("{wrong} of {restarts} told with something in flight")
        });
    }

    /// Data that does not end has no pause.
    pub(crate) fn no_idle_restarts(&mut self) {
        self.idle_restarts(0);
        let restarts = self.told.iter().filter(|(at, _)| *at >= self.from);
        let restarts = restarts.filter(|(_, told)| matches!(told, Told::IdleRestart(_)));
        let restarts = restarts.count();
        self.find_if(restarts > 0, Fault::IdleRestartFalse, || {
            format!("{restarts} told, and the application always had data")
        });
    }

    /// Packet-timed rounds, counted as a controller counts them, and the round-trip times.
    pub(crate) fn round_trips(&mut self) {
        let (mut rounds, mut end) = (0_u32, Bytes::ZERO);
        for ack in self.acks() {
            if ack.rate.prior_delivered >= end {
                rounds += 1;
                end = ack.rate.total_delivered;
            }
        }
        let expected = self.span_s() / RTPROP.as_secs_f64();
        let figure = || format!("{rounds} in {:.0} round trips", expected);
        let ratio = f64::from(rounds) / expected;
        self.find_if(ratio < 0.7, Fault::RoundsTooLong, figure);
        let figure = || format!("{rounds} in {:.0} round trips", expected);
        self.find_if(ratio > 1.3, Fault::RoundsTooShort, figure);
        self.shortest_round_trip();
        let rtts = self.acks().filter_map(|ack| ack.rtt);
        let rtts: Vec<f64> = rtts.map(|sample| sample.rtt.as_millis_f64()).collect();
        match quantile(rtts, 0.5) {
            None => self.find(Fault::RttMissing, "none".to_owned()),
            Some(median) => {
                let most = RTPROP.as_millis_f64() * 1.2;
                self.find_if(median > most, Fault::RttTooLong, || {
                    format!("the median is {median:.1} ms, the path's is {RTPROP}")
                });
            }
        }
    }

    pub(crate) fn shortest_round_trip(&mut self) {
        let rtts = self.acks().filter_map(|ack| ack.rtt);
        let least = rtts.map(|sample| sample.rtt).min();
        if let Some(least) = least {
            self.find_if(least < RTPROP, Fault::RttTooShort, || {
                format!("{least}, the path's is {RTPROP}")
            });
        }
    }

    /// At half of the path's rate, everything is delivered at the rate at which it was sent. Of several ACKs at one instant, the
    /// last knows all of it. `most` is the greatest share of that rate.
    pub(crate) fn delivery_rates(&mut self, most: f64) {
        let (mut all, mut have) = (0, 0);
        let mut rates = BTreeMap::new();
        for ack in self.acks() {
            all += 1;
            if let Some(rate) = ack.rate.delivery_rate {
                have += 1;
                let best = rates.entry(ack.now).or_insert(Rate::ZERO);
                *best = rate.max(*best);
            }
        }
        let rates: Vec<f64> = rates
            .values()
            .map(|rate| rate.bits_per_sec() as f64)
            .collect();
        self.find_if(share(have, all) < 0.5, Fault::RateMissing, || {
            format!("{have} of {all} have one")
        });
        let (Some(low), Some(high)) = (quantile(rates.clone(), 0.5), quantile(rates, 0.95)) else {
            return;
        };
        let pace = PACE.bits_per_sec() as f64;
        self.find_if(
            low < 0.85 * pace || high > most * pace,
            Fault::RateWrong,
            || {
                format!(
                    "median {:.2} and 95th percentile {:.2} Mbit/s of what is sent at {PACE}",
                    low / 1e6,
                    high / 1e6
                )
            },
        );
    }

    /// Time in which the application was silent is in no sample.
    pub(crate) fn no_sample_spans_a_pause(&mut self) {
        let all = self.acks().count();
        let is_long = |ack: &&Ack| ack.rate.interval > PAUSE;
        let long = self.acks().filter(is_long).count();
        let longest = self.acks().map(|ack| ack.rate.interval).max();
        let longest = longest.unwrap_or_default();
        self.find_if(long > 2, Fault::RateSpansPause, || {
            format!("{long} samples of {all} are of more than {PAUSE}, up to {longest}")
        });
    }

    /// What a real controller makes of it all.
    pub(crate) fn whole(&mut self, rate: Rate) {
        let left = self.departures.iter().filter(|it| it.at >= self.from);
        let left = left.map(|it| it.size.get()).sum::<u64>() as f64;
        let use_of = left * 8.0 / self.span_s() / rate.bits_per_sec() as f64;
        let rtts = self.acks().filter_map(|ack| ack.rtt);
        let rtts: Vec<f64> = rtts.map(|sample| sample.rtt.as_millis_f64()).collect();
        let median = quantile(rtts, 0.5).unwrap_or_default() / RTPROP.as_millis_f64();
        self.note(&format!(
            "bbr3 fills {:.1} % of {rate} at 1 % loss, with a median RTT of {median:.2} RTprop",
            use_of * 100.0
        ));
        // With an ACK for every second packet, and chance losses that end Startup, a right transport may have two thirds.
        self.find_if(use_of < 0.5, Fault::PipeNotFilled, || {
            format!("{:.1} % of {rate}", use_of * 100.0)
        });
        self.find_if(median > 1.5, Fault::QueueStands, || {
            format!("the median round-trip time is {median:.2} RTprop")
        });
    }
}
