//! noq's hooks as events for one connection's controller.

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

/// The initial window in packets (RFC 9002, "Initial and Minimum Congestion Window"). The RFC's limit of 14,720 bytes
/// is larger at QUIC's initial packet size.
pub(super) const INITIAL_WINDOW_PACKETS: u64 = 10;

/// A packet is lost if a packet that was sent this many packets later is acknowledged (RFC 9002, "Packet Threshold").
const PACKET_THRESHOLD: u64 = 3;

/// Translates noq's hooks into the events of [`congestion::Controller`], as the [parent module](super) describes. Its
/// methods have the names of noq's hooks.
#[derive(Clone)]
pub(super) struct Adapter<C: Controller> {
    controller: C,
    observer: Option<Arc<dyn Observer>>,
    /// The time that is [`Time::ZERO`] for the controller.
    epoch: Instant,
    /// The time of the last hook that has one.
    now: Time,
    /// The arrival of the last ACK.
    acked: Time,
    sampler: Sampler,
    packets: Packets,
    /// noq's count at the last ACK, with the packets that were sent and lost since then.
    inflight: u64,
    mtu: u16,
    /// The probe of the path MTU that is in flight, if it is larger than two packets.
    probe: Option<Probe>,
    initial_window: u64,
    /// The minimum round-trip time so far.
    min_rtt: Option<Duration>,
    srtt: Option<Duration>,
    ack: PendingAck,
    /// The processed ACK that the controller has not been told yet.
    ended: Option<EndedAck>,
    /// The newest of the losses that are being processed, by order of sending.
    lost: Option<u64>,
    /// The newest acknowledged packet, by order of sending.
    newest_acked: Option<u64>,
    episode: Episode,
    /// Bytes marked "congestion experienced" since the last ACK.
    ce_marked: u64,
    /// True if the congestion window has held back a packet since the last ACK.
    is_cwnd_blocked: bool,
    /// True if nothing is in flight, because the application has nothing to send.
    is_idle: bool,
    counts: Counts,
}

/// A probe of the path MTU. noq sends it regardless of the window and does not report its loss, so the controller does
/// not control it.
#[derive(Debug, Clone, Copy)]
struct Probe {
    number: u64,
    size: u64,
    /// True if noq has declared the probe lost, but still includes it in its latest count of bytes in flight.
    is_lost: bool,
}

/// The result of the hooks so far, for the ACK that is being processed.
#[derive(Debug, Clone, Copy, Default)]
struct PendingAck {
    bytes: u64,
    packets: u64,
    newest: Option<Newest>,
}

/// The newest packet of an ACK.
#[derive(Debug, Clone, Copy)]
struct Newest {
    sequence: u64,
    sent: Time,
    /// True if it is smaller than a full packet, and nothing else was delivered since it left.
    is_lone_runt: bool,
}

/// An ACK whose losses and marks come in the following hooks.
#[derive(Debug, Clone, Copy)]
struct EndedAck {
    /// The hook's time. A hook of another ACK has another time, or is of another kind.
    instant: Instant,
    /// The controller's time of the ACK, no earlier than its last event.
    now: Time,
    /// The ACK's arrival.
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
    /// The newest packet sent, by order of sending.
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

    /// Converts a hook's time to the controller's.
    fn at(&mut self, now: Instant) -> Time {
        self.now = self.now.max(self.time(now));
        self.now
    }

    /// Returns the arrival of an ACK. Packets may have left meanwhile, but it is not before an earlier ACK.
    fn acked_at(&mut self, instant: Instant) -> Time {
        self.acked = self.acked.max(self.time(instant));
        self.now = self.now.max(self.acked);
        self.acked
    }

    fn inflight(&self) -> Bytes {
        let probe = self.probe.map_or(0, |probe| probe.size);
        Bytes::new(self.inflight.saturating_sub(probe))
    }

    /// Reports a lost or marked packet, if this round trip's congestion by this `cause` is not reported yet.
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

    /// Returns the round-trip time of this ACK's newest packet, if no later packet was acknowledged before. Otherwise
    /// the receiver has sent an ACK since the packet's arrival or loss, and the time is not that of the path (RFC 9002,
    /// "Generating RTT Samples").
    fn rtt_sample(&self, now: Time, newest: Newest) -> Option<RttSample> {
        if self.newest_acked > Some(newest.sequence) {
            return None;
        }
        Some(RttSample {
            rtt: now.since(newest.sent),
            // A receiver acknowledges every second packet at once, and delays the ACK of a single one (RFC 9000,
            // "Sending ACK Frames"). A packet was certainly single if it travelled alone. An ACK of one packet out of
            // many shows nothing: on a slow path, every ACK is such an ACK, and its wait for the next packet is part of
            // each round trip (Linux `tcp_clean_rtx_queue`, `FLAG_ACK_MAYBE_DELAYED`).
            is_ack_delayed: self.ack.packets == 1 && newest.is_lone_runt,
        })
    }

    /// Reports the last processed ACK to the controller, now that its losses and marks are known.
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
        // A sender that only pacing limits uses its window (RFC 9002, "Underutilizing the Congestion Window").
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
        // noq does not acknowledge a packet that it has declared lost.
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

    /// The application has nothing more to send.
    pub(super) fn on_application_limit(&mut self) {
        self.settle();
        let inflight = self.inflight();
        // The window limits data that fill it (BBR draft, "Application-limited": C.inflight < C.cwnd; in packets).
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

    /// Processes the acknowledgement of a packet.
    fn take_ack(&mut self, now: Instant, sent: Instant, bytes: u64, pn: u64) {
        let sent = self.time(sent);
        // An ACK comes after its packet, whatever the clocks show.
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
        // A timer found the loss, and not the ACK.
        if self.ended.is_some_and(|ack| ack.instant != now) {
            self.settle();
        }
        // The packet is of another path, or did not ask for an ACK. The controller does not know it.
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
            // The minimum window applies, whatever is in flight (RFC 9002, "Persistent Congestion"). Linux's rule is
            // for a timeout, after which nothing has been acknowledged.
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
        // noq sends only if a whole datagram fits, so a smaller window would stay closed.
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

    /// For a path that seems to be the old one with a new address (NAT rebinding). The model is kept. The packets in
    /// flight are not, since noq reports none of them to the new path's controller.
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
    /// An observer gets the last ACK of a connection, too.
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
