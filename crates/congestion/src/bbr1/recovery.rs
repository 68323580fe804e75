//! The response of the congestion window to losses. Losses are no sign of congestion to BBR. But until they are
//! repaired the path may have changed, so the window follows the delivered bytes.
//!
//! - A loss episode opens with one round of packet conservation: as much leaves as arrives. Then the window grows by
//!   the bytes delivered, at most doubling in a round, until it reaches its target. At the end of the episode the window
//!   from before is restored. (Paper, appendix, "Reacting to Transients"; Linux `bbr_set_cwnd_to_recover_or_restore`.)
//! - After a timeout the path is unknown: the window is one packet, or one more than what is in flight
//!   ([`LossWindow`](crate::LossWindow)), and grows from there.
//! - If the losses were spurious, the episode ends and the window is restored. With [`RecoveryEnd::WithTransport`], the
//!   ACK that reveals this does so, unless it reveals other losses.

use core::mem;

use units::{Bytes, Rate};

use super::config::RecoveryEnd;
use super::{Bbr1, policer};
use crate::controller::Ack;

/// The progress of a loss episode.
#[derive(Debug, Clone)]
pub struct LossEpisode {
    /// Whether an episode is open.
    is_open: bool,
    /// Whether the transport is in recovery, or in the time after a timeout.
    is_transport_recovering: bool,
    /// Whether the transport entered the recovery that opened the episode, and no ACK has come since.
    has_just_opened: bool,
    /// Whether the transport left its recovery by the ACK in progress, which ends the episode.
    has_just_left: bool,
    /// Whether a timeout has passed, and the transport has entered no recovery since.
    is_after_timeout: bool,
    is_conserving: bool,
    /// A packet was lost since the round started.
    is_round_lossy: bool,
}

impl LossEpisode {
    pub fn none() -> LossEpisode {
        LossEpisode {
            is_open: false,
            is_transport_recovering: false,
            has_just_opened: false,
            has_just_left: false,
            is_after_timeout: false,
            is_conserving: false,
            is_round_lossy: false,
        }
    }
}

impl Bbr1 {
    /// The transport entered recovery. Conservation begins with the next ACK: the one that reveals the losses or, if a
    /// timer found them, the first one after it (Linux `tcp_rack_reo_timeout` leaves the window alone). A recovery that
    /// begins by the ACK that ends another belongs to the same episode: Linux's BBR looks at the state after the ACK.
    /// One that begins by the ACK that ends the time after a timeout is another state (`TCP_CA_Loss`), and so a new
    /// episode.
    pub(super) fn enter_recovery(&mut self) {
        self.save_cwnd();
        let is_after_timeout = mem::take(&mut self.episode.is_after_timeout);
        let goes_on = mem::take(&mut self.episode.has_just_left) && !is_after_timeout;
        let is_new = !self.episode.is_open
            || self.config.recovery_end == RecoveryEnd::WithTransport && !goes_on;
        self.episode.is_open = true;
        self.episode.is_transport_recovering = true;
        self.episode.is_round_lossy = true;
        self.episode.has_just_opened |= is_new;
    }

    /// The transport left recovery.
    pub(super) fn leave_recovery(&mut self) {
        self.episode.is_transport_recovering = false;
        if !self.episode.is_open {
            return;
        }
        match self.config.recovery_end {
            RecoveryEnd::WithTransport => self.episode.has_just_left = true,
            // A window that still searches for the bandwidth must keep growing: three rounds without growth would look
            // like a full pipe.
            RecoveryEnd::AfterLossFreeRound if !self.full_pipe.is_reached() => {
                self.end_conservation()
            }
            RecoveryEnd::AfterLossFreeRound => {}
        }
    }

    /// The losses were spurious (Linux `bbr_undo_cwnd`).
    pub(super) fn undo_recovery(&mut self) {
        self.full_pipe.restart(Rate::ZERO);
        self.policer.reset();
        self.leave_recovery();
        let ends_at_once = self.config.recovery_end == RecoveryEnd::AfterLossFreeRound;
        if self.episode.is_open && ends_at_once {
            self.close_episode();
        }
    }

