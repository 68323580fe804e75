//! Detects a policer: a token bucket that forwards packets as long as it has tokens, then only at the rate at which it is
//! filled (Flach et al., "An Internet-Wide Analysis of Traffic Policing", SIGCOMM 2016).
//!
//! A policer drops packets without a queue, when its bucket is empty. So between two losses, the delivered bytes are what
//! the rate allows, unless the bucket was full in between. Random losses occur at any number of tokens.

use connection::{Loss, Round, Sample};
use tables::statistics::median;
use units::{Duration, Rate, Time};

/// A queue below one part in this many of RTprop is short.
const MIN_QUEUE_DIVISOR: u64 = 4;

/// The fewest times at which packets were lost.
const MIN_LOSS_TIMES: usize = 4;

/// Before the first loss, the flow exceeded the policed rate by this factor …
const MIN_EXCESS: f64 = 1.3;

/// … for this many round trips.
const EXCESS_ROUND_TRIPS: u64 = 2;

/// From a loss to the next, tokens gained and tokens spent are equal: up to this share of the most tokens in between …
const MAX_IMBALANCE_OF_TOKENS: f64 = 0.3;

/// … or up to this share of the bytes delivered in between …
const MAX_IMBALANCE_OF_BYTES: f64 = 0.04;

/// … and up to this many packets.
const MAX_IMBALANCE_PACKETS: u64 = 4;

/// The fewest packets between two losses, on average. With fewer, tokens balance by accident.
const MIN_PACKETS_BETWEEN: f64 = 50.0;

/// An application that writes at a steady rate sends the same between any two losses. So nothing is told if it or the
/// receiver limited the flow for more than one part in this many of the time.
const HELD_DIVISOR: u64 = 5;

/// The rate of a policer, in payload, if there is a sign of one.
pub fn policer(
    losses: &[Loss],
    (samples, rounds): (&[Sample], &[Round]),
    rtt_min: Duration,
    mss: u64,
) -> Option<Rate> {
    let first_of_all = losses.first()?;
    // Bursts of losses. The bucket is empty when a burst begins.
    let mut times: Vec<(Time, u64)> = Vec::new();
    let mut latest = None;
    for loss in losses {
        if latest.is_none_or(|latest: Time| loss.at.since(latest) > rtt_min * 2) {
            times.push((loss.at, loss.passed));
        }
        latest = Some(loss.at);
    }
    if times.len() < MIN_LOSS_TIMES || !are_without_queue(losses, rtt_min) {
        return None;
    }
    let (first, last) = (times.first()?, times.last()?);
    let span = last.0.since(first.0);
    if span < rtt_min * 16 || last.1 <= first.1 {
        return None;
    }
    if held(rounds, first.0, last.0) > span / HELD_DIVISOR {
        return None;
    }
    let rate = (last.1 - first.1) as f64 / span.as_secs_f64();
    if !was_faster(
        samples,
        rate * MIN_EXCESS,
        rtt_min * EXCESS_ROUND_TRIPS,
        first_of_all.at,
    ) {
        return None;
    }
    let tokens = |at: Time, passed: u64| {
        rate * at.since(first.0).as_secs_f64() - (passed as f64 - first.1 as f64)
    };
    let mut balances = Vec::new();
    let mut place = samples.partition_point(|sample| sample.at < first.0);
    for two in times.windows(2) {
        let [from, to] = two else { continue };
        let (before, after) = (tokens(from.0, from.1), tokens(to.0, to.1));
        let mut most = 0.0_f64;
        while let Some(sample) = samples.get(place).filter(|sample| sample.at < to.0) {
            most = most.max(tokens(sample.at, sample.delivered.get()) - before.max(after));
            place += 1;
        }
        let slack = (MAX_IMBALANCE_PACKETS * mss) as f64;
        balances.push((((after - before).abs() - slack).max(0.0), most));
    }
    let between = rate * span.as_secs_f64() / (times.len() - 1) as f64;
    if between < MIN_PACKETS_BETWEEN * mss as f64 {
        return None;
    }
    let off = median(balances.iter().map(|(off, _)| *off))?;
    let held = median(balances.iter().map(|(_, held)| *held))?;
    let allowed = (held * MAX_IMBALANCE_OF_TOKENS).max(between * MAX_IMBALANCE_OF_BYTES);
    (off <= allowed).then(|| Rate::from_bytes_per_sec(rate as u64))
}

