//! Start, end and undo of recoveries by QUIC's rules (RFC 9002, "Recovery").

use crate::controller::{Cause, Recovery};

/// The last recovery, or the time after a timeout. Packets are identified by the order of sending.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recoveries {
    /// The newest packet sent when it started. Losses up to this packet start no other recovery.
    start: Option<u64>,
    /// The `start` of the previous one. Losses of the packets between belong to this one.
    previous: Option<u64>,
    /// The newest packet sent when its first loss was found. Later than `start` if a mark began it.
    losses: Option<u64>,
    on: Option<On>,
    /// The number of its lost packets that have not arrived. When it reaches zero, the recovery is undone.
    missing: u32,
    is_disproved: bool,
    /// The newest packet lost since the last settlement.
    unsettled: Option<u64>,
    /// The number of losses since then that start a recovery.
    new_losses: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum On {
    Losses,
    Marks,
}

impl Recoveries {
    pub fn on_lost(&mut self, packet: u64) {
        self.unsettled = self.unsettled.max(Some(packet));
        if Some(packet) > self.start {
            self.new_losses = self.new_losses.saturating_add(1);
        } else if Some(packet) > self.previous && self.missing > 0 {
            self.missing = self.missing.saturating_add(1);
        }
    }

    /// A lost packet has arrived.
    pub fn on_arrived(&mut self, packet: u64) {
        let is_its_own = Some(packet) > self.previous && Some(packet) <= self.start;
        if is_its_own && self.missing > 0 {
            self.missing -= 1;
            self.is_disproved = self.missing == 0;
        }
    }

    pub fn is_on(&self) -> bool {
        self.on.is_some()
    }

    /// Called after an ACK, whose newest packet is `acked`, or after a check of the loss timer. Returns the changes in
    /// order.
    pub fn settle(
        &mut self,
        acked: Option<u64>,
        is_marked: bool,
        last_sent: u64,
    ) -> [Option<Recovery>; 3] {
        let mut changes = [None; 3];
        // A loss found at the same time prevents the undo.
        if core::mem::take(&mut self.is_disproved) && self.missing == 0 {
            self.on = None;
            changes[0] = Some(Recovery::Undone);
        }
        let lost = self.unsettled.take();
        let is_over = acked > self.start.max(self.losses);
        let is_new_loss = lost > self.start;
        if self.on.is_some() && (is_new_loss || is_over) {
            self.on = None;
            changes[1] = Some(Recovery::Left);
        }
        if is_new_loss {
            self.begin(On::Losses, last_sent);
            changes[2] = Some(Recovery::Entered(Cause::Loss));
        } else if self.on == Some(On::Marks) && lost > self.losses {
            // The round trip's reduction was made for the mark, and no arrival reverts that.
            self.losses = Some(last_sent);
            changes[2] = Some(Recovery::Entered(Cause::Loss));
        } else if is_marked && acked > self.start {
            self.begin(On::Marks, last_sent);
            changes[2] = Some(Recovery::Entered(Cause::Ecn));
        }
        changes
    }

    pub fn on_timeout(&mut self, last_sent: u64) {
        self.unsettled = None;
        self.begin(On::Losses, last_sent);
    }

    fn begin(&mut self, on: On, last_sent: u64) {
        self.previous = self.start;
        self.start = Some(last_sent);
        self.missing = core::mem::take(&mut self.new_losses);
        if on == On::Losses {
            self.losses = Some(last_sent);
        }
        self.on = Some(on);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTERED: Recovery = Recovery::Entered(Cause::Loss);

    fn told(changes: [Option<Recovery>; 3]) -> std::vec::Vec<Recovery> {
        changes.into_iter().flatten().collect()
    }
    extern crate std;

    #[test]
    fn a_recovery_lasts_until_a_packet_of_its_own_arrives() {
        let mut recoveries = Recoveries::default();
        recoveries.on_lost(3);
        assert_eq!(told(recoveries.settle(Some(6), false, 10)), [ENTERED]);
        // Another loss of the same flight, found later: the same recovery.
        recoveries.on_lost(9);
        assert_eq!(told(recoveries.settle(Some(10), false, 14)), []);
        assert_eq!(
            told(recoveries.settle(Some(11), false, 15)),
            [Recovery::Left]
        );
        assert!(!recoveries.is_on());
    }

    #[test]
    fn a_loss_from_after_the_start_begins_the_next() {
        let mut recoveries = Recoveries::default();
        recoveries.on_lost(3);
        recoveries.settle(Some(6), false, 10);
        recoveries.on_lost(11);
        let changes = told(recoveries.settle(Some(14), false, 20));
        assert_eq!(changes, [Recovery::Left, ENTERED]);
    }

    #[test]
    fn it_is_undone_when_all_of_its_losses_have_arrived() {
        let mut recoveries = Recoveries::default();
        recoveries.on_lost(3);
        recoveries.settle(Some(6), false, 10);
        recoveries.on_lost(8);
        recoveries.settle(Some(10), false, 10);
        recoveries.on_arrived(3);
        assert_eq!(told(recoveries.settle(Some(3), false, 10)), []);
        recoveries.on_arrived(8);
        assert_eq!(
            told(recoveries.settle(Some(8), false, 10)),
            [Recovery::Undone]
        );
        assert_eq!(told(recoveries.settle(Some(12), false, 12)), []);
    }

    #[test]
    fn a_mark_reduces_once_a_round_trip_and_a_loss_in_it_is_told_as_another_start() {
        let mut recoveries = Recoveries::default();
        let marked = Recovery::Entered(Cause::Ecn);
        assert_eq!(told(recoveries.settle(Some(3), true, 10)), [marked]);
        assert_eq!(told(recoveries.settle(Some(4), true, 11)), []);
        recoveries.on_lost(5);
        assert_eq!(told(recoveries.settle(Some(8), false, 12)), [ENTERED]);
        assert_eq!(told(recoveries.settle(Some(12), false, 13)), []);
        assert_eq!(
            told(recoveries.settle(Some(13), false, 14)),
            [Recovery::Left]
        );
    }

    #[test]
    fn a_timeout_swallows_the_losses_that_it_declared() {
        let mut recoveries = Recoveries::default();
        recoveries.on_lost(3);
        recoveries.on_timeout(5);
        assert!(recoveries.is_on());
        assert_eq!(told(recoveries.settle(Some(6), false, 7)), [Recovery::Left]);
    }
}