    /// A timeout, with `inflight` left (paper, appendix, "Reacting to Transients"; Linux `tcp_enter_loss`, and
    /// `bbr_set_state` for `TCP_CA_Loss`).
    pub(super) fn collapse(&mut self, seen: &policer::Observation, inflight: Bytes) {
        self.save_cwnd();
        self.episode.is_open = true;
        self.episode.is_transport_recovering = true;
        self.episode.is_round_lossy = true;
        self.episode.has_just_opened = false;
        self.episode.has_just_left = false;
        self.episode.is_after_timeout = true;
        self.episode.is_conserving = false;
        self.control.cwnd = self.config.loss_window.bytes(inflight, self.control.mss);
        self.full_pipe.forget_baseline();
        self.observe_policer(seen);
    }

    /// Ends conservation after a round, and an episode after a round without loss.
    pub(super) fn update_episode(&mut self, ack: &Ack) {
        let has_losses = !ack.rate.newly_lost.is_zero();
        self.episode.is_round_lossy |= has_losses;
        if !self.round.has_just_started() {
            return;
        }
        self.episode.is_conserving = false;
        let is_over = !self.episode.is_transport_recovering && !self.episode.is_round_lossy;
        if self.episode.is_open && is_over {
            self.close_episode();
        }
        self.episode.is_round_lossy = has_losses;
    }

    /// Subtracts losses from the window, and keeps it at the bytes delivered while conserving packets. Returns whether
    /// it conserves, so that the window must not grow.
    pub(super) fn conserve_packets(&mut self, ack: &Ack) -> bool {
        self.control.cwnd = (self.control.cwnd - self.lost_by(ack)).max(self.control.mss);
        if self.episode.has_just_left {
            self.close_episode();
        }
        let conserved = ack.inflight + ack.newly_acked;
        if mem::take(&mut self.episode.has_just_opened) {
            self.episode.is_conserving = true;
            self.round.restart(ack.rate.total_delivered);
            self.control.cwnd = conserved;
        }
        if self.episode.is_conserving {
            self.control.cwnd = self.control.cwnd.max(conserved);
        }
        self.episode.is_conserving
    }

    /// Saves the window before a cut.
    pub(super) fn save_cwnd(&mut self) {
        let is_cut = self.episode.is_open || self.is_in_probe_rtt();
        self.control.save_cwnd(is_cut);
    }

    fn close_episode(&mut self) {
        self.episode.is_open = false;
        self.end_conservation();
    }

    fn end_conservation(&mut self) {
        self.episode.has_just_opened = false;
        self.episode.has_just_left = false;
        self.episode.is_conserving = false;
        // ProbeRTT needs a small window, and restores it itself.
        if !self.is_in_probe_rtt() {
            self.control.restore_cwnd();
        }
    }
}

#[cfg(test)]
mod tests {
    use units::{Duration, Time};

    use super::super::Config;
    use super::*;
    use crate::controller::{Cause, Connection, Controller, Lost, Recovery, RttSample};
    use crate::sampling::{PacketState, RateSample};

    const MSS: Bytes = Bytes::new(1_500);

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    /// A controller in Startup with a window of 100 packets.
    fn bbr1() -> Bbr1 {
        let connection = Connection::new(Time::ZERO, MSS, MSS * 100);
        Bbr1::new(connection, Config::default())
    }

    /// An ACK that delivers one packet, sent when `prior` packets had been delivered, with `lost` packets newly lost.
    fn ack(prior: u64, delivered: u64, lost: u64, inflight: u64) -> Ack {
        let mut ack = Ack::new(
            at(delivered),
            MSS,
            MSS * (inflight + 1 + lost),
            MSS * inflight,
            RateSample {
                delivery_rate: Some(Rate::from_bits_per_sec(1_000_000)),
                prior_delivered: MSS * prior,
                total_delivered: MSS * delivered,
                newly_lost: MSS * lost,
                total_lost: MSS * (1_000 + lost),
                ..RateSample::default()
            },
        );
        ack.is_cwnd_limited = true;
        ack
    }

    /// Declares this many packets lost.
    fn lose(bbr1: &mut Bbr1, now: Time, packets: u64) {
        let packet = PacketState {
            bytes: MSS * packets,
            sent_time: at(0),
            sequence: 0,
            delivered: Bytes::ZERO,
            delivered_time: at(0),
            first_sent_time: at(0),
            lost: Bytes::ZERO,
            delivered_ce: 0,
            inflight: MSS,
            is_app_limited: false,
        };
        bbr1.on_packet_lost(&Lost {
            now,
            packet,
            inflight: Bytes::ZERO,
            total_delivered: Bytes::ZERO,
            total_lost: packet.bytes,
        });
    }

