//! What Reno and CUBIC have in common: slow start, reductions, timeouts, undo and pacing.
//!
//! A loss-based controller grows its window until the network signals congestion, and then reduces it by a factor.
//! The two controllers differ in how the window grows in congestion avoidance and by which factor it is reduced, and
//! that is what an [`Avoidance`] is.
//!
//! - **Entering recovery** reduces the window, each time that the transport enters one: a transport that loses packets
//!   round after round enters a recovery in each, and the window falls each time. What leaves meanwhile is the
//!   transport's business (PRR, RFC 6937, or just the window against what is in flight); RFC 5681's inflation and
//!   deflation of the window stand in for a count of what is in flight, which our transports have.
//!   The reduction is of the window, not of what is in flight (RFC 5681, equation 4): a window that is not used does not
//!   grow either, which is RFC 9438's condition for that ("Multiplicative Decrease"), and RFC 9002's way.
//! - **During recovery** the window does not grow (RFC 9002, "Recovery").
//! - **Leaving recovery** goes on from the reduced window. That is the second way that RFC 6582 ("Specification", step 3)
//!   offers for a full acknowledgment; the burst which it warns of cannot happen to a paced sender.
//! - **A timeout** collapses the window to what is left in flight and one packet, or to one packet ([`LossWindow`]), to
//!   slow-start from there up to the threshold. The threshold is
//!   reduced once for a run of losses: not again when the timer fires during a recovery, whose start has reduced it, nor
//!   when it fires again before anything was delivered (RFC 5681, equation 4 and the text around it).
//! - **Undoing** either restores what was saved at its start.
//! - **After an idle time** longer than the retransmission timeout the window is halved for each such timeout that has
//!   passed, but not below the initial window, with three quarters of what it was as the threshold, so that slow start gets
//!   it back soon (RFC 2861; Linux `tcp_cwnd_restart`).
//! - **A window that is not used** does not grow; but in slow start up to twice what was in flight, as that much was
//!   proven (`usage.rs`).

pub mod states;

use core::fmt::Debug;

use units::{Bytes, Duration, Rate, Ratio, Time};

use crate::LossWindow;
use crate::controller::{Ack, Cause, Connection, Controller, Lost, Recovery, Sent, Snapshot};
use crate::hystart::{HyStart, Observed};
use crate::pacing;
use crate::round::Round;
use crate::rtt::RttEstimator;
use crate::usage::Usage;

/// The pacing rate in slow start, in windows per round trip: the window doubles in each (Linux, `tcp_pacing_ss_ratio`). With
/// half the threshold reached the end is near, and the rate is that of congestion avoidance (`tcp_update_pacing_rate`).
const SLOW_START_PACING: Ratio = Ratio::new(2, 1);
/// The pacing rate in congestion avoidance, in windows per round trip: so much above one that the window, not the pacing
/// rate, is the limit (Linux, `tcp_pacing_ca_ratio`; compare RFC 9002, "Pacing").
const AVOIDANCE_PACING: Ratio = Ratio::new(6, 5);

/// What an idle time leaves of the window as slow-start threshold (RFC 2861, section 3).
const IDLE_THRESHOLD: Ratio = Ratio::new(3, 4);

/// How a loss-based controller grows its window in congestion avoidance, and by what factor it reduces it.
pub trait Avoidance: Debug + Copy + Send {
    /// The controller's name.
    const NAME: &'static str;

    /// Congestion at a window of `cwnd`, with packets of `mss`: the window to go on with.
    fn on_congestion(&mut self, cwnd: Bytes, mss: Bytes, cause: Cause) -> Bytes;

    /// A retransmission timeout. The reduction that goes with it was [`Avoidance::on_congestion`].
    fn on_timeout(&mut self);

    /// The window grows in congestion avoidance.
    fn grow(&mut self, growth: &Growth) -> Bytes;

    /// The window was in use until `now`, but the sender had not enough to send, or the window may not grow.
    fn on_app_limited(&mut self, now: Time);

    /// The window or the packet size was changed from outside; the next growth starts afresh.
    fn on_restart(&mut self);
}

/// An occasion for the window to grow in congestion avoidance.
#[derive(Debug, Clone, Copy)]
pub struct Growth {
    /// The present.
    pub now: Time,
    /// The window until now.
    pub cwnd: Bytes,
    /// The packet size.
    pub mss: Bytes,
    /// What was acknowledged.
    pub acked: Bytes,
    /// The smoothed round-trip time; zero before the first measurement.
    pub srtt: Duration,
    /// The least round-trip time; zero before the first measurement.
    pub min_rtt: Duration,
}

