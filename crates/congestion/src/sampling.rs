//! Delivery-rate samples (BBR draft, "Delivery Rate Samples"): how fast the network delivers, measured from ACKs.
//!
//! Between a packet's departure and its ACK the network delivered some amount of data. Divided by the time that took
//! this is a rate that the path has proven to sustain. Two intervals are candidates for "the time that took": from the
//! delivery before the departure until the ACK (the ACK rate), and from the departure of the packet delivered before
//! until the departure of this one (the send rate). ACKs that were bunched together on their way make the first too
//! short, but nothing is delivered faster than it was sent: the longer interval counts.
//!
//! A transport keeps a [`Sampler`] per connection and a [`PacketState`] per packet in flight:
//!
//! ```
//! # use congestion::{Bytes, Duration, Rate, Time, sampling::{Outstanding, Sampler}};
//! let at = |ms| Time::ZERO + Duration::from_millis(ms);
//! let size = Bytes::new(1_000);
//! let mut sampler = Sampler::new(at(0));
//!
//! // Two packets leave, ten milliseconds apart; one ACK for both arrives 40 ms after the second.
//! let first = sampler.on_packet_sent(at(0), size, Outstanding::Nothing);
//! let second = sampler.on_packet_sent(at(10), size, Outstanding::Inflight(size));
//! sampler.on_packet_acked(at(50), &first);
//! sampler.on_packet_acked(at(50), &second);
//! let sample = sampler.sample(at(50), Duration::from_millis(40));
//!
//! assert_eq!(sample.delivered, size * 2);
//! assert_eq!(sample.delivery_rate, Some(Rate::from_transfer(size * 2, Duration::from_millis(50))));
//! ```
//!
//! # Identity of packets
//!
//! The sampler does not care what a packet is, only that each is sent once, and at most once acknowledged. A QUIC
//! transport uses its packets as they are. A TCP-like sender uses its segments, and takes a retransmission for a new
//! packet that replaces the old one: it calls [`Sampler::on_packet_lost`] for the original and
//! [`Sampler::on_packet_sent`] for the copy. If the original arrives after all, its ACK is taken for the copy's. That
//! ACK's sample is not too great even so: what is lost but not acknowledged is still [`Outstanding`], so that the copy begins
//! no interval anew, and everything that the ACK delivers is spread over the whole time since the ACK before. A sample whose
//! interval is shorter than the least round trip is refused. One case remains, in Linux too: of ACKs that were held back and
//! come together, one acknowledges such a copy, and a packet leaves before the others are processed. Its send interval
//! begins at the copy, and its ACK interval holds all that the others deliver.

use units::{Bytes, Duration, Rate, Time};

/// The sampler's state when a packet was sent. The transport keeps it with the packet and returns it when the packet is
/// acknowledged or lost (BBR draft, "Per-packet (P) state").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PacketState {
    /// The size as congestion control counts it.
    pub bytes: Bytes,
    /// The time of departure.
    pub sent_time: Time,
    /// The order in which packets were sent; a retransmission counts as a new packet.
    pub sequence: u64,
    /// Bytes delivered on the connection when it was sent.
    pub delivered: Bytes,
    /// When `delivered` was last updated.
    pub delivered_time: Time,
    /// The departure of the packet most recently delivered: the start of the send interval.
    pub first_sent_time: Time,
    /// Bytes lost on the connection when it was sent.
    pub lost: Bytes,
    /// Bytes that ACKs had reported as marked (ECN) on the connection when it was sent: the low half of the number, which keeps this
    /// small and tells how many were marked since, up to 4 GiB (Linux keeps 20 bits of packets, `tcp_skb_cb.tx.delivered_ce`).
    pub delivered_ce: u32,
    /// Bytes in flight right after it was sent, itself included.
    pub inflight: Bytes,
    /// Whether the connection was application-limited when it was sent.
    pub is_app_limited: bool,
}

