//! BBRv1: congestion control from a model of the path (Cardwell, Cheng, Gunn, Hassas Yeganeh, Jacobson, "BBR:
//! Congestion-Based Congestion Control", ACM Queue 14(5), 2016; Linux `net/ipv4/tcp_bbr.c`).
//!
//! # The model
//!
//! Whatever a path consists of, two things bound it: its bottleneck's bandwidth, **BtlBw**, and the round-trip time
//! with empty queues, **RTprop**. Their product, the BDP, is what must be in flight to fill the pipe; more only makes a
//! queue. They cannot be measured at the same time: BtlBw shows when the pipe is full, RTprop when the queue is empty.
//! So both are remembered, and measured in turn:
//!
//! ```text
//! BtlBw  = the greatest delivery rate of the last 10 round trips
//! RTprop = the least RTT of the last 10 seconds
//!
//! pacing rate = pacing gain × BtlBw              how fast to send
//! cwnd        = cwnd gain × BtlBw × RTprop       how much may be in flight if ACKs tarry
//! ```
//!
//! # The states
//!
//! BBR's state is a choice of gains:
//!
//! ```text
//!      ┌───────────┐  pipe full   ┌───────────┐  queue gone  ┌───────────┐
//!  ──▶ │  Startup  │ ───────────▶ │   Drain   │ ───────────▶ │  ProbeBW  │ ◀─┐
//!      │   2/ln 2  │              │   ln 2/2  │              │ 5/4 3/4 1…│ ──┘ gain cycle,
//!      └───────────┘              └───────────┘              └───────────┘     a phase an RTprop
//!          ▲  │                        │                         ▲  │
//!          │  │ RTprop not seen for 10 s, from any state         │  │
//!          │  ▼                        ▼                         │  ▼
//!      ┌─────────────────────────────────────────────────────────────────┐
//!      │  ProbeRTT: 4 packets for 200 ms and one round                   │
//!      └─────────────────────────────────────────────────────────────────┘
//!          back to Startup if the pipe was not yet full, else to ProbeBW
//! ```
//!
//! Loss changes neither the model nor the state. It bounds the window until it is repaired (`recovery`), and heavy loss
//! at a constant rate indicates a `policer`.
//!
//! # Files
//!
//! Each state has a file: `startup`, `drain`, `probe_bw`, `probe_rtt`. So do the parts of the model specific to BBRv1,
//! `ack_aggregation` and `policer`, and the bounds of the window: `cwnd`, and `recovery` after losses. The parts shared
//! with BBRv3 are in `crate::bbr`: the estimates of BtlBw and RTprop, the plateau of a full pipe, the stay in ProbeRTT,
//! the window, the pacing rate and the quantum. The round, the model's clock, is shared by all.

mod ack_aggregation;
mod config;
mod cwnd;
mod drain;
pub mod policer;
mod probe_bw;
mod probe_rtt;
mod recovery;
mod startup;
pub mod states;

pub use config::{Config, RecoveryEnd};

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::SeedableRng;
use units::{Bytes, Duration, Rate, Ratio, Time};

use crate::bbr::control::{self, Control};
use crate::bbr::full_pipe::FullPipe;
use crate::bbr::least_rtt::LeastRtt;
use crate::bbr::max_rate::MaxRate;
use crate::bbr::pacing;
use crate::bbr::probe_rtt::Stay;
use crate::bbr::slow_stretch::SlowStretch;
use crate::controller::{
    Ack, Cause, Connection, Controller, Listed, Lost, Recovery, RttSample, Snapshot,
};
use crate::round::Round;
use ack_aggregation::AckAggregation;
use policer::Policer;
use probe_bw::ProbeBw;
use recovery::LossEpisode;

/// The packets of the smallest burst, at rates below those of [two](crate::pacing::send_quantum) (Linux `bbr_min_tso_segs`).
const MIN_BURST_PACKETS: u8 = 1;

/// The BBRv1 congestion controller.
#[derive(Debug, Clone)]
pub struct Bbr1 {
    config: Config,
    rng: SplitMix64,

