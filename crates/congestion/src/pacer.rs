//! A pacer: the time of the next packet's departure. Usable alone, with any rate.

use units::{Bytes, Duration, Rate, Time};

/// Spreads departures over time, in bursts of at most a quantum.
///
/// A burst of up to `quantum` bytes may leave at once, and the next when that one has taken its time at the pacing
/// rate. A sender that wakes up late catches up by at most `slack`, which should equal the coarseness of its timers:
/// without slack, each late wake-up lowers the rate. After a longer silence, a burst and `slack` worth of bytes may
/// leave at once (Linux `tcp_update_skb_after_send` gives late departures a credit in the same way).
///
/// ```
/// use congestion::pacer::Pacer;
/// use congestion::{Bytes, Duration, Rate, Time};
///
/// let (rate, quantum, packet) = (Rate::from_bytes_per_sec(1_000_000), Bytes::new(3_000), Bytes::new(1_500));
/// let mut now = Time::ZERO + Duration::from_secs(1);
/// let mut pacer = Pacer::new(now, Duration::ZERO);
/// let mut sent = 0;
/// while pacer.may_send(now, quantum) {
///     pacer.on_sent(now, packet, rate);
///     sent += 1;
/// }
/// assert_eq!(sent, 2);
/// // Two packets take 3 ms at a megabyte a second.
/// assert_eq!(pacer.next_departure(now), now + Duration::from_millis(3));
/// ```
#[derive(Debug, Clone)]
pub struct Pacer {
    /// The time at which everything sent has taken its time.
    paid_until: Time,
    /// The remaining bytes of the present burst.
    burst: Bytes,
    slack: Duration,
}

impl Pacer {
    /// A pacer that has seen no departure yet, for a sender that may wake up to `slack` too late.
    pub const fn new(now: Time, slack: Duration) -> Pacer {
        Pacer {
            paid_until: now,
            burst: Bytes::ZERO,
            slack,
        }
    }

    /// Whether a packet may leave now. `quantum` is the longest burst, at least a packet
    /// ([`Controller::send_quantum`](crate::Controller::send_quantum)).
    pub fn may_send(&mut self, now: Time, quantum: Bytes) -> bool {
        if self.paid_until <= now {
            self.burst = quantum;
        }
        !self.burst.is_zero()
    }

    /// Reports a packet of `bytes` that leaves now, at a pacing rate of `rate`. Called for every packet, including
    /// those that did not have to wait.
    pub fn on_sent(&mut self, now: Time, bytes: Bytes, rate: Rate) {
        let earliest = now.as_nanos().saturating_sub(self.slack.as_nanos());
        self.paid_until = self.paid_until.max(Time::from_nanos(earliest)) + rate.time_for(bytes);
        self.burst -= bytes;
    }

    /// The earliest time at which a packet may leave: `now` if one may at once.
    pub fn next_departure(&self, now: Time) -> Time {
        if self.burst.is_zero() {
            self.paid_until.max(now)
        } else {
            now
        }
    }

    /// Whether everything sent has taken its time. From then on, a sender without data leaves a gap.
    pub fn is_idle(&self, now: Time) -> bool {
        self.paid_until <= now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: Bytes = Bytes::new(1_000);
    const RATE: Rate = Rate::from_bytes_per_sec(1_000_000);

    /// The bytes sent in a second when the sender wakes up every `tick`, and the most sent at one time.
    fn run(slack: Duration, quantum: Bytes, tick: Duration) -> (u64, u64) {
        let mut pacer = Pacer::new(Time::ZERO, slack);
        let (mut now, mut sent, mut most) = (Time::ZERO, 0, 0);
        while now < Time::ZERO + Duration::from_secs(1) {
            let mut at_once = 0;
            while pacer.may_send(now, quantum) {
                pacer.on_sent(now, PACKET, RATE);
                at_once += 1;
            }
            sent += at_once;
            most = most.max(at_once);
            now += tick;
        }
        (sent, most)
    }

    #[test]
    fn a_punctual_sender_keeps_the_rate_in_single_packets() {
        let (sent, most) = run(Duration::ZERO, PACKET, Duration::from_micros(1));
        assert!((999..=1_001).contains(&sent), "{sent}");
        assert_eq!(most, 1);
    }

    #[test]
    fn a_late_sender_keeps_the_rate_with_slack_and_not_without() {
        let tick = Duration::from_micros(2_300);
        let quantum = PACKET * 2;
        let (sent, most) = run(tick, quantum, tick);
        assert!((990..=1_005).contains(&sent), "{sent}");
        assert!(most <= 5, "{most}");
        let (sent, _) = run(Duration::ZERO, quantum, tick);
        assert!(sent < 900, "{sent}");
    }

    #[test]
    fn a_silence_is_worth_no_more_than_the_slack() {
        let mut pacer = Pacer::new(Time::ZERO, Duration::from_millis(2));
        let now = Time::ZERO + Duration::from_secs(100);
        let mut sent = 0;
        while pacer.may_send(now, PACKET) {
            pacer.on_sent(now, PACKET, RATE);
            sent += 1;
        }
        assert_eq!(sent, 3);
        assert!(!pacer.is_idle(now));
    }

    #[test]
    fn time_that_runs_backwards_and_extremes_do_no_harm() {
        let mut pacer = Pacer::new(Time::MAX, Duration::MAX);
        pacer.on_sent(Time::ZERO, Bytes::MAX, Rate::from_bytes_per_sec(1));
        assert!(!pacer.may_send(Time::ZERO, PACKET));
        assert_eq!(pacer.next_departure(Time::ZERO), Time::MAX);
    }
}