impl PacketState {
    /// The state as numbers, for a transport that keeps it outside Rust.
    pub fn to_words(&self) -> [u64; 9] {
        [
            self.bytes.get(),
            self.sent_time.as_nanos(),
            self.sequence,
            self.delivered.get(),
            self.delivered_time.as_nanos(),
            self.first_sent_time.as_nanos(),
            self.lost.get(),
            self.inflight.get(),
            u64::from(self.delivered_ce) << 1 | u64::from(self.is_app_limited),
        ]
    }

    /// The state from [`PacketState::to_words`]. Other numbers are a packet that was never sent: [`Sampler::has_sent`]
    /// detects it if its sequence is not reached yet; otherwise it causes a wrong sample at most.
    pub fn from_words(words: [u64; 9]) -> PacketState {
        let [
            bytes,
            sent,
            sequence,
            delivered,
            delivered_time,
            first_sent,
            lost,
            inflight,
            rest,
        ] = words;
        PacketState {
            bytes: Bytes::new(bytes),
            sent_time: Time::from_nanos(sent),
            sequence,
            delivered: Bytes::new(delivered),
            delivered_time: Time::from_nanos(delivered_time),
            first_sent_time: Time::from_nanos(first_sent),
            lost: Bytes::new(lost),
            delivered_ce: low_half(Bytes::new(rest >> 1)),
            inflight: Bytes::new(inflight),
            is_app_limited: rest & 1 == 1,
        }
    }
}

/// The packets that are out when a packet is sent: those sent before it that an ACK may still report as delivered.
///
/// The sampler's intervals begin anew when nothing is out, as any ACK from then on tells of what is sent from now on. What
/// is in flight does not answer that. A loss is a guess of the sender's, and a wrong one must not make the interval short
/// and the rate great: after a timeout everything may have been declared lost, and one late ACK then delivers a whole window
/// at once (Linux `tcp_rate_skb_sent`, which asks `packets_out`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outstanding {
    /// Nothing is out.
    Nothing,
    /// Something is out. So many bytes of it are in flight; zero if all was declared lost.
    Inflight(Bytes),
}

impl Outstanding {
    /// The packets out at a transport that never reports a packet to [`Sampler::on_packet_acked`] after
    /// [`Sampler::on_packet_lost`]: only those in flight.
    pub fn without_lost(inflight: Bytes) -> Outstanding {
        if inflight.is_zero() {
            Outstanding::Nothing
        } else {
            Outstanding::Inflight(inflight)
        }
    }

    /// The bytes in flight.
    fn inflight(self) -> Bytes {
        match self {
            Outstanding::Nothing => Bytes::ZERO,
            Outstanding::Inflight(inflight) => inflight,
        }
    }
}

/// The delivery-rate sample of one ACK (BBR draft, "Rate Sample (rs) Output").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct RateSample {
    /// The sample: `delivered` / `interval`. `None` if the ACK delivered nothing new or the interval is not
    /// trustworthy (shorter than the minimum RTT).
    pub delivery_rate: Option<Rate>,
    /// Bytes delivered between the newest acknowledged packet's departure and now.
    pub delivered: Bytes,
    /// The longer of the send interval and the ACK interval.
    pub interval: Duration,
    /// Bytes that had been delivered when the newest acknowledged packet was sent.
    pub prior_delivered: Bytes,
    /// Bytes delivered on the connection until now, this ACK included.
    pub total_delivered: Bytes,
    /// Bytes lost on the connection until now.
    pub total_lost: Bytes,
    /// Bytes declared lost since the previous sample.
    pub newly_lost: Bytes,
    /// Bytes that were in flight right after the newest acknowledged packet was sent.
    pub inflight_at_send: Bytes,
    /// Bytes lost between the newest acknowledged packet's departure and now.
    pub lost_since_send: Bytes,
    /// Bytes reported as marked (ECN) between the newest acknowledged packet's departure and now (Linux
    /// `rate_sample.delivered_ce`).
    pub delivered_ce: Bytes,
    /// Bytes reported as marked on the connection until now (Linux `tcp_sock.delivered_ce`).
    pub total_delivered_ce: Bytes,
    /// Whether the newest acknowledged packet was sent while the connection was application-limited.
    pub is_app_limited: bool,
}