    state: State,
    /// Data has been sent after an idle period, and none of it delivered yet.
    is_restarting_from_idle: bool,

    round: Round,
    btl_bw: MaxRate,
    rtprop: LeastRtt,
    full_pipe: FullPipe,
    ack_aggregation: AckAggregation,
    policer: Policer,
    slow_stretch: SlowStretch,
    episode: LossEpisode,
    /// The totals of the latest ACK, and the losses since.
    totals: Totals,
    latest_losses: Losses,

    control: Control,
}

#[derive(Debug, Clone)]
enum State {
    Startup,
    Drain,
    ProbeBw(ProbeBw),
    ProbeRtt(Stay),
}

#[derive(Debug, Clone)]
struct Totals {
    delivered_time: Time,
    delivered: Bytes,
    lost: Bytes,
}

/// The latest losses, all found at the same time.
#[derive(Debug, Clone, Copy)]
struct Losses {
    at: Time,
    bytes: Bytes,
}

impl Bbr1 {
    /// A controller for a new connection.
    pub fn new(connection: Connection, config: Config) -> Bbr1 {
        let Connection { now, seed, .. } = connection;
        let (window, does_equal_rate_renew) = (config.btl_bw_window, config.does_equal_rate_renew);
        Bbr1 {
            config,
            rng: SplitMix64::seed_from_u64(seed),
            state: State::Startup,
            is_restarting_from_idle: false,
            round: Round::new(),
            btl_bw: MaxRate::new(window, does_equal_rate_renew),
            rtprop: if config.is_rtprop_windowed {
                LeastRtt::of_window(now, config.rtprop_window)
            } else {
                LeastRtt::new(now, config.rtprop_window)
            }
            .renewed_by_equal(config.does_equal_rtt_renew),
            full_pipe: FullPipe::after(config.startup_rounds),
            ack_aggregation: AckAggregation::new(now),
            policer: Policer::new(),
            slow_stretch: SlowStretch::none(),
            episode: LossEpisode::none(),
            totals: Totals {
                delivered_time: now,
                delivered: Bytes::ZERO,
                lost: Bytes::ZERO,
            },
            latest_losses: Losses {
                at: now,
                bytes: Bytes::ZERO,
            },
            control: Control::new(
                &connection,
                pacing::Config {
                    margin: config.pacing_margin,
                    first_margin: config.pacing_margin,
                    startup_gain: config.high_gain,
                    fewest: MIN_BURST_PACKETS,
                },
            ),
        }
    }

    fn update_model(&mut self, ack: &Ack) {
        self.totals = Totals {
            delivered_time: ack.now,
            delivered: ack.rate.total_delivered,
            lost: ack.rate.total_lost,
        };
        match ack.rate.delivery_rate {
            Some(delivery_rate) => self.update_from_sample(ack, delivery_rate),
            None => self.round.skip(),
        }
        self.update_episode(ack);
        self.rtprop.update(ack.now, ack.rtt);
    }

    /// The parts of the model that only a trustworthy sample may change.
    fn update_from_sample(&mut self, ack: &Ack, delivery_rate: Rate) {
        let is_app_limited =
            ack.rate.is_app_limited || self.slow_stretch.contains(ack.rate.prior_delivered);

        self.round.update(&ack.rate);
        self.update_policer(ack, is_app_limited);
        self.btl_bw
            .update(self.round.count(), delivery_rate, is_app_limited);
        if self.round.has_just_started() {
            self.ack_aggregation.on_round();
            if !is_app_limited {
                self.full_pipe.on_round(self.btl_bw());
            }
        }
        let (bw, cwnd, mss) = (self.bw(), self.control.cwnd, self.control.mss);
        self.ack_aggregation
            .on_ack(ack.now, ack.newly_acked, bw, cwnd, mss);
    }

    fn update_policer(&mut self, ack: &Ack, is_app_limited: bool) {
        self.observe_policer(&policer::Observation {
            now: ack.now,
            delivered: ack.rate.total_delivered,
            lost: ack.rate.total_lost,
            has_losses: !self.lost_by(ack).is_zero(),
            is_app_limited,
            is_round_start: self.round.has_just_started(),
            is_probe_bw: self.is_in_probe_bw(),
        });
    }