fn are_without_queue(losses: &[Loss], rtt_min: Duration) -> bool {
    let rtts = losses.iter().filter_map(Loss::rtt);
    let longest = rtt_min + rtt_min / MIN_QUEUE_DIVISOR;
    median(rtts.map(Duration::as_secs_f64)).is_some_and(|rtt| rtt <= longest.as_secs_f64())
}

/// For how long the application or the receiver limited the flow between two moments, to a round.
fn held(rounds: &[Round], from: Time, to: Time) -> Duration {
    let pairs = rounds.windows(2).filter_map(|two| two.first_chunk());
    let within = pairs.filter(|[round, next]| round.is_held && round.at >= from && next.at <= to);
    within.fold(Duration::ZERO, |held, [round, next]| {
        held + next.at.since(round.at)
    })
}

/// True if the delivery rate before `until` exceeded `rate`, in bytes per second, for this long.
fn was_faster(samples: &[Sample], rate: f64, span: Duration, until: Time) -> bool {
    let mut first = 0;
    let samples = samples
        .get(..samples.partition_point(|sample| sample.at <= until))
        .unwrap_or_default();
    samples.iter().any(|last| {
        while samples
            .get(first + 1)
            .is_some_and(|next| last.at.since(next.at) >= span)
        {
            first += 1;
        }
        let from = &samples[first];
        let took = last.at.since(from.at);
        let passed = last.delivered.get().saturating_sub(from.delivered.get());
        took >= span && passed as f64 > rate * took.as_secs_f64()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use connection::Limit;
    use units::{Bytes, Duration};

    const MSS: u64 = 1_000;

    /// The policer found for a sender with a sawtooth rate over a path of 20 ms. The rate grows until a packet is lost,
    /// then it halves. The bucket has 200 packets at first, and gains one each millisecond. Without a bucket, `chance`
    /// decides which packets are lost.
    fn told(has_bucket: bool, queue: u64, chance: impl Fn(u64) -> bool) -> Option<Rate> {
        let (mut tokens, mut rate, mut passed) = (200.0, 3.0_f64, 0.0);
        let (mut losses, mut samples) = (Vec::new(), Vec::new());
        let rtt = Duration::from_millis(20 + queue);
        for ms in 0..20_000_u64 {
            let at = Time::ZERO + Duration::from_millis(ms);
            tokens = f64::min(tokens + 1.0, 200.0) - rate;
            passed += rate * MSS as f64;
            samples.push(Sample {
                at,
                rtt: Some(rtt),
                delivery_rate: None,
                inflight: Bytes::ZERO,
                btl_bw: Rate::ZERO,
                rtprop: None,
                delivered: Bytes::new(passed as u64),
                retransmitted: 0,
                limit: Limit::Window,
            });
            let is_lost = if has_bucket { tokens < 0.0 } else { chance(ms) };
            if is_lost {
                losses.push(Loss::new(at, passed as u64, Some(rtt), 1));
                rate /= 2.0;
                tokens = tokens.max(0.0);
            }
            rate += 0.002;
        }
        policer(&losses, (&samples, &[]), Duration::from_millis(20), MSS)
    }

    #[test]
    fn an_empty_bucket_is_told_from_chance_and_from_a_queue() {
        let rate = told(true, 0, |_| false).map(Rate::bytes_per_sec);
        let is_right = |rate: u64| (950_000..1_050_000).contains(&rate);
        assert!(rate.is_some_and(is_right), "{rate:?}");
        assert_eq!(told(true, 15, |_| false), None, "a queue");
        // One millisecond in 600, without a period.
        let by_chance = |ms: u64| {
            let mixed = (ms + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mixed = (mixed ^ mixed >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            (mixed ^ mixed >> 29).is_multiple_of(600)
        };
        assert_eq!(told(false, 0, by_chance), None);
    }
}