/// Computes a [`RateSample`] for every ACK of a connection (BBR draft, "Delivery Rate Samples").
#[derive(Debug, Clone)]
pub struct Sampler {
    /// Bytes sent, repeats included: the bound of what can be delivered.
    sent: Bytes,
    /// Bytes delivered (`C.delivered`).
    delivered: Bytes,
    /// When `delivered` was last updated, or sending began again from idle (`C.delivered_time`).
    delivered_time: Time,
    /// When the packet most recently delivered had been sent, or sending began again from idle
    /// (`C.first_send_time`).
    first_sent_time: Time,
    /// Bytes lost (`C.lost`).
    lost: Bytes,
    /// Bytes lost since the previous sample.
    newly_lost: Bytes,
    /// The delivered bytes that were marked.
    delivered_ce: Bytes,
    /// The sequence number of the next packet.
    next_sequence: u64,
    /// The end of the bubble: the connection counts as application-limited until more than this is delivered
    /// (`C.app_limited`).
    app_limited: Option<Bytes>,
    /// The newest packet that the ACK in progress has delivered.
    newest: Option<PacketState>,
}

impl Sampler {
    /// A sampler for a connection on which nothing was sent yet.
    pub fn new(now: Time) -> Sampler {
        Sampler {
            sent: Bytes::ZERO,
            delivered: Bytes::ZERO,
            delivered_time: now,
            first_sent_time: now,
            lost: Bytes::ZERO,
            newly_lost: Bytes::ZERO,
            delivered_ce: Bytes::ZERO,
            next_sequence: 0,
            app_limited: None,
            newest: None,
        }
    }

    /// Records a packet of `bytes` that leaves while `out`, without this packet, is out (`OnPacketSent`).
    ///
    /// The returned state belongs to the packet: the transport keeps it until the packet is acknowledged or forgotten.
    pub fn on_packet_sent(&mut self, now: Time, bytes: Bytes, out: Outstanding) -> PacketState {
        // After a pause the pipe was empty: time in which nothing could have been delivered must not count.
        if out == Outstanding::Nothing {
            self.first_sent_time = now;
            self.delivered_time = now;
        }
        let sequence = self.next_sequence;
        self.next_sequence = sequence.wrapping_add(1);
        self.sent += bytes;
        PacketState {
            bytes,
            sent_time: now,
            sequence,
            delivered: self.delivered,
            delivered_time: self.delivered_time,
            first_sent_time: self.first_sent_time,
            lost: self.lost,
            delivered_ce: low_half(self.delivered_ce),
            inflight: out.inflight() + bytes,
            is_app_limited: self.app_limited.is_some(),
        }
    }

    /// The ACK in progress delivers `packet` (`UpdateRateSample`). Called for each packet that an ACK newly
    /// acknowledges, in any order, before [`Sampler::sample`]; also for one that had been declared lost.
    ///
    /// A packet is to be reported once. Should it be reported again, the count of delivered bytes still never exceeds
    /// that of sent ones.
    #[inline]
    pub fn on_packet_acked(&mut self, now: Time, packet: &PacketState) {
        self.on_bytes_delivered(now, packet.bytes);
        self.on_packet_named(packet);
    }

    /// The ACK in progress shows that `bytes` more have arrived, without naming their packets: a duplicate ACK of a TCP
    /// receiver without SACK (BBR draft, "TCP Connections without SACK"). When a later ACK names them, they go to
    /// [`Sampler::on_packet_named`]. An ACK that names none gives no rate.
    #[inline]
    pub fn on_bytes_delivered(&mut self, now: Time, bytes: Bytes) {
        self.delivered = (self.delivered + bytes).min(self.sent);
        self.delivered_time = now;
    }

    /// The ACK in progress names `packet` as delivered. Its bytes are counted by [`Sampler::on_bytes_delivered`].
    #[inline]
    pub fn on_packet_named(&mut self, packet: &PacketState) {
        if self
            .newest
            .is_none_or(|newest| packet.sequence > newest.sequence)
        {
            self.first_sent_time = packet.sent_time;
            self.newest = Some(*packet);
        }
    }