    /// The ACK that [`ack`] describes, after its losses.
    fn hear(bbr1: &mut Bbr1, prior: u64, delivered: u64, lost: u64, inflight: u64) {
        if lost > 0 {
            lose(bbr1, at(delivered), lost);
        }
        bbr1.on_ack(&ack(prior, delivered, lost, inflight));
    }

    fn recovery(bbr1: &mut Bbr1, recovery: Recovery, inflight: u64) {
        bbr1.on_recovery(at(101), recovery, MSS * inflight);
    }

    #[test]
    fn conservation_lets_a_packet_leave_for_each_that_arrives() {
        let mut bbr1 = bbr1();
        hear(&mut bbr1, 0, 100, 0, 99);
        recovery(&mut bbr1, Recovery::Entered(Cause::Loss), 90);
        hear(&mut bbr1, 0, 101, 0, 89);
        assert_eq!(bbr1.cwnd(), MSS * 90);
        // Further losses reduce the window no more, but it is not refilled either.
        hear(&mut bbr1, 0, 102, 9, 80);
        assert_eq!(bbr1.cwnd(), MSS * 81);
        hear(&mut bbr1, 0, 103, 0, 80);
        assert_eq!(bbr1.cwnd(), MSS * 81);
        hear(&mut bbr1, 0, 104, 40, 60);
        assert_eq!(bbr1.cwnd(), MSS * 61, "not 41");
    }

    /// A sender that fills its window, ten packets of which are left.
    #[test]
    fn after_a_round_of_recovery_twice_as_much_leaves_as_is_delivered() {
        let mut bbr1 = bbr1();
        let mut delivered = 100;
        hear(&mut bbr1, 0, delivered, 0, 99);
        recovery(&mut bbr1, Recovery::Entered(Cause::Loss), 10);
        let mut inflight = 10;
        // `arrive` packets arrive, the first of which was sent when `prior` packets had been delivered. Returns the
        // number that leave meanwhile.
        let mut round = |prior: u64, arrive: u64| {
            let mut left = 0;
            for _ in 0..arrive {
                delivered += 1;
                inflight -= 1;
                let mut ack = ack(prior, delivered, 0, inflight);
                ack.rtt = Some(RttSample::exact(Duration::from_millis(100)));
                ack.rate.delivery_rate = Some(Rate::from_bits_per_sec(100_000_000));
                bbr1.on_ack(&ack);
                let room = bbr1.cwnd().get() / MSS.get() - inflight;
                inflight += room;
                left += room;
            }
            left
        };
        assert_eq!(round(0, 10), 10, "the first round conserves packets");
        assert_eq!(round(110, 10), 20);
        assert_eq!(round(120, 20), 40, "and each later one");
    }

    #[test]
    fn a_timer_that_finds_losses_leaves_the_window_until_the_next_ack() {
        let mut bbr1 = bbr1();
        hear(&mut bbr1, 0, 100, 0, 90);
        lose(&mut bbr1, at(110), 60);
        bbr1.on_recovery(at(110), Recovery::Entered(Cause::Loss), MSS * 30);
        assert_eq!(bbr1.cwnd(), MSS * 101, "as it was");
        bbr1.on_ack(&ack(0, 120, 60, 40));
        assert_eq!(bbr1.cwnd(), MSS * 41, "conserved");
        // A retransmission is lost: the timer finds it within the same recovery.
        lose(&mut bbr1, at(130), 30);
        bbr1.on_ack(&ack(0, 140, 30, 10));
        assert_eq!(bbr1.cwnd(), MSS * 41, "not 11");
    }

    #[test]
    fn a_loss_that_a_probe_has_repaired_changes_nothing() {
        let mut bbr1 = bbr1();
        bbr1.on_ack(&ack(0, 100, 0, 90));
        let before = bbr1.snapshot();
        recovery(&mut bbr1, Recovery::Entered(Cause::RepairedLoss), 10);
        recovery(&mut bbr1, Recovery::Left, 10);
        assert_eq!(bbr1.snapshot(), before);
        bbr1.on_ack(&ack(0, 101, 0, 1));
        assert!(bbr1.cwnd() > before.cwnd, "it grows on");
    }

