//! A controller with all its bookkeeping: sampler, pacer, bytes in flight, recoveries, application limits.
//!
//! A transport with its own bookkeeping drives a [`Controller`] by its events. For others there is a [`Flow`]: the
//! transport reports packets that leave, arrive and are lost, and the flow says when the next may leave. It follows
//! QUIC's rules (RFC 9002): a packet is sent once, and lost data is sent again in a new packet.
//!
//! ```
#![doc = include_str!("../examples/sender.rs")]
//! ```

use units::{Bytes, Duration, Time};

use crate::controller::{Ack, Controller, Lost, RttSample, Sent};
use crate::pacer::Pacer;
use crate::recoveries::Recoveries;
use crate::sampling::{Outstanding, PacketState, Sampler};

/// One direction of a connection under a controller.
///
/// Every method reports an event. [`Flow::settle`] ends each ACK and each check of the loss timer. Only then is the
/// controller called, with losses first, as [its trait](crate::controller) requires.
#[derive(Debug, Clone)]
pub struct Flow<C> {
    controller: C,
    sampler: Sampler,
    pacer: Pacer,
    mss: Bytes,
    inflight: Bytes,
    min_rtt: Option<Duration>,
    recoveries: Recoveries,
    /// The newest packet sent.
    last_sequence: u64,
    /// The newest packet acknowledged so far.
    newest_acked: Option<u64>,
    /// The newest packet declared lost so far.
    newest_lost: Option<u64>,
    ack: PendingAck,
    /// Whether data has run out, and none has left since.
    is_dry: bool,
    /// Whether the window has held data back since the last ACK.
    is_window_full: bool,
    /// Whether data has run out since the last ACK although window and pacer allowed more.
    was_app_limited: bool,
}

/// The state of the ACK in progress.
///
/// [`Ack`] has `newly_acked` beside `prior_inflight`. If they were side by side here too, `settle` would copy both with one
/// load. Where it is called through a pointer, as from C, that load comes so soon after the two stores of `on_acked` that the
/// processor waits for them to leave its store buffer.
#[derive(Debug, Clone, Copy, Default)]
struct PendingAck {
    bytes: Bytes,
    ce_marked: Bytes,
    /// The bytes in flight before it and its losses.
    prior_inflight: Bytes,
    packets: u32,
    /// The round-trip time from the transport, if it reported one or its absence.
    rtt: Option<Option<RttSample>>,
}

impl<C: Controller> Flow<C> {
    /// A flow that begins `now` with packets of up to `mss` bytes. `timer_slack` is the largest delay of the
    /// transport's timers ([`Pacer`]).
    pub fn new(controller: C, now: Time, mss: Bytes, timer_slack: Duration) -> Flow<C> {
        Flow {
            controller,
            sampler: Sampler::new(now),
            pacer: Pacer::new(now, timer_slack),
            mss,
            inflight: Bytes::ZERO,
            min_rtt: None,
            recoveries: Recoveries::default(),
            last_sequence: 0,
            newest_acked: None,
            newest_lost: None,
            ack: PendingAck::default(),
            is_dry: false,
            is_window_full: false,
            was_app_limited: false,
        }
    }

    /// Whether a waiting packet of `bytes` may leave now: window and pacer allow it.
    pub fn may_send(&mut self, now: Time, bytes: Bytes) -> bool {
        let fits = self.fits(bytes);
        self.is_window_full |= !fits;
        fits && self.pacer.may_send(now, self.controller.send_quantum())
    }

    /// Whether the window has room for a packet of `bytes`. Otherwise only an ACK or a loss lets the next one leave,
    /// and no timer for the pacer is needed.
    pub fn fits(&self, bytes: Bytes) -> bool {
        self.inflight + bytes <= self.controller.cwnd()
    }

    /// The earliest time at which the pacer lets a packet leave. The transport wakes up then if data waits and the
    /// window has room.
    pub fn next_departure(&self, now: Time) -> Time {
        self.pacer.next_departure(now)
    }

