//! The one trait through which any transport drives any controller.
//!
//! # The order of events
//!
//! A transport reports what happens, when it happens, with times that never run backwards:
//!
//! 0. **The handshake ends**: [`Controller::on_handshake`], if its round-trip time is known.
//! 1. **A packet leaves**: [`Controller::on_idle_restart`] first if nothing was in flight, then
//!    [`Controller::on_packet_sent`].
//! 2. **An ACK arrives**: for each packet that it shows to be lost [`Controller::on_packet_lost`]; then
//!    [`Controller::on_recovery`] if it starts, ends or undoes a recovery (an end or undo may also come before the
//!    losses, which then belong to the next recovery); then, once, [`Controller::on_ack`] with everything that the ACK
//!    delivered. A QUIC ACK does not say what is lost: that is inferred after it has been processed (RFC 9002,
//!    "OnAckReceived"). So a stack may tell of the ACK first and of its losses after. Whoever drives a controller from such a
//!    stack holds [`Controller::on_ack`] back until the losses are known. Otherwise they count towards the next ACK, and BBR
//!    begins to conserve packets an ACK late. What such a stack cannot tell is the state at each loss as it would have been
//!    without the ACK: [`Lost::total_delivered`](crate::Lost::total_delivered) and what is in flight contain all that the
//!    ACK delivered.
//! 3. **A timer fires**: losses found by a timer are reported as in 2 without the ACK; a retransmission timeout (TCP)
//!    or persistent congestion (QUIC) is [`Controller::on_timeout`], after the losses that it declared.
//!
//! After any event the transport reads [`Controller::cwnd`], [`Controller::pacing_rate`] and
//! [`Controller::send_quantum`]; each is cheap enough to be read per packet.
//!
//! # What recovery means
//!
//! The transport decides which packets are lost, and when a recovery starts and ends; the controller decides how fast
//! to send meanwhile. A TCP-like sender enters recovery at the first loss and leaves it when everything outstanding at
//! that time has been acknowledged (RFC 6675, "Algorithm Details"). A QUIC sender enters it at the first loss and
//! leaves it when a packet sent during it is acknowledged (RFC 9002, "Recovery"); when a packet that was sent after the
//! start of a recovery is lost, that recovery is over and the next one begins.

use core::fmt::Debug;

use units::{Bytes, Duration, Rate, Ratio, Time};

use crate::sampling::{PacketState, RateSample, Sampler};
use crate::state::State;

/// The parameters of a new connection.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Connection {
    /// The current time.
    pub now: Time,
    /// The largest packet as congestion control counts it: TCP's effective send MSS, QUIC's maximum datagram size
    /// (BBR draft, "Transport Connection State", `C.SMSS`).
    pub mss: Bytes,
    /// The initial congestion window, usually ten packets (RFC 6928; RFC 9002, "Initial and Minimum Congestion
    /// Window").
    pub initial_cwnd: Bytes,
    /// Seeds whatever the controller randomizes; equal seeds and events give equal behaviour.
    pub seed: u64,
    /// Whether the transport paces every controller. If not, it paces only those that [need
    /// it](Controller::needs_pacing).
    pub is_paced: bool,
    /// Whether the peer acknowledges packets selectively, as QUIC and TCP's SACK do. If not, the transport finds at most
    /// one loss a round trip (BBR draft, `C.has_selective_acks`).
    pub has_selective_acks: bool,
}

impl Connection {
    /// A connection that begins `now`, on a transport that paces every controller, to a peer with selective ACKs, with
    /// the seed zero.
    pub const fn new(now: Time, mss: Bytes, initial_cwnd: Bytes) -> Connection {
        Connection {
            now,
            mss,
            initial_cwnd,
            seed: 0,
            is_paced: true,
            has_selective_acks: true,
        }
    }
}

/// A packet that was just handed to the network.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Sent {
    /// The time of departure.
    pub now: Time,
    /// Its size as congestion control counts it.
    pub bytes: Bytes,
    /// Bytes in flight, this packet included.
    pub inflight: Bytes,
}

impl Sent {
    /// A packet of `bytes` that left `now`, which makes `inflight` the bytes in flight.
    pub const fn new(now: Time, bytes: Bytes, inflight: Bytes) -> Sent {
        Sent {
            now,
            bytes,
            inflight,
        }
    }
}

