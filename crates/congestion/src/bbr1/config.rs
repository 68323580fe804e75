//! The gains and windows of BBRv1, and Linux's additions to the paper, each as a setting.

use units::{Duration, Ratio};

use crate::LossWindow;
use crate::bbr::full_pipe::PLATEAU_ROUNDS;

/// The settings of [`Bbr1`](super::Bbr1). The default is BBRv1 as Linux runs it, for a transport that counts a packet as
/// in flight when it has left the host.
///
/// "Linux" here is `net/ipv4/tcp_bbr.c` of kernel 7; "the paper" is "BBR: Congestion-Based Congestion Control", ACM
/// Queue 14(5), 2016, with its appendix. Both have the same gains and windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// The gain of Startup, from the estimated bandwidth to the pacing rate and from the estimated BDP to the window. Both
    /// say 2/ln 2, the least with which the rate can double each round: as a round's samples lag by a round, the rate grows
    /// as the solution of r' = gain · r(t − RTT) (paper, "Single BBR Flow Startup Behavior"; Linux `bbr_high_gain`). As the
    /// window's gain, it makes room for what the pacing gain sends before its ACKs return, and bounds the queue at the end
    /// of Startup to gain − 1 BDP. Drain keeps that window: its queue must go by slower sending.
    pub high_gain: Ratio,
    /// The pacing gain of Drain. Both say the inverse of Startup's: what a round at that gain has queued up, a round at this
    /// one lets flow off (paper, "Single BBR Flow Startup Behavior"; Linux `bbr_drain_gain`).
    pub drain_gain: Ratio,
    /// The rounds in which the rate does not grow by a quarter, after which Startup takes the pipe for full. Both say three:
    /// a receiver that tunes its window needs one round to open it, one to have it filled and one to show the resulting
    /// rate (paper, appendix, "Startup Behavior"; Linux `bbr_full_bw_cnt`).
    pub startup_rounds: u8,
    /// The pacing gain of the phase of ProbeBW that sends faster, to see whether there is more bandwidth. Both say 5/4
    /// (Linux `bbr_pacing_gain`). A quarter more is enough to double the estimate in about three cycles, and little enough
    /// for the queue of a vain attempt to be gone after a round at a quarter less. It is also what the flow can lose: as long
    /// as gain × (1 − loss) is 1, what arrives in this phase is what the path can take.
    pub peak_gain: Ratio,
    /// The pacing gain of the phase after it, which removes the queue. Both say 3/4.
    pub trough_gain: Ratio,
    /// The number of phases in a gain cycle, two with the gains above and the others with gain 1. Both say 8; the six
    /// neutral rounds make room for both (paper, "Steady-state Behavior"; Linux `CYCLE_LEN`).
    pub cycle_phases: u8,
    /// Whether the cycle starts at a random phase, so that flows that enter it together do not probe together. Both say
    /// yes (paper, appendix, "Steady-state Behavior"; Linux `bbr_reset_probe_bw_mode`). Otherwise it starts with the phase
    /// that sends faster.
    pub is_first_phase_random: bool,
    /// The number of rounds for which a delivery rate is remembered for BtlBw. Linux: 10, a gain cycle of eight, in
    /// which the bottleneck is surely filled once, and two for the samples to return (`bbr_bw_rtts`). Paper: six to ten
    /// ("Characterizing the Bottleneck").
    pub btl_bw_window: u64,
    /// The time for which an RTT is remembered for RTprop, and so the time until ProbeRTT if no lower one is seen.
    /// Routes change on longer scales, and a flow that pauses now and then sees the bare path by itself within it
    /// (paper, "Characterizing the Bottleneck": "tens of seconds to minutes"; its appendix and Linux,
    /// `bbr_min_rtt_win_sec`: 10 s).
    pub rtprop_window: Duration,
    /// The time that ProbeRTT stays at the least window, unless a round is longer. Both say 200 ms: long enough for
    /// flows with different RTTs to overlap, short enough to cost no more than 2 % of ten seconds (paper, appendix,
    /// "Steady-state Behavior"; Linux `bbr_probe_rtt_mode_ms`).
    pub probe_rtt_duration: Duration,
    /// The gain from the estimated BDP to the congestion window once the pipe is full. Both say 2, to keep sending
    /// through delayed and stretched ACKs (paper, "Delayed and stretched ACKs"); with 1 such ACKs stall the flow.
    pub cwnd_gain: Ratio,
    /// The share of the estimated bandwidth by which pacing stays below it. Linux: 1 %, so that the average is slightly
    /// below what the bottleneck can take and its queue shrinks (`bbr_pacing_margin_percent`). Paper: none.
    pub pacing_margin: Ratio,
    /// The share of the measured ACK aggregation that is added to the window, against the silences between bursts of
    /// ACKs. Linux: all of it (`bbr_extra_acked_gain`, since the change "tcp_bbr: adapt cwnd based on ack aggregation
    /// estimation"). Paper: nothing.
    pub extra_acked_gain: Ratio,
    /// Whether RTprop is the least RTT of the last ten seconds at all times. Paper: yes. Linux: no; when the least was
    /// not seen for ten seconds, the current RTT replaces it (`bbr_update_min_rtt`; BBR draft 00, "BBRUpdateRTprop").
    pub is_rtprop_windowed: bool,
    /// Whether an RTT equal to RTprop, in microseconds, renews it as a lesser one does, and so puts off ProbeRTT. Linux: until
    /// November 2020 (`bbr_update_min_rtt`, `<=`), and not since ("tcp: only postpone PROBE_RTT if RTT is < current
    /// min_rtt estimate", in 5.10, 5.4.80 and 4.19.160). Paper: no; the RTT must be lower ("Behavior of Multiple BBR Flows Sharing a Bottleneck").
    pub does_equal_rtt_renew: bool,
    /// Whether a delivery rate that the application limited renews the estimate of BtlBw when it is only equal to it.
    /// Linux: yes (`bbr_update_bw`, `>=`). Paper: no; it must be greater (`onAck`, `>`).
    pub does_equal_rate_renew: bool,
    /// Whether a phase of the gain cycle lasts at least as long as a burst, as a shorter one might see no packet sent at
    /// its gain. Linux and paper: no; a phase lasts an RTprop, and that of Linux that sends faster also until three bursts
    /// more are in flight ([`are_phase_ends_budgeted`](Config::are_phase_ends_budgeted)). It is our choice where they are not
    /// ([`off_host`](Config::off_host)).
    pub is_phase_a_burst: bool,
    /// Whether the window makes room for packets that end hosts aggregate or split: three send quanta, an even number
    /// of packets, and two packets more while probing for bandwidth (`bbr_quantization_budget`). Paper: the BDP times
    /// the gain, rounded up to whole packets.
    ///
    /// This room is the same for each flow, so that several flows become even sooner with it. Linux's BBR mostly
    /// becomes even without it, too, in up to about twice the time; the paper's does not in each run. The claim
    /// `fair-share` names the series of runs.
    pub is_end_host_budgeted: bool,
    /// Whether the same room is made where what is in flight ends Drain or a phase of ProbeBW. Linux: yes, as packets
    /// waiting in its own queues are in flight to it. Paper: no. Where only packets that have left are in flight, the
    /// room would become a standing queue, of 6 packets at 10 Mbit/s.
    pub are_phase_ends_budgeted: bool,
    /// Whether the phase of ProbeBW that sends faster has two packets more, in the window and as its end, so that even a small
    /// BDP is exceeded. Linux: since 4.18 ("tcp_bbr: fix bw probing to raise in-flight data for very small BDPs"). It is part of
    /// the room above, so without that, as in the paper, it changes nothing.
    pub has_probe_room: bool,
    /// Whether Drain and the phases of ProbeBW end by what will be in the network when the next packet leaves, rather than
    /// by what is in flight now (Linux since 4.20, "tcp_bbr: adjust TCP BBR for departure time pacing",
    /// `bbr_packets_in_net_at_edt`). Without it, what waits in the host's scheduler, up to a millisecond of sending, is
    /// taken for a queue in the network: on a path whose RTprop is less than that, Drain lasts until the estimate has
    /// fallen. Paper: no.
    pub has_departure_model: bool,
    /// Whether to detect a token-bucket policer and to settle at its rate. Both do; the method is Linux's
    /// (`bbr_lt_bw_sampling`, after Flach et al., "An Internet-Wide Analysis of Traffic Policing", SIGCOMM 2016).
    ///
    /// It errs where random loss comes near a fifth, the loss that suggests a policer, and a round trip has few
    /// packets, so that chance decides. At 15 % loss, 20 Mbit/s and 40 ms the rate between the lossy intervals is taken
    /// for a policed one. Sending at that rate loses as much again, and the next rate is lower still.
    pub has_policer_model: bool,
    /// Whether a loss opens an episode, whose first round conserves packets and whose next ones at most double what is sent.
    /// Both say yes (paper, appendix, "Reacting to Transients"; Linux `bbr_set_cwnd_to_recover_or_restore`). Otherwise only
    /// a timeout does.
    pub conserves_packets: bool,
    /// The window after a timeout. Linux: what is in flight and one packet. Paper: one packet.
    pub loss_window: LossWindow,
    /// The end of a loss episode, which opens with a round of packet conservation.
    pub recovery_end: RecoveryEnd,
}

