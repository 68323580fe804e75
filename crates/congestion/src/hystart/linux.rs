//! Linux's HyStart (`hystart_update` in `tcp_cubic.c`), with two signs of a full pipe:
//!
//! - **The train of ACKs is as long as the round trip.** Closely spaced ACKs since the start of the round span the time
//!   that the bottleneck needs for a window. A sender that does not pace sends its window at once, so that half a round
//!   trip is enough; a paced one spreads it over half the round trip by itself.
//! - **The delay has grown**: the least round-trip time of the round's first samples is well above the least of all.
//!
//! Either ends slow start at once. HyStart++ instead continues at a quarter of the pace until it is sure.

use units::{Bytes, Duration, Rate, Time};

use super::Observed;

/// The least window with a train, in packets (`hystart_low_window`).
const MIN_TRAIN_PACKETS: u64 = 16;
/// The largest distance between ACKs of a train (`hystart_ack_delta_us`).
const MAX_ACK_SPACING: Duration = Duration::from_millis(2);
/// The samples of a round that are gathered before they count (`HYSTART_MIN_SAMPLES`).
const MIN_SAMPLES: u32 = 8;
/// The significant rise of the delay: an eighth of the least, within these bounds (`HYSTART_DELAY_THRESH`).
const RISE_DIVISOR: u64 = 8;
const MIN_RISE: Duration = Duration::from_millis(4);
const MAX_RISE: Duration = Duration::from_millis(16);
/// The hosts' contribution to a train when they send and receive large bursts: four of the largest at the pacing rate,
/// which is twice the path's by then, up to a millisecond (`hystart_ack_delay`; `sk_gso_max_size`).
const HOST_BURST_BYTES: Bytes = Bytes::new(4 * 65_536);
const MAX_HOST_DELAY: Duration = Duration::from_millis(1);

/// Linux's detector. It is active in every slow start, but after it has ended one, not until a timeout.
#[derive(Debug, Clone, Copy)]
pub struct HyStart {
    is_paced: bool,
    /// The least round-trip time of all (`delay_min`).
    min_rtt: Option<Duration>,
    round_start: Time,
    /// The arrival of the last ACK of the train (`last_ack`).
    last_of_train: Time,
    /// The least round-trip time of this round (`curr_rtt`).
    round_min: Option<Duration>,
    samples: u32,
    has_ended: bool,
}

impl HyStart {
    pub fn new(now: Time, is_paced: bool) -> HyStart {
        HyStart {
            is_paced,
            min_rtt: None,
            round_start: now,
            last_of_train: now,
            round_min: None,
            samples: 0,
            has_ended: false,
        }
    }

    /// Forgets everything, including the least round-trip time (`cubictcp_state`).
    pub fn restart(&mut self, now: Time) {
        *self = HyStart::new(now, self.is_paced);
    }

    /// Takes an ACK. Returns whether slow start is over (`cubictcp_acked`). ACKs without a round-trip time are ignored.
    pub fn on_ack(&mut self, observed: &Observed) -> bool {
        let Some(rtt) = observed.rtt else {
            return false;
        };
        let min_rtt = self.min_rtt.map_or(rtt, |min| min.min(rtt));
        self.min_rtt = Some(min_rtt);
        if self.has_ended || !observed.is_slow_start {
            return false;
        }
        if observed.begins_round {
            self.begin_round(observed.now);
        }
        if observed.packets < MIN_TRAIN_PACKETS {
            return false;
        }
        let is_train = self.is_long_train(observed.now, min_rtt, observed.pacing_rate);
        let is_delayed = self.is_delayed(rtt, min_rtt);
        self.has_ended = is_train || is_delayed;
        self.has_ended
    }

    fn begin_round(&mut self, now: Time) {
        self.round_start = now;
        self.last_of_train = now;
        self.round_min = None;
        self.samples = 0;
    }

    fn is_long_train(&mut self, now: Time, min_rtt: Duration, pacing_rate: Rate) -> bool {
        if now.since(self.last_of_train) > MAX_ACK_SPACING {
            return false;
        }
        self.last_of_train = now;
        let host_delay = pacing_rate.time_for(HOST_BURST_BYTES).min(MAX_HOST_DELAY);
        let round_trip = min_rtt + host_delay;
        let threshold = if self.is_paced {
            round_trip
        } else {
            round_trip / 2
        };
        now.since(self.round_start) > threshold
    }

