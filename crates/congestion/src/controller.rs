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
//! Which packets are lost, and when a recovery starts and ends, is the transport's question; how fast to send
//! meanwhile is the controller's. A TCP-like sender enters recovery at the first loss and leaves it when everything
//! outstanding at that time has been acknowledged (RFC 6675, "Algorithm Details"). A QUIC sender enters it at the first
//! loss and leaves it when a packet sent during it is acknowledged (RFC 9002, "Recovery"); when a packet that was sent
//! after the start of a recovery is lost, that recovery is over and the next one begins.

use core::fmt::Debug;

use units::{Bytes, Duration, Rate, Ratio, Time};

use crate::sampling::{PacketState, RateSample, Sampler};
use crate::state::State;

/// What every controller needs to know of a new connection.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Connection {
    /// The present.
    pub now: Time,
    /// The largest packet as congestion control counts it: TCP's effective send MSS, QUIC's maximum datagram size
    /// (BBR draft, "Transport Connection State", `C.SMSS`).
    pub mss: Bytes,
    /// The initial congestion window, usually ten packets (RFC 6928; RFC 9002, "Initial and Minimum Congestion
    /// Window").
    pub initial_cwnd: Bytes,
    /// Seeds whatever the controller randomizes; equal seeds and events give equal behaviour.
    pub seed: u64,
    /// Whether the transport keeps to the pacing rate of any controller. If not, it does so for those alone that
    /// [need it](Controller::needs_pacing).
    pub is_paced: bool,
}

impl Connection {
    /// A connection that begins `now`, on a transport that paces everybody, with the seed zero.
    pub const fn new(now: Time, mss: Bytes, initial_cwnd: Bytes) -> Connection {
        Connection {
            now,
            mss,
            initial_cwnd,
            seed: 0,
            is_paced: true,
        }
    }
}

/// A packet that has just been handed to the network.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Sent {
    /// When it left.
    pub now: Time,
    /// Its size as congestion control counts it.
    pub bytes: Bytes,
    /// Bytes in flight, this packet included.
    pub inflight: Bytes,
}

impl Sent {
    /// A packet of `bytes` that left `now`, with which `inflight` is in flight.
    pub const fn new(now: Time, bytes: Bytes, inflight: Bytes) -> Sent {
        Sent {
            now,
            bytes,
            inflight,
        }
    }
}

/// A packet that has just been declared lost.
///
/// Of several that one ACK shows to be lost, each is told with the totals at its turn. `total_delivered` contains what that
/// ACK delivered. (A QUIC ACK tells of that first, TCP's of both at once.)
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Lost {
    /// When it was declared lost.
    pub now: Time,
    /// What the sampler knew when the packet was sent, its size included.
    pub packet: PacketState,
    /// Bytes in flight, this packet no longer included.
    pub inflight: Bytes,
    /// Bytes delivered on the connection until now (BBR draft, `C.delivered`).
    pub total_delivered: Bytes,
    /// Bytes lost on the connection until now, this packet included (BBR draft, `C.lost`).
    pub total_lost: Bytes,
}

impl Lost {
    /// `packet` was declared lost `now`, as `sampler` has been [told](Sampler::on_packet_lost) already. Without it `inflight`
    /// is in flight.
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

/// Everything that one ACK delivered.
///
/// [`Ack::new`] has what every transport knows; the rest are fields to set.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Ack {
    /// When the ACK was processed.
    pub now: Time,
    /// Bytes newly acknowledged by this ACK, cumulatively or selectively, each byte of the stream once. Not zero. What had
    /// been declared lost and arrives late counts too, as it was not delivered before.
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
    /// Whether the window itself has held the sender back since the previous ACK: data waited, and a packet of it did not fit.
    /// Unlike [`Ack::is_cwnd_limited`] it is not set where pacing alone was the limit. BBRv3 raises its bound on what is in
    /// flight, and goes on probing, only while that bound is what limits it.
    ///
    /// It is told for each ACK. `C.is_cwnd_limited` of the BBR draft and `tcp_sock.is_cwnd_limited` of Linux are latched over
    /// a round trip instead: once set, they hold for the rest of it. Here the transport only tells, and the controller
    /// latches, as BBRv3's does.
    pub is_window_full: bool,
    /// Whether it advanced the cumulative acknowledgement. What is acknowledged out of order may be the sign of a loss, and
    /// until that is clear a window-based controller does not grow (RFC 5681, "Fast Retransmit/Fast Recovery"). Always true
    /// where packets are not acknowledged in order (QUIC), or known to be reordered (Linux `tcp_may_raise_cwnd`).
    pub is_progress: bool,
    /// When the next packet may leave: later than `now` as far as pacing has given departures away already, to what waits
    /// in the host's scheduler and counts as in flight, or to a pause of the sender's own (Linux `tcp_wstamp_ns`). `now`
    /// where nobody has done that, and where a packet is in flight only once it has left.
    pub next_departure: Time,
}

impl Ack {
    /// An ACK that has been processed `now`, and what it delivered.
    ///
    /// Without an RTT and without marks. It counts as progress; the window counts as used unless the application limited the
    /// sample, and not as full; and the next packet may leave at once.
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
    /// A measurement in which nobody held an ACK back.
    pub const fn exact(rtt: Duration) -> RttSample {
        RttSample {
            rtt,
            is_ack_delayed: false,
        }
    }
}