/// The end of a loss episode. It restores the window from before; the next loss opens another episode with a round of
/// packet conservation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecoveryEnd {
    /// When the transport leaves its recovery and enters no other by the same ACK, as in `bbr_set_cwnd_to_recover_or_restore`.
    ///
    /// Fit for transports whose recovery lasts until all that was outstanding is settled, as Linux's TCP: under steady loss,
    /// one recovery runs into the next within an ACK. A QUIC transport's recovery lasts one round trip (RFC 9002,
    /// "Recovery") and under steady random loss starts anew by a later ACK: each would shrink inflight by another round of
    /// packet conservation.
    WithTransport,
    /// When, after that, a whole round trip has passed without a loss. In Startup the window is restored before, as soon
    /// as the transport leaves its recovery.
    ///
    /// Gives a QUIC transport what Linux's TCP does under steady loss. (Google's QUIC ends its BBR's recovery the same way.)
    AfterLossFreeRound,
}

/// 2/ln 2.
const HIGH_GAIN: Ratio = Ratio::new(2885, 1000);

impl Config {
    /// BBRv1 as Linux runs it. The gains of Startup and Drain are decimals; the kernel's fixed point rounds them to
    /// 739/256 and 88/256.
    pub const fn linux() -> Config {
        Config {
            high_gain: HIGH_GAIN,
            drain_gain: HIGH_GAIN.inverse(),
            startup_rounds: PLATEAU_ROUNDS,
            peak_gain: Ratio::new(5, 4),
            trough_gain: Ratio::new(3, 4),
            cycle_phases: 8,
            is_first_phase_random: true,
            btl_bw_window: 10,
            rtprop_window: Duration::from_secs(10),
            probe_rtt_duration: Duration::from_millis(200),
            cwnd_gain: Ratio::new(2, 1),
            pacing_margin: Ratio::new(1, 100),
            extra_acked_gain: Ratio::ONE,
            is_rtprop_windowed: false,
            does_equal_rtt_renew: false,
            does_equal_rate_renew: true,
            is_phase_a_burst: false,
            is_end_host_budgeted: true,
            are_phase_ends_budgeted: true,
            has_probe_room: true,
            has_departure_model: true,
            has_policer_model: true,
            conserves_packets: true,
            loss_window: LossWindow::InflightAndOne,
            recovery_end: RecoveryEnd::WithTransport,
        }
    }