    /// The bytes shown to be lost by `ack`, without losses that a timer found before it (Linux `tcp_ack`, where
    /// `rate_sample.losses` begins at zero).
    fn lost_by(&self, ack: &Ack) -> Bytes {
        if self.latest_losses.at == ack.now {
            self.latest_losses.bytes
        } else {
            Bytes::ZERO
        }
    }

    fn observe_policer(&mut self, seen: &policer::Observation) {
        if self.config.has_policer_model && self.policer.observe(seen) {
            self.enter_probe_bw(seen.now); // to see whether the policer is still there
        }
    }

    fn check_transitions(&mut self, ack: &Ack) {
        self.check_cycle_phase(ack);
        self.check_startup_done();
        self.check_drain_done(ack);
        self.check_probe_rtt(ack);
        self.is_restarting_from_idle = false;
    }

    /// The estimate of the bottleneck's bandwidth.
    fn btl_bw(&self) -> Rate {
        self.btl_bw.get()
    }

    /// The bandwidth to send at: the bottleneck's, or a policer's rate.
    fn bw(&self) -> Rate {
        self.policer.rate().unwrap_or(self.btl_bw())
    }

    fn pacing_gain(&self) -> Ratio {
        match &self.state {
            State::Startup => self.config.high_gain,
            State::Drain => self.config.drain_gain,
            State::ProbeBw(_) if self.policer.rate().is_some() => Ratio::ONE,
            State::ProbeBw(cycle) => cycle.pacing_gain(&self.config),
            State::ProbeRtt(_) => probe_rtt::PACING_GAIN,
        }
    }

    fn cwnd_gain(&self) -> Ratio {
        match &self.state {
            State::Startup | State::Drain => self.config.high_gain,
            State::ProbeBw(_) => self.config.cwnd_gain,
            State::ProbeRtt(_) => probe_rtt::CWND_GAIN,
        }
    }
}

impl Listed for Bbr1 {
    const NAME: &'static str = "bbr1";
    const KERNEL_NAME: &'static str = "bbr";
    const STATES: &'static [crate::State] = states::ALL;

    type Config = Config;

    fn linux() -> Config {
        Config::linux()
    }

    fn off_host(config: Config) -> Config {
        config.off_host()
    }

    fn with(connection: Connection, config: Config) -> Bbr1 {
        Bbr1::new(connection, config)
    }
}

impl Controller for Bbr1 {
    control::answers!(control);

    /// Takes RTprop from a packet without data, which takes less time to serialize, and sets the pace of the first
    /// round (Linux `bbr_init`).
    fn on_handshake(&mut self, now: Time, rtt: Duration) {
        self.rtprop.update(now, Some(RttSample::exact(rtt)));
        self.control.fit_first_round(rtt, self.control.cwnd);
    }

    fn on_idle_restart(&mut self, now: Time) {
        self.is_restarting_from_idle = true;
        self.ack_aggregation.restart(now);
        match self.state {
            // There is no queue to drain, and no need to probe.
            State::ProbeBw(_) => {
                let bw = self.bw();
                self.control.pacing.set_bw(bw, Ratio::ONE, self.control.mss);
            }
            State::ProbeRtt(_) => self.check_probe_rtt_done(now),
            State::Startup | State::Drain => {}
        }
    }

    fn on_packet_lost(&mut self, lost: &Lost) {
        self.totals.lost += lost.packet.bytes;
        if self.latest_losses.at != lost.now {
            self.latest_losses.at = lost.now;
            self.latest_losses.bytes = Bytes::ZERO;
        }
        self.latest_losses.bytes += lost.packet.bytes;
    }

