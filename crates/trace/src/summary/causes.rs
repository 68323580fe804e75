//! The causes of losses. A full buffer drops packets while the queue is at its longest. Random loss does not depend on the
//! queue.
//!
//! A lost packet met the same queue as the next packet, which arrived and has an RTT. If losses are much more frequent at
//! the longest queue than packets are, the buffer dropped those packets, and their queue is the buffer's size. Losses at a
//! shorter queue were random, and so was the same share of the packets at the longest queue.

use connection::{Loss, Sample};
use units::Duration;

/// The queue is at its longest from this share of the queue at losses …
const FULL_QUEUE_SHARE: f64 = 0.85;

/// … or within this many packets of it.
const FULL_QUEUE_PACKETS: f64 = 1.5;

/// A queue below one part in this many of RTprop is no queue.
const MIN_QUEUE_DIVISOR: u64 = 8;

/// The share of losses that may have met a queue that seemed longer than the buffer.
const MAX_SHARE_BEYOND_BUFFER: f64 = 0.05;

/// Random losses exceed their expected number by more than this many standard deviations once in some hundred flows.
const MAX_DEVIATIONS: f64 = 3.0;

/// The share of a buffer's drops that may seem to have met a shorter queue. Away from the sender, the next packet's RTT is
/// known only from timestamps.
const MAX_SHARE_MISJUDGED: f64 = 0.1;

/// If no more than this share of the losses met a shorter queue, none was random.
const MAX_SHARE_STRAY: f64 = 0.02;

/// The factor by which a count of losses may be wrong, as counts of retransmissions are.
const MAX_MISCOUNT: f64 = 1.2;

/// The causes of losses on a path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Causes {
    /// The share of packets lost at random: the least, the most likely and the greatest value.
    pub random: [f64; 3],
    /// The queue of a full buffer, if it dropped packets.
    pub full: Option<Duration>,
}

/// Counters of the flow.
#[derive(Debug, Clone, Copy)]
pub struct Counted {
    /// Packets sent.
    pub packets: u64,
    /// Packets lost.
    pub lost: u64,
    /// The least RTT.
    pub rtt_min: Duration,
    /// The time that the bottleneck takes for a packet.
    pub packet: Duration,
}

impl Causes {
    /// No losses, or no random ones.
    pub const NONE: Causes = Causes {
        random: [0.0; 3],
        full: None,
    };

    /// The causes of these losses, judged by the samples of the flow.
    pub fn of(losses: &[Loss], samples: &[Sample], counted: &Counted) -> Causes {
        let (packets, lost) = (counted.packets.max(1) as f64, counted.lost as f64);
        if counted.lost == 0 {
            return Causes::NONE;
        }
        let queue = |rtt: Duration| rtt.saturating_sub(counted.rtt_min).as_secs_f64();
        let met = losses
            .iter()
            .filter_map(|loss| Some((queue(loss.rtt()?), f64::from(loss.packets))));
        let mut met: Vec<(f64, f64)> = met.collect();
        met.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
        let Some(longest) = below(&met, 1.0 - MAX_SHARE_BEYOND_BUFFER) else {
            // The queue at the losses is unknown.
            return Causes::by_chance(0.0, lost, packets);
        };
        let Counted {
            rtt_min, packet, ..
        } = counted;
        if longest < (*rtt_min / MIN_QUEUE_DIVISOR).as_secs_f64() {
            // The queue is too short to tell when it is at its longest.
            return Causes::by_chance(0.0, lost, packets);
        }
        let packet = packet.as_secs_f64();
        let long = (longest * FULL_QUEUE_SHARE).min(longest - packet * FULL_QUEUE_PACKETS);
        let (of_lost, of_sent) = (
            share_from(&met, long),
            share_from(&sent(samples, queue), long),
        );
        let (at_long, by_chance) = (lost * of_lost, lost * of_sent);
        let deviation = (by_chance * (1.0 - of_sent) + 1.0).sqrt();
        let short = lost - at_long;
        if at_long - by_chance < MAX_DEVIATIONS * deviation {
            let least = if of_lost > 1.0 - MAX_SHARE_MISJUDGED {
                0.0
            } else {
                lost
            };
            return Causes::by_chance(least, lost, packets);
        }
        let first = met.partition_point(|(queue, _)| *queue < long);
        let full =
            below(&met[first..], 0.5).map(|queue| Duration::from_nanos((queue * 1e9) as u64));
        if short <= lost * MAX_SHARE_STRAY {
            return Causes {
                full,
                ..Causes::NONE
            };
        }
        let at_risk = packets * (1.0 - of_sent).max(MAX_SHARE_MISJUDGED);
        let mut causes = Causes::by_chance(short - lost * MAX_SHARE_MISJUDGED, short, at_risk);
        if short <= lost * MAX_SHARE_MISJUDGED {
            causes.random[1] = 0.0;
        }
        causes.full = full;
        causes
    }

