//! BBRv3: congestion control from a model of the path that also learns from losses (Cardwell et al., "BBR Congestion Control",
//! draft-ietf-ccwg-bbr, revision 06 as the working group has it on 3 August 2026; called "the BBR draft" here).
//!
//! # The model
//!
//! Like BBRv1 it estimates the bottleneck's bandwidth and the least RTT. It sends at that bandwidth, with no more in
//! flight than a multiple of their product. In addition, losses set long-term and short-term bounds:
//!
//! ```text
//! max_bw               the greatest delivery rate of this and the previous cycle of probes
//! min_rtt              the least RTT of the last 10 seconds
//! inflight_long_term   what could be in flight without too much loss, when the flow last probed
//! bw_short_term        what was delivered in the latest round with a loss since then, or 0.7 of what was thought before
//! inflight_short_term  the same, as what is in flight
//! extra_acked          how much is acknowledged at once
//!
//! bw          = min(max_bw, bw_short_term)
//! pacing rate = pacing gain × bw × 0.99
//! cwnd        = min(cwnd gain × bw × min_rtt + extra_acked, inflight_long_term, inflight_short_term)
//! ```
//!
//! # The states
//!
//! ```text
//!   Startup ─▶ Drain ─▶ DOWN ─▶ CRUISE ─▶ REFILL ─▶ UP
//!    2.77       0.5      0.9      1         1      1.25
//!                         ▲                         │
//!                         └─────────────────────────┘
//!   from any state, after 5 s without a lower RTT: ProbeRTT, half a BDP for 200 ms, then back to CRUISE or Startup
//! ```
//!
//! # Files
//!
//! Each state has a file: `startup`, `drain`, `probe_bw` with its four, `probe_rtt`. So has each part of the model:
//! `max_bw`, `min_rtt`, `long_term`, `short_term`, `extra_acked`; the timing of probes: `probe_timing`; the window:
//! `cwnd`; the frequency of ACKs: `ack_frequency`; and the undoing of spurious losses: `undo`. The parts shared with
//! BBRv1 are in `crate::bbr`: the filters of the bandwidth and of the least RTT, the plateau of a full pipe,
//! aggregation, the stay in ProbeRTT, the window, the pacing rate and the quantum. Rounds are shared by all.
//!
//! Each function names the draft's pseudocode that it follows, and each file its section. The controller is that
//! pseudocode and nothing else, unless a [setting](Config) says so. Where the draft is open, the function says so.
//!
//! Explicit congestion notification has no effect (BBR draft, "ECN": experimental), unless the [setting](Config::ecn)
//! enables the response of Linux's BBRv3 in `ecn`.

mod ack_frequency;
mod config;
mod cwnd;
mod drain;
mod ecn;
mod extra_acked;
mod long_term;
mod max_bw;
mod min_rtt;
mod probe_bw;
mod probe_rtt;
mod probe_timing;
mod short_term;
mod startup;
pub mod states;
mod undo;

pub use config::Config;
pub use ecn::Config as EcnConfig;

use units::{Bytes, Duration, Rate, Ratio, Time};

use crate::bbr::control::{self, Control};
use crate::bbr::full_pipe::FullPipe;
use crate::bbr::pacing;
use crate::bbr::probe_rtt::Stay;
use crate::bbr::slow_stretch::SlowStretch;
use crate::controller::{
    Ack, AckFrequency, Cause, Connection, Controller, Listed, Lost, Recovery, Snapshot,
};
use crate::round::Round;
use cwnd::WindowUse;
use ecn::Ecn;
use extra_acked::{Acked, ExtraAcked};
use long_term::Caution;
use max_bw::MaxBw;
use min_rtt::MinRtt;
use probe_bw::{AckPhase, Growth};
use probe_timing::ProbeTiming;
use short_term::{Latest, LossRound, ShortTerm};
use startup::StartupLosses;
use undo::Undo;

/// The share of the estimated bandwidth by which pacing stays below it (`BBR.PacingMarginPercent`).
const PACING_MARGIN: Ratio = Ratio::new(1, 100);

/// The least share of what is in flight that is kept after too much loss (`BBR.Beta`): no less than CUBIC keeps.
const BETA: Ratio = Ratio::new(7, 10);

