//! Both ends of a connection.

use congestion::{Controller, Time};
use path::Ecn;
use transport::burst::{Burst, Kind};
use transport::receiver::Receiver;
use transport::sender::{Sender, Stats};

use crate::network::Way;
use crate::observer::{Id, Observer};

/// A connection: both its ends, and its ways through the network.
#[derive(Debug)]
pub(crate) struct Connection<C> {
    pub(crate) id: Id,
    pub(crate) host: usize,
    pub(crate) forward: Way,
    pub(crate) backward: Way,
    /// Whether its data ask to be marked rather than dropped.
    pub(crate) ecn: Ecn,
    pub(crate) sender: Sender<C>,
    pub(crate) receiver: Receiver,
    /// Bursts that its host has not let go yet.
    pub(crate) queued: u32,
}

/// An end of a connection; each has one timer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Sending,
    Receiving,
}

impl End {
    /// The number of the timer of this end of a connection.
    pub(crate) fn timer(self, slot: u32) -> usize {
        slot as usize * 2 + usize::from(self == End::Receiving)
    }

    /// Which end of which connection a timer belongs to.
    pub(crate) fn of_timer(timer: usize) -> (u32, End) {
        let end = match timer % 2 {
            0 => End::Sending,
            _ => End::Receiving,
        };
        ((timer / 2) as u32, end)
    }
}

impl<C: Controller> Connection<C> {
    /// When this end next has something to do by itself.
    pub(crate) fn next_timer(&self, end: End) -> Time {
        let timer = match end {
            End::Sending => self.sender.next_timer(),
            End::Receiving => self.receiver.next_timer(),
        };
        timer.unwrap_or(Time::MAX)
    }

    /// The ECN field of a burst's packets: neither a SYN nor a repeat may be marked (RFC 3168, section 6.1.5; Linux
    /// `tcp_ecn_send`).
    pub(crate) fn ecn_of(&self, burst: &Burst) -> Ecn {
        if burst.kind == Kind::Data && !burst.is_retransmission {
            self.ecn
        } else {
            Ecn::NotCapable
        }
    }

    /// Whether nothing more will come of it.
    pub(crate) fn is_done(&self) -> bool {
        self.queued == 0 && self.sender.is_done()
    }

    /// What the observer has been told of the sender, if it wants to know what happens next.
    pub(crate) fn look<O: Observer<C>>(&self) -> Option<Stats> {
        O::WATCHES_RECOVERY.then(|| self.sender.stats())
    }

    /// Tells the observer what has happened to the sender since a [`Connection::look`].
    pub(crate) fn tell<O: Observer<C>>(&self, observer: &mut O, now: Time, before: &Stats) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_end_has_a_timer_of_its_own() {
        let mut next = 0;
        for slot in [0, 1, 2] {
            for end in [End::Sending, End::Receiving] {
                assert_eq!(end.timer(slot), next);
                assert_eq!(End::of_timer(next), (slot, end));
                next += 1;
            }
        }
    }
}