    /// Records the loss of `packet`.
    pub fn on_packet_lost(&mut self, packet: &PacketState) {
        self.lost += packet.bytes;
        self.newly_lost += packet.bytes;
    }

    /// The ACK in progress reports `bytes` more as marked "congestion experienced" (ECN). Called before [`Sampler::sample`], where
    /// the peer counts marks; a transport that learns of no more than their presence leaves the count at what it knows.
    pub fn on_ce_marked(&mut self, bytes: Bytes) {
        self.delivered_ce += bytes;
    }

    /// The sender could send more but has nothing to send while `inflight` bytes are in flight
    /// (`MarkConnectionAppLimited`).
    ///
    /// A transport calls this whenever it finds the window and the pacer willing but no data waiting, neither new nor
    /// lost (BBR draft, "Detecting application-limited phases"). The mark ends by itself when all that was in flight
    /// is delivered and the gap behind it has left the pipe.
    pub fn mark_app_limited(&mut self, inflight: Bytes) {
        self.app_limited = Some(self.delivered + inflight);
    }

    /// Whether [`Sampler::on_packet_sent`] has reached this packet's sequence. State from outside may be anything.
    #[inline]
    pub fn has_sent(&self, packet: &PacketState) -> bool {
        packet.sequence < self.next_sequence
    }

    /// Whether nothing was sent since an earlier time than `now`.
    pub(crate) fn is_unused_since(&self, now: Time) -> bool {
        self.next_sequence == 0 && self.delivered_time < now
    }

    /// Whether packets sent now are marked as application-limited.
    pub fn is_app_limited(&self) -> bool {
        self.app_limited.is_some()
    }

    /// The newest packet that the ACK in progress has delivered.
    pub(crate) fn newest(&self) -> Option<&PacketState> {
        self.newest.as_ref()
    }

    /// Bytes delivered on the connection so far.
    pub fn delivered(&self) -> Bytes {
        self.delivered
    }

    /// Bytes declared lost on the connection so far.
    pub fn lost(&self) -> Bytes {
        self.lost
    }

    /// Ends the ACK and returns its sample (`GenerateRateSample`). Called once per ACK, after
    /// [`Sampler::on_packet_acked`] for each of its packets.
    ///
    /// `min_rtt` is the least round-trip time of the connection, zero while unknown: a sample over a shorter interval
    /// is not trustworthy.
    // Else the sample is written to memory, and at once copied into the `Ack` with wider loads, which wait for the stores.
    #[inline(always)]
    pub fn sample(&mut self, now: Time, min_rtt: Duration) -> RateSample {
        if self.app_limited.is_some_and(|end| self.delivered > end) {
            self.app_limited = None;
        }
        let totals = RateSample {
            total_delivered: self.delivered,
            total_lost: self.lost,
            newly_lost: core::mem::take(&mut self.newly_lost),
            total_delivered_ce: self.delivered_ce,
            ..RateSample::default()
        };
        let Some(packet) = &self.newest else {
            return totals;
        };
        let send_elapsed = packet.sent_time.since(packet.first_sent_time);
        let ack_elapsed = now.since(packet.delivered_time);
        let interval = send_elapsed.max(ack_elapsed);
        let delivered = self.delivered - packet.delivered;
        let is_plausible = !interval.is_zero() && interval >= min_rtt;
        let sample = RateSample {
            delivery_rate: is_plausible.then(|| Rate::from_transfer(delivered, interval)),
            delivered,
            interval,
            prior_delivered: packet.delivered,
            inflight_at_send: packet.inflight,
            lost_since_send: self.lost - packet.lost,
            delivered_ce: Bytes::new(
                low_half(self.delivered_ce)
                    .wrapping_sub(packet.delivered_ce)
                    .into(),
            ),
            is_app_limited: packet.is_app_limited,
            ..totals
        };
        self.newest = None;
        sample
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "what is cut off is not wanted"
)]
fn low_half(bytes: Bytes) -> u32 {
    bytes.get() as u32
}