    fn is_delayed(&mut self, rtt: Duration, min_rtt: Duration) -> bool {
        let round_min = self.round_min.map_or(rtt, |min| min.min(rtt));
        self.round_min = Some(round_min);
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
            return false;
        }
        let rise = (min_rtt / RISE_DIVISOR).clamp(MIN_RISE, MAX_RISE);
        round_min > min_rtt + rise
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(40);
    const START: Time = Time::from_nanos(1_000_000_000);

    fn ack(now: Time, rtt: Duration, begins_round: bool) -> Observed {
        Observed {
            now,
            begins_round,
            rtt: Some(rtt),
            packets: MIN_TRAIN_PACKETS,
            pacing_rate: Rate::from_bits_per_sec(10_000_000),
            is_slow_start: true,
            is_initial: true,
        }
    }

    /// The length of a train of ACKs with this spacing when it ends slow start. `None` if it never does.
    fn train(is_paced: bool, spacing: Duration, packets: u64) -> Option<Duration> {
        let mut hystart = HyStart::new(START, is_paced);
        let mut now = START;
        let mut begins_round = true;
        while now < START + RTT * 2 {
            let observed = Observed {
                packets,
                ..ack(now, RTT, begins_round)
            };
            if hystart.on_ack(&observed) {
                return Some(now.since(START));
            }
            begins_round = false;
            now += spacing;
        }
        None
    }

    #[test]
    fn a_train_of_acks_ends_it_at_half_a_round_trip_or_a_whole_if_paced() {
        let spacing = Duration::from_micros(500);
        // 20.5 and 41 ms, half of the host's millisecond and all of it included; the next ACK is the first beyond.
        let half = Duration::from_micros(21_000);
        let whole = Duration::from_micros(41_500);
        assert_eq!(train(false, spacing, MIN_TRAIN_PACKETS), Some(half));
        assert_eq!(train(true, spacing, MIN_TRAIN_PACKETS), Some(whole));
    }

    #[test]
    fn acks_more_than_two_milliseconds_apart_and_small_windows_are_no_train() {
        let two = Duration::from_millis(2);
        assert!(train(false, two, MIN_TRAIN_PACKETS).is_some());
        assert_eq!(
            train(false, two + Duration::from_nanos(1), MIN_TRAIN_PACKETS),
            None
        );
        assert_eq!(train(false, two, MIN_TRAIN_PACKETS - 1), None);
    }

    #[test]
    fn the_host_delay_shrinks_at_a_high_rate() {
        let mut hystart = HyStart::new(START, false);
        let fast = |now, begins_round| Observed {
            // 262,144 bytes take 262 µs.
            pacing_rate: Rate::from_bytes_per_sec(1_000_000_000),
            ..ack(now, RTT, begins_round)
        };
        hystart.on_ack(&fast(START, true));
        let mut now = START;
        let threshold = (RTT + Duration::from_nanos(262_144)) / 2;
        while now.since(START) + Duration::from_millis(1) <= threshold {
            now += Duration::from_millis(1);
            assert!(!hystart.on_ack(&fast(now, false)));
        }
        assert!(!hystart.on_ack(&fast(START + threshold, false)));
        assert!(hystart.on_ack(&fast(START + threshold + Duration::from_nanos(1), false)));
    }

    #[test]
    fn a_rise_of_an_eighth_between_4_and_16_ms_ends_it_with_the_ninth_sample() {
        for (min, rise) in [(10, 4), (80, 10), (400, 16)] {
            let rtt = Duration::from_millis(min);
            let limit = rtt + Duration::from_millis(rise);
            for (raised, expected) in [(limit, None), (limit + Duration::from_nanos(1), Some(9))] {
                let mut hystart = HyStart::new(START, true);
                hystart.on_ack(&ack(START, rtt, true));
                // Rare ACKs, so that there is no train.
                let mut now = START;
                let ended = (1..=20).find(|sample| {
                    now += Duration::from_millis(3);
                    hystart.on_ack(&ack(now, raised, *sample == 1))
                });
                assert_eq!(ended, expected, "{min} ms");
            }
        }
    }

    #[test]
    fn it_ends_one_slow_start_until_a_timeout() {
        let mut hystart = HyStart::new(START, false);
        let end = |hystart: &mut HyStart, start: Time| {
            hystart.on_ack(&ack(start, RTT, true));
            let acks = (1..100).map(|count| start + Duration::from_millis(1) * count);
            acks.filter(|now| hystart.on_ack(&ack(*now, RTT, false)))
                .count()
        };
        assert_eq!(end(&mut hystart, START), 1);
        assert_eq!(end(&mut hystart, START + RTT), 0);
        hystart.restart(START + RTT * 2);
        assert_eq!(end(&mut hystart, START + RTT * 3), 1);
    }
}
