//! Both ends of a connection.

use congestion::{Bytes, Controller, Time};
use path::Ecn;
use transport::app::App;
use transport::burst::{Burst, Kind};
use transport::receiver::Receiver;
use transport::segment::Segment;
use transport::sender::{Sender, Stats};

use crate::index::{HostIndex, Slot, Way};
use crate::observer::{End, Id, Observer, Passing};

/// A connection: both its ends, and its ways through the network.
#[derive(Debug)]
pub(crate) struct Connection<C> {
    pub(crate) id: Id,
    pub(crate) host: HostIndex,
    pub(crate) forward: Way,
    pub(crate) backward: Way,
    /// Whether its data packets are ECN-capable.
    pub(crate) ecn: Ecn,
    /// The other connection of the same application. For a connection that carries data, it is the one for the
    /// requests, as long as there may be any. For a connection that carries requests, it is the one for the data.
    pub(crate) peer: Option<Slot>,
    /// The number of its bursts that wait in its host.
    pub(crate) queued: u32,
    /// The application whose data it carries; `None` if it carries the requests of another connection's application.
    pub(crate) app: Option<App>,
    pub(crate) sender: Sender<C>,
    pub(crate) receiver: Receiver,
}

/// Each end has one timer.
impl End {
    /// The index of this end's timer.
    pub(crate) fn timer(self, slot: Slot) -> usize {
        usize::from(slot) * 2 + usize::from(self == End::Receiving)
    }

    /// The connection and end of a timer.
    pub(crate) fn of_timer(timer: usize) -> (Slot, End) {
        let end = match timer % 2 {
            0 => End::Sending,
            _ => End::Receiving,
        };
        (Slot::from(timer / 2), end)
    }
}

impl<C: Controller> Connection<C> {
    /// The time of this end's next timer. The application's timer belongs to the sending end.
    pub(crate) fn next_timer(&self, end: End) -> Time {
        let timer = match (end, &self.app) {
            (End::Receiving, _) => self.receiver.next_timer(),
            (End::Sending, None) => self.sender.next_timer(),
            (End::Sending, Some(app)) => earlier(self.sender.next_timer(), app.next_timer()),
        };
        timer.unwrap_or(Time::MAX)
    }

    /// Writes as much of the application's data as the send buffer takes. Requests are written by [`Connection::ask`].
    pub(crate) fn write(&mut self) {
        let Some(app) = &mut self.app else {
            return;
        };
        let waiting = app.data_waiting();
        if !waiting.is_zero() {
            let written = self.sender.write(waiting);
            app.on_data_written(written);
        }
        if app.is_finished() {
            self.sender.finish();
        }
    }

    /// The connection that carries requests, if there is something to write or it is no longer needed, with the bytes
    /// to write and whether they are the last.
    pub(crate) fn ask(&mut self) -> Option<(Slot, Bytes, bool)> {
        let app = self.app.as_ref()?;
        let slot = self.peer?;
        let waiting = app.requests_waiting();
        let is_last = app.is_finished();
        if is_last {
            self.peer = None;
        }
        (is_last || !waiting.is_zero()).then_some((slot, waiting, is_last))
    }

    /// Whether observers are notified of its events.
    pub(crate) fn is_reported(&self) -> bool {
        self.app.is_some()
    }

    /// The ECN field of a burst's packets: a SYN or a retransmission is not ECN-capable (RFC 3168, section 6.1.5;
    /// Linux `tcp_ecn_send`).
    pub(crate) fn ecn_of(&self, burst: &Burst) -> Ecn {
        if burst.kind == Kind::Data && !burst.is_retransmission {
            self.ecn
        } else {
            Ecn::NotCapable
        }
    }

    /// Notifies the observer of a segment that leaves or reaches this end.
    #[inline]
    pub(crate) fn show_segment<O: Observer<C>>(
        &self,
        observer: &mut O,
        now: Time,
        end: End,
        segment: &Segment,
        ecn: Ecn,
    ) {
        if O::WATCHES_SEGMENTS {
            observer.on_segment(now, &self.passing(end, segment, ecn));
        }
    }

    /// A segment of this connection at, or towards, this end.
    pub(crate) fn passing<'s>(&self, end: End, segment: &'s Segment, ecn: Ecn) -> Passing<'s> {
        Passing {
            id: self.id,
            is_of_requests: !self.is_reported(),
            end,
            segment,
            ecn,
        }
    }

    /// Whether the connection is over.
    pub(crate) fn is_done(&self) -> bool {
        self.queued == 0 && (self.sender.is_done() || self.sender.has_failed())
    }

    /// The sender's counters before an event, if the observer watches recovery.
    pub(crate) fn stats_before<O: Observer<C>>(&self) -> Option<Stats> {
        (O::WATCHES_RECOVERY && self.is_reported()).then(|| self.sender.stats())
    }

    /// Notifies the observer of what has happened to the sender since [`Connection::stats_before`].
    pub(crate) fn notify<O: Observer<C>>(&self, observer: &mut O, now: Time, before: &Stats) {
        let after = self.sender.stats();
        let lost = after.packets_lost - before.packets_lost;
        if lost > 0 {
            observer.on_losses(now, self.id, lost, &self.sender);
        }
        if after.recoveries > before.recoveries {
            observer.on_recovery(now, self.id, &self.sender);
        }
        if after.timeouts > before.timeouts {
            observer.on_timeout(now, self.id, &self.sender);
        }
        let undone = |stats: &Stats| stats.spurious_recoveries + stats.spurious_timeouts;
        if undone(&after) > undone(before) {
            observer.on_undo(now, self.id, &self.sender);
        }
    }
}

#[inline]
fn earlier(one: Option<Time>, other: Option<Time>) -> Option<Time> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_end_has_a_timer_of_its_own() {
        let mut next = 0;
        for slot in [0, 1, 2].map(Slot) {
            for end in [End::Sending, End::Receiving] {
                assert_eq!(end.timer(slot), next);
                assert_eq!(End::of_timer(next), (slot, end));
                next += 1;
            }
        }
    }
}
