//! Rules for reports of the window's use and of the application's pauses.

use congestion::{Bytes, Time};

use super::{Judge, share};
use crate::report::Fault;
use crate::witness::Told;

/// The reports in the acknowledgements of one instant.
struct Usage {
    is_full: bool,
    is_used: bool,
    is_unused: bool,
    /// Nothing is in flight after it.
    is_last: bool,
    is_app_limited: bool,
}

impl Judge<'_> {
    /// The reports by instant. If several ACKs are read at one instant, it is enough that one of them has the report.
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

    /// Pacing or the window limits an application that always has data.
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
        // A request takes two round trips. Only its first packets are marked.
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

    /// Restarts are reported after a pause, and only if nothing was in flight. A transport that sends by itself in a pause reports
    /// more restarts.
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
            format!("{restarts} reported, at least {least} expected")
        });
        // Packets of the handshake may leave inflight without a report.
        self.find_if(wrong > 2, Fault::IdleRestartFalse, || {
            format!("{wrong} of {restarts} reported with data in flight")
        });
    }

    /// Endless data has no restart from idle.
    pub(crate) fn no_idle_restarts(&mut self) {
        self.idle_restarts(0);
        let restarts = self.told.iter().filter(|(at, _)| *at >= self.from);
        let restarts = restarts.filter(|(_, told)| matches!(told, Told::IdleRestart(_)));
        let restarts = restarts.count();
        self.find_if(restarts > 0, Fault::IdleRestartFalse, || {
            format!("{restarts} reported, but the application always had data")
        });
    }
}