#[cfg(test)]
mod tests {
    use super::Outstanding::Inflight;
    use super::*;

    const SIZE: Bytes = Bytes::new(1_000);
    const NOTHING: Outstanding = Outstanding::Nothing;
    const RTT: Duration = Duration::from_millis(40);

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    fn rate(bytes: u64, ms: u64) -> Option<Rate> {
        Some(Rate::from_transfer(
            Bytes::new(bytes),
            Duration::from_millis(ms),
        ))
    }

    fn ack(sampler: &mut Sampler, now: Time, packets: &[PacketState]) -> RateSample {
        for packet in packets {
            sampler.on_packet_acked(now, packet);
        }
        sampler.sample(now, RTT)
    }

    #[test]
    fn a_single_packet_takes_one_round_trip() {
        let mut sampler = Sampler::new(ms(0));
        let packet = sampler.on_packet_sent(ms(5), SIZE, NOTHING);
        let sample = ack(&mut sampler, ms(45), &[packet]);
        assert_eq!(sample.delivery_rate, rate(1_000, 40));
        assert_eq!(sample.delivered, SIZE);
        assert_eq!(sample.total_delivered, SIZE);
        assert_eq!(sample.inflight_at_send, SIZE);
        assert!(!sample.is_app_limited);
    }

    #[test]
    fn idle_time_does_not_count() {
        let mut sampler = Sampler::new(ms(0));
        let packet = sampler.on_packet_sent(ms(0), SIZE, NOTHING);
        ack(&mut sampler, ms(40), &[packet]);
        let packet = sampler.on_packet_sent(ms(10_000), SIZE, NOTHING);
        assert_eq!(
            ack(&mut sampler, ms(10_040), &[packet]).delivery_rate,
            rate(1_000, 40)
        );
    }

    #[test]
    fn the_ack_rate_bounds_what_was_sent_in_a_burst() {
        // Ten packets leave at once; their ACKs arrive 10 ms apart, as the bottleneck let the packets through. All
        // were sent at the same knee of the delivery curve: the last sees ten packets in 130 ms.
        let mut sampler = Sampler::new(ms(0));
        let packets: [PacketState; 10] = core::array::from_fn(|i| {
            sampler.on_packet_sent(ms(0), SIZE, Inflight(SIZE * i as u64))
        });
        let mut last = RateSample::default();
        for (i, packet) in packets.iter().enumerate() {
            last = ack(&mut sampler, ms(40 + 10 * i as u64), &[*packet]);
        }
        assert_eq!(last.delivery_rate, rate(10_000, 130));
    }

    #[test]
    fn the_send_rate_bounds_compressed_acks() {
        // Paced 10 ms apart; the ACKs of the first round arrive 20 ms late, those of the second all at once.
        let mut sampler = Sampler::new(ms(0));
        let first: [PacketState; 4] = core::array::from_fn(|i| {
            sampler.on_packet_sent(ms(10 * i as u64), SIZE, Inflight(SIZE * i as u64))
        });
        for (i, packet) in first.iter().enumerate() {
            ack(&mut sampler, ms(60 + 10 * i as u64), &[*packet]);
        }
        let second: [PacketState; 8] = core::array::from_fn(|i| {
            sampler.on_packet_sent(
                ms(91 + 10 * i as u64),
                SIZE,
                Inflight(SIZE * (i as u64 + 1)),
            )
        });
        let sample = ack(&mut sampler, ms(201), &second);
        // Eight packets, sent between 30 ms (the departure of the last one delivered) and 161 ms; between their ACKs and
        // that of the last one before were only 111 ms.
        assert_eq!(sample.delivered, SIZE * 8);
        assert_eq!(sample.interval, Duration::from_millis(131));
        assert_eq!(sample.delivery_rate, rate(8_000, 131));
    }

