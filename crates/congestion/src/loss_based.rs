//! The common parts of Reno, CUBIC and Prague: slow start, reductions, timeouts, undo and pacing.
//!
//! A loss-based controller grows its window until the network signals congestion, and then reduces it by a factor. The
//! controllers differ in the growth during congestion avoidance and in the factor: an [`Avoidance`] has both.
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
//! - **Marks** count as a loss that cost nothing, once in a round trip. A [scalable](Avoidance::IS_SCALABLE) controller counts
//!   them instead ([`Avoidance::on_ack`], [`Avoidance::on_marks`]), and goes on growing with what was not marked.
//! - **An unused window** does not grow, except in slow start up to twice what was in flight, as that much was proven
//!   (`usage.rs`).

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
const SLOW_START_PACING_GAIN: Ratio = Ratio::new(2, 1);

/// The slow-start threshold after an idle time, as a share of the window (RFC 2861, section 3).
const IDLE_SSTHRESH_SHARE: Ratio = Ratio::new(3, 4);

/// The growth of a loss-based controller's window in congestion avoidance, and its reduction.
pub trait Avoidance: Debug + Copy + Send {
    /// The controller's name.
    const NAME: &'static str;

    /// Whether it responds to the share of marks and not to their occurrence (RFC 9331, section 4.3).
    const IS_SCALABLE: bool = false;

    /// The pacing rate in congestion avoidance, in windows per round trip: so much above one that the window, not the
    /// pacing rate, is the limit (Linux, `tcp_pacing_ca_ratio`; compare RFC 9002, "Pacing").
    const PACING_GAIN: Ratio = Ratio::new(6, 5);

    /// Counts the marks of an ACK, also while losses are repaired.
    fn on_ack(&mut self, _ack: &Ack, _srtt: Duration) {}

    /// Returns the window to go on with if it is reduced for the marks of this ACK. Not called while losses are repaired.
    fn on_marks(&mut self, _ack: &Ack, _cwnd: Bytes, _srtt: Duration) -> Option<Bytes> {
        None
    }

    /// Returns the window after congestion at a window of `cwnd`, with packets of `mss`.
    fn on_congestion(&mut self, cwnd: Bytes, mss: Bytes, cause: Cause) -> Bytes;

    /// Notes a retransmission timeout. [`Avoidance::on_congestion`] has already reduced the window.
    fn on_timeout(&mut self);

    /// Returns the window grown in congestion avoidance.
    fn grow(&mut self, growth: &Growth) -> Bytes;

    /// Notes that until `now` the sender had too little to send, or the window must not grow.
    fn on_app_limited(&mut self, now: Time);

    /// Takes back the last [`Avoidance::on_congestion`], before which this was `saved`.
    fn undo(&mut self, saved: Self) {
        *self = saved;
    }

    /// Notes that the window or the packet size was changed from outside. The next growth starts afresh.
    fn on_restart(&mut self);
}

/// An occasion for the window to grow in congestion avoidance.
#[derive(Debug, Clone, Copy)]
pub struct Growth {
    /// The current time.
    pub now: Time,
    /// The window before the growth.
    pub cwnd: Bytes,
    /// The packet size.
    pub mss: Bytes,
    /// The bytes acknowledged.
    pub acked: Bytes,
    /// The smoothed round-trip time; zero before the first measurement.
    pub srtt: Duration,
    /// The least round-trip time; zero before the first measurement.
    pub min_rtt: Duration,
}

/// A controller that grows its window in slow start and by `A`, and reduces it after losses.
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

/// The state of the transport's loss recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Open,
    /// In a recovery, with its latest cause.
    Recovery(Cause),
    /// After a timeout, with or without anything delivered since.
    Timeout {
        has_progress: bool,
    },
}

/// The values that an undo restores (RFC 9438, "Spurious Timeouts" and "Spurious Fast Retransmits").
#[derive(Debug, Clone, Copy)]
struct Saved<A> {
    avoidance: A,
    cwnd: Bytes,
    ssthresh: Option<Bytes>,
    hystart: Option<HyStart>,
}

