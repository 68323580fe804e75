//! What noq's hooks say, told to one connection's controller.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use congestion::sampling::{Outstanding, Sampler};
use congestion::{
    Ack, Bytes, Cause, Connection, Controller, Duration, Lost, Recovery, RttSample, Sent, Time,
};
use noq_proto::RttEstimator;
use noq_proto::congestion::ControllerMetrics;

use super::episode::{Episode, Start};
use super::packets::Packets;
use crate::observer::{Limit, Observer, Sample};

/// The initial window in packets (RFC 9002, "Initial and Minimum Congestion Window"). The limit in bytes that the RFC
/// adds, 14 720, does not bind for packets of QUIC's first size.
pub(super) const INITIAL_WINDOW_PACKETS: u64 = 10;

/// A packet is lost if a packet that was sent this many packets later is acknowledged (RFC 9002, "Packet Threshold").
const PACKET_THRESHOLD: u64 = 3;

/// Translates noq's hooks into the events of [`congestion::Controller`]; the [parent module](super) says how. Its methods
/// are noq's hooks, with the same names.
#[derive(Clone)]
pub(super) struct Adapter<C: Controller> {
    controller: C,
    observer: Option<Arc<dyn Observer>>,
    /// [`Time::ZERO`] of the controller.
    epoch: Instant,
    /// When the last hook that says was called.
    now: Time,
    /// When the last ACK came.
    acked: Time,
    sampler: Sampler,
    packets: Packets,
    /// noq's count as of the last ACK, with what has been sent and lost since.
    inflight: u64,
    mtu: u16,
    /// The probe of the path MTU that is in flight, if it is larger than two packets.
    probe: Option<Probe>,
    initial_window: u64,
    /// The shortest round-trip time measured so far.
    min_rtt: Option<Duration>,
    srtt: Option<Duration>,
    ack: PendingAck,
    /// The ACK that has been processed, and not yet been told to the controller.
    ended: Option<EndedAck>,
    /// The newest of the losses that are being processed, by the order of sending.
    lost: Option<u64>,
    /// The newest packet acknowledged so far, by the order of sending.
    newest_acked: Option<u64>,
    episode: Episode,
    /// Marks of "congestion experienced" reported since the last ACK, in bytes.
    ce_marked: u64,
    /// The congestion window has held back a packet since the last ACK.
    is_cwnd_blocked: bool,
    /// Nothing is in flight, because the application has nothing to send.
    is_idle: bool,
    counts: Counts,
}

/// A probe of the path MTU. The controller does not control it: noq sends it regardless of the window, and does not
/// report its loss.
#[derive(Debug, Clone, Copy)]
struct Probe {
    number: u64,
    size: u64,
    /// noq has declared the probe lost, but noq's latest count of bytes in flight includes the probe.
    is_lost: bool,
}

/// What the hooks have said so far of the ACK that is being processed.
#[derive(Debug, Clone, Copy, Default)]
struct PendingAck {
    bytes: u64,
    packets: u64,
    newest: Option<Newest>,
}

/// The newest packet that an ACK acknowledges.
#[derive(Debug, Clone, Copy)]
struct Newest {
    sequence: u64,
    sent: Time,
    /// It is smaller than a full packet, and nothing but it was delivered since it left.
    is_lone_runt: bool,
}

/// An ACK whose losses and marks come in the hooks that follow.
#[derive(Debug, Clone, Copy)]
struct EndedAck {
    /// As the hook said it: a later one has another time, or is of another kind.
    instant: Instant,
    /// When it is told: no earlier than what was told before it.
    now: Time,
    /// When it came.
    acked: Time,
    newly_acked: u64,
    prior_inflight: Bytes,
    rtt: Option<RttSample>,
    is_app_limited: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    sent: u64,
    packets_sent: u64,
    packets_lost: u64,
    /// The newest packet sent, by the order of sending.
    last_sequence: u64,
    recoveries: u64,
    undone: u64,
    timeouts: u64,
}