    /// `lost` of `packets` were lost at random, but perhaps only `least`.
    fn by_chance(least: f64, lost: f64, packets: f64) -> Causes {
        let accident = |lost: f64| 2.0 * lost.max(0.0).sqrt();
        let fewest = (least - accident(least)).max(0.0) / MAX_MISCOUNT;
        let most = (lost + accident(lost) + 2.0) * MAX_MISCOUNT;
        Causes {
            random: [fewest, lost, most].map(|lost| (lost / packets).min(1.0)),
            full: None,
        }
    }
}

/// The queues that packets met, each with the bytes delivered since the sample before.
fn sent(samples: &[Sample], queue: impl Fn(Duration) -> f64) -> Vec<(f64, f64)> {
    let mut before = 0;
    let mut all = Vec::with_capacity(samples.len());
    for sample in samples {
        let delivered = sample.delivered.get();
        if let Some(rtt) = sample.rtt {
            all.push((queue(rtt), delivered.saturating_sub(before) as f64));
        }
        before = delivered;
    }
    all
}

/// The weighted quantile: `share` of the weights is below it. `sorted` is in order.
fn below(sorted: &[(f64, f64)], share: f64) -> Option<f64> {
    let all: f64 = sorted.iter().map(|(_, weight)| weight).sum();
    let mut sum = 0.0;
    let place = sorted.iter().find(|(_, weight)| {
        sum += weight;
        sum >= all * share
    });
    place.or(sorted.last()).map(|(value, _)| *value)
}

/// The share of the weights that is at `least` or above.
fn share_from(values: &[(f64, f64)], least: f64) -> f64 {
    let all: f64 = values.iter().map(|(_, weight)| weight).sum();
    let above = values.iter().filter(|(value, _)| *value >= least);
    let above: f64 = above.map(|(_, weight)| weight).sum();
    if all > 0.0 { above / all } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use connection::Limit;
    use units::{Bytes, Rate, Time};

    const MIN_RTT_MS: u64 = 40;

    /// A sawtooth of 100 samples a tooth, with one packet a millisecond. The queue grows to 80 ms.
    fn samples() -> Vec<Sample> {
        let each = (0..10_000).map(|place: u64| Sample {
            at: Time::ZERO + Duration::from_millis(place),
            rtt: Some(rtt(place)),
            delivery_rate: None,
            inflight: Bytes::ZERO,
            btl_bw: Rate::ZERO,
            rtprop: None,
            delivered: Bytes::new(place * 1_000),
            retransmitted: 0,
            limit: Limit::Bottleneck,
        });
        each.collect()
    }

    fn rtt(place: u64) -> Duration {
        Duration::from_micros(MIN_RTT_MS * 1_000 + place % 100 * 800)
    }

    /// The causes if the packets at these places are lost.
    fn told(places: impl IntoIterator<Item = u64>) -> Causes {
        let lost = places.into_iter().map(|place| {
            let at = Time::ZERO + Duration::from_millis(place);
            Loss::new(at, place * 1_000, Some(rtt(place)), 1)
        });
        let losses: Vec<Loss> = lost.collect();
        let counted = Counted {
            packets: 10_000,
            lost: losses.len() as u64,
            rtt_min: Duration::from_millis(MIN_RTT_MS),
            packet: Duration::from_millis(1),
        };
        Causes::of(&losses, &samples(), &counted)
    }

    fn is_full(causes: Causes) -> bool {
        let full = causes.full.map(Duration::as_millis_f64);
        full.is_some_and(|full| (75.0..=80.0).contains(&full))
    }

    #[test]
    fn drops_of_a_full_buffer_are_no_chance_and_show_its_length() {
        // The last packet of each tooth, and a few others.
        for teeth in [100, 6] {
            let causes = told((0..teeth).map(|tooth| tooth * 100 + 99));
            assert!(is_full(causes), "{causes:?}");
            assert_eq!(causes.random, [0.0; 3]);
        }
    }

    #[test]
    fn chance_takes_any() {
        let causes = told((0..100).map(|place| place * 97));
        assert_eq!(causes.full, None);
        let [least, likely, most] = causes.random;
        assert!(least < 0.009 && least > 0.004, "{causes:?}");
        assert!((likely - 0.01).abs() < 1e-9, "{causes:?}");
        assert!(most > 0.011 && most < 0.02, "{causes:?}");
    }

    #[test]
    fn both_at_once_are_told_apart() {
        let drops = (0..100).map(|tooth| tooth * 100 + 99);
        let causes = told(drops.chain((0..100).map(|place| place * 97)));
        assert!(is_full(causes), "{causes:?}");
        let [least, _, most] = causes.random;
        assert!(least < 0.01 && 0.01 < most && most < 0.02, "{causes:?}");
        assert!(least > 0.003, "{causes:?}");
    }

    #[test]
    fn one_loss_shows_little() {
        let causes = told([99]);
        assert_eq!(causes.full, None);
        assert_eq!(causes.random[0], 0.0);
        assert!(causes.random[2] < 0.001, "{causes:?}");
    }
}