    #[test]
    fn the_newest_packet_decides_whatever_the_order() {
        let mut sampler = Sampler::new(ms(0));
        let a = sampler.on_packet_sent(ms(0), SIZE, NOTHING);
        let b = sampler.on_packet_sent(ms(10), SIZE, Inflight(SIZE));
        let c = sampler.on_packet_sent(ms(10), SIZE, Inflight(SIZE * 2));
        sampler.mark_app_limited(SIZE * 3);
        let d = sampler.on_packet_sent(ms(20), SIZE, Inflight(SIZE * 3));
        let mut other = sampler.clone();
        let forwards = ack(&mut sampler, ms(60), &[a, b, c, d]);
        assert_eq!(forwards, ack(&mut other, ms(60), &[d, b, a, c]));
        assert!(forwards.is_app_limited);
        assert_eq!(forwards.inflight_at_send, SIZE * 4);
    }

    #[test]
    fn the_bubble_marks_one_round_trip() {
        let mut sampler = Sampler::new(ms(0));
        let before = sampler.on_packet_sent(ms(0), SIZE, NOTHING);
        sampler.mark_app_limited(SIZE);
        let within = sampler.on_packet_sent(ms(10), SIZE, Inflight(SIZE));
        assert!(!before.is_app_limited);
        assert!(within.is_app_limited);
        assert!(!ack(&mut sampler, ms(40), &[before]).is_app_limited);
        assert!(
            sampler.is_app_limited(),
            "delivered up to the mark, not beyond it"
        );
        let still = sampler.on_packet_sent(ms(41), SIZE, Inflight(SIZE));
        assert!(ack(&mut sampler, ms(50), &[within]).is_app_limited);
        assert!(!sampler.is_app_limited());
        let after = sampler.on_packet_sent(ms(51), SIZE, Inflight(SIZE));
        assert!(ack(&mut sampler, ms(81), &[still]).is_app_limited);
        assert!(!ack(&mut sampler, ms(91), &[after]).is_app_limited);
    }

    #[test]
    fn an_interval_below_the_least_round_trip_is_refused() {
        // A TCP-like sender retransmits; the original's ACK arrives right after and is taken for the copy's.
        let mut sampler = Sampler::new(ms(0));
        let original = sampler.on_packet_sent(ms(0), SIZE, NOTHING);
        let other = sampler.on_packet_sent(ms(0), SIZE, Inflight(SIZE));
        ack(&mut sampler, ms(70), &[other]);
        sampler.on_packet_lost(&original);
        let copy = sampler.on_packet_sent(ms(71), SIZE, Inflight(Bytes::ZERO));
        let mut unaware = sampler.clone();
        let sample = ack(&mut sampler, ms(72), &[copy]);
        assert_eq!(
            sample.delivery_rate,
            rate(1_000, 71),
            "a packet since the first departure"
        );
        unaware.on_packet_acked(ms(72), &copy);
        let refused = unaware.sample(ms(72), Duration::from_millis(80));
        assert_eq!(refused.delivery_rate, None);
        assert_eq!(sample.newly_lost, SIZE);
        assert_eq!(sample.total_lost, SIZE);
        assert_eq!(sample.total_delivered, SIZE * 2);
    }

    #[test]
    fn what_is_lost_but_not_acknowledged_is_still_out() {
        // Ten packets, one each 4 ms. The ACK of the first comes in time, then the path of ACKs stands still. A timeout
        // declares the other nine lost and repeats the first of them; then one ACK delivers all of them.
        let mut sampler = Sampler::new(ms(0));
        let first = sampler.on_packet_sent(ms(0), SIZE, NOTHING);
        let others: [PacketState; 9] = core::array::from_fn(|i| {
            sampler.on_packet_sent(
                ms(4 * (i as u64 + 1)),
                SIZE,
                Inflight(SIZE * (i as u64 + 1)),
            )
        });
        ack(&mut sampler, ms(40), &[first]);
        for packet in &others {
            sampler.on_packet_lost(packet);
        }
        let copy = sampler.on_packet_sent(ms(300), SIZE, Inflight(Bytes::ZERO));
        let mut delivered = others;
        delivered[0] = copy;
        let sample = ack(&mut sampler, ms(350), &delivered);
        // Not 9 kB in the 50 ms since the repetition.
        assert_eq!(sample.delivery_rate, rate(9_000, 310));
        assert_eq!(sample.interval, Duration::from_millis(310));
    }

