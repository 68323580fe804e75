//! The sender's actions when losses are found, repaired, or turn out to be spurious.

use congestion::{Cause, Controller, Recovery as Change, Time};

use super::{Phase, Undo};
use crate::sender::Sender;
use crate::sender::config::LossDetection;
use crate::sender::delivery::Delivery;
use crate::sender::scoreboard::{Number, Status};

impl<C: Controller> Sender<C> {
    /// Ends or undoes the current phase, as far as the ACK of `delivery` shows.
    pub(in crate::sender) fn settle_recovery(&mut self, now: Time, delivery: &Delivery) {
        let una = self.stream.una();
        let is_over = una >= self.recovery.end;
        let by_time = delivery.is_progress && self.recovery.is_undone_by_time(delivery.echo);
        // The round-trip time of the original shows how long the retransmission should have waited.
        if by_time && let (Phase::Recovery, Some(undo)) = (self.recovery.phase, self.recovery.undo)
        {
            let sample = now.since(delivery.echo);
            self.rack.reordering.on_late(sample, undo.rtt, &self.rtt);
        }
        let is_held = self.is_held();
        let is_undone = by_time || self.recovery.is_undone_by_duplicates();
        self.recovery.is_new_data_first = false;
        match self.recovery.phase {
            // D-SACKs may arrive after the end of the recovery.
            Phase::Open if self.recovery.is_undone_by_duplicates() => self.undo(now, false),
            Phase::Open => {}
            // The end must be exceeded, so that the receiver learns of the reduction (CWR) before the next one.
            Phase::Cwr if una > self.recovery.end => self.leave(now),
            Phase::Cwr => {}
            Phase::Recovery | Phase::Loss if self.recovery.is_undone => {
                if una > self.recovery.end {
                    self.close();
                }
            }
            Phase::Recovery if is_over && is_undone => self.undo(now, is_held),
            Phase::Recovery if is_held => {}
            Phase::Recovery if is_over => self.leave(now),
            // One late packet does not show that the others were late too, while their retransmissions are in flight
            // (Linux `tcp_try_undo_partial`).
            Phase::Recovery if by_time && self.scoreboard.has_retransmitted_in_flight() => {
                self.new_reno.spare_hole();
            }
            Phase::Recovery if is_undone => {
                if by_time {
                    self.scoreboard.acquit_lost();
                }
                self.undo(now, false);
            }
            Phase::Recovery => {}
            Phase::Loss => self.settle_timeout(now, delivery, is_undone),
        }
    }

    /// Whether a recovery or timeout of which everything is acknowledged has to last until more is. Without SACK,
    /// duplicate ACKs of what was retransmitted in vain could else start the next (RFC 6582, section 4; Linux
    /// `tcp_is_non_sack_preventing_reopen`).
    fn is_held(&self) -> bool {
        !self.config.has_selective_acks && self.stream.una() == self.recovery.end
    }

    /// Ends or undoes a timeout (Linux `tcp_process_loss`; RFC 5682, "SACK-Enhanced Version of the F-RTO Algorithm").
    fn settle_timeout(&mut self, now: Time, delivery: &Delivery, is_undone: bool) {
        let is_over = self.stream.una() >= self.recovery.end;
        let is_spurious = self.recovery.is_frto && delivery.has_first_transmission;
        if is_undone || is_spurious {
            self.scoreboard.acquit_timed_out();
            // A reduction for a mark is not undone: the mark was real.
            if self.recovery.undo.is_some() {
                // Without SACK, only F-RTO shows that the next duplicate ACKs are about losses (Linux
                // `tcp_try_undo_loss`).
                let is_unclear = !self.config.has_selective_acks && !is_spurious && !is_over;
                return self.undo(now, is_unclear || self.is_held());
            }
        }
        if is_over || is_spurious {
            if !self.is_held() {
                self.leave(now);
            }
            return;
        }
        if !self.recovery.is_frto {
            return;
        }
        let next = self.stream.next();
        if next > self.recovery.end {
            // Step 3a: after new data, selective or duplicate acknowledgements that are not of data from before the
            // timeout.
            self.recovery.is_frto = !delivery.is_selective && !delivery.is_duplicate;
        } else if delivery.is_progress {
            // Step 2b: new data show more than retransmissions.
            self.recovery.is_new_data_first = true;
        }
    }