/// The packets of the smallest burst ("Send Quantum"; Linux `sysctl_tcp_min_tso_segs`).
const MIN_BURST_PACKETS: u8 = 2;

/// The gain from the BDP to the window (`BBR.DefaultCwndGain`).
const CWND_GAIN: Ratio = Ratio::new(2, 1);

/// The BBRv3 congestion controller.
#[derive(Debug, Clone)]
pub struct Bbr3 {
    config: Config,
    /// `C.has_selective_acks`.
    has_selective_acks: bool,

    state: State,
    /// Whether data was sent after an idle period, and none of it is delivered yet (`BBR.idle_restart`).
    is_restarting_from_idle: bool,
    /// Whether the transport is in recovery, or in the time after a timeout (`InLossRecovery`).
    is_recovering: bool,
    /// The bytes delivered when the fast recovery began that lasts, or that the ACK in progress ends.
    fast_recovery_since: Option<Bytes>,

    /// `C.delivered`.
    delivered: Bytes,
    round: Round,
    max_bw: MaxBw,
    /// `BBR.bw`, as the end of the latest ACK has left it.
    bw: Rate,
    min_rtt: MinRtt,
    /// With [`Config::bbr1_min_rtt`], the window of ProbeRTT, from before it began.
    held_probe_rtt_cwnd: Option<Bytes>,
    full_pipe: FullPipe,
    extra_acked: ExtraAcked,
    /// The packets that ProbeRTT held back.
    slow_stretch: SlowStretch,
    /// The packets that any state held back on purpose.
    self_limited: SlowStretch,
    window_use: WindowUse,
    /// Whether the window was full in the round trip that the latest ACK ended.
    is_window_short: bool,

    short_term: ShortTerm,
    /// The deliveries of this round. `None` if all were self-limited.
    latest: Option<Latest>,
    loss_round: LossRound,
    startup_losses: StartupLosses,
    ecn: Ecn,

    /// `BBR.inflight_longterm`; `None` is the draft's infinity.
    inflight_long_term: Option<Bytes>,
    ack_phase: AckPhase,
    /// Whether ACKs and losses are those of a probe that has had no consequence yet (`BBR.is_bw_probe_sample`).
    is_probe_sample: bool,
    caution: Caution,
    growth: Growth,
    probe_timing: ProbeTiming,
    undo: Undo,

    control: Control,
}

#[derive(Debug, Clone)]
enum State {
    Startup,
    Drain { start_round: u64 },
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt(Stay),
}

impl Bbr3 {
    /// A controller for a new connection (BBR draft, "Initialization").
    pub fn new(connection: Connection, config: Config) -> Bbr3 {
        let Connection {
            now,
            seed,
            has_selective_acks,
            ..
        } = connection;
        Bbr3 {
            config,
            has_selective_acks,
            state: State::Startup,
            is_restarting_from_idle: false,
            is_recovering: false,
            fast_recovery_since: None,
            delivered: Bytes::ZERO,
            round: Round::new(),
            max_bw: MaxBw::new(),
            bw: Rate::ZERO,
            min_rtt: MinRtt::new(now, config.bbr1_min_rtt),
            held_probe_rtt_cwnd: None,
            full_pipe: FullPipe::new(),
            extra_acked: ExtraAcked::new(now),
            slow_stretch: SlowStretch::none(),
            self_limited: SlowStretch::none(),
            window_use: WindowUse::default(),
            is_window_short: false,
            short_term: ShortTerm::default(),
            latest: None,
            loss_round: LossRound::default(),
            startup_losses: StartupLosses::default(),
            ecn: Ecn::new(),
            inflight_long_term: None,
            ack_phase: AckPhase::Init,
            is_probe_sample: false,
            caution: Caution::default(),
            growth: Growth::default(),
            probe_timing: ProbeTiming::new(now, seed),
            undo: Undo::new(),
            control: Control::new(
                &connection,
                pacing::Config {
                    margin: PACING_MARGIN,
                    first_margin: Ratio::ZERO,
                    startup_gain: startup::PACING_GAIN,
                    fewest: MIN_BURST_PACKETS,
                },
            ),
        }
    }