/// A packet that was just declared lost.
///
/// If one ACK shows several losses, each is reported with the totals at its turn. `total_delivered` contains the
/// deliveries of that ACK. (QUIC processes an ACK's deliveries first; TCP processes both at once.)
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Lost {
    /// The time at which it was declared lost.
    pub now: Time,
    /// The sampler's state when the packet was sent, with the packet's size.
    pub packet: PacketState,
    /// The bytes in flight, without this packet.
    pub inflight: Bytes,
    /// Bytes delivered on the connection until now (BBR draft, `C.delivered`).
    pub total_delivered: Bytes,
    /// Bytes lost on the connection until now, this packet included (BBR draft, `C.lost`).
    pub total_lost: Bytes,
}

impl Lost {
    /// A loss of `packet` at `now`, after `sampler` was [updated](Sampler::on_packet_lost). `inflight` excludes the
    /// packet.
    pub fn new(now: Time, packet: PacketState, inflight: Bytes, sampler: &Sampler) -> Lost {
        Lost {
            now,
            packet,
            inflight,
            total_delivered: sampler.delivered(),
            total_lost: sampler.lost(),
        }
    }
}

/// The deliveries of one ACK.
///
/// [`Ack::new`] takes the values that every transport has; the rest are fields to set.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Ack {
    /// The time of processing.
    pub now: Time,
    /// The bytes newly acknowledged by this ACK, cumulatively or selectively, each byte of the stream once. Not zero.
    /// Late arrivals of packets declared lost count too, as they were not delivered before.
    pub newly_acked: Bytes,
    /// Bytes in flight before this ACK and the losses that it showed.
    pub prior_inflight: Bytes,
    /// Bytes in flight now.
    pub inflight: Bytes,
    /// The delivery-rate sample of this ACK.
    pub rate: RateSample,
    /// The round-trip time of the newest packet that this ACK acknowledged, if it was sent only once.
    pub rtt: Option<RttSample>,
    /// Bytes that this ACK newly reports as marked "congestion experienced" (ECN).
    pub ce_marked: Bytes,
    /// Whether the sender has used its whole congestion window since the previous ACK. Without it a window-based
    /// controller must not grow (RFC 9002, "Underutilizing the Congestion Window"; RFC 7661).
    pub is_cwnd_limited: bool,
    /// Whether the window itself held the sender back since the previous ACK: data waited, and a packet of it did not
    /// fit. Unlike [`Ack::is_cwnd_limited`] it is not set where only pacing was the limit. BBRv3 raises its bound on
    /// what is in flight, and continues a probe, only while that bound limits the flow.
    ///
    /// It is reported for each ACK. `C.is_cwnd_limited` of the BBR draft and `tcp_sock.is_cwnd_limited` of Linux are
    /// latched over a round trip instead: once set, they hold for the rest of it. Here the transport only reports, and
    /// the controller latches, as BBRv3's does.
    pub is_window_full: bool,
    /// Whether it advanced the cumulative acknowledgement. An out-of-order acknowledgement may indicate a loss, and
    /// until that is clear a window-based controller does not grow (RFC 5681, "Fast Retransmit/Fast Recovery"). Always
    /// true where packets are not acknowledged in order (QUIC), or known to be reordered (Linux `tcp_may_raise_cwnd`).
    pub is_progress: bool,
    /// The time at which the next packet may leave. It is later than `now` if pacing has already scheduled departures,
    /// of packets that wait in the host's scheduler and count as in flight, or a pause of the sender (Linux
    /// `tcp_wstamp_ns`). It is `now` where nothing is scheduled ahead, and a packet is in flight only once it has left.
    pub next_departure: Time,
}

impl Ack {
    /// An ACK processed `now`, with its deliveries.
    ///
    /// It has no RTT and no marks. It counts as progress. The window counts as used unless the application limited the
    /// sample, and not as full. The next packet may leave at once.
    pub const fn new(
        now: Time,
        newly_acked: Bytes,
        prior_inflight: Bytes,
        inflight: Bytes,
        rate: RateSample,
    ) -> Ack {
        Ack {
            now,
            newly_acked,
            prior_inflight,
            inflight,
            rate,
            rtt: None,
            ce_marked: Bytes::ZERO,
            is_cwnd_limited: !rate.is_app_limited,
            is_window_full: false,
            is_progress: true,
            next_departure: now,
        }
    }
}