    /// BBRv1 as Linux 4.19 ran it until 4.19.147: without the departure model, which came with 4.20 and adds the next burst to
    /// what is in flight while BBR sends faster; without the room for aggregated ACKs, which came with 5.1 and 4.19.148; and
    /// with RTprop renewed by an equal RTT, which ended in November 2020 (5.10, 5.4.80 and 4.19.160,
    /// [`does_equal_rtt_renew`](Config::does_equal_rtt_renew)).
    ///
    /// Some things are as in later Linux. The window has two packets more only in the phase with gain 5/4, while 4.18 to 5.3
    /// had them in all of ProbeBW ("tcp_bbr: fix quantization code to not raise cwnd if not probing bandwidth"). Linux 4.9
    /// to 4.17 had none ([`has_probe_room`](Config::has_probe_room)).
    ///
    /// Another is that a policer's gain of 1 is that of ProbeBW alone. Until 4.19, it lasted from the detection to the next
    /// change of state, also in Startup and Drain ("tcp_bbr: centralize code to set gains", in 4.20). A policer is detected
    /// eight rounds after the first loss or later (`bbr_lt_intvl_min_rtts`). By then, Startup is over if the policer limits
    /// the flow, as it ends after three rounds without more bandwidth.
    ///
    /// RTT samples begin at the departure. Before 4.20, they contained the wait in FQ ("tcp: add tcp_wstamp_ns socket field"),
    /// which RTprop hardly has, and the smoothed RTT has.
    ///
    /// The pacing margin came with 4.20, too. Before, FQ counted the link's header, and BBR's rate did not include it.
    /// The effect was about the same 1 %, as the comment beside `bbr_pacing_margin_percent` says.
    pub const fn linux_4_19() -> Config {
        Config {
            extra_acked_gain: Ratio::ZERO,
            does_equal_rtt_renew: true,
            has_departure_model: false,
            ..Config::linux()
        }
    }

    /// BBR as the paper of 2016 describes it.
    pub const fn paper() -> Config {
        Config {
            pacing_margin: Ratio::ZERO,
            extra_acked_gain: Ratio::ZERO,
            is_rtprop_windowed: true,
            does_equal_rate_renew: false,
            is_end_host_budgeted: false,
            are_phase_ends_budgeted: false,
            has_departure_model: false,
            has_policer_model: true,
            loss_window: LossWindow::OnePacket,
            ..Config::linux()
        }
    }
}

impl Config {
    /// The same settings for a transport that counts a packet as in flight when it has left the host, as QUIC does:
    /// phases end without room for packets waiting in the host, but are no shorter than a burst, and a loss episode ends by
    /// the losses that BBR itself sees.
    #[must_use]
    pub const fn off_host(self) -> Config {
        Config {
            is_phase_a_burst: self.is_phase_a_burst || self.are_phase_ends_budgeted,
            are_phase_ends_budgeted: false,
            recovery_end: RecoveryEnd::AfterLossFreeRound,
            ..self
        }
    }
}

impl Default for Config {
    fn default() -> Config {
        Config::linux().off_host()
    }
}