    /// `UpdateModelAndState` ("Per-ACK Steps").
    fn update_model_and_state(&mut self, ack: &Ack) {
        self.update_latest(ack);
        self.update_max_bw(ack);
        self.update_ecn(ack);
        self.respond_to_congestion();
        self.extra_acked.update(Acked {
            now: ack.now,
            bytes: ack.newly_acked,
            bw: self.bw,
            cwnd: self.control.cwnd,
            round: self.round.count(),
            is_pipe_full: self.full_pipe.is_reached(),
        });
        self.check_full_pipe(ack);
        self.check_startup_done(ack);
        self.check_drain_done(ack);
        self.update_cycle(ack);
        self.hold_probe_rtt_cwnd();
        self.min_rtt.update(ack.now, ack.rtt);
        self.check_probe_rtt(ack);
        self.advance_latest(ack);
        self.bound_bw_for_model();
        self.note_marks(ack);
    }

    /// `UpdateMaxBw`, with `UpdateRound`.
    fn update_max_bw(&mut self, ack: &Ack) {
        self.round.update(&ack.rate);
        if self.round.has_just_started() {
            self.probe_timing.on_round();
        }
        if let Some(rate) = ack.rate.delivery_rate {
            self.max_bw.update(rate, self.is_sample_app_limited(ack));
        }
    }

    /// `CheckFullBWReached` ("Exiting Acceleration Based on Bandwidth Plateau").
    fn check_full_pipe(&mut self, ack: &Ack) {
        if self.round.has_just_started() && !self.is_sample_app_limited(ack) {
            self.full_pipe
                .on_round(ack.rate.delivery_rate.unwrap_or(Rate::ZERO));
        }
    }

    fn is_sample_app_limited(&self, ack: &Ack) -> bool {
        self.is_app_limited(ack.rate.is_app_limited, ack.rate.prior_delivered)
    }

    /// Whether a packet that left at this total of delivered bytes was held back by the application or by ProbeRTT.
    fn is_app_limited(&self, is_app_limited: bool, delivered: Bytes) -> bool {
        is_app_limited || self.slow_stretch.contains(delivered)
    }

    /// `NoteLoss` ("Probing for Bandwidth In ProbeBW").
    fn note_loss(&mut self, now: Time) {
        self.note_losses(now);
        if !self.loss_round.is_lossy {
            self.loss_round.restart(self.delivered);
            self.save_state_upon_loss();
        }
        self.loss_round.is_lossy = true;
        self.ecn.note_loss();
    }

    fn max_bw(&self) -> Rate {
        self.max_bw.get()
    }

    /// `BoundBWForModel`.
    fn bound_bw_for_model(&mut self) {
        let bound = self.short_term.bw.unwrap_or(Rate::MAX);
        self.bw = self.max_bw().min(bound);
    }

    fn pacing_gain(&self) -> Ratio {
        match &self.state {
            State::Startup => startup::PACING_GAIN,
            State::Drain { .. } => drain::PACING_GAIN,
            State::Down => probe_bw::DOWN_PACING_GAIN,
            State::Cruise | State::Refill => Ratio::ONE,
            State::Up => probe_bw::UP_PACING_GAIN,
            State::ProbeRtt(_) => probe_rtt::PACING_GAIN,
        }
    }

    fn cwnd_gain(&self) -> Ratio {
        match &self.state {
            State::Up => probe_bw::UP_CWND_GAIN,
            State::ProbeRtt(_) => probe_rtt::CWND_GAIN,
            _ => CWND_GAIN,
        }
    }
}

impl Listed for Bbr3 {
    const NAME: &'static str = "bbr3";
    const KERNEL_NAME: &'static str = "bbr3";
    const STATES: &'static [crate::State] = states::ALL;

    type Config = Config;

    fn linux() -> Config {
        Config::tcp()
    }

    fn off_host(config: Config) -> Config {
        Config {
            offload_quanta: config.offload_quanta.min(Config::quic().offload_quanta),
            ecn: None,
            ..config
        }
    }

    fn with(connection: Connection, config: Config) -> Bbr3 {
        Bbr3::new(connection, config)
    }
}

impl Controller for Bbr3 {
    control::answers!(control);

    /// `OnInit` and `InitPacingRate`, as far as they depend on `C.srtt`.
    fn on_handshake(&mut self, now: Time, rtt: Duration) {
        self.min_rtt.start(now, rtt);
        self.control.fit_first_round(rtt, self.control.initial_cwnd);
    }