/// One round-trip time measurement.
#[derive(Debug, Clone, Copy)]
pub struct RttSample {
    /// From the packet's departure to its ACK's arrival.
    pub rtt: Duration,
    /// Whether the receiver may have held the ACK back for a second packet, so that `rtt` may contain a delay that is
    /// not the path's.
    pub is_ack_delayed: bool,
}

impl RttSample {
    /// A measurement without a delayed ACK.
    pub const fn exact(rtt: Duration) -> RttSample {
        RttSample {
            rtt,
            is_ack_delayed: false,
        }
    }
}

/// The reason for which a recovery started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// A packet was lost.
    Loss,
    /// The network marked a packet (RFC 3168).
    Ecn,
    /// A packet was lost, and a tail loss probe repaired it before it was declared lost. Nothing is left to recover
    /// from, and [`Recovery::Left`] follows at once (RFC 8985, "Detecting Losses Using TLP"; Linux
    /// `tcp_process_tlp_ack`, which goes through `TCP_CA_CWR` to `TCP_CA_Open`).
    RepairedLoss,
}

/// A change of the transport's recovery state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recovery {
    /// A recovery has started; at most once per round trip. During a recovery that a mark began, a loss is reported as
    /// another start, without [`Recovery::Left`] between. The reduction for the round trip was made, but controllers
    /// that respond only to losses need to know. A recovery of the next round trip comes after the end of that one.
    Entered(Cause),
    /// The recovery, or the time after a timeout, is over: everything outstanding at its start is settled.
    Left,
    /// The packets whose loss started the recovery or the timeout arrived after all: it was spurious. Replaces
    /// [`Recovery::Left`] if the recovery is still going on; may also come after it.
    Undone,
}

/// A congestion controller: events in; congestion window, pacing rate and send quantum out.
///
/// See the [module](self) for the order of events. No method allocates, panics or reads a clock.
pub trait Controller: Debug + Send {
    /// The sender resumes after nothing was in flight because the application had no data. Comes before the packet's
    /// [`Controller::on_packet_sent`].
    fn on_idle_restart(&mut self, now: Time);

    /// A packet has left.
    fn on_packet_sent(&mut self, sent: &Sent);

    /// A packet was declared lost.
    fn on_packet_lost(&mut self, lost: &Lost);

    /// The transport's recovery state changed. `inflight` are the bytes in flight at that moment, without those
    /// declared lost.
    fn on_recovery(&mut self, now: Time, recovery: Recovery, inflight: Bytes);

    /// An ACK delivered data.
    fn on_ack(&mut self, ack: &Ack);

    /// A retransmission timeout, or persistent congestion. `inflight` are the bytes still in flight, sent too recently
    /// to be declared lost. Ends with [`Recovery::Left`] or [`Recovery::Undone`].
    fn on_timeout(&mut self, now: Time, inflight: Bytes);

    /// The handshake is over and took `rtt`: the first measurement, before any data has left. Not called where it may
    /// be a retransmission's.
    fn on_handshake(&mut self, _now: Time, _rtt: Duration) {}

    /// The largest packet now has `mss` bytes ([`Connection::mss`]).
    fn on_mtu_change(&mut self, mss: Bytes);

    /// The congestion window: the most that may be in flight. Never below one packet.
    fn cwnd(&self) -> Bytes;

    /// The rate at which packets should leave. Never zero.
    fn pacing_rate(&self) -> Rate;

    /// The most that should leave in one burst, at least one packet.
    fn send_quantum(&self) -> Bytes;

    /// Whether a TCP-like transport should spread the reduction of the window over the ACKs of a recovery (PRR, RFC
    /// 9937), until the recovery ends. True for a controller that cuts its window at once to the final value. False for
    /// one that conserves packets itself (in Linux, one with its own `cong_control`).
    fn wants_prr(&self) -> bool {
        false
    }

    /// Whether the controller depends on its pacing rate. A transport that does not pace every controller (Linux
    /// without FQ) must then pace this one itself (Linux `SK_PACING_NEEDED`). Others do with the ACK clock.
    fn needs_pacing(&self) -> bool {
        false
    }

    /// Whether it responds to marks by sending less, as to a loss. Only then may a transport send its packets as
    /// ECN-capable: a queue that marks a packet instead of dropping it relies on that response (RFC 3168, "The TCP
    /// Sender"; RFC 8311, "ECN Experimentation"; RFC 9002, "Explicit Congestion Notification"). Linux does not check:
    /// with `tcp_ecn` = 1 it sends BBRv1's packets so, too.
    fn responds_to_ecn(&self) -> bool {
        false
    }