/// A controller that grows its window in slow start and as `A` says, and reduces it when packets are lost.
#[derive(Debug, Clone)]
pub struct LossBased<A> {
    avoidance: A,
    mss: Bytes,
    initial_cwnd: Bytes,
    cwnd: Bytes,
    /// `None` until the end of the initial slow start.
    ssthresh: Option<Bytes>,
    /// The detector for the end of slow start, if this controller uses one.
    hystart: Option<HyStart>,
    loss_window: LossWindow,
    phase: Phase,
    saved: Option<Saved<A>>,
    rtt: RttEstimator,
    min_rtt: Option<Duration>,
    round: Round,
    last_sent: Time,
    usage: Usage,
    pacing_rate: Rate,
}

/// Where the transport's loss recovery stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Open,
    /// In a recovery, for this latest reason.
    Recovery(Cause),
    /// After a timeout, with or without anything delivered since.
    Timeout {
        has_progress: bool,
    },
}

/// What an undo restores (RFC 9438, "Spurious Timeouts" and "Spurious Fast Retransmits").
#[derive(Debug, Clone, Copy)]
struct Saved<A> {
    avoidance: A,
    cwnd: Bytes,
    ssthresh: Option<Bytes>,
    hystart: Option<HyStart>,
}

impl<A: Avoidance> LossBased<A> {
    /// A controller for a new connection, with or without HyStart.
    pub(crate) fn start(
        connection: Connection,
        avoidance: A,
        hystart: Option<HyStart>,
        loss_window: LossWindow,
    ) -> LossBased<A> {
        let mss = connection.mss.max(Bytes::new(1));
        let cwnd = connection.initial_cwnd.max(mss * 2);
        let mut controller = LossBased {
            avoidance,
            mss,
            initial_cwnd: cwnd,
            cwnd,
            ssthresh: None,
            hystart,
            loss_window,
            phase: Phase::Open,
            saved: None,
            rtt: RttEstimator::default(),
            min_rtt: None,
            round: Round::new(),
            last_sent: connection.now,
            usage: Usage::default(),
            pacing_rate: Rate::ZERO,
        };
        controller.update_pacing_rate();
        controller
    }

    fn is_slow_start(&self) -> bool {
        self.ssthresh.is_none_or(|ssthresh| self.cwnd < ssthresh)
    }

    fn pacing_gain(&self) -> Ratio {
        match self.ssthresh {
            Some(ssthresh) if self.cwnd >= Bytes::new(ssthresh.get() / 2) => AVOIDANCE_PACING,
            _ => SLOW_START_PACING,
        }
    }

    fn update_pacing_rate(&mut self) {
        self.pacing_rate = pacing::window_rate(self.cwnd, self.rtt.smoothed(), self.pacing_gain());
    }

    /// Saves what an undo needs and lowers the threshold; gives the window to go on with.
    fn reduce(&mut self, cause: Cause) -> Bytes {
        self.saved = Some(Saved {
            avoidance: self.avoidance,
            cwnd: self.cwnd,
            ssthresh: self.ssthresh,
            hystart: self.hystart,
        });
        let reduced = self.avoidance.on_congestion(self.cwnd, self.mss, cause);
        let ssthresh = reduced.max(self.mss * 2);
        self.ssthresh = Some(ssthresh);
        match cause {
            Cause::Loss | Cause::RepairedLoss => ssthresh,
            // A mark has cost no packet, so that even a window of one goes on (RFC 9438, "Multiplicative Decrease"; RFC
            // 3168, "The TCP Sender").
            Cause::Ecn => reduced.max(self.mss),
        }
    }

    fn undo(&mut self) {
        // If the window has already outgrown what it was, there is nothing to repair.
        if let Some(saved) = self.saved.take()
            && self.cwnd < saved.cwnd
        {
            self.avoidance = saved.avoidance;
            self.cwnd = saved.cwnd;
            self.ssthresh = saved.ssthresh;
            self.hystart = saved.hystart;
        }
    }