impl<C: Controller> Adapter<C> {
    pub(super) fn new(
        make: impl FnOnce(Connection) -> C,
        seed: u64,
        observer: Option<Arc<dyn Observer>>,
        now: Instant,
        mtu: u16,
    ) -> Adapter<C> {
        let initial_window = INITIAL_WINDOW_PACKETS * u64::from(mtu);
        let mut connection = Connection::new(
            Time::ZERO,
            Bytes::new(mtu.into()),
            Bytes::new(initial_window),
        );
        connection.seed = seed;
        let controller = make(connection);
        Adapter {
            controller,
            observer,
            epoch: now,
            sampler: Sampler::new(Time::ZERO),
            packets: Packets::default(),
            inflight: 0,
            mtu,
            probe: None,
            initial_window,
            min_rtt: None,
            srtt: None,
            ack: PendingAck::default(),
            ended: None,
            lost: None,
            newest_acked: None,
            now: Time::ZERO,
            acked: Time::ZERO,
            episode: Episode::default(),
            ce_marked: 0,
            is_cwnd_blocked: false,
            is_idle: false,
            counts: Counts::default(),
        }
    }

    fn time(&self, instant: Instant) -> Time {
        Time::ZERO + instant.saturating_duration_since(self.epoch).into()
    }

    /// The present, as a hook says it.
    fn at(&mut self, now: Instant) -> Time {
        self.now = self.now.max(self.time(now));
        self.now
    }

    /// When an ACK came: before what has left meanwhile, perhaps, but not before an earlier ACK.
    fn acked_at(&mut self, instant: Instant) -> Time {
        self.acked = self.acked.max(self.time(instant));
        self.now = self.now.max(self.acked);
        self.acked
    }

    fn inflight(&self) -> Bytes {
        let probe = self.probe.map_or(0, |probe| probe.size);
        Bytes::new(self.inflight.saturating_sub(probe))
    }

    /// A packet was lost or marked, and the controller has not yet been told of this round trip's congestion by this
    /// `cause`.
    fn enter_recovery(&mut self, now: Time, cause: Cause, start: Start) {
        if start == Start::Recovery {
            self.leave_recovery(now);
        }
        self.episode.begin(cause, start, self.counts.last_sequence);
        self.counts.recoveries += u64::from(start == Start::Recovery);
        let inflight = self.inflight();
        self.controller
            .on_recovery(now, Recovery::Entered(cause), inflight);
    }

    fn leave_recovery(&mut self, now: Time) {
        if self.episode.end() {
            let inflight = self.inflight();
            self.controller.on_recovery(now, Recovery::Left, inflight);
        }
    }

    /// The round-trip time of the newest packet of this ACK. Taken only if no later packet has been acknowledged before:
    /// otherwise the receiver had reported since the packet's arrival or loss, and the time would not be the path's
    /// (RFC 9002, "Generating RTT Samples").
    fn rtt_sample(&self, now: Time, newest: Newest) -> Option<RttSample> {
        if self.newest_acked > Some(newest.sequence) {
            return None;
        }
        Some(RttSample {
            rtt: now.since(newest.sent),
            // A receiver acknowledges every second packet at once and waits for the second when there is only one
            // (RFC 9000, "Sending ACK Frames"). That there was only one is certain of a packet that travelled alone. An
            // ACK of one packet out of many says nothing: on a slow path every ACK is one of those, and what waits in it
            // for the next packet is part of each round trip (Linux `tcp_clean_rtx_queue`, `FLAG_ACK_MAYBE_DELAYED`).
            is_ack_delayed: self.ack.packets == 1 && newest.is_lone_runt,
        })
    }

    /// Tells the controller of the ACK that was processed last, now that the losses and marks that it showed are known.
    pub(super) fn settle(&mut self) {
        let Some(ack) = self.ended.take() else {
            return;
        };
        let rate = self
            .sampler
            .sample(ack.acked, self.min_rtt.unwrap_or(Duration::ZERO));
        let inflight = self.inflight();
        if ack.is_app_limited {
            self.sampler.mark_app_limited(inflight);
        }
        let mut told = Ack::new(
            ack.now,
            Bytes::new(ack.newly_acked),
            ack.prior_inflight,
            inflight,
            rate,
        );
        told.rtt = ack.rtt;
        told.ce_marked = Bytes::new(std::mem::take(&mut self.ce_marked));
        // A sender that only pacing holds back uses its window (RFC 9002, "Underutilizing the Congestion Window").
        told.is_window_full = std::mem::take(&mut self.is_cwnd_blocked);
        told.is_cwnd_limited = told.is_window_full || !ack.is_app_limited;
        self.controller.on_ack(&told);
        if let Some(observer) = &self.observer {
            observer.on_sample(&Sample {
                time: ack.acked,
                rtt: ack.rtt.map(|sample| sample.rtt),
                srtt: self.srtt,
                limit: match (ack.is_app_limited, told.is_window_full) {
                    (true, _) => Limit::Data,
                    (false, true) => Limit::CongestionWindow,
                    (false, false) => Limit::Pacing,
                },
                rate,
                inflight,
                sent: Bytes::new(self.counts.sent),
                packets_sent: self.counts.packets_sent,
                packets_lost: self.counts.packets_lost,
                recoveries: self.counts.recoveries,
                undone: self.counts.undone,
                timeouts: self.counts.timeouts,
                snapshot: self.controller.snapshot(),
            });
        }
    }