    fn on_recovery(&mut self, _now: Time, recovery: Recovery, _inflight: Bytes) {
        match recovery {
            Recovery::Entered(Cause::Loss) => {
                if self.config.conserves_packets {
                    self.enter_recovery();
                }
            }
            // BBRv1 ignores ECN, as `responds_to_ecn` says. Linux reports it only recoveries from losses
            // (`TCP_CA_Recovery`).
            Recovery::Entered(Cause::Ecn | Cause::RepairedLoss) => {}
            Recovery::Left => self.leave_recovery(),
            Recovery::Undone => self.undo_recovery(),
        }
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.update_model(ack);
        self.check_transitions(ack);
        let (bw, gain) = (self.bw(), self.pacing_gain());
        let is_full = self.full_pipe.is_reached();
        let window = self.control.cwnd;
        self.control.update_pacing(ack, window, bw, gain, is_full);
        self.set_cwnd(ack);
    }

    fn on_timeout(&mut self, _now: Time, inflight: Bytes) {
        // A timeout counts as the end of a round, since no ACK will show one. The silence before it is not throughput.
        let seen = policer::Observation {
            now: self.totals.delivered_time,
            delivered: self.totals.delivered,
            lost: self.totals.lost,
            has_losses: true,
            is_app_limited: false,
            is_round_start: true,
            is_probe_bw: self.is_in_probe_bw(),
        };
        self.collapse(&seen, inflight);
    }

    fn snapshot(&self) -> Snapshot {
        let state = match self.state {
            State::Startup => states::STARTUP,
            State::Drain => states::DRAIN,
            State::ProbeBw(_) => states::PROBE_BW,
            State::ProbeRtt(_) => states::PROBE_RTT,
        };
        Snapshot {
            send_quantum: self.send_quantum(),
            btl_bw: (!self.bw().is_zero()).then(|| self.bw()),
            rtprop: self.rtprop.get(),
            pacing_gain: Some(self.pacing_gain()),
            cwnd_gain: Some(self.cwnd_gain()),
            round: self.round.count(),
            ..Snapshot::new(Bbr1::NAME, state, self.cwnd(), self.pacing_rate())
        }
    }
}

#[cfg(test)]
mod tests {
    use units::Duration;

    use super::*;
    use crate::controller::RttSample;
    use crate::sampling::RateSample;

    const MSS: Bytes = Bytes::new(1_500);
    const RTPROP: Duration = Duration::from_millis(40);
    /// 100 packets in 40 ms.
    const BW: Rate = Rate::from_bytes_per_sec(3_750_000);

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    fn bbr1() -> Bbr1 {
        let connection = Connection::new(at(0), MSS, MSS * 10);
        Bbr1::new(connection, Config::default())
    }

    /// An ACK for one packet, with no more in flight.
    fn ack(ms: u64, delivery_rate: Rate) -> Ack {
        let mut ack = Ack::new(
            at(ms),
            MSS,
            MSS,
            Bytes::ZERO,
            RateSample {
                delivery_rate: Some(delivery_rate),
                prior_delivered: MSS * ms,
                total_delivered: MSS * (ms + 1),
                ..RateSample::default()
            },
        );
        ack.rtt = Some(RttSample {
            rtt: RTPROP,
            is_ack_delayed: false,
        });
        ack.is_cwnd_limited = true;
        ack
    }

    /// A controller in ProbeBW that has seen [`BW`] and [`RTPROP`].
    fn steady() -> Bbr1 {
        let mut bbr1 = bbr1();
        for round in 1..=5 {
            bbr1.on_ack(&ack(40 * round, BW));
        }
        assert_eq!(bbr1.snapshot().state, states::PROBE_BW);
        bbr1
    }

    #[test]
    fn the_first_rate_is_that_of_the_initial_window_and_early_samples_do_not_lower_it() {
        let mut bbr1 = bbr1();
        bbr1.on_ack(&ack(40, Rate::from_bytes_per_sec(1_000)));
        let first = Rate::from_transfer(MSS * 10, RTPROP)
            .scale(Config::linux().high_gain)
            .scale(Ratio::new(99, 100));
        assert_eq!(bbr1.pacing_rate(), first);
        bbr1.on_ack(&ack(80, Rate::from_bytes_per_sec(1_000)));
        assert_eq!(bbr1.pacing_rate(), first);
        bbr1.on_ack(&ack(120, BW));
        assert!(bbr1.pacing_rate() > first);
    }

