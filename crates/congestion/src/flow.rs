//! A controller with all the books that it needs: sampler, pacer, what is in flight, recoveries, application limits.
//!
//! A transport that counts packets itself drives a [`Controller`] by its events. For one that does not, a [`Flow`] is
//! between: it is told of packets that leave, arrive and are lost, and says when the next may leave. It has the rules of
//! QUIC (RFC 9002): a packet is sent once, and what is lost is sent again as a new one.
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
/// Every method is a thing that happened. [`Flow::settle`] ends each ACK and each look at the loss timer: only then is the
/// controller told, losses first, as [its trait](crate::controller) demands.
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
    /// Data has run out, and none has left since.
    is_dry: bool,
    /// The window has held data back since the last ACK.
    is_window_full: bool,
    /// Data has run out since the last ACK, with window and pacer willing.
    was_app_limited: bool,
}

/// What is known of the ACK that is being processed.
///
/// [`Ack`] has `newly_acked` beside `prior_inflight`. If they were side by side here too, `settle` would copy both with one
/// load. Where it is called through a pointer, as from C, that load comes so soon after the two stores of `on_acked` that the
/// processor waits for them to leave its store buffer.
#[derive(Debug, Clone, Copy, Default)]
struct PendingAck {
    bytes: Bytes,
    ce_marked: Bytes,
    /// In flight before it and its losses.
    prior_inflight: Bytes,
    packets: u32,
    /// What the transport says of its round-trip time, if it says something.
    rtt: Option<Option<RttSample>>,
}

impl<C: Controller> Flow<C> {
    /// A flow that begins `now` with packets of up to `mss` bytes. `timer_slack` is how late the transport's timers may
    /// fire ([`Pacer`]).
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

    /// Whether a packet of `bytes`, whose data waits, may leave now: window and pacer allow it.
    pub fn may_send(&mut self, now: Time, bytes: Bytes) -> bool {
        let fits = self.fits(bytes);
        self.is_window_full |= !fits;
        fits && self.pacer.may_send(now, self.controller.send_quantum())
    }

    /// Whether the window has room for a packet of `bytes`. Without, only an ACK or a loss lets the next one leave, and no timer
    /// is needed for the pacer.
    pub fn fits(&self, bytes: Bytes) -> bool {
        self.inflight + bytes <= self.controller.cwnd()
    }

    /// The earliest time at which the pacer lets a packet leave; the transport wakes up then if data waits and the window
    /// has room.
    pub fn next_departure(&self, now: Time) -> Time {
        self.pacer.next_departure(now)
    }

    /// A packet of `bytes` leaves. What is returned is kept with the packet, until it is acknowledged, lost or forgotten.
    pub fn on_sent(&mut self, now: Time, bytes: Bytes) -> PacketState {
        self.look_for_gap(now);
        let has_waited = self.sampler.is_app_limited() || self.sampler.is_unused_since(now);
        if self.inflight.is_zero() && has_waited {
            self.controller.on_idle_restart(now);
        }
        self.is_dry = false;
        // Lost with nothing acknowledged that left later: it may still arrive, and the interval does not begin anew.
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

    /// No data waits. Told whenever the transport finds none to send; from then on until the next packet, the application is
    /// the limit as far as window and pacer are not.
    pub fn on_no_data(&mut self, now: Time) {
        self.is_dry = true;
        self.look_for_gap(now);
    }

    /// Whether a packet with this state has left; no event of another counts.
    pub fn has_sent(&self, packet: &PacketState) -> bool {
        self.sampler.has_sent(packet)
    }

    /// A packet has been acknowledged, by the ACK that [`Flow::settle`] ends.
    pub fn on_acked(&mut self, now: Time, packet: &PacketState) {
        if self.has_sent(packet) {
            self.count_acked(now, packet);
            self.inflight -= packet.bytes;
        }
    }

    /// A packet that had been declared lost has been acknowledged after all. If that is true of all packets whose loss
    /// started a recovery, it is undone.
    pub fn on_acked_late(&mut self, now: Time, packet: &PacketState) {
        if self.has_sent(packet) {
            self.count_acked(now, packet);
            self.recoveries.on_arrived(packet.sequence);
        }
    }

    /// Before anything leaves the flight: an ACK and its losses, in either order, only make it smaller.
    fn note_inflight(&mut self) {
        self.ack.prior_inflight = self.ack.prior_inflight.max(self.inflight);
    }

    fn count_acked(&mut self, now: Time, packet: &PacketState) {
        self.note_inflight();
        self.sampler.on_packet_acked(now, packet);
        self.ack.bytes += packet.bytes;
        self.ack.packets = self.ack.packets.saturating_add(1);
    }

    /// The transport has measured the round-trip time of this ACK itself; or it knows that there is none to be had, because what
    /// is acknowledged was sent more than once under the same name (Karn's algorithm, RFC 6298). Without this call, the newest
    /// packet's time of departure counts.
    pub fn on_rtt(&mut self, rtt: Option<RttSample>) {
        self.ack.rtt = Some(rtt);
    }

    /// The ACK in progress reports `bytes` more as marked "congestion experienced" (ECN).
    pub fn on_marked(&mut self, bytes: Bytes) {
        self.ack.ce_marked += bytes;
        self.sampler.on_ce_marked(bytes);
    }

    /// A packet has been declared lost, by an ACK or by a timer, once.
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

    /// A packet is neither acknowledged nor lost, and not waited for any more (in QUIC, of a number space that is discarded).
    pub fn on_forgotten(&mut self, packet: &PacketState) {
        if self.has_sent(packet) {
            self.inflight -= packet.bytes;
        }
    }

    /// The ACK, or the loss timer, has been processed: all that it acknowledged, marked and lost has been told.
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

    /// Of the newest packet, unless a later one had been acknowledged before: then the receiver had reported since (RFC 9002,
    /// "Generating RTT Samples"). A packet that is not full and travelled alone may have waited at the receiver for a second.
    fn measure_rtt(&self, now: Time, packets: u32, newest: &PacketState) -> Option<RttSample> {
        let is_alone = packets == 1
            && newest.bytes < self.mss
            && self.sampler.delivered() == newest.delivered + newest.bytes;
        (self.newest_acked < Some(newest.sequence)).then(|| RttSample {
            rtt: now.since(newest.sent_time),
            is_ack_delayed: is_alone,
        })
    }

    /// A retransmission timeout (TCP) or persistent congestion (QUIC), after the losses that it declared. A probe timeout is
    /// none.
    pub fn on_timeout(&mut self, now: Time) {
        // What was in flight before its losses is not what the next ACK finds.
        self.ack = PendingAck::default();
        self.recoveries.on_timeout(self.last_sequence);
        self.controller.on_timeout(now, self.inflight);
    }

    /// The largest packet now has `mss` bytes.
    pub fn on_mtu_change(&mut self, mss: Bytes) {
        self.mss = mss;
        self.controller.on_mtu_change(mss);
    }

    /// Without data, the application is the limit from when the pacer would have let the next packet leave.
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

    /// The controller, to be read.
    pub fn controller(&self) -> &C {
        &self.controller
    }

    /// The sampler, to be read.
    pub fn sampler(&self) -> &Sampler {
        &self.sampler
    }

    /// The least round-trip time so far.
    pub fn min_rtt(&self) -> Option<Duration> {
        self.min_rtt
    }

    /// Whether losses, marks or a timeout are being recovered from.
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

    /// The newest acknowledged packet decides whose round-trip time counts: one that never was would be it for ever.
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

    /// What was made long before its first packet has no old round-trip time to renew.
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