    /// `HandleRestartFromIdle` ("Actions when Restarting from Idle").
    fn on_idle_restart(&mut self, now: Time) {
        self.is_restarting_from_idle = true;
        self.extra_acked.restart_clock(now);
        if self.is_in_probe_bw() {
            let (bw, is_full) = (self.bw, self.full_pipe.is_reached());
            self.control
                .pacing
                .follow(bw, Ratio::ONE, is_full, self.control.mss);
        } else {
            self.check_probe_rtt_done(now);
        }
    }

    fn on_packet_lost(&mut self, lost: &Lost) {
        self.delivered = self.delivered.max(lost.total_delivered);
        self.note_loss(lost.now);
        self.startup_losses.note(lost);
        self.handle_lost_packet(lost);
    }

    /// `OnEnterFastRecovery`, and the end of recoveries ("Modulating cwnd in Loss Recovery").
    fn on_recovery(&mut self, now: Time, recovery: Recovery, _inflight: Bytes) {
        match recovery {
            Recovery::Entered(Cause::Loss) => {
                self.begin_recovery(now);
                self.fast_recovery_since.get_or_insert(self.delivered);
            }
            // A tail loss probe repaired the loss, but it still counts ("When not Probing for Bandwidth").
            Recovery::Entered(Cause::RepairedLoss) => self.note_loss(now),
            // A round trip with marks, which may end in one with losses.
            Recovery::Entered(Cause::Ecn) => self.ecn.is_reduced = true,
            Recovery::Left => self.leave_recovery(),
            Recovery::Undone => {
                self.leave_recovery();
                self.handle_spurious_loss();
            }
        }
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.window_use.update(ack.is_window_full, self.delivered);
        self.delivered = self.delivered.max(ack.rate.total_delivered);
        self.is_window_short = self.window_use.was_full_since(ack.rate.prior_delivered);
        self.update_model_and_state(ack);
        let (window, bw, gain) = (self.control.initial_cwnd, self.bw, self.pacing_gain());
        let is_full = self.full_pipe.is_reached();
        self.control.update_pacing(ack, window, bw, gain, is_full);
        self.set_cwnd(ack);
        if !self.is_recovering {
            self.fast_recovery_since = None;
        }
        let is_slow = self.is_slow_on_purpose();
        self.self_limited
            .follow(is_slow, self.delivered, ack.inflight);
    }

    /// `OnEnterRTO`.
    fn on_timeout(&mut self, now: Time, inflight: Bytes) {
        self.begin_recovery(now);
        self.fast_recovery_since = None;
        self.control.cwnd = inflight + self.control.mss;
    }

    fn responds_to_ecn(&self) -> bool {
        self.config.ecn.is_some()
    }

    fn ack_frequency(&self) -> AckFrequency {
        self.wanted_ack_frequency()
    }

    fn snapshot(&self) -> Snapshot {
        let state = match self.state {
            State::Startup => states::STARTUP,
            State::Drain { .. } => states::DRAIN,
            State::Down => states::DOWN,
            State::Cruise => states::CRUISE,
            State::Refill => states::REFILL,
            State::Up => states::UP,
            State::ProbeRtt(_) => states::PROBE_RTT,
        };
        Snapshot {
            send_quantum: self.send_quantum(),
            btl_bw: (!self.max_bw().is_zero()).then(|| self.max_bw()),
            rtprop: self.min_rtt.get(),
            pacing_gain: Some(self.pacing_gain()),
            cwnd_gain: Some(self.cwnd_gain()),
            round: self.round.count(),
            short_term_bw: self.short_term.bw,
            short_term_inflight: self.short_term.inflight,
            long_term_inflight: self.inflight_long_term,
            ..Snapshot::new(Bbr3::NAME, state, self.cwnd(), self.pacing_rate())
        }
    }
}

impl Bbr3 {
    /// The transport's recovery is over, because all is repaired or the losses were spurious.
    fn leave_recovery(&mut self) {
        self.ecn.is_reduced = false;
        if self.is_recovering {
            self.is_recovering = false;
            self.control.restore_cwnd();
        }
    }
}