impl<A: Avoidance> LossBased<A> {
    /// A controller with this growth for a new connection. Its slow start and its timeouts are those of Reno.
    pub fn of(connection: Connection, avoidance: A) -> LossBased<A> {
        LossBased::start(connection, avoidance, None, LossWindow::default())
    }

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
            Some(ssthresh) if self.cwnd >= Bytes::new(ssthresh.get() / 2) => A::PACING_GAIN,
            _ => SLOW_START_PACING_GAIN,
        }
    }

    fn update_pacing_rate(&mut self) {
        self.pacing_rate = pacing::window_rate(self.cwnd, self.rtt.smoothed(), self.pacing_gain());
    }

    /// Saves the values for an undo and lowers the threshold. Returns the window to go on with.
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
            // A mark costs no packet, so that even a window of one continues (RFC 9438, "Multiplicative Decrease"; RFC
            // 3168, "The TCP Sender").
            Cause::Ecn => reduced.max(self.mss),
        }
    }

    fn undo(&mut self) {
        // A window that has already outgrown the saved one needs no repair.
        if let Some(saved) = self.saved.take()
            && self.cwnd < saved.cwnd
        {
            self.avoidance.undo(saved.avoidance);
            self.cwnd = saved.cwnd;
            self.ssthresh = saved.ssthresh;
            self.hystart = saved.hystart;
        }
    }

    /// Passes the ACK to HyStart.
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

    /// Halves the window for each timeout within `idle`.
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

    /// Lets a scalable controller count the marks of this ACK, and reduce the window for them.
    fn heed_marks(&mut self, ack: &Ack) {
        let srtt = self.rtt.smoothed().unwrap_or_default();
        self.avoidance.on_ack(ack, srtt);
        if self.phase == Phase::Open
            && let Some(reduced) = self.avoidance.on_marks(ack, self.cwnd, srtt)
        {
            self.cwnd = reduced.max(self.mss * 2).min(self.cwnd);
            self.ssthresh = Some(self.cwnd.max(self.mss * 2));
            self.saved = None;
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
        if A::IS_SCALABLE {
            acked -= ack.ce_marked;
        }
        match (self.ssthresh, &self.hystart) {
            (None, Some(hystart)) => {
                self.cwnd += hystart.growth(acked);
                return;
            }
            (None, None) => {
                self.cwnd += acked;
                return;
            }
            // In slow start up to the threshold, with the rest in congestion avoidance. All acknowledged bytes count
            // (RFC 3465). A limit per ACK would help only against bursts, which pacing prevents, and after a timeout
            // against cumulative ACKs of bytes that left the network long before; `newly_acked` counts each byte when
            // it is first known to have arrived.
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
            let resumable = IDLE_SSTHRESH_SHARE.of_bytes(self.cwnd);
            self.ssthresh = self.ssthresh.map(|ssthresh| ssthresh.max(resumable));
            self.decay(idle);
            self.update_pacing_rate();
        }
    }

    fn on_packet_sent(&mut self, sent: &Sent) {
        self.last_sent = sent.now;
        self.usage.on_sent(sent.bytes, sent.inflight);
    }

    /// Does nothing: losses count when the transport enters a recovery for them.
    fn on_packet_lost(&mut self, _lost: &Lost) {}

    fn on_recovery(&mut self, _now: Time, recovery: Recovery, _inflight: Bytes) {
        match recovery {
            // Its marks were counted.
            Recovery::Entered(Cause::Ecn) if A::IS_SCALABLE => {}
            // A loss in the round trip for which a mark has already reduced the window (Linux `tcp_enter_recovery`
            // within `TCP_CA_CWR`). The mark stands, even if the loss is spurious.
            Recovery::Entered(Cause::Loss) if self.phase == Phase::Recovery(Cause::Ecn) => {
                self.saved = None;
                self.phase = Phase::Recovery(Cause::Loss);
            }
            Recovery::Entered(cause) => {
                let reduced = self.reduce(cause);
                // Stays below the threshold if a timeout has left the window there.
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
        self.heed_marks(ack);
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
        if A::IS_SCALABLE {
            pacing::smooth_quantum(self.pacing_rate, self.mss)
        } else {
            pacing::send_quantum(self.pacing_rate, self.mss)
        }
    }

    fn wants_prr(&self) -> bool {
        !A::IS_SCALABLE || self.phase == Phase::Recovery(Cause::Loss)
    }

    fn needs_pacing(&self) -> bool {
        A::IS_SCALABLE
    }

    fn is_scalable(&self) -> bool {
        A::IS_SCALABLE
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
            send_quantum: self.send_quantum(),
            ssthresh: self.ssthresh,
            pacing_gain: Some(self.pacing_gain()),
            round: self.round.count(),
            ..Snapshot::new(A::NAME, state, self.cwnd, self.pacing_rate)
        }
    }
}

#[cfg(test)]
mod tests;