    /// Sends a packet of `bytes`. The returned state is kept with the packet until it is acknowledged, lost or
    /// forgotten.
    pub fn on_sent(&mut self, now: Time, bytes: Bytes) -> PacketState {
        self.look_for_gap(now);
        let has_waited = self.sampler.is_app_limited() || self.sampler.is_unused_since(now);
        if self.inflight.is_zero() && has_waited {
            self.controller.on_idle_restart(now);
        }
        self.is_dry = false;
        // Everything is lost, and nothing acknowledged that left later: a lost packet may still arrive, and the
        // interval does not restart.
        let out = if self.inflight.is_zero() && self.newest_lost > self.newest_acked {
            Outstanding::Inflight(Bytes::ZERO)
        } else {
            Outstanding::without_lost(self.inflight)
        };
        let packet = self.sampler.on_packet_sent(now, bytes, out);
        self.last_sequence = packet.sequence;
        self.inflight += bytes;
        self.controller
            .on_packet_sent(&Sent::new(now, bytes, self.inflight));
        self.pacer
            .on_sent(now, bytes, self.controller.pacing_rate());
        packet
    }

    /// Reports that no data waits. Called whenever the transport finds none to send. Until the next packet, the
    /// application is the limit unless window or pacer is.
    pub fn on_no_data(&mut self, now: Time) {
        self.is_dry = true;
        self.look_for_gap(now);
    }

    /// Whether a packet with this state was sent; events of others are ignored.
    pub fn has_sent(&self, packet: &PacketState) -> bool {
        self.sampler.has_sent(packet)
    }

    /// Reports a packet acknowledged by the ACK that [`Flow::settle`] ends.
    pub fn on_acked(&mut self, now: Time, packet: &PacketState) {
        if self.has_sent(packet) {
            self.count_acked(now, packet);
            self.inflight -= packet.bytes;
        }
    }

    /// Reports the acknowledgement of a packet that was declared lost. If all packets whose loss started a recovery
    /// arrive, it is undone.
    pub fn on_acked_late(&mut self, now: Time, packet: &PacketState) {
        if self.has_sent(packet) {
            self.count_acked(now, packet);
            self.recoveries.on_arrived(packet.sequence);
        }
    }

    /// Called before packets leave the flight: an ACK and its losses, in either order, only reduce it.
    fn note_inflight(&mut self) {
        self.ack.prior_inflight = self.ack.prior_inflight.max(self.inflight);
    }

    fn count_acked(&mut self, now: Time, packet: &PacketState) {
        self.note_inflight();
        self.sampler.on_packet_acked(now, packet);
        self.ack.bytes += packet.bytes;
        self.ack.packets = self.ack.packets.saturating_add(1);
    }

    /// Reports the transport's own measurement of the round-trip time of this ACK, or its absence because the
    /// acknowledged data was sent more than once under the same name (Karn's algorithm, RFC 6298). Without this call,
    /// the newest packet's departure is used.
    pub fn on_rtt(&mut self, rtt: Option<RttSample>) {
        self.ack.rtt = Some(rtt);
    }

    /// Reports `bytes` more as marked "congestion experienced" (ECN) by the ACK in progress.
    pub fn on_marked(&mut self, bytes: Bytes) {
        self.ack.ce_marked += bytes;
        self.sampler.on_ce_marked(bytes);
    }

    /// Reports a packet declared lost, by an ACK or by a timer, once.
    pub fn on_lost(&mut self, now: Time, packet: &PacketState) {
        if !self.has_sent(packet) {
            return;
        }
        self.note_inflight();
        self.sampler.on_packet_lost(packet);
        self.inflight -= packet.bytes;
        self.newest_lost = self.newest_lost.max(Some(packet.sequence));
        self.recoveries.on_lost(packet.sequence);
        let lost = Lost::new(now, *packet, self.inflight, &self.sampler);
        self.controller.on_packet_lost(&lost);
    }

    /// Reports a packet that is neither acknowledged nor lost, and no longer awaited (in QUIC, of a discarded number
    /// space).
    pub fn on_forgotten(&mut self, packet: &PacketState) {
        if self.has_sent(packet) {
            self.inflight -= packet.bytes;
        }
    }