/// Why a recovery started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// A packet was lost.
    Loss,
    /// The network marked a packet (RFC 3168).
    Ecn,
    /// A packet was lost, and a probe has repaired that before it was declared lost: nothing is left to recover from, and
    /// [`Recovery::Left`] follows at once (RFC 8985, "Detecting Losses Using TLP"; Linux `tcp_process_tlp_ack`, which goes
    /// through `TCP_CA_CWR` to `TCP_CA_Open`).
    RepairedLoss,
}

/// A change of the transport's recovery state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recovery {
    /// A recovery has started; at most once per round trip. In a recovery that a mark began, a loss is told as another
    /// start, without [`Recovery::Left`] between: the round trip's reduction has been made, but what is lost matters to
    /// those that mind losses only. A recovery of the next round trip comes after the end of that one.
    Entered(Cause),
    /// The recovery, or the time after a timeout, is over: what was outstanding at its start is settled.
    Left,
    /// The packets whose loss started the recovery or the timeout have arrived after all: it never should have
    /// happened. Replaces [`Recovery::Left`] if the recovery was still going on; may also come after it.
    Undone,
}

/// A congestion controller: events in; congestion window, pacing rate and send quantum out.
///
/// See the [module](self) for the order of events. No method allocates, panics or reads a clock.
pub trait Controller: Debug + Send {
    /// The sender sends again after nothing was in flight because the application had nothing to send. Comes before
    /// the packet's [`Controller::on_packet_sent`].
    fn on_idle_restart(&mut self, now: Time);

    /// A packet has left.
    fn on_packet_sent(&mut self, sent: &Sent);

    /// A packet was declared lost.
    fn on_packet_lost(&mut self, lost: &Lost);

    /// The transport's recovery state changed. `inflight` is what is in flight at that moment, without what has been
    /// declared lost.
    fn on_recovery(&mut self, now: Time, recovery: Recovery, inflight: Bytes);

    /// An ACK delivered data.
    fn on_ack(&mut self, ack: &Ack);

    /// A retransmission timeout, or persistent congestion. `inflight` is what is still in flight: what was sent so recently
    /// that it was not declared lost. Ends with [`Recovery::Left`] or [`Recovery::Undone`].
    fn on_timeout(&mut self, now: Time, inflight: Bytes);

    /// The handshake is over and took `rtt`: the first measurement, before any data has left. Not told where the transport
    /// cannot tell it from a retransmission's.
    fn on_handshake(&mut self, _now: Time, _rtt: Duration) {}

    /// The largest packet now has `mss` bytes ([`Connection::mss`]).
    fn on_mtu_change(&mut self, mss: Bytes);

    /// The congestion window: how much may be in flight. Never below one packet.
    fn cwnd(&self) -> Bytes;

    /// The rate at which packets should leave. Never zero.
    fn pacing_rate(&self) -> Rate;

    /// The most that should leave in one burst, at least one packet.
    fn send_quantum(&self) -> Bytes;

    /// Whether a TCP-like transport is to spread the reduction of the window over the ACKs of a recovery (PRR, RFC 9937),
    /// until the recovery ends. A controller that cuts its window at once to what it is to be afterwards wants that; one
    /// that sees to the conservation of packets itself does not (in Linux, one with a `cong_control` of its own).
    fn wants_prr(&self) -> bool {
        false
    }

    /// Whether the pacing rate matters: a transport that does not pace everybody (Linux without FQ) is to keep to it for
    /// this controller, by itself (Linux `SK_PACING_NEEDED`). Others do with the ACK clock.
    fn needs_pacing(&self) -> bool {
        false
    }

    /// Whether it answers marks, by sending less, as it would a loss. Only then may a transport send its packets as capable
    /// of ECN: what marks a packet instead of dropping it relies on that answer (RFC 3168, "The TCP Sender"; RFC 8311, "ECN
    /// Experimentation"; RFC 9002, "Explicit Congestion Notification"). Linux does not ask: with `tcp_ecn` = 1 it sends
    /// BBRv1's packets so, too.
    fn responds_to_ecn(&self) -> bool {
        false
    }

    /// The state as observers and people see it.
    fn snapshot(&self) -> Snapshot;
}

/// What is known of a controller before it has a connection: what its own module says of it for the list.
pub(crate) trait Listed: Controller + Sized {
    /// The name that it has everywhere: in code, on the command line, in records.
    const NAME: &'static str;

    /// The name of Linux's controller of the same algorithm.
    const KERNEL_NAME: &'static str = Self::NAME;

    /// Its states.
    const STATES: &'static [State];

    /// Its settings.
    type Config;

    /// The settings that it has in Linux.
    fn linux() -> Self::Config;

    /// The same settings for a transport that counts a packet as in flight when it has left.
    fn off_host(config: Self::Config) -> Self::Config {
        config
    }

    /// One for a new connection.
    fn with(connection: Connection, config: Self::Config) -> Self;
}

/// A controller's state at one moment, for records, plots and debugging.
///
/// A controller begins with [`Snapshot::new`] and adds what else it has:
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
    /// Its state.
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
    pub rt_prop: Option<Duration>,
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
    /// Of a controller of this name. The send quantum and the round trips are zero, and the rest is unknown, until set.
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
            rt_prop: None,
            pacing_gain: None,
            cwnd_gain: None,
            round: 0,
            short_term_bw: None,
            short_term_inflight: None,
            long_term_inflight: None,
        }
    }
}