    /// Declares the detected losses, and starts a recovery for them.
    pub(in crate::sender) fn detect_losses(&mut self, now: Time) {
        let mut is_retransmission_lost = false;
        while let Some(number) = self.next_lost(now) {
            let packet = self.scoreboard.get(number);
            is_retransmission_lost |= packet.is_some_and(|packet| packet.is_retransmitted);
            if !self.declare_lost(now, number) {
                break;
            }
        }
        let must_enter = match self.recovery.phase {
            // This includes packets lost and retransmitted in a recovery that this ACK has ended: the next recovery
            // follows at once (Linux `tcp_time_to_recover`).
            Phase::Open | Phase::Cwr => self.scoreboard.lost_packets() > 0,
            Phase::Recovery => false,
            Phase::Loss => is_retransmission_lost,
        };
        if must_enter {
            self.enter_recovery(now);
        }
    }

    fn next_lost(&mut self, now: Time) -> Option<Number> {
        if !self.config.has_selective_acks {
            return self.next_hole();
        }
        match self.config.loss_detection {
            LossDetection::Rack => {
                let is_recovering = self.recovery.is_repairing();
                self.rack
                    .next_overdue(now, is_recovering, &self.scoreboard, &self.rtt)
            }
            LossDetection::DupThreshold => self.dup_threshold.next_lost(&self.scoreboard),
        }
    }

    /// The first outstanding packet, if duplicate ACKs or a partial ACK show that it is lost (RFC 6582; Linux
    /// `tcp_newreno_mark_lost`).
    fn next_hole(&self) -> Option<Number> {
        let is_hole = match self.recovery.phase {
            Phase::Open | Phase::Cwr => self.new_reno.shows_loss(),
            Phase::Recovery => self.new_reno.is_partial() && self.stream.una() < self.recovery.end,
            Phase::Loss => false,
        };
        let front = self.scoreboard.front()?;
        (is_hole && !front.is_lost).then(|| self.scoreboard.numbers().start)
    }

    /// Whether losses are detected by time.
    pub(in crate::sender) fn is_timed(&self) -> bool {
        self.config.has_selective_acks && self.config.loss_detection == LossDetection::Rack
    }

    /// Declares packet `number` lost; returns whether it was not lost before.
    fn declare_lost(&mut self, now: Time, number: Number) -> bool {
        let Some(packet) = self.scoreboard.mark_lost(number) else {
            return false;
        };
        self.sampler.on_packet_lost(&packet);
        self.stats.packets_lost += 1;
        self.has_lost = true;
        let inflight = self.inflight();
        let lost = congestion::Lost::new(now, packet, inflight, &self.sampler);
        self.controller.on_packet_lost(&lost);
        true
    }

    /// Starts a recovery (Linux `tcp_enter_recovery`).
    fn enter_recovery(&mut self, now: Time) {
        // A reduction for a mark continues, and it is not undone, since the mark was real.
        let follows_mark = self.recovery.phase == Phase::Cwr;
        self.begin(Phase::Recovery, !follows_mark);
        self.stats.recoveries += 1;
        self.reduce(now, Cause::Loss, !follows_mark);
    }

    /// Answers a mark of the network, once a round trip (RFC 3168, "The TCP Sender"; Linux `tcp_enter_cwr`).
    pub(in crate::sender) fn enter_cwr(&mut self, now: Time) {
        if self.recovery.phase != Phase::Open {
            return;
        }
        self.begin(Phase::Cwr, false);
        self.recovery.is_retransmission_forced = false;
        self.stats.ecn_reductions += 1;
        self.reduce(now, Cause::Ecn, true);
    }

    /// Answers a tail loss that a probe has repaired before it was detected: a controller that answers losses reduces
    /// its window, and nothing is left to recover (RFC 8985, "Detecting Losses Using TLP"; Linux
    /// `tcp_process_tlp_ack`).
    pub(in crate::sender) fn answer_repaired_loss(&mut self, now: Time) {
        if self.recovery.phase != Phase::Open {
            return;
        }
        self.stats.recoveries += 1;
        self.recovery.undo = None;
        self.change(now, Change::Entered(Cause::RepairedLoss));
        self.change(now, Change::Left);
    }

