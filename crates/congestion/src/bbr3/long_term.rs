//! The long-term model: the most in flight without too much loss, `BBR.inflight_longterm` (BBR draft, "Probing for
//! Bandwidth In ProbeBW", "ProbeBW Algorithm Details").

use units::{Bytes, Ratio, Time};

use super::probe_bw::AckPhase;
use super::undo::Return;
use super::{BETA, Bbr3, State};
use crate::controller::{Ack, Lost};

/// The share of losses in a round above which they are too many (`BBR.LossThresh`).
const LOSS_THRESHOLD: Ratio = Ratio::new(2, 100);
/// The inverse of the share that remains at the threshold.
const PER_KEPT: Ratio = Ratio::new(100, 98);
/// The share of the bound that is left to others (`BBR.Headroom`).
const HEADROOM: Ratio = Ratio::new(15, 100);

/// The lessons from the previous probe ("Precautionary Bandwidth Probing").
#[derive(Debug, Clone, Copy, Default)]
pub struct Caution {
    /// Whether it lost too much (`BBR.prev_probe_too_high`).
    pub was_too_high: bool,
    /// Whether it ended at the level of an earlier excessive probe (`BBR.prev_probe_precautionary`).
    pub is_precautionary: bool,
}

impl Bbr3 {
    /// `IsInflightTooHigh`. Without selective ACKs the transport finds at most one loss a round trip, so one is too many.
    pub(super) fn is_inflight_too_high(&self, lost: Bytes, inflight_at_send: Bytes) -> bool {
        exceeds_threshold(lost, inflight_at_send) || !self.has_selective_acks && !lost.is_zero()
    }

    /// `HandleLostPacket`, without its bookkeeping: a packet of a probe was lost.
    pub(super) fn handle_lost_packet(&mut self, lost: &Lost) {
        if !self.is_probe_sample {
            return;
        }
        let packet = &lost.packet;
        let lost_since_send = lost.total_lost - packet.lost;
        if !self.is_inflight_too_high(lost_since_send, packet.inflight) {
            return;
        }
        let inflight = inflight_at_loss(packet.bytes, packet.inflight, lost_since_send);
        let least = BETA.of_bytes(self.target_inflight());
        let is_app_limited = self.is_app_limited(packet.is_app_limited, packet.delivered);
        self.handle_inflight_too_high(lost.now, inflight.max(least), is_app_limited);
    }

    /// `HandleInflightTooHigh`, after which `bound` may be in flight.
    fn handle_inflight_too_high(&mut self, now: Time, bound: Bytes, is_app_limited: bool) {
        self.caution.was_too_high = true;
        self.is_probe_sample = false; // once a probe
        if !is_app_limited {
            self.inflight_long_term = Some(bound);
        }
        if matches!(self.state, State::Up) {
            self.undo.note_end_of(Return::Up);
            self.start_down(now);
        }
    }