    pub(super) fn on_packet_sent(&mut self, now: Instant, bytes: u16, pn: u64) {
        self.settle();
        let now = self.at(now);
        let size = Bytes::new(bytes.into());
        if std::mem::take(&mut self.is_idle) {
            self.controller.on_idle_restart(now);
        }
        // noq does not report a packet as acknowledged that it has declared lost.
        let out = Outstanding::without_lost(Bytes::new(self.inflight));
        let state = self.sampler.on_packet_sent(now, size, out);
        self.packets.insert(pn, state);
        if u64::from(bytes) > 2 * u64::from(self.mtu) {
            self.probe = Some(Probe {
                number: pn,
                size: bytes.into(),
                is_lost: false,
            });
        }
        self.inflight = self.inflight.saturating_add(bytes.into());
        self.counts.last_sequence = state.sequence;
        self.counts.packets_sent += 1;
        self.counts.sent += u64::from(bytes);
        let inflight = self.inflight();
        self.controller
            .on_packet_sent(&Sent::new(now, size, inflight));
    }

    /// Nothing has happened since the application had nothing more to send.
    pub(super) fn on_application_limit(&mut self) {
        self.settle();
        let inflight = self.inflight();
        // What fills the window is limited by the window (BBR draft, "Application-limited": C.inflight < C.cwnd; in packets).
        let with_another = self.inflight.saturating_add(self.mtu.into());
        if with_another > self.window() {
            return;
        }
        self.sampler.mark_app_limited(inflight);
    }

    pub(super) fn on_cwnd_limited(&mut self) {
        self.settle();
        self.is_cwnd_blocked = true;
    }