    #[test]
    fn the_filters_are_those_of_the_settings() {
        let short = Config {
            btl_bw_window: 3,
            rtprop_window: Duration::from_secs(2),
            ..Config::linux()
        };
        let cases = [
            (Config::linux(), 100, 250),
            (Config::paper(), 50, 120),
            (short, 50, 250),
        ];
        for (config, rate_kept, rtt_kept) in cases {
            let mut bbr1 = Bbr1::new(Connection::new(at(0), MSS, MSS * 10), config);
            // The greatest rate recurs, but application-limited; later rates are lower.
            for (round, rate, is_app_limited) in [(1, 100, false), (8, 100, true), (12, 50, false)]
            {
                let rate = Rate::from_bytes_per_sec(rate);
                bbr1.btl_bw.update(round, rate, is_app_limited);
            }
            assert_eq!(bbr1.btl_bw(), Rate::from_bytes_per_sec(rate_kept));
            for (ms, rtt) in [(40, 40), (3_000, 120), (10_041, 250)] {
                let sample = RttSample::exact(Duration::from_millis(rtt));
                bbr1.rtprop.update(at(ms), Some(sample));
            }
            assert!(bbr1.rtprop.is_expired());
            let rtt_kept = Duration::from_millis(rtt_kept);
            assert_eq!(bbr1.rtprop.get(), Some(rtt_kept));
        }
    }

    /// A BDP is 100 packets. Of 110 in flight, ten are delivered before the next one leaves.
    #[test]
    fn what_is_delivered_before_the_next_departure_keeps_nobody_in_drain() {
        let state = |has_departure_model| {
            let mut bbr1 = bbr1();
            bbr1.config.has_departure_model = has_departure_model;
            bbr1.config.are_phase_ends_budgeted = false;
            for round in 1..=5 {
                let mut waiting = ack(40 * round, BW);
                waiting.inflight = MSS * 110;
                waiting.next_departure = waiting.now + RTPROP / 10;
                bbr1.on_ack(&waiting);
            }
            bbr1.snapshot().state
        };
        assert_eq!(state(false), states::DRAIN);
        assert_eq!(state(true), states::PROBE_BW);
    }

    #[test]
    fn a_restart_from_idle_paces_at_the_estimate() {
        let mut bbr1 = steady();
        while bbr1.snapshot().pacing_gain != Some(Ratio::new(5, 4)) {
            bbr1.enter_probe_bw(at(200));
        }
        bbr1.on_ack(&ack(210, BW));
        assert!(bbr1.pacing_rate() > BW);
        bbr1.on_idle_restart(at(1_000));
        assert_eq!(bbr1.pacing_rate(), BW.scale(Ratio::new(99, 100)));
    }

    #[test]
    fn probe_rtt_lasts_a_round_even_when_its_time_is_over() {
        let mut bbr1 = steady();
        bbr1.on_ack(&ack(10_041, BW));
        let mut sent_before = ack(10_300, BW);
        sent_before.rate.prior_delivered = MSS * 10_041;
        bbr1.on_ack(&sent_before);
        assert_eq!(bbr1.snapshot().state, states::PROBE_RTT);
        bbr1.on_ack(&ack(10_301, BW));
        assert_eq!(bbr1.snapshot().state, states::PROBE_BW);
    }

    #[test]
    fn an_idle_time_in_probe_rtt_is_time_in_probe_rtt() {
        let mut bbr1 = steady();
        let window = bbr1.cwnd();
        bbr1.on_ack(&ack(10_041, BW));
        bbr1.on_ack(&ack(10_042, BW));
        assert_eq!(bbr1.snapshot().state, states::PROBE_RTT);
        let mut early = bbr1.clone();
        early.on_idle_restart(at(10_200));
        assert_eq!(early.snapshot().state, states::PROBE_RTT);
        bbr1.on_idle_restart(at(10_300));
        assert_eq!(bbr1.snapshot().state, states::PROBE_BW);
        assert!(bbr1.cwnd() >= window);
    }
}