    /// `AdaptLongTermModel`. Returns whether it changed the state.
    pub(super) fn adapt_long_term_model(&mut self, ack: &Ack) -> bool {
        let is_round_start = self.round.has_just_started();
        if self.ack_phase == AckPhase::ProbeStarting && is_round_start {
            self.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.ack_phase == AckPhase::ProbeStopping && is_round_start {
            self.is_probe_sample = false;
            self.ack_phase = AckPhase::Init;
            if self.is_in_probe_bw() {
                if !self.is_sample_app_limited(ack) {
                    self.max_bw.advance();
                }
                // "Precautionary Bandwidth Probing: Acceleration".
                if self.caution.is_precautionary && !self.caution.was_too_high {
                    self.start_refill();
                    return true;
                }
            }
        }
        let rate = &ack.rate;
        if self.is_inflight_too_high(rate.lost_since_send, rate.inflight_at_send) {
            return false; // the losses themselves have been looked at
        }
        if self.is_marked_too_much(ack) {
            if self.is_probe_sample {
                let bound = self.bound_after_marks(ack);
                let is_app_limited = self.is_sample_app_limited(ack);
                self.handle_inflight_too_high(ack.now, bound, is_app_limited);
            }
            return false;
        }
        let Some(bound) = self.inflight_long_term else {
            return false;
        };
        let bound = bound.max(rate.inflight_at_send);
        self.inflight_long_term = Some(bound);
        if matches!(self.state, State::Up) {
            self.raise_long_term_bound(ack, bound);
        }
        false
    }

    /// `InflightWithHeadroom`; `None` without a bound.
    pub(super) fn inflight_with_headroom(&self) -> Option<Bytes> {
        let bound = self.inflight_long_term?;
        let headroom = HEADROOM.of_bytes(bound).max(self.control.mss);
        Some((bound - headroom).max(self.control.least_cwnd()))
    }
}

fn exceeds_threshold(lost: Bytes, inflight_at_send: Bytes) -> bool {
    lost > LOSS_THRESHOLD.of_bytes(inflight_at_send)
}

/// `InflightAtLoss`: the bytes in flight at which losses became too many. This may be within a packet that is a burst
/// of several. If losses were too many before it, `lost_prefix` is negative, and the result lies before the packet.
fn inflight_at_loss(size: Bytes, inflight: Bytes, lost: Bytes) -> Bytes {
    let inflight_before = inflight - size;
    let lost_before = lost - size;
    let allowed = LOSS_THRESHOLD.of_bytes(inflight_before);
    let prefix = |bytes| PER_KEPT.of_bytes(bytes);
    inflight_before + prefix(allowed - lost_before) - prefix(lost_before - allowed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bbr3::Config;
    use crate::controller::{Connection, Controller};
    use crate::sampling::{Outstanding, RateSample, Sampler};

    #[test]
    fn the_losses_cross_the_threshold_within_a_burst() {
        let bytes = Bytes::new;
        // 100 kB before it without losses: 2 % of the bytes then in flight are 2041 bytes of the burst.
        let at = inflight_at_loss(bytes(10_000), bytes(110_000), bytes(10_000));
        assert_eq!(at, bytes(102_040));
        // 2 kB were lost before, just as much as is borne.
        let at = inflight_at_loss(bytes(10_000), bytes(110_000), bytes(12_000));
        assert_eq!(at, bytes(100_000));
        // With 4.94 kB before it, the losses were at the threshold 3 kB earlier.
        let at = inflight_at_loss(bytes(10_000), bytes(110_000), bytes(14_940));
        assert_eq!(at, bytes(97_000));
        // Inconsistent values stay within bounds.
        let at = inflight_at_loss(bytes(10_000), bytes(1_000), bytes(1_000));
        assert_eq!(at, Bytes::ZERO);
    }

    /// The chance that so many packets, of which each is lost with 1 %, show more than the threshold.
    fn chance_of_too_many(packets: u32, at_least: u32) -> f64 {
        let mss = Bytes::new(1_000);
        let inflight = mss * u64::from(packets);
        let is_too_many = |lost: u32| exceeds_threshold(mss * u64::from(lost), inflight);
        let too_many = (at_least..=packets).find(|lost| is_too_many(*lost));
        // Binomial: the chance of fewer, one number of losses after the other.
        let mut chance = 0.99_f64.powi(packets.cast_signed());
        let mut fewer = 0.0;
        for lost in 0..too_many.expect("all are too many") {
            fewer += chance;
            chance *= f64::from(packets - lost) / f64::from(lost + 1) * 0.01 / 0.99;
        }
        1.0 - fewer
    }

    /// Half of the threshold is lost on average. In few packets, chance alone exceeds it.
    #[test]
    fn in_few_packets_a_hundredth_often_shows_as_more_than_two() {
        let is_near = |chance: f64, expected: f64| (chance - expected).abs() < 0.001;
        for (packets, expected) in [(50, 0.089), (100, 0.079), (240, 0.095), (299, 0.082)] {
            let chance = chance_of_too_many(packets, 0);
            assert!(is_near(chance, expected), "{packets}: {chance}");
        }
        // The chance is greatest before each multiple of fifty, at which one more loss is borne.
        let chances = (50..300).map(|packets| chance_of_too_many(packets, 0));
        assert!(is_near(chances.clone().fold(1.0, f64::min), 0.041));
        assert!(is_near(chances.fold(0.0, f64::max), 0.261));
        // Startup needs six losses, too.
        for (packets, expected) in [(150, 0.004), (240, 0.035), (299, 0.082), (833, 0.005)] {
            let chance = chance_of_too_many(packets, 6);
            assert!(is_near(chance, expected), "{packets}: {chance}");
        }
    }

    /// Draft, "ProbeBW Algorithm Details": what was in flight without too much loss raises the bound in any state.
    #[test]
    fn what_was_in_flight_raises_the_bound() {
        let bytes = Bytes::new;
        let connection = Connection::new(Time::ZERO, bytes(1_000), bytes(10_000));
        let bound_after = |inflight_at_send, lost_since_send| {
            let mut bbr3 = Bbr3::new(connection, Config::default());
            bbr3.inflight_long_term = Some(bytes(50_000));
            let rate = RateSample {
                inflight_at_send,
                lost_since_send,
                ..RateSample::default()
            };
            let ack = Ack::new(Time::ZERO, bytes(1_000), bytes(1_000), Bytes::ZERO, rate);
            assert!(!bbr3.adapt_long_term_model(&ack));
            bbr3.inflight_long_term
        };
        assert_eq!(bound_after(bytes(80_000), bytes(0)), Some(bytes(80_000)));
        assert_eq!(
            bound_after(bytes(80_000), bytes(1_601)),
            Some(bytes(50_000))
        );
        assert_eq!(bound_after(bytes(20_000), bytes(0)), Some(bytes(50_000)));
    }

    /// `InflightAtLoss` counts the share that would be borne, so the bound may lie above what was in flight.
    #[test]
    fn one_loss_ends_a_probe_without_selective_acks() {
        let bytes = Bytes::new;
        for (has_selective_acks, expected) in [(true, None), (false, Some(bytes(101_020)))] {
            let mut connection = Connection::new(Time::ZERO, bytes(1_000), bytes(10_000));
            connection.has_selective_acks = has_selective_acks;
            let mut bbr3 = Bbr3::new(connection, Config::default());
            bbr3.state = State::Up;
            bbr3.is_probe_sample = true;
            let mut sampler = Sampler::new(Time::ZERO);
            let mut packet = sampler.on_packet_sent(Time::ZERO, bytes(1_000), Outstanding::Nothing);
            packet.inflight = bytes(100_000);
            sampler.on_packet_lost(&packet);
            bbr3.on_packet_lost(&Lost::new(Time::ZERO, packet, Bytes::ZERO, &sampler));
            assert_eq!(matches!(bbr3.state, State::Up), has_selective_acks);
            assert_eq!(bbr3.inflight_long_term, expected);
        }
    }

    #[test]
    fn two_percent_are_borne() {
        let (lost, inflight) = (Bytes::new(2_000), Bytes::new(100_000));
        assert!(!exceeds_threshold(lost, inflight));
        assert!(exceeds_threshold(lost + Bytes::new(1), inflight));
    }
}