    pub(super) fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        pn: u64,
        rtt: &RttEstimator,
    ) {
        self.settle();
        self.srtt = self.min_rtt.map(|_| rtt.get().into());
        self.take_ack(now, sent, bytes, pn);
    }

    /// A packet is acknowledged.
    fn take_ack(&mut self, now: Instant, sent: Instant, bytes: u64, pn: u64) {
        let sent = self.time(sent);
        // An ACK comes after its packet, whatever the clocks say.
        self.acked = self.acked.max(sent);
        let now = self.acked_at(now);
        self.ack.bytes = self.ack.bytes.saturating_add(bytes);
        self.ack.packets += 1;
        if let Some(probe) = &mut self.probe {
            // noq declares the probe lost right after this ACK's hooks.
            probe.is_lost |= pn >= probe.number.saturating_add(PACKET_THRESHOLD);
        }
        let Some(state) = self.packets.take_acked(pn, sent, bytes) else {
            return;
        };
        self.sampler.on_packet_acked(now, &state);
        if self
            .ack
            .newest
            .is_none_or(|newest| state.sequence > newest.sequence)
        {
            self.ack.newest = Some(Newest {
                sequence: state.sequence,
                sent,
                is_lone_runt: bytes < self.mtu.into()
                    && self.sampler.delivered() == state.delivered + state.bytes,
            });
        }
    }

    pub(super) fn on_end_acks(&mut self, instant: Instant, in_flight: u64, app_limited: bool) {
        self.settle();
        let now = self.acked_at(instant);
        let prior_inflight = self.inflight();
        self.inflight = in_flight;
        self.packets.prune(in_flight);
        let packets = &self.packets;
        let probe = self.probe.take();
        self.probe = probe.filter(|probe| packets.has(probe.number, probe.size));
        let rtt = self
            .ack
            .newest
            .and_then(|newest| self.rtt_sample(now, newest));
        let ack = std::mem::take(&mut self.ack);
        if ack.bytes == 0 {
            return;
        }
        if let Some(newest) = ack.newest {
            self.newest_acked = self.newest_acked.max(Some(newest.sequence));
            if self.episode.is_over(newest.sequence) {
                self.leave_recovery(self.now);
            }
        }
        if let Some(sample) = rtt {
            self.min_rtt = Some(self.min_rtt.map_or(sample.rtt, |min| min.min(sample.rtt)));
        }
        self.is_idle = app_limited && in_flight == 0;
        self.ended = Some(EndedAck {
            instant,
            now: self.now,
            acked: now,
            newly_acked: ack.bytes,
            prior_inflight,
            rtt,
            is_app_limited: app_limited,
        });
    }

    pub(super) fn on_packet_lost(&mut self, lost_bytes: u16, pn: u64, now: Instant) {
        // Found by a timer, and not by the ACK.
        if self.ended.is_some_and(|ack| ack.instant != now) {
            self.settle();
        }
        // Not one of this path's, or not one that asked to be acknowledged: not the controller's.
        let Some(packet) = self.packets.take_lost(pn, lost_bytes.into()) else {
            return;
        };
        let now = self.at(now);
        self.sampler.on_packet_lost(&packet);
        self.inflight = self.inflight.saturating_sub(lost_bytes.into());
        self.lost = self.lost.max(Some(packet.sequence));
        self.counts.packets_lost += 1;
        let inflight = self.inflight();
        let lost = Lost::new(now, packet, inflight, &self.sampler);
        self.controller.on_packet_lost(&lost);
    }

    pub(super) fn on_congestion_event(
        &mut self,
        now: Instant,
        is_persistent_congestion: bool,
        is_ecn: bool,
    ) {
        let now = self.at(now);
        if is_ecn {
            self.ce_marked = self.ce_marked.saturating_add(self.mtu.into());
            self.sampler.on_ce_marked(Bytes::new(self.mtu.into()));
            let marked = self.newest_acked;
            if let Some(start) = marked.and_then(|newest| self.episode.marked(newest)) {
                self.enter_recovery(now, Cause::Ecn, start);
            }
            return;
        }
        let newest = self.lost.take();
        if is_persistent_congestion {
            self.episode
                .begin(Cause::Loss, Start::Recovery, self.counts.last_sequence);
            self.counts.timeouts += 1;
            // The least window, whatever is in flight (RFC 9002, "Persistent Congestion"); Linux's rule is for a timeout, after
            // which nothing has been acknowledged.
            self.controller.on_timeout(now, Bytes::ZERO);
        } else if let Some(start) = newest.and_then(|newest| self.episode.lost(newest)) {
            self.enter_recovery(now, Cause::Loss, start);
        }
    }

    pub(super) fn on_spurious_congestion_event(&mut self) {
        self.settle();
        if self.episode.undo() {
            self.counts.undone += 1;
            let inflight = self.inflight();
            self.controller
                .on_recovery(self.now, Recovery::Undone, inflight);
        }
    }

    pub(super) fn on_mtu_update(&mut self, new_mtu: u16) {
        self.mtu = new_mtu;
        self.controller.on_mtu_change(Bytes::new(new_mtu.into()));
    }

    pub(super) fn window(&mut self) -> u64 {
        self.settle();
        // noq sends only if a whole datagram fits, so a smaller window would never open again.
        let window = self.controller.cwnd().get().max(self.mtu.into());
        // noq sends a probe of the path MTU regardless of the window, and counts it as in flight. A probe may be larger
        // than the window. Without additional room, it would block the packets whose ACKs could show that it is lost.
        let probe = self.probe.filter(|probe| !probe.is_lost);
        let probe = probe.map_or(0, |probe| probe.size);
        window.saturating_add(probe)
    }

    pub(super) fn metrics(&mut self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.window();
        metrics.pacing_rate = Some(self.controller.pacing_rate().bytes_per_sec());
        metrics.send_quantum = Some(self.controller.send_quantum().get());
        metrics
    }

    /// For a new path that looks like a new name of the old one (NAT rebinding): what has been learnt goes along, what is
    /// in flight does not, since noq reports none of it to the new path's controller.
    pub(super) fn for_new_path(&mut self) -> Adapter<C>
    where
        C: Clone,
    {
        self.settle();
        let mut copy = self.clone();
        copy.packets = Packets::default();
        copy.inflight = 0;
        copy.ack = PendingAck::default();
        copy.lost = None;
        copy.probe = None;
        copy
    }

    pub(super) fn initial_window(&self) -> u64 {
        self.initial_window
    }
}

impl<C: Controller> Drop for Adapter<C> {
    /// The last ACK of a connection is an observer's to see, too.
    fn drop(&mut self) {
        self.settle();
    }
}

impl<C: Controller> fmt::Debug for Adapter<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Adapter")
            .field("controller", &self.controller)
            .field("inflight", &self.inflight)
            .field("episode", &self.episode)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