    /// Handles a retransmission timeout (Linux `tcp_enter_loss`).
    pub(in crate::sender) fn enter_loss(&mut self, now: Time) {
        let is_first = self.rto.backoff() <= 1;
        let phase = self.recovery.phase;
        let is_new = phase == Phase::Open
            || self.stream.una() >= self.recovery.end
            || (phase == Phase::Loss && is_first);
        let may_frto = matches!(phase, Phase::Open | Phase::Cwr) || !is_first;

        self.mark_timed_out(now);
        self.prr.stop();
        self.tlp.forget();
        let undo = self.recovery.undo;
        self.begin(Phase::Loss, is_new);
        if !is_new {
            self.recovery.undo = undo.map(|undo| Undo {
                is_timeout: true,
                ..undo
            });
        }
        self.recovery.is_frto = may_frto;
        self.stats.timeouts += 1;
        let inflight = self.inflight();
        self.controller.on_timeout(now, inflight);
    }

    /// Declares lost everything that should have been acknowledged by now (RFC 8985, `RACK_mark_losses_on_RTO`); with
    /// loss detection by counting, everything outstanding (RFC 6675, "On a Retransmission Timeout").
    fn mark_timed_out(&mut self, now: Time) {
        let front = self.scoreboard.numbers().start;
        // A selectively acknowledged packet that is next in order should have been acknowledged cumulatively: the
        // receiver has dropped it (Linux `tcp_timeout_mark_lost`).
        let is_reneging = self
            .scoreboard
            .front()
            .is_some_and(|p| p.status == Status::Sacked);
        if is_reneging {
            self.stats.delivered -= self.scoreboard.forget_sacks();
        }
        self.new_reno.reset();
        let is_timed = self.is_timed();
        for number in self.scoreboard.numbers() {
            let Some(packet) = self.scoreboard.get(number) else {
                continue;
            };
            let is_young = is_timed && number != front && !self.rack.is_overdue(now, packet);
            if !is_young {
                self.declare_lost(now, number);
            }
        }
        self.scoreboard.retransmit_front_first();
    }

    fn begin(&mut self, phase: Phase, is_undoable: bool) {
        self.recovery.begin(phase, self.stream.next());
        self.recovery.is_retransmission_forced = true;
        if !self.scoreboard.has_retransmitted_in_flight() {
            self.recovery.first_retransmission = None;
        }
        self.recovery.undo = is_undoable.then(|| Undo {
            since: self.stream.una(),
            unanswered: 0,
            has_retransmitted: false,
            is_timeout: phase == Phase::Loss,
            rtt: self.rack.reordering.longest_rtt(),
        });
    }

    /// Lets the controller reduce its window, and starts PRR if the controller wants it.
    fn reduce(&mut self, now: Time, cause: Cause, is_first: bool) {
        self.ecn.on_reduction();
        self.tlp.disarm();
        let inflight = self.inflight();
        // Includes the data delivered by the ACK that starts the recovery (RFC 9937).
        let recover_fs = inflight + self.scoreboard.lost() + self.newly_delivered;
        self.change(now, Change::Entered(cause));
        if is_first && self.controller.wants_prr() {
            let ssthresh = self.controller.cwnd();
            self.prr
                .start(recover_fs, ssthresh, inflight + self.config.mss);
        }
    }

    fn leave(&mut self, now: Time) {
        if self.recovery.phase == Phase::Recovery {
            self.rack.reordering.on_recovery_end();
        }
        self.close();
        self.change(now, Change::Left);
    }

    /// Undoes the phase. If `is_held`, it lasts, without effect on the window, until its end is exceeded.
    fn undo(&mut self, now: Time, is_held: bool) {
        let was_timeout = self
            .recovery
            .undo
            .take()
            .is_some_and(|undo| undo.is_timeout);
        if was_timeout {
            self.stats.spurious_timeouts += 1;
            self.rto.on_progress();
        } else {
            self.stats.spurious_recoveries += 1;
            self.scoreboard.note_reordering();
        }
        let phase = self.recovery.phase;
        self.close();
        if is_held {
            self.recovery.phase = phase;
            self.recovery.is_undone = true;
        }
        self.change(now, Change::Undone);
    }

    fn close(&mut self) {
        self.recovery.phase = Phase::Open;
        self.recovery.is_frto = false;
        self.recovery.is_retransmission_forced = false;
        self.prr.stop();
    }

    fn change(&mut self, now: Time, change: Change) {
        let inflight = self.inflight();
        self.controller.on_recovery(now, change, inflight);
    }
}
