//! The rules: they compare the reported events with what happened.

mod flight;
mod losses;
mod pace;
mod samples;
mod usage;

use congestion::{Ack, Bytes, Duration, Lost, Rate, Recovery, Sent, Time};
use tables::statistics::quantile;

use crate::report::{Fault, Finding, Report};
use crate::setting::{NARROW_WINDOW_PACKETS, RTPROP};
use crate::witness::Told;
use crate::world::Departure;

/// The observations of one course.
pub(crate) struct Judge<'r> {
    pub(crate) course: &'static str,
    pub(crate) report: &'r mut Report,
    /// Rules count from here. Before, there may be a handshake or a transition.
    pub(crate) from: Time,
    pub(crate) until: Time,
    pub(crate) departures: &'r [Departure],
    pub(crate) written: u64,
    pub(crate) received: u64,
    pub(crate) told: &'r [(Time, Told)],
}

fn share(part: usize, of: usize) -> f64 {
    part as f64 / of.max(1) as f64
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

    /// Reported times are those of the events, and never decrease.
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
            let figure =
                format!("{count} of {all} events; the first, at {was}, is reported at {told}");
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

    /// The size of a packet on the wire beyond the reported size. It is a large part of a small packet.
    fn headers(&self) -> Bytes {
        (self.largest_wire() - self.largest_told()).min(Bytes::new(100))
    }

    pub(crate) fn window(&mut self) {
        let most = self.sents().map(|(_, sent)| sent.inflight).max();
        let size = self.sents().map(|(_, sent)| sent.bytes).max();
        let (Some(most), Some(size)) = (most, size) else {
            return;
        };
        let window = size * NARROW_WINDOW_PACKETS;
        // Some stacks check the window before they know the size of the packet.
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

    /// In a recovery, which halves the window, no packet leaves that does not fit the window. Two packets in each recovery are
    /// excepted: the first retransmission (RFC 6675, step 4.3), and a probe.
    pub(crate) fn repeats_fit(&mut self) {
        let Some(size) = self.sents().map(|(_, sent)| sent.bytes).max() else {
            return;
        };
        let window = size * (NARROW_WINDOW_PACKETS / 2);
        let (mut recoveries, mut is_on) = (0, false);
        let (mut past, mut most) = (0, Bytes::ZERO);
        for (_, told) in self.told {
            match told {
                Told::Recovery(_, Recovery::Entered(_), _) | Told::Timeout(..) => {
                    recoveries += 1;
                    is_on = true;
                }
                Told::Recovery(..) => is_on = false,
                // Inflight stays above the window in a stack that checks too early: a packet leaves for each that arrives.
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

    /// The results with a real controller.
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
        // With an ACK for every second packet, and random losses that end Startup, a correct transport may have only two thirds.
        self.find_if(use_of < 0.5, Fault::PipeNotFilled, || {
            format!("{:.1} % of {rate}", use_of * 100.0)
        });
        self.find_if(median > 1.5, Fault::QueueStands, || {
            format!("the median round-trip time is {median:.2} RTprop")
        });
    }
}