    #[test]
    fn losses_count_towards_the_next_sample_only() {
        let mut sampler = Sampler::new(ms(0));
        let a = sampler.on_packet_sent(ms(0), SIZE, NOTHING);
        let b = sampler.on_packet_sent(ms(1), SIZE, Inflight(SIZE));
        let c = sampler.on_packet_sent(ms(2), SIZE, Inflight(SIZE * 2));
        sampler.on_packet_lost(&a);
        let sample = ack(&mut sampler, ms(41), &[b]);
        assert_eq!((sample.newly_lost, sample.lost_since_send), (SIZE, SIZE));
        let sample = ack(&mut sampler, ms(42), &[c]);
        assert_eq!((sample.newly_lost, sample.total_lost), (Bytes::ZERO, SIZE));
    }

    #[test]
    fn marks_count_from_a_packets_departure() {
        let mut sampler = Sampler::new(ms(0));
        let first = sampler.on_packet_sent(ms(0), SIZE, NOTHING);
        let second = sampler.on_packet_sent(ms(0), SIZE, Inflight(SIZE));
        sampler.on_ce_marked(SIZE);
        assert_eq!(ack(&mut sampler, ms(40), &[first]).delivered_ce, SIZE);
        let third = sampler.on_packet_sent(ms(40), SIZE, Inflight(SIZE));
        sampler.on_ce_marked(SIZE);
        let sample = ack(&mut sampler, ms(41), &[second]);
        assert_eq!(
            (sample.delivered_ce, sample.total_delivered_ce),
            (SIZE * 2, SIZE * 2)
        );
        let sample = ack(&mut sampler, ms(80), &[third]);
        assert_eq!(
            (sample.delivered_ce, sample.total_delivered_ce),
            (SIZE, SIZE * 2)
        );
    }

    #[test]
    fn an_ack_of_nothing_gives_no_rate() {
        let mut sampler = Sampler::new(ms(0));
        let packet = sampler.on_packet_sent(ms(0), SIZE, NOTHING);
        ack(&mut sampler, ms(40), &[packet]);
        let sample = sampler.sample(ms(80), RTT);
        assert_eq!(sample.delivery_rate, None);
        assert_eq!(sample.delivered, Bytes::ZERO);
        assert_eq!(sample.total_delivered, SIZE);
    }

    #[test]
    fn a_late_ack_of_a_lost_packet_counts_once() {
        let mut sampler = Sampler::new(ms(0));
        let a = sampler.on_packet_sent(ms(0), SIZE, NOTHING);
        let b = sampler.on_packet_sent(ms(1), SIZE, Inflight(SIZE));
        sampler.on_packet_lost(&a);
        ack(&mut sampler, ms(41), &[b]);
        let late = ack(&mut sampler, ms(60), &[a]);
        assert_eq!(late.total_delivered, SIZE * 2);
        assert_eq!(late.delivery_rate, rate(2_000, 60));
        let again = ack(&mut sampler, ms(60), &[a]);
        assert_eq!(again.total_delivered, SIZE * 2);
    }

    #[test]
    fn extremes_do_not_overflow() {
        let mut sampler = Sampler::new(Time::MAX);
        let a = sampler.on_packet_sent(Time::MAX, Bytes::MAX, Inflight(Bytes::MAX));
        let b = sampler.on_packet_sent(Time::ZERO, Bytes::MAX, NOTHING);
        sampler.mark_app_limited(Bytes::MAX);
        sampler.on_packet_lost(&a);
        sampler.on_packet_lost(&b);
        sampler.on_packet_acked(Time::ZERO, &a);
        sampler.on_packet_acked(Time::MAX, &b);
        let sample = sampler.sample(Time::MAX, Duration::ZERO);
        assert_eq!(sample.total_delivered, Bytes::MAX);
        assert!(sample.delivery_rate.is_some());
    }
}