    /// Lets HyStart learn from the ACK.
    fn watch_slow_start(&mut self, ack: &Ack) {
        let observed = Observed {
            now: ack.now,
            begins_round: self.round.has_just_started(),
            rtt: ack.rtt.map(|sample| sample.rtt),
            packets: self.cwnd.get() / self.mss.get(),
            pacing_rate: self.pacing_rate,
            is_slow_start: self.is_slow_start(),
            is_initial: self.ssthresh.is_none(),
        };
        if let Some(hystart) = &mut self.hystart
            && hystart.on_ack(&observed)
        {
            self.ssthresh = Some(self.cwnd);
        }
    }

    /// Whether enough of the window is in use for it to grow (Linux `tcp_is_cwnd_limited`).
    fn is_used(&self, ack: &Ack) -> bool {
        ack.is_cwnd_limited || self.is_slow_start() && self.cwnd < self.usage.most() * 2
    }

    /// Halves the window for each timeout that `idle` contains.
    fn decay(&mut self, mut idle: Duration) {
        let rto = self.rtt.rto();
        let least = self.initial_cwnd.min(self.cwnd);
        idle = idle.saturating_sub(rto);
        while !idle.is_zero() && self.cwnd > least {
            let packets = self.cwnd.get() / 2 / self.mss.get();
            self.cwnd = least.max(self.mss * packets);
            idle = idle.saturating_sub(rto);
        }
    }

    fn grow(&mut self, ack: &Ack) {
        if !ack.is_progress {
            return;
        }
        if matches!(self.phase, Phase::Recovery(_)) || !self.is_used(ack) {
            self.avoidance.on_app_limited(ack.now);
            return;
        }
        let mut acked = ack.newly_acked;
        match (self.ssthresh, &self.hystart) {
            (None, Some(hystart)) => {
                self.cwnd += hystart.growth(acked);
                return;
            }
            (None, None) => {
                self.cwnd += acked;
                return;
            }
            // Up to the threshold in slow start, with the rest in congestion avoidance. All that was acknowledged
            // counts (RFC 3465): a limit for each ACK would only serve against bursts, which pacing prevents, and
            // after a timeout against cumulative ACKs that cover what had left the network long before, while
            // `newly_acked` counts each byte when it is first known to have arrived.
            (Some(ssthresh), _) => {
                let growth = acked.min(ssthresh - self.cwnd);
                self.cwnd += growth;
                acked -= growth;
            }
        }
        if !acked.is_zero() {
            self.cwnd = self.avoidance.grow(&Growth {
                now: ack.now,
                cwnd: self.cwnd,
                mss: self.mss,
                acked,
                srtt: self.rtt.smoothed().unwrap_or_default(),
                min_rtt: self.min_rtt.unwrap_or_default(),
            });
        }
    }
}

impl<A: Avoidance> Controller for LossBased<A> {
    fn on_idle_restart(&mut self, now: Time) {
        self.avoidance.on_app_limited(now);
        let idle = now.since(self.last_sent);
        if idle > self.rtt.rto() {
            let resumable = IDLE_THRESHOLD.of_bytes(self.cwnd);
            self.ssthresh = self.ssthresh.map(|ssthresh| ssthresh.max(resumable));
            self.decay(idle);
            self.update_pacing_rate();
        }
    }

    fn on_packet_sent(&mut self, sent: &Sent) {
        self.last_sent = sent.now;
        self.usage.on_sent(sent.bytes, sent.inflight);
    }

    /// Nothing: what is lost counts when the transport enters a recovery for it.
    fn on_packet_lost(&mut self, _lost: &Lost) {}

    fn on_recovery(&mut self, _now: Time, recovery: Recovery, _inflight: Bytes) {
        match recovery {
            // A loss in the round trip for which a mark has already reduced the window (Linux `tcp_enter_recovery` within
            // `TCP_CA_CWR`). The mark stands, even if the loss should not.
            Recovery::Entered(Cause::Loss) if self.phase == Phase::Recovery(Cause::Ecn) => {
                self.saved = None;
                self.phase = Phase::Recovery(Cause::Loss);
            }
            Recovery::Entered(cause) => {
                let reduced = self.reduce(cause);
                // Not up to the threshold, should a timeout have left the window below it.
                self.cwnd = self.cwnd.min(reduced);
                self.phase = Phase::Recovery(cause);
            }
            Recovery::Left => self.phase = Phase::Open,
            Recovery::Undone => {
                self.undo();
                self.phase = Phase::Open;
            }
        }
        self.update_pacing_rate();
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.round.update(&ack.rate);
        if let Some(sample) = ack.rtt {
            self.rtt.update(sample.rtt);
            self.min_rtt = Some(self.min_rtt.map_or(sample.rtt, |min| min.min(sample.rtt)));
        }
        if let Phase::Timeout { has_progress } = &mut self.phase {
            *has_progress = true;
        }
        self.watch_slow_start(ack);
        self.grow(ack);
        self.update_pacing_rate();
    }