    /// Whether it responds to marks by their share, a little to each, so that it needs their exact number (Accurate ECN, RFC
    /// 9768; QUIC has it). Only then may a transport send its packets as ECT(1), which L4S queues mark early and often (RFC
    /// 9331, section 4).
    fn is_scalable(&self) -> bool {
        false
    }

    /// The frequency of ACKs that a transport should request of the peer, if it can.
    fn ack_frequency(&self) -> AckFrequency {
        AckFrequency::Usual
    }

    /// The controller's state, for observers and people.
    fn snapshot(&self) -> Snapshot;
}

/// A frequency of ACKs (BBR draft, "Impact of changing ACK frequency").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AckFrequency {
    /// The peer's own.
    #[default]
    Usual,
    /// At least four ACKs in a round trip.
    Frequent,
    /// Less than usual, because feedback is not urgent.
    Rare,
    /// As `Frequent`, and an immediate ACK at the end of each flight.
    Prompt,
}

/// The static properties of a controller, which its module declares for the list.
pub(crate) trait Listed: Controller + Sized {
    /// The name used everywhere: in code, on the command line, in records.
    const NAME: &'static str;

    /// The name of Linux's controller of the same algorithm.
    const KERNEL_NAME: &'static str = Self::NAME;

    /// The states.
    const STATES: &'static [State];

    /// The settings.
    type Config;

    /// The settings in Linux.
    fn linux() -> Self::Config;

    /// The same settings for a transport that counts a packet as in flight when it has left.
    fn off_host(config: Self::Config) -> Self::Config {
        config
    }

    /// A controller for a new connection.
    fn with(connection: Connection, config: Self::Config) -> Self;
}

/// A controller's state at one moment, for records, plots and debugging.
///
/// A controller starts with [`Snapshot::new`] and adds its further values:
///
/// ```
/// use congestion::{Bytes, Phase, Rate, Snapshot, State};
///
/// const FIXED: State = State {
///     name: "Fixed",
///     phase: Phase::Avoidance,
/// };
///
/// let (window, rate) = (Bytes::new(12_000), Rate::from_bytes_per_sec(1_000_000));
/// let mut snapshot = Snapshot::new("fixed", FIXED, window, rate);
/// snapshot.send_quantum = Bytes::new(1_200);
/// assert_eq!(snapshot.btl_bw, None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Snapshot {
    /// The controller's name: `bbr1`, `cubic`, `reno`.
    pub controller: &'static str,
    /// The state.
    pub state: State,
    /// The congestion window.
    pub cwnd: Bytes,
    /// The pacing rate.
    pub pacing_rate: Rate,
    /// The send quantum.
    pub send_quantum: Bytes,
    /// The slow-start threshold, for controllers that have one and have set it.
    pub ssthresh: Option<Bytes>,
    /// The estimate of the bottleneck bandwidth, for controllers that make one.
    pub btl_bw: Option<Rate>,
    /// The estimate of the round-trip propagation time, for controllers that make one.
    pub rtprop: Option<Duration>,
    /// The gain that turns the bandwidth estimate into the pacing rate.
    pub pacing_gain: Option<Ratio>,
    /// The gain that turns the estimated BDP into the congestion window.
    pub cwnd_gain: Option<Ratio>,
    /// Packet-timed round trips so far.
    pub round: u64,
    /// The bound on the bandwidth from the losses since it last probed, for controllers that have set one.
    pub short_term_bw: Option<Rate>,
    /// The bound on what is in flight from the same losses.
    pub short_term_inflight: Option<Bytes>,
    /// The bound on what is in flight from the losses of probes for bandwidth.
    pub long_term_inflight: Option<Bytes>,
}

impl Snapshot {
    /// A snapshot of a controller with this name. The send quantum and the round trips are zero, and the rest is
    /// unknown, until set.
    pub const fn new(
        controller: &'static str,
        state: State,
        cwnd: Bytes,
        pacing_rate: Rate,
    ) -> Snapshot {
        Snapshot {
            controller,
            state,
            cwnd,
            pacing_rate,
            send_quantum: Bytes::ZERO,
            ssthresh: None,
            btl_bw: None,
            rtprop: None,
            pacing_gain: None,
            cwnd_gain: None,
            round: 0,
            short_term_bw: None,
            short_term_inflight: None,
            long_term_inflight: None,
        }
    }
}