    #[test]
    fn a_timeout_leaves_a_window_for_the_repetition() {
        for (config, packets) in [(Config::linux(), 31), (Config::paper(), 1)] {
            let mut bbr1 = bbr1();
            bbr1.config = config;
            bbr1.on_ack(&ack(0, 100, 0, 99));
            bbr1.on_timeout(at(100), MSS * 30);
            assert_eq!(bbr1.cwnd(), MSS * packets);
        }
    }

    /// A controller with Linux's end of recoveries, whose first recovery has lasted a round, with 50 packets in flight.
    fn after_a_round_of_recovery() -> Bbr1 {
        let mut bbr1 = bbr1();
        bbr1.config = Config::linux();
        hear(&mut bbr1, 0, 100, 0, 99);
        recovery(&mut bbr1, Recovery::Entered(Cause::Loss), 90);
        hear(&mut bbr1, 0, 101, 0, 89);
        hear(&mut bbr1, 101, 150, 0, 50);
        assert!(!bbr1.episode.is_conserving);
        bbr1
    }

    #[test]
    fn an_undo_by_the_ack_that_shows_other_losses_ends_nothing() {
        let mut bbr1 = after_a_round_of_recovery();
        let before = bbr1.cwnd();
        recovery(&mut bbr1, Recovery::Undone, 50);
        recovery(&mut bbr1, Recovery::Entered(Cause::Loss), 30);
        hear(&mut bbr1, 102, 151, 0, 30);
        assert!(!bbr1.episode.is_conserving);
        assert!(
            (before..MSS * 101).contains(&bbr1.cwnd()),
            "{:?}",
            bbr1.cwnd()
        );
        recovery(&mut bbr1, Recovery::Undone, 30);
        hear(&mut bbr1, 103, 152, 0, 29);
        assert!(bbr1.cwnd() >= MSS * 101, "restored");
    }

    #[test]
    fn losses_that_end_the_time_after_a_timeout_open_an_episode() {
        let mut bbr1 = after_a_round_of_recovery();
        bbr1.on_timeout(at(160), MSS * 40);
        hear(&mut bbr1, 150, 161, 0, 39);
        recovery(&mut bbr1, Recovery::Left, 39);
        recovery(&mut bbr1, Recovery::Entered(Cause::Loss), 20);
        hear(&mut bbr1, 151, 162, 0, 20);
        assert_eq!(bbr1.cwnd(), MSS * 21, "conserved");
    }

    /// Two of the three rounds without growth have passed.
    fn near_plateau() -> Bbr1 {
        let mut bbr1 = bbr1();
        let rate = Rate::from_bits_per_sec(1_000_000);
        bbr1.btl_bw.update(0, rate, false);
        for _ in 0..3 {
            bbr1.full_pipe.on_round(rate);
        }
        bbr1
    }

    fn is_full_after_a_round(mut bbr1: Bbr1) -> bool {
        bbr1.on_ack(&ack(200, 300, 0, 50));
        bbr1.full_pipe.is_reached()
    }

    #[test]
    fn a_plateau_does_not_last_through_a_timeout_or_an_undo() {
        assert!(is_full_after_a_round(near_plateau()));

        let mut timed_out = near_plateau();
        timed_out.on_timeout(at(100), Bytes::ZERO);
        assert!(!is_full_after_a_round(timed_out));

        let mut undone = near_plateau();
        recovery(&mut undone, Recovery::Entered(Cause::Loss), 50);
        recovery(&mut undone, Recovery::Undone, 50);
        assert!(!is_full_after_a_round(undone));
    }

    #[test]
    fn an_undo_forgets_the_policer() {
        let mut bbr1 = bbr1();
        for round in 0..20 {
            bbr1.observe_policer(&policer::Observation {
                now: at(100 * round),
                delivered: MSS * 10 * round,
                lost: MSS * 5 * round,
                has_losses: true,
                is_app_limited: false,
                is_round_start: true,
                is_probe_bw: false,
            });
        }
        assert!(bbr1.policer.rate().is_some());
        recovery(&mut bbr1, Recovery::Entered(Cause::Loss), 50);
        assert!(bbr1.policer.rate().is_some());
        recovery(&mut bbr1, Recovery::Undone, 50);
        assert_eq!(bbr1.policer.rate(), None);
    }
}
