//! HyStart++ (RFC 9406): leaves slow start when the round-trip time rises, before the buffer overflows.

use units::{Bytes, Duration};

const MIN_RTT_THRESH: Duration = Duration::from_millis(4);
const MAX_RTT_THRESH: Duration = Duration::from_millis(16);
const MIN_RTT_DIVISOR: u64 = 8;
const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: u64 = 4;
const CSS_ROUNDS: u32 = 5;

/// HyStart++'s detector, for one slow start (RFC 9406, "Algorithm Details").
///
/// It serves the initial slow start only: every later one has a slow-start threshold that it can trust.
#[derive(Debug, Clone, Copy, Default)]
pub struct HyStart {
    /// The least round-trip time of the previous round.
    last_round_min: Option<Duration>,
    /// The least round-trip time of this round.
    round_min: Option<Duration>,
    /// The number of round-trip times in this round.
    samples: u32,
    css: Option<Css>,
}

/// Conservative Slow Start: the window grows at a quarter of the pace until it is clear whether the delay is a queue.
#[derive(Debug, Clone, Copy)]
struct Css {
    /// The least round-trip time of the round that raised the alarm.
    baseline: Duration,
    /// Rounds begun, the partial one in which the alarm was raised included.
    rounds: u32,
}

impl HyStart {
    /// Starts a packet-timed round. Returns whether slow start is over: the delay lasted for five rounds.
    pub fn on_round(&mut self) -> bool {
        self.last_round_min = self.round_min.take();
        self.samples = 0;
        match &mut self.css {
            Some(css) if css.rounds >= CSS_ROUNDS => true,
            Some(css) => {
                css.rounds += 1;
                false
            }
            None => false,
        }
    }

    /// Takes a round-trip time of the current round.
    pub fn on_rtt(&mut self, rtt: Duration) {
        let round_min = self.round_min.map_or(rtt, |min| min.min(rtt));
        self.round_min = Some(round_min);
        self.samples = self.samples.saturating_add(1);
        if self.samples < N_RTT_SAMPLE {
            return;
        }
        match self.css {
            // A false alarm.
            Some(css) if round_min < css.baseline => self.css = None,
            Some(_) => {}
            None => {
                if self
                    .last_round_min
                    .is_some_and(|last| round_min >= last + threshold(last))
                {
                    self.css = Some(Css {
                        baseline: round_min,
                        rounds: 1,
                    });
                }
            }
        }
    }

    /// The growth of the window for `acked` bytes.
    ///
    /// RFC 9406 requires no limit of the growth from one ACK for paced senders, and our senders are paced.
    pub fn growth(&self, acked: Bytes) -> Bytes {
        match self.css {
            Some(_) => Bytes::new(acked.get() / CSS_GROWTH_DIVISOR),
            None => acked,
        }
    }

    /// Whether this is Conservative Slow Start.
    pub fn is_conservative(&self) -> bool {
        self.css.is_some()
    }
}

/// The rise of the round-trip time above `last_round_min` that raises the alarm.
fn threshold(last_round_min: Duration) -> Duration {
    (last_round_min / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One round of `samples` round-trip times of `millis`; true if it ended slow start.
    fn round(hystart: &mut HyStart, millis: u64, samples: u32) -> bool {
        let is_over = hystart.on_round();
        for _ in 0..samples {
            hystart.on_rtt(Duration::from_millis(millis));
        }
        is_over
    }

    #[test]
    fn the_threshold_is_an_eighth_between_4_and_16_ms() {
        for (last, raised, quiet) in [(10, 14, 13), (80, 90, 89), (400, 416, 415)] {
            let mut hystart = HyStart::default();
            round(&mut hystart, last, 8);
            round(&mut hystart, quiet, 8);
            assert!(!hystart.is_conservative(), "{last}: {quiet}");
            let mut hystart = HyStart::default();
            round(&mut hystart, last, 8);
            round(&mut hystart, raised, 7);
            assert!(!hystart.is_conservative(), "seven samples say nothing");
            hystart.on_rtt(Duration::from_millis(raised));
            assert!(hystart.is_conservative(), "{last}: {raised}");
        }
    }

    #[test]
    fn conservative_for_five_rounds_then_over() {
        let mut hystart = HyStart::default();
        round(&mut hystart, 40, 8);
        round(&mut hystart, 50, 8);
        assert!(hystart.is_conservative());
        assert_eq!(hystart.growth(Bytes::new(4000)), Bytes::new(1000));
        for _ in 0..4 {
            assert!(!round(&mut hystart, 60, 8));
        }
        assert!(hystart.on_round());
    }

    #[test]
    fn a_false_alarm_resumes_slow_start() {
        let mut hystart = HyStart::default();
        round(&mut hystart, 40, 8);
        round(&mut hystart, 50, 8);
        assert!(!round(&mut hystart, 41, 8));
        assert!(!hystart.is_conservative());
        assert_eq!(hystart.growth(Bytes::new(4000)), Bytes::new(4000));
        for _ in 0..9 {
            assert!(!round(&mut hystart, 41, 8));
        }
    }
}