    fn on_timeout(&mut self, now: Time, inflight: Bytes) {
        match self.phase {
            Phase::Open | Phase::Timeout { has_progress: true } => {
                self.reduce(Cause::Loss);
            }
            Phase::Recovery(_)
            | Phase::Timeout {
                has_progress: false,
            } => {}
        }
        self.avoidance.on_timeout();
        if let Some(hystart) = &mut self.hystart {
            hystart.on_timeout(now);
        }
        self.cwnd = self.loss_window.bytes(inflight, self.mss);
        self.phase = Phase::Timeout {
            has_progress: false,
        };
        self.update_pacing_rate();
    }

    fn on_mtu_change(&mut self, mss: Bytes) {
        let mss = mss.max(Bytes::new(1));
        let minimum = if self.cwnd < self.mss * 2 {
            mss
        } else {
            mss * 2
        };
        self.mss = mss;
        self.cwnd = self.cwnd.max(minimum);
        self.initial_cwnd = self.initial_cwnd.max(mss * 2);
        self.ssthresh = self.ssthresh.map(|ssthresh| ssthresh.max(mss * 2));
        self.avoidance.on_restart();
        self.update_pacing_rate();
    }

    fn cwnd(&self) -> Bytes {
        self.cwnd
    }

    fn pacing_rate(&self) -> Rate {
        self.pacing_rate
    }

    fn send_quantum(&self) -> Bytes {
        pacing::send_quantum(self.pacing_rate, self.mss)
    }

    fn wants_prr(&self) -> bool {
        true
    }

    fn responds_to_ecn(&self) -> bool {
        true
    }