    /// Ends the ACK or the check of the loss timer, after all its acknowledgements, marks and losses are reported.
    pub fn settle(&mut self, now: Time) {
        let ack = core::mem::take(&mut self.ack);
        let newest = self.sampler.newest().map(|packet| packet.sequence);
        let is_marked = !ack.ce_marked.is_zero();
        let changes = self
            .recoveries
            .settle(newest, is_marked, self.last_sequence);
        for change in changes.into_iter().flatten() {
            self.controller.on_recovery(now, change, self.inflight);
        }
        let Some(packet) = self.sampler.newest() else {
            return;
        };
        let rtt = match ack.rtt {
            Some(told) => told,
            None => self.measure_rtt(now, ack.packets, packet),
        };
        if let Some(RttSample { rtt, .. }) = rtt {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |min| min.min(rtt)));
        }
        self.newest_acked = self.newest_acked.max(newest);
        let rate = self
            .sampler
            .sample(now, self.min_rtt.unwrap_or(Duration::ZERO));
        self.look_for_gap(now);
        let mut told = Ack::new(now, ack.bytes, ack.prior_inflight, self.inflight, rate);
        told.rtt = rtt;
        told.ce_marked = ack.ce_marked;
        told.is_window_full = core::mem::take(&mut self.is_window_full);
        told.is_cwnd_limited = told.is_window_full || !core::mem::take(&mut self.was_app_limited);
        self.controller.on_ack(&told);
    }

    /// The round-trip time of the newest packet, unless a later one was acknowledged before: the receiver then reported
    /// it late (RFC 9002, "Generating RTT Samples"). A packet that is not full and travelled alone may have waited at
    /// the receiver for a second one.
    fn measure_rtt(&self, now: Time, packets: u32, newest: &PacketState) -> Option<RttSample> {
        let is_alone = packets == 1
            && newest.bytes < self.mss
            && self.sampler.delivered() == newest.delivered + newest.bytes;
        (self.newest_acked < Some(newest.sequence)).then(|| RttSample {
            rtt: now.since(newest.sent_time),
            is_ack_delayed: is_alone,
        })
    }

    /// Reports a retransmission timeout (TCP) or persistent congestion (QUIC), after the losses that it declared. A
    /// probe timeout is not one.
    pub fn on_timeout(&mut self, now: Time) {
        // The bytes in flight before its losses do not apply to the next ACK.
        self.ack = PendingAck::default();
        self.recoveries.on_timeout(self.last_sequence);
        self.controller.on_timeout(now, self.inflight);
    }

    /// Sets the size of the largest packet.
    pub fn on_mtu_change(&mut self, mss: Bytes) {
        self.mss = mss;
        self.controller.on_mtu_change(mss);
    }

    /// Without data, the application is the limit from the time at which the pacer allowed the next packet.
    fn look_for_gap(&mut self, now: Time) {
        if self.is_dry && self.fits(self.mss) && self.pacer.is_idle(now) {
            self.was_app_limited = true;
            self.sampler.mark_app_limited(self.inflight);
        }
    }

    /// Bytes in flight.
    pub fn inflight(&self) -> Bytes {
        self.inflight
    }

    /// The controller, read-only.
    pub fn controller(&self) -> &C {
        &self.controller
    }

    /// The sampler, read-only.
    pub fn sampler(&self) -> &Sampler {
        &self.sampler
    }

    /// The least round-trip time so far.
    pub fn min_rtt(&self) -> Option<Duration> {
        self.min_rtt
    }

    /// Whether the flow is recovering from losses, marks or a timeout.
    pub fn is_recovering(&self) -> bool {
        self.recoveries.is_on()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AnyController, Connection, ControllerKind};

    fn flow(mss: Bytes) -> Flow<AnyController> {
        let connection = Connection::new(Time::ZERO, mss, mss * 10);
        let controller = AnyController::new(ControllerKind::Reno, connection);
        Flow::new(controller, Time::ZERO, mss, Duration::ZERO)
    }

    #[test]
    fn what_was_in_flight_before_an_ack_includes_its_losses_in_either_order() {
        let mss = Bytes::new(1000);
        for is_lost_first in [true, false] {
            let mut flow = flow(mss);
            let packets = [(); 5].map(|()| flow.on_sent(Time::ZERO, mss));
            let [lost, _, acked, _, also_acked] = packets;
            if is_lost_first {
                flow.on_lost(Time::ZERO, &lost);
            }
            flow.on_acked(Time::ZERO, &acked);
            flow.on_acked(Time::ZERO, &also_acked);
            if !is_lost_first {
                flow.on_lost(Time::ZERO, &lost);
            }
            assert_eq!(flow.ack.prior_inflight, mss * 5, "{is_lost_first}");
            flow.settle(Time::ZERO);
            assert_eq!(flow.inflight(), mss * 2);
            // The next ACK knows nothing of it.
            flow.on_acked(Time::ZERO, &packets[1]);
            assert_eq!(flow.ack.prior_inflight, mss * 2, "{is_lost_first}");
        }
    }

    #[test]
    fn what_was_in_flight_before_a_timeout_is_not_what_the_next_ack_finds() {
        let mss = Bytes::new(1000);
        let mut flow = flow(mss);
        let packets = [(); 5].map(|()| flow.on_sent(Time::ZERO, mss));
        let later = Time::ZERO + Duration::from_secs(1);
        for packet in &packets {
            flow.on_lost(later, packet);
        }
        flow.on_timeout(later);
        let packet = flow.on_sent(later, mss);
        flow.on_acked(later, &packet);
        assert_eq!(flow.ack.prior_inflight, mss);
    }

    /// The newest acknowledged packet provides the round-trip time. A packet that was never sent would do so for ever.
    #[test]
    fn what_was_never_sent_does_not_count() {
        let mss = Bytes::new(1000);
        let mut flow = flow(mss);
        let sent = [(); 2].map(|()| flow.on_sent(Time::ZERO, mss));
        let now = Time::ZERO + Duration::from_millis(40);
        let never = PacketState::from_words([u64::MAX; 9]);
        flow.on_lost(now, &never);
        flow.on_acked(now, &never);
        flow.on_acked_late(now, &never);
        flow.on_forgotten(&never);
        flow.settle(now);
        assert_eq!((flow.inflight(), flow.min_rtt()), (mss * 2, None));
        assert_eq!(flow.sampler().lost(), Bytes::ZERO);
        flow.on_acked(now, &sent[0]);
        flow.settle(now);
        assert_eq!(flow.min_rtt(), Some(Duration::from_millis(40)));
    }

    /// A flow created long before its first packet has no old round-trip time to renew.
    #[test]
    fn a_first_packet_that_comes_late_does_not_begin_a_search_for_the_least_round_trip() {
        let mss = Bytes::new(1000);
        for kind in [ControllerKind::Bbr1, ControllerKind::Bbr3] {
            let connection = Connection::new(Time::ZERO, mss, mss * 10);
            let controller = AnyController::new(kind, connection);
            let mut flow = Flow::new(controller, Time::ZERO, mss, Duration::ZERO);
            for round in 0..3 {
                let sent = Time::ZERO + Duration::from_secs(60) + Duration::from_millis(40 * round);
                let packets = [(); 2].map(|()| flow.on_sent(sent, mss));
                let acked = sent + Duration::from_millis(40);
                for packet in packets {
                    flow.on_acked(acked, &packet);
                    flow.settle(acked);
                    assert_eq!(flow.controller().snapshot().state.name, "Startup");
                }
            }
        }
    }

    #[test]
    fn an_ack_has_the_round_trip_time_that_is_told_or_none_or_the_newest_packets() {
        let (mss, told) = (Bytes::new(1000), Duration::from_millis(7));
        let later = Time::ZERO + Duration::from_millis(40);
        for (rtt, least) in [
            (None, Some(later.since(Time::ZERO))),
            (Some(None), None),
            (Some(Some(RttSample::exact(told))), Some(told)),
        ] {
            let mut flow = flow(mss);
            let packet = flow.on_sent(Time::ZERO, mss);
            flow.on_acked(later, &packet);
            rtt.into_iter().for_each(|rtt| flow.on_rtt(rtt));
            flow.settle(later);
            assert_eq!(flow.min_rtt(), least);
        }
    }
}