    fn snapshot(&self) -> Snapshot {
        let is_conservative = self.ssthresh.is_none()
            && self
                .hystart
                .is_some_and(|hystart| hystart.is_conservative());
        let state = match self.phase {
            Phase::Recovery(_) => states::RECOVERY,
            _ if is_conservative => states::CONSERVATIVE_SLOW_START,
            _ if self.is_slow_start() => states::SLOW_START,
            _ => states::CONGESTION_AVOIDANCE,
        };
        Snapshot {
            controller: A::NAME,
            state,
            cwnd: self.cwnd,
            pacing_rate: self.pacing_rate,
            send_quantum: self.send_quantum(),
            ssthresh: self.ssthresh,
            btl_bw: None,
            rt_prop: None,
            pacing_gain: Some(self.pacing_gain()),
            cwnd_gain: None,
            round: self.round.count(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ack_clock::{AckClock, CONNECTION, MSS};
    use crate::cubic::{self, Cubic, Variant};
    use crate::reno::{self, Reno};

    const RTT: Duration = Duration::from_millis(50);
    const ENTERED: Recovery = Recovery::Entered(Cause::Loss);

    fn reno() -> AckClock<Reno> {
        AckClock::new(Reno::new(CONNECTION, reno::Config::default()), RTT)
    }

    fn cubic() -> AckClock<Cubic> {
        AckClock::new(Cubic::new(CONNECTION, cubic::Config::default()), RTT)
    }

    fn sent(now: Time) -> Sent {
        Sent {
            now,
            bytes: MSS,
            inflight: MSS,
        }
    }

    #[test]
    fn each_recovery_reduces_once_and_the_window_rests_meanwhile() {
        let mut flow = reno();
        flow.round();
        flow.round();
        flow.recovery(ENTERED);
        assert_eq!((flow.packets(), flow.state()), (20, "Recovery"));
        flow.round();
        assert_eq!(flow.packets(), 20);
        // A packet of the recovery itself is lost: QUIC's next recovery, without an end of the first.
        flow.recovery(ENTERED);
        flow.round();
        assert_eq!(flow.packets(), 10);
        flow.recovery(Recovery::Left);
        flow.round();
        assert_eq!(flow.packets(), 11);
        for _ in 0..10 {
            flow.lose();
        }
        assert_eq!(flow.packets(), 2, "the least window");
    }

    #[test]
    fn marks_reduce_to_one_packet_and_losses_to_two() {
        for (cause, least) in [(Cause::Loss, 2), (Cause::Ecn, 1)] {
            let mut flow = cubic();
            for _ in 0..20 {
                flow.recovery(Recovery::Entered(cause));
            }
            assert_eq!(flow.controller.cwnd(), MSS * least);
            assert_eq!(flow.controller.snapshot().ssthresh, Some(MSS * 2));
        }
    }

    #[test]
    fn a_loss_in_a_marks_recovery_reduces_nothing_more_and_one_after_it_does() {
        let marked = Recovery::Entered(Cause::Ecn);
        let mut flow = reno();
        flow.round();
        flow.round();
        flow.recovery(marked);
        let packets = flow.packets();
        assert!(packets < 40);
        flow.recovery(ENTERED);
        flow.recovery(Recovery::Undone);
        assert_eq!(flow.packets(), packets, "the mark is not undone either");
        flow.recovery(marked);
        let packets = flow.packets();
        flow.recovery(Recovery::Left);
        flow.recovery(ENTERED);
        assert!(flow.packets() < packets);
    }

    #[test]
    fn nothing_grows_that_is_not_used() {
        let mut flow = reno();
        flow.is_cwnd_limited = false;
        flow.round();
        assert_eq!(flow.packets(), 10, "in slow start");
        flow.lose();
        for _ in 0..20 {
            flow.round();
        }
        assert_eq!(flow.packets(), 5, "in congestion avoidance");
    }

    #[test]
    fn nothing_grows_on_what_arrives_out_of_order() {
        let mut flow = cubic();
        flow.is_progress = false;
        flow.ack();
        flow.ack();
        assert_eq!(flow.packets(), 10);
        flow.is_progress = true;
        flow.ack();
        assert_eq!(flow.packets(), 11, "by what this one has delivered");
    }

    #[test]
    fn a_timeout_leaves_one_packet_and_slow_start_up_to_the_threshold() {
        let mut flow = reno();
        flow.round();
        flow.round();
        flow.controller.on_timeout(flow.now, Bytes::ZERO);
        assert_eq!((flow.packets(), flow.state()), (1, "SlowStart"));
        assert_eq!(flow.controller.snapshot().ssthresh, Some(MSS * 20));
        flow.recovery(Recovery::Left);
        for packets in [2, 4, 8, 16] {
            flow.round();
            assert_eq!(flow.packets(), packets);
        }
        flow.round();
        assert_eq!((flow.packets(), flow.state()), (20, "CongestionAvoidance"));
    }

    #[test]
    fn what_is_in_flight_at_a_timeout_leaves_room_for_the_repetition() {
        for (loss_window, packets) in [(LossWindow::InflightAndOne, 8), (LossWindow::OnePacket, 1)]
        {
            let config = reno::Config {
                loss_window,
                ..reno::Config::default()
            };
            let mut flow = AckClock::new(Reno::new(CONNECTION, config), RTT);
            flow.round();
            flow.controller.on_timeout(flow.now, MSS * 7);
            assert_eq!(flow.packets(), packets);
            assert_eq!(flow.controller.snapshot().ssthresh, Some(MSS * 10));
        }
    }

    #[test]
    fn a_run_of_losses_lowers_the_threshold_once() {
        let mut flow = reno();
        flow.round();
        flow.round();
        flow.recovery(ENTERED);
        flow.controller.on_timeout(flow.now, Bytes::ZERO);
        flow.controller.on_timeout(flow.now, Bytes::ZERO);
        assert_eq!(flow.packets(), 1);
        assert_eq!(flow.controller.snapshot().ssthresh, Some(MSS * 20));
        for _ in 0..10 {
            flow.ack();
        }
        flow.controller.on_timeout(flow.now, Bytes::ZERO);
        assert_eq!(flow.controller.snapshot().ssthresh, Some(Bytes::new(8_250)));
    }

    #[test]
    fn a_loss_after_a_timeout_does_not_raise_the_window() {
        let mut flow = reno();
        flow.controller.on_timeout(flow.now, Bytes::ZERO);
        flow.recovery(ENTERED);
        assert_eq!(flow.packets(), 1);
        assert_eq!(flow.controller.snapshot().ssthresh, Some(MSS * 2));
    }

    #[test]
    fn undo_restores_what_a_recovery_took() {
        let mut flow = cubic();
        flow.round();
        let before = flow.controller.snapshot();
        flow.recovery(ENTERED);
        assert!(flow.packets() < 20);
        flow.recovery(Recovery::Undone);
        assert_eq!(flow.controller.snapshot(), before);
        // Also when the recovery is already over; but not twice.
        flow.recovery(ENTERED);
        flow.recovery(Recovery::Left);
        flow.recovery(Recovery::Undone);
        assert_eq!(flow.controller.snapshot(), before);
        flow.recovery(Recovery::Undone);
        assert_eq!(flow.controller.snapshot(), before);
    }

    #[test]
    fn undo_restores_what_a_timeout_took() {
        let mut flow = cubic();
        flow.lose();
        flow.round();
        let before = flow.controller.snapshot();
        flow.controller.on_timeout(flow.now, Bytes::ZERO);
        // Nothing was delivered between: the state before the first counts.
        flow.controller.on_timeout(flow.now, Bytes::ZERO);
        flow.recovery(Recovery::Undone);
        assert_eq!(flow.controller.snapshot(), before);
    }

    #[test]
    fn undo_leaves_a_window_that_has_outgrown_the_old_one() {
        let mut flow = reno();
        flow.lose();
        for _ in 0..20 {
            flow.round();
        }
        let before = flow.controller.snapshot();
        flow.recovery(Recovery::Undone);
        assert_eq!(flow.controller.snapshot(), before);
    }

    #[test]
    fn paces_two_windows_a_round_in_slow_start_and_six_fifths_after_it() {
        let mut flow = reno();
        flow.round();
        let rate = |windows: Ratio, cwnd| Rate::from_transfer(windows.of_bytes(cwnd), RTT);
        let cwnd = flow.controller.cwnd();
        assert_eq!(flow.controller.pacing_rate(), rate(Ratio::new(2, 1), cwnd));
        flow.lose();
        let cwnd = flow.controller.cwnd();
        assert_eq!(flow.controller.pacing_rate(), rate(Ratio::new(6, 5), cwnd));
        // A millisecond of that is less than two packets.
        assert_eq!(flow.controller.send_quantum(), MSS * 2);
    }

    #[test]
    fn before_the_first_measurement_the_window_leaves_within_a_millisecond() {
        let flow = reno();
        let span = Duration::from_millis(1);
        assert!(flow.controller.pacing_rate().bytes_in(span) >= flow.controller.cwnd());
        assert_eq!(flow.controller.send_quantum(), MSS * 19);
    }

    #[test]
    fn an_idle_time_halves_the_window_for_each_timeout() {
        let mut flow = reno();
        flow.round();
        flow.round();
        flow.round();
        flow.lose();
        assert_eq!(flow.packets(), 40);
        flow.controller.on_packet_sent(&sent(flow.now));
        // The timeout is the round-trip time, its deviation having died down, and 200 ms.
        for (idle, packets) in [(240, 40), (300, 20), (490, 20), (530, 10), (60_000, 10)] {
            let mut idle_flow = flow.controller.clone();
            idle_flow.on_idle_restart(flow.now + Duration::from_millis(idle));
            assert_eq!(idle_flow.cwnd(), MSS * packets, "{idle} ms");
            assert_eq!(idle_flow.snapshot().ssthresh, Some(MSS * 40));
        }
    }

    #[test]
    fn an_idle_time_leaves_three_quarters_of_a_grown_window_as_threshold() {
        let mut flow = reno();
        flow.round();
        flow.round();
        flow.lose();
        while flow.packets() < 80 {
            flow.round();
        }
        flow.controller.on_packet_sent(&sent(flow.now));
        flow.controller
            .on_idle_restart(flow.now + Duration::from_millis(300));
        assert_eq!((flow.packets(), flow.state()), (40, "SlowStart"));
        assert_eq!(flow.controller.snapshot().ssthresh, Some(MSS * 60));
    }

    #[test]
    fn slow_start_grows_to_twice_what_was_in_flight() {
        let mut flow = reno();
        flow.is_cwnd_limited = false;
        for packets in 1..=8 {
            flow.controller.on_packet_sent(&Sent {
                now: flow.now,
                bytes: MSS,
                inflight: MSS * packets,
            });
        }
        for _ in 0..20 {
            flow.ack();
        }
        assert_eq!(flow.packets(), 16);
        // Not beyond slow start.
        flow.lose();
        flow.round();
        assert_eq!((flow.packets(), flow.state()), (8, "CongestionAvoidance"));
    }

    #[test]
    fn larger_packets_raise_the_least_window_only() {
        let mut flow = reno();
        flow.controller.on_mtu_change(Bytes::new(4_000));
        assert_eq!(flow.controller.cwnd(), Bytes::new(15_000));
        flow.controller.on_mtu_change(Bytes::new(9_000));
        assert_eq!(flow.controller.cwnd(), Bytes::new(18_000));
        flow.controller.on_timeout(flow.now, Bytes::ZERO);
        assert_eq!(flow.controller.cwnd(), Bytes::new(9_000));
        flow.controller.on_mtu_change(Bytes::new(10_000));
        assert_eq!(flow.controller.cwnd(), Bytes::new(10_000));
    }

    /// A path of 100 packets at `RTT`, with an endless buffer.
    fn over_bottleneck(variant: Variant, hystart: bool) -> AckClock<Cubic> {
        let config = cubic::Config {
            variant,
            hystart,
            ..cubic::Config::default()
        };
        let mut flow = AckClock::new(Cubic::new(CONNECTION, config), RTT);
        flow.bottleneck = Rate::from_transfer(MSS * 100, RTT);
        flow
    }

    #[test]
    fn linux_leaves_slow_start_at_once_when_the_train_is_as_long_as_the_round_trip() {
        let mut flow = over_bottleneck(Variant::Linux, true);
        while flow.state() == "SlowStart" {
            flow.ack();
        }
        assert_eq!(flow.state(), "CongestionAvoidance");
        // Evenly spaced ACKs are a train from where they are 2 ms apart.
        assert!((25..=100).contains(&flow.packets()), "{}", flow.packets());
        let ssthresh = flow.controller.snapshot().ssthresh;
        assert!(ssthresh.is_some_and(|ssthresh| ssthresh <= flow.controller.cwnd()));
        let mut without = over_bottleneck(Variant::Linux, false);
        without.run(flow.now.since(Time::ZERO));
        assert_eq!(without.state(), "SlowStart");
    }

    #[test]
    fn hystart_leaves_slow_start_on_a_growing_queue() {
        let mut flow = over_bottleneck(Variant::Rfc9438, true);
        while flow.state() == "SlowStart" {
            flow.ack();
        }
        assert_eq!(flow.state(), "ConservativeSlowStart");
        assert!((100..200).contains(&flow.packets()), "{}", flow.packets());
        let (alarm, packets) = (flow.controller.snapshot().round, flow.packets());
        while flow.state() == "ConservativeSlowStart" {
            flow.ack();
        }
        assert_eq!(flow.state(), "CongestionAvoidance");
        // The round of the alarm and four more, each at a quarter of slow start's pace.
        assert_eq!(flow.controller.snapshot().round, alarm + 5);
        assert!(flow.packets() < packets * 16 / 5, "{}", flow.packets());

        let mut without = over_bottleneck(Variant::Rfc9438, false);
        without.run(flow.now.since(Time::ZERO));
        assert_eq!(without.state(), "SlowStart");
        assert!(without.packets() > 2 * flow.packets());
    }

    #[test]
    fn hystart_resumes_slow_start_after_a_false_alarm() {
        let mut flow = over_bottleneck(Variant::Rfc9438, true);
        flow.bottleneck = Rate::MAX;
        flow.round();
        flow.round();
        flow.rt_prop = RTT + Duration::from_millis(10);
        flow.round();
        assert_eq!(flow.state(), "ConservativeSlowStart");
        flow.rt_prop = RTT;
        flow.round();
        assert_eq!(flow.state(), "SlowStart");
        let before = flow.packets();
        flow.round();
        assert_eq!(flow.packets(), 2 * before);
    }

    #[test]
    fn a_loss_ends_hystart_for_good() {
        let mut flow = over_bottleneck(Variant::Rfc9438, true);
        while flow.state() == "SlowStart" {
            flow.ack();
        }
        flow.lose();
        assert_eq!(flow.state(), "CongestionAvoidance");
        flow.controller.on_timeout(flow.now, Bytes::ZERO);
        flow.recovery(Recovery::Left);
        for packets in [2, 4, 8, 16] {
            flow.round();
            assert_eq!((flow.packets(), flow.state()), (packets, "SlowStart"));
        }
    }
}
